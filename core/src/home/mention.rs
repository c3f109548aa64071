//! Whether a text can tell of a name, without reading it as JSON.

use crate::json::{JsString, Value};

/// A name as it stands in JSON text that escapes no more than it must, as warpline writes it.
///
/// Text without it is about something else; text with it has still to be read. A name that JSON
/// may spell in several ways is taken to be in every text.
#[derive(Clone, Debug)]
pub struct Mention(Option<String>);

impl Mention {
    /// Of this name.
    pub fn of(name: &JsString) -> Self {
        let spelt = Value::from(name).to_compact();
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"\\/<>&".contains(&byte);
        Self(spelt.bytes().all(plain).then_some(spelt))
    }

    /// Whether the text may tell of it.
    pub fn is_in(&self, text: &str) -> bool {
        self.0.as_ref().is_none_or(|spelt| text.contains(spelt.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_that_cannot_tell_of_a_name_is_passed_over() {
        let plain = Mention::of(&"digest-sender".into());
        assert!(plain.is_in(r#"{"plugin":"digest-sender"}"#));
        assert!(!plain.is_in(r#"{"plugin":"digest-sender-2"}"#) && !plain.is_in(""));
        for name in ["監視", "a\"b", "a\\b", "a/b", "a b", "\u{1b}"] {
            assert!(Mention::of(&name.into()).is_in("{}"), "{name:?} may be spelt otherwise");
        }
    }
}
