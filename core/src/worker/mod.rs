//! Plugin code in a process of its own: what the engine and such a worker say to each other.
//!
//! A worker is a host that lives in another process. It runs the plugins of the language that the
//! program which drives the engine does not speak, or one isolated attempt.

mod link;
pub mod protocol;
pub mod python;

pub use link::{Link, WorkerHost};
