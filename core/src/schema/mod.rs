//! The shapes of all documents: each is read into a type or refused with every fault it has. No file,
//! clock or environment is asked.
//!
//! Every document has a type, `Type::parse(&Value) -> Result<Type, Vec<Issue>>` (all faults at once,
//! defaults filled in, unknown keys dropped where the file does not keep them) and `to_value()`, whose
//! key order is the one the files have.

pub mod acknowledgement;
#[cfg(test)]
mod agreement;
pub mod builders;
pub mod config;
pub mod engine_state;
pub mod event;
pub mod grant;
pub mod issue;
pub mod json_schema;
pub mod manifest;
pub mod manifest_source;
pub mod output;
pub mod preferences;
pub mod prototype;
pub mod redact;
pub mod run_artifact;
pub mod run_log;
pub mod settings;
mod shape;
pub mod skill_result;
mod validate;

pub use issue::{Issue, PathPart};
pub use prototype::is_prototype_member;
pub use validate::{SCHEMA_NAMES, validate_by_name};

/// What every closed set can do, for code that reads any of them.
pub(crate) trait ClosedSet: Copy + 'static {
    /// Every member, in the documented order.
    fn members() -> &'static [Self];

    /// The name in files.
    fn name(self) -> &'static str;

    /// The member with this name.
    fn find(name: &str) -> Option<Self>;
}

/// A closed set of names: each member has one spelling, in files and in every language.
///
/// Generates the enum, `ALL`, `as_str`, `meaning`, `from_name` and `Display`. The comment of a member is
/// its meaning, also for readers of the documentation.
macro_rules! closed_set {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $meaning:literal])+ $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $meaning])+ $variant,)+ }

        impl $name {
            /// Every member, in the documented order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in files.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// What the member stands for, one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($meaning),+).trim_ascii(),)+ }
            }

            /// The member with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(self.as_str())
            }
        }

        impl $crate::schema::ClosedSet for $name {
            fn members() -> &'static [Self] {
                Self::ALL
            }

            fn name(self) -> &'static str {
                self.as_str()
            }

            fn find(name: &str) -> Option<Self> {
                Self::from_name(name)
            }
        }

        impl From<$name> for $crate::json::Value {
            fn from(member: $name) -> Self {
                Self::from(member.as_str())
            }
        }
    };
}
pub(crate) use closed_set;
