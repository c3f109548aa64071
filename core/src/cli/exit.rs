//! The exit codes.

/// It was done, and nothing failed.
pub const DONE: i32 = 0;
/// Something failed or was refused.
pub const FAILED: i32 = 1;
/// The advance could not run, and nothing was written; a scheduler may try again later.
pub const COULD_NOT_RUN: i32 = 75;
/// A signal ended it.
pub const INTERRUPTED: i32 = 130;
