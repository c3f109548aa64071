//! An example of the running package as the beginning of a plugin of its own.

use std::path::Path;

use crate::home::plugins::{self, Candidate, Language};
use crate::home::setup::{self, PluginFile};

use super::super::configure::Stop;
use super::super::context::Refused;
use super::super::text;

/// The files of an example with `name` for its own, and the language it is written in.
pub(super) fn files(
    examples: Option<&Path>,
    example: &str,
    name: &str,
) -> Result<(Language, Vec<PluginFile>), Stop> {
    let Some(root) = examples else {
        return Err(Refused::new("this host comes without examples").into());
    };
    let roster = plugins::roster(root)?;
    let found = roster.candidates.iter().find(|candidate| candidate.name == example);
    let Some(found) = found else { return Err(unknown(example, &roster.candidates).into()) };
    let mut files = setup::plugin_files(&found.directory)?;
    let manifest = found.language.manifest();
    for file in files.iter_mut().filter(|file| file.path == Path::new(manifest)) {
        let text = String::from_utf8_lossy(&file.bytes);
        let renamed = renamed(&text, example, name);
        let refused = || Refused::new(format!("{manifest} of `{example}` does not tell its name"));
        file.bytes = renamed.ok_or_else(refused)?.into_bytes();
    }
    Ok((found.language, files))
}

fn unknown(example: &str, known: &[Candidate]) -> Refused {
    let names: Vec<String> = known.iter().map(|known| known.name.to_text()).collect();
    let refused = Refused::new(format!("unknown example `{example}`"));
    match text::nearest(example, names.iter().map(String::as_str)) {
        Some(near) => {
            refused.hint(format!("did you mean `{near}`? There are {}", names.join(", ")))
        }
        None => refused.hint(format!("there are {}", names.join(", "))),
    }
}

/// The manifest under another name; `None` unless it states its name in exactly one place.
fn renamed(manifest: &str, old: &str, new: &str) -> Option<String> {
    let places = ["name: '{}'", "name: \"{}\"", "\"name\": \"{}\"", "'name': '{}'"];
    let mut places = places.iter().filter_map(|place| {
        let (from, to) = (place.replace("{}", old), place.replace("{}", new));
        (manifest.matches(&from).count() == 1).then(|| manifest.replace(&from, &to))
    });
    match (places.next(), places.next()) {
        (Some(renamed), None) => Some(renamed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn a_manifest_is_renamed_where_it_says_its_name_once() {
        let told = |manifest| renamed(manifest, "old", "new");
        assert_eq!(told("{ name: 'old', x: 'old' }").as_deref(), Some("{ name: 'new', x: 'old' }"));
        assert_eq!(told("{\"name\": \"old\"}").as_deref(), Some("{\"name\": \"new\"}"));
        assert_eq!(told("{ name: 'older' }"), None);
        assert_eq!(told("{ name: 'old' } { name: 'old' }"), None);
        assert_eq!(told("{ name: 'old' } { name: \"old\" }"), None);
    }
}
