//! The engine of warpline.
//!
//! Rules are pure and live in [`schema`] and [`decide`]; [`home`] is the only module that touches
//! the files of a home; [`engine`] says when, in which order and how often; [`answers`] takes a
//! human's yes and no; [`cli`] turns verbs into reports. `docs/architecture.md` shows the whole.

#![forbid(unsafe_code)]
// No panic crosses a border, and what comes from outside decides neither an index nor an unwrap.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::panic,
        clippy::unreachable
    )
)]

pub mod answers;
pub mod cli;
pub mod clock;
pub mod decide;
pub mod engine;
pub mod error;
pub mod home;
pub mod json;
mod nearest;
pub mod schema;
#[cfg(feature = "typescript")]
pub mod typescript;
