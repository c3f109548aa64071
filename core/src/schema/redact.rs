//! Takes declared credentials out of whatever a plugin said, before anything reads or keeps it.

#![expect(
    clippy::indexing_slicing,
    reason = "positions come from the search itself, never from the text"
)]

mod stream;

use crate::json::{JsString, Value};

pub use stream::Redactor;

/// What a reader sees where a secret was.
const MARK: &str = "[redacted]";

/// A copy of `value` in which no string value holds a secret any more. Keys stay as they are.
///
/// A longer secret goes before a shorter one, equally long ones as they were given. The occurrences
/// of one are looked for from the start of the text, among what came from the plugin: a mark put in
/// for another secret is not searched, and nothing is found across one.
pub fn redact(value: &Value, secrets: &[JsString]) -> Value {
    let needles = needles(secrets);
    let mut result = value.clone();
    if needles.is_empty() {
        return result;
    }
    let mut open = vec![&mut result];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                if let Some(redacted) = replace(text, &needles) {
                    *text = redacted;
                }
            }
            Value::Array(list) => open.extend(list.as_mut_slice()),
            Value::Object(object) => open.extend(object.values_mut()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    result
}

/// A text without its secrets; see [`redact`].
pub fn redact_text(text: &JsString, secrets: &[JsString]) -> JsString {
    replace(text, &needles(secrets)).unwrap_or_else(|| text.clone())
}

/// The end of a text that a host has cut for its length.
const CUT: &str = "… (cut)";

/// What was thrown without its secrets; see [`redact`]. Where a host has cut the text, what stands
/// before the cut and may be the beginning of a secret is left out.
pub fn redact_thrown(text: &JsString, secrets: &[JsString]) -> JsString {
    let bytes = text.as_bytes();
    let cut = bytes.windows(CUT.len()).rposition(|part| part == CUT.as_bytes());
    let Some((kept, rest)) = cut.and_then(|at| bytes.split_at_checked(at)) else {
        return redact_text(text, secrets);
    };
    // What is left is searched as one text: the sign of the cut may complete a secret as well.
    let kept = stream::certain(&JsString::from_wtf8(kept), secrets);
    redact_text(&kept.concat(&JsString::from_wtf8(rest)), secrets)
}

/// A secret prepared for searching.
///
/// The search runs over UTF-16 units, as JavaScript's does: half of a pair is found where it
/// stands, and what is inserted between two halves keeps them apart.
struct Needle {
    units: Vec<u16>,
    /// For each prefix, the length of its longest proper border (Knuth, Morris and Pratt), so that
    /// the search never goes back, whatever a plugin puts in its text.
    borders: Vec<usize>,
}

fn needles(secrets: &[JsString]) -> Vec<Needle> {
    let mut needles: Vec<_> = secrets
        .iter()
        .filter(|secret| !secret.is_empty())
        .map(|secret| Needle::new(secret.to_utf16()))
        .collect();
    needles.sort_by_key(|needle| std::cmp::Reverse(needle.units.len()));
    needles
}

impl Needle {
    fn new(units: Vec<u16>) -> Self {
        let mut needle = Self { borders: vec![0; units.len()], units };
        let mut matched = 0;
        for at in 1..needle.units.len() {
            matched = needle.step(matched, needle.units[at]);
            needle.borders[at] = matched;
        }
        needle
    }

    /// How much of the needle is matched after one more unit, when `matched` units were before.
    fn step(&self, mut matched: usize, unit: u16) -> usize {
        while matched > 0 && self.units.get(matched) != Some(&unit) {
            matched = self.borders[matched - 1];
        }
        if self.units.get(matched) == Some(&unit) { matched + 1 } else { matched }
    }

    /// Splits untouched pieces of the text at each occurrence; the occurrences become cuts. Says how
    /// much of the needle is matched at the end of the last piece.
    fn cut(
        &self,
        text: &[u16],
        pieces: &mut Vec<(usize, usize)>,
        cuts: &mut Vec<(usize, usize)>,
    ) -> usize {
        let mut left = Vec::with_capacity(pieces.len());
        let mut matched = 0;
        for (start, end) in pieces.drain(..) {
            let mut kept = start;
            matched = 0;
            for (at, unit) in text.iter().enumerate().take(end).skip(start) {
                matched = self.step(matched, *unit);
                if matched == self.units.len() {
                    let found = at + 1 - matched;
                    left.push((kept, found));
                    cuts.push((found, at + 1));
                    (kept, matched) = (at + 1, 0);
                }
            }
            left.push((kept, end));
        }
        left.retain(|(start, end)| start < end);
        *pieces = left;
        matched
    }
}

/// Where the secrets stand in a text, in order.
fn occurrences(text: &[u16], needles: &[Needle]) -> Vec<(usize, usize)> {
    let (mut pieces, mut cuts) = (vec![(0, text.len())], Vec::new());
    for needle in needles {
        needle.cut(text, &mut pieces, &mut cuts);
    }
    cuts.sort_unstable();
    cuts
}

/// The part `from..to` of a text, marks in the place of what is cut. A cut that began before is
/// shown by its mark; one that ended before is not shown.
fn marked(text: &[u16], cuts: &[(usize, usize)], from: usize, to: usize) -> JsString {
    let mut out = Vec::with_capacity(to - from);
    let mut kept = from;
    for (start, end) in cuts.iter().filter(|(_, end)| *end > from) {
        out.extend_from_slice(&text[kept..*start.max(&kept)]);
        out.extend(MARK.encode_utf16());
        kept = *end;
    }
    out.extend_from_slice(&text[kept..to]);
    JsString::from_utf16(&out)
}

