//! Text for a reader: what plugins supplied made harmless, spans of time, nearest names.

pub use crate::nearest::nearest;

use super::paint;
use crate::clock::Instant;
use crate::json::JsString;
use crate::schema::manifest::SideEffect;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Text of a plugin for one line: whatever could move the cursor, hide or reorder what stands
/// beside it is shown as an escape such as `\u{202e}`, line breaks included.
pub fn line(text: &JsString) -> String {
    escape(text, |_| false)
}

/// Text of a plugin that may span lines: like [`line()`], but line feeds and tabs stay.
pub fn block(text: &JsString) -> String {
    escape(text, |scalar| matches!(scalar, '\n' | '\t'))
}

/// [`line()`] for text that is no [`JsString`] yet.
pub fn line_str(text: &str) -> String {
    line(&JsString::from(text))
}

fn escape(text: &JsString, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.utf8_len());
    for decoded in char::decode_utf16(text.units()) {
        match decoded {
            Ok(scalar) if !is_unsafe(scalar) || stays(scalar) => out.push(scalar),
            Ok(scalar) => out.push_str(&format!("\\u{{{:x}}}", u32::from(scalar))),
            Err(unpaired) => {
                out.push_str(&format!("\\u{{{:x}}}", unpaired.unpaired_surrogate()));
            }
        }
    }
    out
}

