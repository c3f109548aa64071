//! The engine against a fake host, on a clock that moves only when somebody waits.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod advance;
mod alive;
mod artifacts;
mod capabilities;
mod concurrency;
mod config;
mod crash;
mod denials;
mod dependencies;
mod exit;
mod gates;
mod handoffs;
mod invocation;
mod manifests;
mod meddling;
mod outputs;
mod profiles;
mod quiet_hours;
mod records;
mod redaction;
mod refusals;
mod retention;
mod roots;
mod secrets;
mod sizes;
mod support;
mod together;