/// The text with every secret replaced; `None` where there is none.
fn replace(text: &JsString, needles: &[Needle]) -> Option<JsString> {
    let units = text.to_utf16();
    let cuts = occurrences(&units, needles);
    if cuts.is_empty() { None } else { Some(marked(&units, &cuts, 0, units.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str, secrets: &[&str]) -> String {
        let secrets: Vec<JsString> = secrets.iter().map(|secret| (*secret).into()).collect();
        redact_text(&text.into(), &secrets).to_text()
    }

    #[test]
    fn the_longest_secret_goes_first_and_inserted_text_is_never_searched() {
        assert_eq!(text("abcdef abc", &["abc", "abcdef"]), "[redacted] [redacted]");
        assert_eq!(
            text("abcx", &["bcx", "abc"]),
            "a[redacted]",
            "longest means declaration order in ties"
        );
        assert_eq!(text("abcx", &["abc", "bcx"]), "[redacted]x");
        assert_eq!(text("tok", &["tok", "redacted", "["]), "[redacted]");
        assert_eq!(
            text("alongb", &["long", "ab"]),
            "a[redacted]b",
            "text across it is not searched"
        );
        assert_eq!(text("aXXd]", &["XX", "]d", "d]"]), "a[redacted][redacted]");
        assert_eq!(text("", &["a", ""]), "");
        assert_eq!(text("same", &[""]), "same");
    }

    #[test]
    fn occurrences_are_taken_from_left_to_right_without_overlap() {
        assert_eq!(text("ababa", &["aba"]), "[redacted]ba");
        assert_eq!(text("aabaabaaab", &["aabaaab"]), "aab[redacted]");
        assert_eq!(text("aaaa", &["aa"]), "[redacted][redacted]");
    }

    #[test]
    fn length_counts_utf16_units_as_javascript_does() {
        // Three bytes but one unit against two bytes and two units.
        assert_eq!(text("日ab", &["日a", "ab"]), "[redacted]b");
        assert_eq!(text("a日b", &["日", "a日"]), "[redacted]b");
        assert_eq!(text("日xy", &["日x", "xy"]), "[redacted]y");
        assert_eq!(text("日xyz", &["日x", "xyz"]), "日[redacted]");
    }

    #[test]
    fn halves_of_a_pair_are_found_and_never_joined_by_a_replacement() {
        let low = JsString::from_utf16(&[0xde00]);
        let cut = redact_text(&"a😀".into(), &[low]);
        let mut expected = vec![0x61, 0xd83d];
        expected.extend(MARK.encode_utf16());
        assert_eq!(cut.to_utf16(), expected);
        let halves = JsString::from_utf16(&[0xd83d, 0x78, 0xde00]);
        let mut expected = vec![0xd83d];
        expected.extend(MARK.encode_utf16());
        expected.push(0xde00);
        assert_eq!(redact_text(&halves, &["x".into()]).to_utf16(), expected);
        assert_eq!(text("😀", &["😀"]), MARK);
    }

    #[test]
    fn a_cut_shows_no_beginning_of_a_secret() {
        let thrown = |text: &str| redact_thrown(&text.into(), &["hunter2".into()]).to_text();
        assert_eq!(thrown("no hunter2, hunt… (cut)"), "no [redacted], … (cut)");
        assert_eq!(thrown("no hunt… (cut) (handler.py:3)"), "no … (cut) (handler.py:3)");
        assert_eq!(thrown("… (cut) hunter2 hunt… (cut)"), "… (cut) [redacted] … (cut)");
        assert_eq!(thrown("no hunt"), "no hunt");
        let odd = redact_thrown(&"daaaaaaa… (cut)".into(), &["aaa…".into()]).to_text();
        assert_eq!(odd, "da[redacted] (cut)", "nor a secret that the cut itself completes");
    }

    #[test]
    fn keys_stay_and_the_original_is_untouched() {
        let value = crate::json::parse(r#"{"tok":["tok",{"a":"x tok"}],"n":1}"#).expect("json");
        let before = value.to_compact();
        let expected = r#"{"tok":["[redacted]",{"a":"x [redacted]"}],"n":1}"#;
        assert_eq!(redact(&value, &["tok".into()]).to_compact(), expected);
        assert_eq!(value.to_compact(), before);
    }

    #[test]
    fn a_hostile_text_costs_no_more_than_its_length() {
        let secret = JsString::from("a".repeat(20_000) + "b");
        let body = JsString::from("a".repeat(2_000_000));
        let start = std::time::Instant::now();
        assert_eq!(redact_text(&body, &[secret]), body);
        // Going back after each mismatch would take 4 * 10^10 steps, minutes at best.
        assert!(start.elapsed().as_secs() < 60);
        let many = JsString::from("x ".repeat(200_000));
        let marked = redact_text(&many, &["x".into(), "y".into(), " ".into()]);
        assert_eq!(marked.utf8_len(), 400_000 * MARK.len());
    }

    #[test]
    fn depth_is_no_limit() {
        let depth = 100_000;
        let deep = "[".repeat(depth) + "\"tok\"" + &"]".repeat(depth);
        let value = crate::json::parse(&deep).expect("json");
        assert!(redact(&value, &["tok".into()]).to_compact().contains("[\"[redacted]\"]"));
    }
}