/// Control characters, marks that reorder text, and the invisible byte order mark.
fn is_unsafe(scalar: char) -> bool {
    scalar.is_control()
        || matches!(scalar, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(scalar, '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// As much of a text as a list has room for, `most` characters at the most; what was cut off is marked.
pub fn brief(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// A span of time in the coarsest honest unit, rounded down: `<1m`, `37m`, `3h 59m`, `4h`, `2d`.
/// Minutes are kept up to two hours; negative spans count as none.
pub fn span(ms: i64) -> String {
    let minutes = ms.max(0) / MINUTE_MS;
    let hours = ms.max(0) / HOUR_MS;
    match minutes {
        0 => "<1m".to_owned(),
        1..120 => format!("{minutes}m"),
        _ if hours >= 48 => format!("{}d", ms / DAY_MS),
        _ if minutes % 60 == 0 => format!("{hours}h"),
        _ => format!("{hours}h {}m", minutes % 60),
    }
}

/// How long ago something was: `12m ago`, `just now`; `None` where the instant does not parse.
pub fn ago(then: &JsString, now: Instant) -> Option<String> {
    let age = now.since(Instant::parse(then.as_str()?)?);
    Some(if age < MINUTE_MS { "just now".to_owned() } else { format!("{} ago", span(age)) })
}

/// When something is or was, by the reader's clock: `2026-08-20 17:30 +05:30`; as it is written where
/// the instant does not parse.
pub fn at(instant: &JsString) -> String {
    instant.as_str().and_then(Instant::parse).map_or_else(|| line(instant), Instant::to_local)
}

/// [`at`] to the second, for what is told while it happens.
pub fn at_second(instant: &JsString) -> String {
    let parsed = instant.as_str().and_then(Instant::parse);
    parsed.map_or_else(|| line(instant), Instant::to_local_second)
}

/// When something was, and how long ago: `2026-08-20 17:30 +05:30, 12m ago`.
pub fn at_ago(then: &JsString, now: Instant) -> String {
    let age = ago(then, now).map(|age| format!(", {}", paint::faint(age)));
    at(then) + &age.unwrap_or_default()
}

/// A name or path as a word of a command line that a reader may copy: quoted where a shell would read more
/// into it.
pub fn word(name: &JsString) -> String {
    let shown = line(name);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    if !shown.is_empty() && shown.bytes().all(plain) {
        return shown;
    }
    format!("'{}'", shown.replace('\'', "'\\''"))
}

/// Several of them.
pub fn words<'a>(names: impl IntoIterator<Item = &'a JsString>) -> String {
    names.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A command about plugins that a reader may copy. The options come first, behind `--`, where the parser would
/// take a name for one: a directory may be called `--all`.
pub fn command<'a>(
    verb: &str,
    names: impl IntoIterator<Item = &'a JsString>,
    options: &str,
) -> String {
    let names = words(names);
    let options = if options.is_empty() { String::new() } else { format!(" {options}") };
    let posed = |word: &str| word.trim_start_matches('\'').starts_with('-');
    if names.split(' ').any(posed) {
        return format!("warpline {verb}{options} -- {names}");
    }
    format!("warpline {verb} {names}{options}")
}

/// Declared effects in their own order: what stands beside every question to a person.
pub fn effects(effects: &[SideEffect]) -> String {
    if effects.is_empty() {
        return "none".to_owned();
    }
    effects.iter().map(|effect| effect.as_str()).collect::<Vec<_>>().join(", ")
}

/// A count with its noun: `1 plugin`, `2 plugins`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_deceive_a_reader_is_shown_as_an_escape() {
        let all = [
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("a\u{202e}b\u{2066}\u{2069}\u{202a}", "a\\u{202e}b\\u{2066}\\u{2069}\\u{202a}"),
            ("\u{200e}\u{200f}\u{feff}", "\\u{200e}\\u{200f}\\u{feff}"),
            ("one\r\ntwo\tthree", "one\\u{d}\\u{a}two\\u{9}three"),
            ("\u{7f}\u{85}\u{9b}", "\\u{7f}\\u{85}\\u{9b}"),
            ("監視 😀 é ✓", "監視 😀 é ✓"),
        ];
        for (given, shown) in all {
            assert_eq!(line_str(given), shown);
        }
        let cut = JsString::from_utf16(&[0x61, 0xd83d]);
        assert_eq!(line(&cut), "a\\u{d83d}");
    }

    #[test]
    fn a_name_in_a_command_is_one_word_of_it() {
        for (given, shown) in [
            ("render-issue_2.x", "render-issue_2.x"),
            ("a; rm -rf ~", "'a; rm -rf ~'"),
            ("$(x)", "'$(x)'"),
            ("/home/x/a-b.mjs", "/home/x/a-b.mjs"),
            ("it's", r"'it'\''s'"),
            ("a\nb", "'a\\u{a}b'"),
            ("監視", "'監視'"),
            ("", "''"),
        ] {
            assert_eq!(word(&given.into()), shown);
        }
        assert_eq!(words(&["a".into(), "b c".into()]), "a 'b c'");
        let names = [JsString::from("a"), "b c".into()];
        assert_eq!(command("deny", &names, ""), "warpline deny a 'b c'");
        assert_eq!(command("approve", &names, "--run r"), "warpline approve a 'b c' --run r");
        let names = [JsString::from("a"), "--all".into()];
        assert_eq!(command("approve", &names, "--run r"), "warpline approve --run r -- a --all");
        assert_eq!(command("deny", &["-x y".into()], ""), "warpline deny -- '-x y'");
    }

    #[test]
    fn blocks_keep_their_lines_and_nothing_else() {
        assert_eq!(block(&"a\n\tb\r\u{1b}".into()), "a\n\tb\\u{d}\\u{1b}");
    }

    #[test]
    fn a_brief_text_is_marked_where_it_was_cut() {
        assert_eq!(brief("監視 é", 4), "監視 é");
        assert_eq!(brief("監視 é!", 4), "監視 …");
        assert_eq!((brief("", 3).as_str(), brief("ab", 1).as_str()), ("", "…"));
    }

    #[test]
    fn spans_are_rounded_down() {
        let minute = MINUTE_MS;
        let all = [
            (-5, "<1m"),
            (59_999, "<1m"),
            (38 * minute - 1, "37m"),
            (90 * minute, "90m"),
            (120 * minute, "2h"),
            (239 * minute, "3h 59m"),
            (23 * 60 * minute, "23h"),
            (48 * 60 * minute - 1, "47h 59m"),
            (71 * 60 * minute, "2d"),
        ];
        for (ms, text) in all {
            assert_eq!(span(ms), text, "{ms}");
        }
    }

    #[test]
    fn ages_need_an_instant_that_parses() {
        let now = Instant::parse("2026-08-20T12:12:30.000Z").expect("an instant");
        assert_eq!(ago(&"2026-08-20T12:00:00.000Z".into(), now).as_deref(), Some("12m ago"));
        assert_eq!(ago(&"2026-08-20T12:12:00.000Z".into(), now).as_deref(), Some("just now"));
        assert_eq!(ago(&"yesterday".into(), now), None);
    }

    #[test]
    fn what_is_no_instant_is_shown_as_it_is_written() {
        assert_eq!(at(&"yesterday\u{1b}".into()), "yesterday\\u{1b}");
        assert_eq!(at_second(&"yesterday\u{1b}".into()), "yesterday\\u{1b}");
        assert!(at_second(&"2026-08-20T12:00:07.000Z".into()).contains(":07 "));
        let now = Instant::parse("2026-08-20T12:12:30.000Z").expect("an instant");
        let then = "2026-08-20T12:00:00.000Z";
        let local = Instant::parse(then).expect("an instant").to_local();
        assert_eq!(at(&then.into()), local);
        assert_eq!(paint::plain(&at_ago(&then.into(), now)), format!("{local}, 12m ago"));
        assert_eq!(at_ago(&"x".into(), now), "x");
    }

    #[test]
    fn misspelt_names_find_their_neighbour_and_strangers_none() {
        let known = ["render-issue", "digest-sender", "db-writer"];
        assert_eq!(nearest("digest-sendr", known), Some("digest-sender"));
        assert_eq!(nearest("render-isue", known), Some("render-issue"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
