//! Reads a few members of an object, and all beside them only as far as to see that it is JSON.

use super::parse::Reader;
use super::{Map, ParseError};

/// The members of these names in the object that `text` is, as [`super::parse`] has them; none where
/// it is another value.
///
/// # Errors
///
/// Those of [`super::parse`]: what is not asked for must be JSON as well, and costs no memory.
pub(crate) fn pick(text: &str, names: &[&str]) -> Result<Map, ParseError> {
    let mut reader = Reader::of(text);
    reader.pick(names).ok_or_else(|| reader.error())
}

impl Reader<'_> {
    fn pick(&mut self, names: &[&str]) -> Option<Map> {
        let mut entries = Vec::new();
        if self.peek()? == b'{' {
            self.at += 1;
            let mut next = self.peek()?;
            while next != b'}' {
                let key = self.key()?;
                if names.iter().any(|name| key == *name) {
                    entries.push((key, self.value()?));
                } else {
                    self.skip()?;
                }
                next = self.peek()?;
                if next == b',' {
                    self.at += 1;
                } else if next != b'}' {
                    return None;
                }
            }
            self.at += 1;
        } else {
            self.skip()?;
        }
        self.end()?;
        Some(Map::from_entries(entries))
    }

    /// Passes one value, however deep it is.
    fn skip(&mut self) -> Option<()> {
        // Of each container that is open, the byte that closes it.
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek()? {
                bracket @ (b'[' | b'{') => {
                    self.at += 1;
                    let close = if bracket == b'[' { b']' } else { b'}' };
                    open.push(close);
                    if self.peek()? != close {
                        self.skip_key(close)?;
                        continue;
                    }
                }
                b'"' => self.skip_string()?,
                _ => drop(self.scalar()?),
            }
            loop {
                let Some(close) = open.last().copied() else { return Some(()) };
                let separator = self.peek()?;
                if separator == close {
                    self.at += 1;
                    open.pop();
                } else if separator == b',' {
                    self.at += 1;
                    self.skip_key(close)?;
                    break;
                } else {
                    return None;
                }
            }
        }
    }

    /// Passes the name that comes next in a container which this byte closes, if it has names.
    fn skip_key(&mut self, close: u8) -> Option<()> {
        if close == b'}' {
            self.name(Self::skip_string)?;
        }
        Some(())
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        let (mut unused, mut high) = (Vec::new(), None);
        loop {
            self.plain()?;
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => {
                    self.at += 1;
                    self.escape(&mut unused, &mut high)?;
                    unused.clear();
                }
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::{Value, parse};

    const NAMES: [&str; 3] = ["status", "run_id", "7"];

    fn check(text: &str) {
        let all = parse(text);
        let picked = pick(text, &NAMES);
        assert_eq!(picked.as_ref().err(), all.as_ref().err(), "{text:?}");
        let (Ok(picked), Ok(all)) = (picked, all) else { return };
        let members = all.as_object().into_iter().flat_map(Map::iter);
        let named: Map = members
            .filter(|(key, _)| NAMES.iter().any(|name| *key == name))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        assert_eq!(Value::from(picked).to_compact(), Value::from(named).to_compact(), "{text:?}");
    }

    fn texts() -> impl Strategy<Value = String> {
        let names = [r#""status""#, r#""run_id""#, r#""7""#, r#""\u0037""#, r#""b\n\"é""#, r#""""#];
        let scalars = ["0", "-1.5e3", "true", "null", "1e400", r#""😀\ud83d\\""#, "[ ]", "{ }"];
        let spaces = prop::sample::select(vec!["", "", "", " ", "\n\t"]);
        let scalar = prop::sample::select([names.as_slice(), scalars.as_slice()].concat());
        let value = scalar.prop_map(str::to_owned).prop_recursive(4, 24, 4, move |inner| {
            let name = prop::sample::select(names.to_vec());
            let member = (name, spaces.clone(), inner.clone())
                .prop_map(|(name, space, value)| format!("{name}{space}:{space}{value}{space}"));
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
                prop::collection::vec(member, 0..5)
                    .prop_map(|all| format!("{{{}}}", all.join(","))),
            ]
        });
        value.prop_map(|text| format!(" {text} "))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_text_is_taken_and_refused_as_if_it_were_read_whole(
            text in texts(),
            at in any::<prop::sample::Index>(),
            other in prop::sample::select(vec!['"', '\\', ',', ':', '{', '}', '[', ']', '0', 'u', '\0', ' ']),
        ) {
            check(&text);
            let at = text.floor_char_boundary(at.index(text.len()));
            let (before, after) = text.split_at(at);
            check(before);
            check(&format!("{before}{other}{after}"));
            let mut rest = after.chars();
            rest.next();
            check(&format!("{before}{other}{}", rest.as_str()));
        }
    }

    #[test]
    fn the_last_of_a_name_counts_and_depth_is_no_limit() {
        for text in [
            r#"{"status":1,"status":{"run_id":2},"a":{"status":3},"status":4}"#,
            r#"{"run_id":1,"\u0073tatus":2,"7":3}"#,
            r#"[{"status":1}]"#,
            r#"{"status":1,}"#,
            r#"{"status":1,"a":[1,]}"#,
            r#"{"status":1} 2"#,
            r#"{"status":1"#,
            r#"{"a":"\ud83d\ude0g"}"#,
            "\u{feff}{}",
            "\"status\"",
            "{}",
            "",
        ] {
            check(text);
        }
        let depth = 300_000;
        let deep = "[{\"a\":".repeat(depth);
        check(&format!("{{\"b\":{deep}0{},\"status\":1}}", "}]".repeat(depth)));
        check(&deep);
    }
}
