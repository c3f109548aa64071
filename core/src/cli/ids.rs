//! Ids as a person types them: their beginning, as far as it tells them apart.

use crate::json::JsString;

use super::context::Refused;
use super::text;

/// Characters of an id that a listing shows where they are enough.
const SHOWN: usize = 8;

/// The different ids of what a verb can answer, by the form that a reader sees and types.
pub(super) struct Ids<'a> {
    sorted: Vec<(String, &'a JsString)>,
}

/// What a typed beginning means.
#[derive(Debug, PartialEq)]
pub(super) enum Found<'a> {
    /// This id, because it is the whole of it or the only one that begins so.
    One(&'a JsString),
    /// No id begins so.
    None,
    /// That many ids begin so.
    Several(usize),
}

impl<'a> Ids<'a> {
    pub(super) fn of(ids: impl IntoIterator<Item = &'a JsString>) -> Self {
        let mut sorted: Vec<_> = ids.into_iter().map(|id| (text::line(id), id)).collect();
        sorted.sort();
        sorted.dedup();
        Self { sorted }
    }

    pub(super) fn find(&self, typed: &JsString) -> Found<'a> {
        let typed = text::line(typed);
        let from = self.sorted.partition_point(|(shown, _)| *shown < typed);
        let begins = |entry: &&(String, &'a JsString)| entry.0.starts_with(&typed);
        let matching: Vec<_> = self.sorted.iter().skip(from).take_while(begins).collect();
        let whole = matching.iter().filter(|(shown, _)| *shown == typed).count();
        match matching.as_slice() {
            [] => Found::None,
            [(_, id)] => Found::One(id),
            [(_, id), ..] if whole == 1 => Found::One(id),
            several => Found::Several(several.len()),
        }
    }

    /// The id whose beginning was probably meant, where none begins as typed.
    pub(super) fn nearest(&self, typed: &JsString) -> Option<&'a JsString> {
        let typed = Some(text::line(typed)).filter(|typed| !typed.is_empty())?;
        let length = typed.chars().count();
        let cut = |shown: &str| shown.chars().take(length).collect::<String>();
        let beginnings: Vec<String> = self.sorted.iter().map(|(shown, _)| cut(shown)).collect();
        let near = text::nearest(&typed, beginnings.iter().map(String::as_str))?;
        let at = beginnings.iter().position(|beginning| beginning == near)?;
        self.sorted.get(at).map(|(_, id)| *id)
    }

    /// The beginning that means this id and no other, as a word of a command line; all of it where
    /// another id begins with it.
    pub(super) fn short(&self, id: &JsString) -> String {
        let shown = text::line(id);
        let at = self.sorted.partition_point(|entry| (&entry.0, entry.1) < (&shown, id));
        let neighbours = [at.checked_sub(1), at.checked_add(1)];
        let shared = neighbours
            .into_iter()
            .flatten()
            .filter_map(|at| self.sorted.get(at))
            .map(|(other, _)| common(&shown, other));
        let count = shared.map(|shared| shared + 1).fold(SHOWN, usize::max);
        text::word(&shown.chars().take(count).collect::<String>().into())
    }
}

/// Characters that both begin with.
fn common(left: &str, right: &str) -> usize {
    left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count()
}

/// The refusal of a beginning that several have.
pub(super) fn ambiguous(typed: &JsString, count: usize, noun: &str, listing: &str) -> Refused {
    let matching = text::count(count, noun);
    Refused::new(format!("`{}` is the beginning of {matching}", text::line(typed)))
        .leaving("nothing was written")
        .hint(format!("type more of the id; `{listing}` shows as much as is needed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_means_the_one_id_that_has_it_and_a_whole_id_itself() {
        let all: Vec<JsString> =
            ["abc", "abcd", "abd", "x\u{1b}y", "__proto__", "abc"].map(JsString::from).into();
        let ids = Ids::of(&all);
        for (typed, expected) in [
            ("abd", Found::One(&all[2])),
            ("abc", Found::One(&all[0])),
            ("abcd", Found::One(&all[1])),
            ("ab", Found::Several(3)),
            ("x\u{1b}", Found::One(&all[3])),
            ("x\\u{1b", Found::One(&all[3])),
            ("__p", Found::One(&all[4])),
            ("constructor", Found::None),
            ("abcde", Found::None),
            ("", Found::Several(5)),
        ] {
            assert_eq!(ids.find(&typed.into()), expected, "{typed}");
        }
    }

    #[test]
    fn a_beginning_that_no_id_has_finds_the_nearest_one() {
        let all: Vec<JsString> =
            ["12345678-a1", "98765432-b1", "refresh-token"].map(JsString::from).into();
        let ids = Ids::of(&all);
        let near = |typed: &str| ids.nearest(&typed.into());
        assert_eq!(near("12354"), Some(&all[0]));
        assert_eq!(near("refresh-tokn"), Some(&all[2]));
        assert_eq!((near("zzzz"), near("")), (None, None));
    }

    #[test]
    fn ids_that_look_the_same_are_never_told_apart_by_chance() {
        let all: Vec<JsString> = ["\u{1b}", "\\u{1b}"].map(JsString::from).into();
        assert_eq!(Ids::of(&all).find(&"\u{1b}".into()), Found::Several(2));
    }

    #[test]
    fn what_is_shown_of_an_id_is_as_long_as_it_must_be_and_found_again() {
        let all: Vec<JsString> =
            ["12345678-a1", "12345678-a2", "1234", "87654321-b", "é\u{202e}", "", "a b"]
                .map(JsString::from)
                .into();
        let ids = Ids::of(&all);
        let short: Vec<String> = all.iter().map(|id| ids.short(id)).collect();
        let expected =
            ["12345678-a1", "12345678-a2", "1234", "87654321", "'é\\u{202e'", "''", "'a b'"];
        assert_eq!(short, expected);
        for (id, short) in all.iter().zip(&short).filter(|(id, _)| !id.is_empty()) {
            let typed = short.trim_matches('\'').into();
            assert_eq!(ids.find(&typed), Found::One(id), "{short}");
        }
    }
}
