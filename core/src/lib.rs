//! The engine of warpline.
//!
//! Rules are pure and live in [`schema`] and [`decide`]; [`home`] is the only module that touches
//! the files of a home; [`engine`] says when, in which order and how often; [`answers`] takes a
//! human's yes and no; [`cli`] turns verbs into reports. `docs/architecture.md` shows the whole.

pub mod answers;
pub mod cli;
pub mod clock;
pub mod decide;
pub mod engine;
pub mod error;
pub mod home;
pub mod json;
pub mod schema;
#[cfg(feature = "typescript")]
pub mod typescript;
