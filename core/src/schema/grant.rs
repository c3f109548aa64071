//! `.session-approval`: a human's yes to declared side effects (runtime spec, section 9).

use crate::json::JsString;

/// Which plugins a grant covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scopes {
    /// Every plugin, written `"*"`. A list that holds `*` is not this.
    All,
    /// These plugin directories, sorted and unique.
    Plugins(Vec<JsString>),
}

/// A grant as written. Clocks stay text: what does not parse is decided where they are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are those of the runtime spec, by name
pub struct Grant {
    pub granted_at: JsString,
    pub first_granted_at: JsString,
    pub expires_at: JsString,
    pub scopes: Scopes,
}
