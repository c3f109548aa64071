//! The engine against a fake host, on a clock that moves only when somebody waits.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod advance;
mod concurrency;
mod crash;
mod denials;
mod dependencies;
mod exit;
mod gates;
mod invocation;
mod meddling;
mod outputs;
mod profiles;
mod quiet_hours;
mod records;
mod roots;
mod support;
