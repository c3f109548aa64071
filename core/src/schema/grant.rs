//! `.session-approval`: a human's yes to declared side effects for as long as it lasts.

use crate::json::{JsString, Map, Value, parse};

/// Which plugins a grant covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scopes {
    /// Every plugin, written `"*"`. A list that holds `*` is not this.
    All,
    /// These plugin directories, sorted and unique.
    Plugins(Vec<JsString>),
}

/// A grant as written. Clocks stay text: what does not parse is decided where they are compared.
///
/// An older or hand-written file may lack `granted_at`; it is then empty text, which no clock
/// reads as an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// When the latest yes was given, ISO 8601.
    pub granted_at: JsString,
    /// When the window began, ISO 8601: the ceiling counts from here.
    pub first_granted_at: JsString,
    /// The last instant at which it holds, ISO 8601.
    pub expires_at: JsString,
    /// What it covers.
    pub scopes: Scopes,
}

impl Grant {
    /// Reads the text of a grant file. `None` means that the file is corrupt and so grants nothing.
    ///
    /// Only what says how far and how long the grant reaches can make it corrupt: `scopes` (`"*"`
    /// or a list of names) and `expires_at`. `first_granted_at` falls back to `granted_at`.
    pub fn parse_lenient(text: &str) -> Option<Self> {
        let value = parse(text).ok()?;
        let scopes = match value.get("scopes")? {
            Value::String(all) if *all == "*" => Scopes::All,
            Value::Array(names) => {
                let names = names.as_slice().iter().map(|name| name.as_string().cloned());
                Scopes::of(names.collect::<Option<_>>()?)
            }
            _ => return None,
        };
        let expires_at = value.get("expires_at")?.as_string()?.clone();
        // A clock of another type is as unreadable as one that holds no date.
        let clock = |key| value.get(key).filter(|clock| !clock.is_null());
        let as_text = |clock: &Value| clock.as_string().cloned().unwrap_or_default();
        let granted_at = clock("granted_at").map(as_text).unwrap_or_default();
        let first_granted_at = clock("first_granted_at").map(as_text);
        Some(Self {
            first_granted_at: first_granted_at.unwrap_or_else(|| granted_at.clone()),
            granted_at,
            expires_at,
            scopes,
        })
    }

    /// The document, in the order that the file has.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("granted_at", &self.granted_at);
        map.insert("first_granted_at", &self.first_granted_at);
        map.insert("expires_at", &self.expires_at);
        map.insert("scopes", self.scopes.to_value());
        map.into()
    }
}

impl Scopes {
    /// These plugin directories, sorted and unique. `*` in the list is a name like any other.
    pub fn of(mut names: Vec<JsString>) -> Self {
        names.sort();
        names.dedup();
        Self::Plugins(names)
    }

    /// `"*"` or the list of names.
    pub fn to_value(&self) -> Value {
        match self {
            Self::All => "*".into(),
            Self::Plugins(names) => names.clone().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> Option<Scopes> {
        let text = format!(r#"{{"expires_at":"2026-08-20T13:30:00.000Z","scopes":{text}}}"#);
        Grant::parse_lenient(&text).map(|grant| grant.scopes)
    }

    #[test]
    fn only_the_string_is_the_wildcard_and_other_shapes_are_corrupt() {
        assert_eq!(scopes(r#""*""#), Some(Scopes::All));
        assert_eq!(scopes(r#"["*"]"#), Some(Scopes::Plugins(vec!["*".into()])));
        let sorted = ["a", "b"].map(JsString::from).to_vec();
        assert_eq!(scopes(r#"["b","a","b"]"#), Some(Scopes::Plugins(sorted)));
        for corrupt in ["null", r#""a""#, "{}", r#"["a",1]"#, "true"] {
            assert_eq!(scopes(corrupt), None, "{corrupt}");
        }
    }

    #[test]
    fn a_grant_without_a_textual_expiry_is_corrupt() {
        for text in ["", "[]", r#"{"scopes":"*"}"#, r#"{"scopes":"*","expires_at":1}"#] {
            assert_eq!(Grant::parse_lenient(text), None, "{text}");
        }
    }

    #[test]
    fn the_anchor_falls_back_to_the_latest_grant_only_when_it_is_left_out() {
        let read = |clocks: &str| {
            let text = format!(r#"{{{clocks}"expires_at":"x","scopes":[]}}"#);
            let grant = Grant::parse_lenient(&text).expect("a grant");
            (grant.granted_at.to_text(), grant.first_granted_at.to_text())
        };
        let pair = |granted: &str, first: &str| (granted.to_owned(), first.to_owned());
        assert_eq!(read(r#""granted_at":"g","#), pair("g", "g"));
        assert_eq!(read(r#""granted_at":"g","first_granted_at":null,"#), pair("g", "g"));
        assert_eq!(read(r#""granted_at":"g","first_granted_at":"f","#), pair("g", "f"));
        assert_eq!(read(r#""granted_at":"g","first_granted_at":5,"#), pair("g", ""));
        assert_eq!(read(""), pair("", ""));
    }
}
