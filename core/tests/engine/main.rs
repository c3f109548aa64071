//! The engine against a fake host, on a clock that moves only when somebody waits.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod advance;
mod invocation;
mod support;
