//! The files of a home. Nothing outside of this module opens one of them.
//!
//! One file here owns one file (or kind of file) there; [`files`] holds the ways in which any of
//! them is read, replaced, extended or removed, and says what each survives. What a document means
//! is decided in [`schema`](crate::schema) and [`decide`](crate::decide).

pub mod acknowledgements;
pub mod approval;
pub mod config;
pub mod events;
pub mod files;
mod fold;
pub mod journal;
pub mod jsonl;
pub mod lock;
mod paths;
pub mod plugins;
pub mod preferences;
pub mod run_id;
pub mod runs;
pub mod setup;
pub mod state;
mod transcript;

pub use paths::{Environment, Paths, resolve, warpline_home};
