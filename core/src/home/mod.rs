//! The files of a home. Nothing outside of this module opens one of them.
//!
//! One file here owns one file (or kind of file) there; [`files`] holds the ways in which any of
//! them is read, replaced, extended or removed, and says what each survives. What a document means
//! is decided in [`schema`](crate::schema) and [`decide`](crate::decide).

pub mod acknowledgements;
mod append;
pub mod approval;
pub mod config;
pub mod days;
mod disk;
pub mod events;
#[cfg(feature = "fault-injection")]
pub mod faults;
pub mod files;
pub mod fold;
mod footprint;
pub mod handoffs;
pub mod history;
pub mod journal;
pub mod jsonl;
pub mod last_advance;
pub mod leftovers;
mod lines;
pub mod lock;
pub mod mention;
mod paths;
mod place;
pub mod plugins;
pub mod pointers;
pub mod preferences;
pub mod run_id;
pub mod runs;
pub mod setup;
pub mod shared;
pub mod state;
mod transcript;

pub use paths::{Environment, Paths, resolve, warpline_home, written_forms};
