//! Names that every JavaScript object inherits, and that therefore name no plugin.

use crate::json::JsString;

/// Every own property name of `Object.prototype`.
const MEMBERS: [&str; 12] = [
    "constructor",
    "__defineGetter__",
    "__defineSetter__",
    "hasOwnProperty",
    "__lookupGetter__",
    "__lookupSetter__",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toString",
    "valueOf",
    "__proto__",
    "toLocaleString",
];

/// Whether JavaScript objects inherit a property of this name.
///
/// Such a name in a record reaches an inherited member, or the prototype itself, in programs that
/// read the files of a home with plain objects.
pub fn is_prototype_member(name: &JsString) -> bool {
    MEMBERS.iter().any(|member| *name == *member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inherited_names_are_told_from_names_that_only_look_like_them() {
        for name in MEMBERS {
            assert!(is_prototype_member(&name.into()), "{name}");
        }
        for name in ["prototype", "Constructor", "", "toString ", "hasOwn", "__proto"] {
            assert!(!is_prototype_member(&name.into()), "{name}");
        }
    }
}
