//! The known name that a misspelt one was meant to be.

/// The known name that a misspelt one most likely means, if any is close.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_finds_none() {
        let known = ["side_effects", "dependencies", "secrets"];
        assert_eq!(nearest("side_effect", known), Some("side_effects"));
        assert_eq!(nearest("dependancies", known), Some("dependencies"));
        assert_eq!(nearest("colour", known), None);
    }
}
