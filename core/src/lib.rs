#![doc = include_str!("../README.md")]
//!
//! # The modules
//!
//! Rules are pure and live in [`schema`] and [`decide`]; [`home`] is the only module that touches
//! the files of a home; [`engine`] says when, in which order and how often; [`answers`] takes a
//! human's yes and no; [`source`] reads plugins without running them; [`cli`] turns verbs into
//! reports; [`worker`] talks to plugin code in a process of its own. What a human sees of a failure is
//! in [`error`], values and their text in [`json`], instants in [`clock`].

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
pub mod source;
#[cfg(feature = "typescript")]
pub mod typescript;
pub mod worker;
