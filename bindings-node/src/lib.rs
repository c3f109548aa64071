//! The Node.js binding of the warpline engine.
//!
//! It converts, calls and maps errors; nothing is decided here. Text crosses the boundary: a value is
//! JSON written by the side that has it, so that key order, numbers and unpaired surrogates survive.
//! Synchronous functions catch unwinding. Long operations are synchronous functions that return a
//! promise over clones of shared state: a `&self` held across an await is freed under the future when
//! a worker thread ends.

// Under test the macro registers nothing with Node, so that nothing seems to be used.
#![cfg_attr(test, allow(dead_code))]

mod drive;
mod engine;
mod erase;
mod event;
mod file;
mod host;
mod leave;
mod prints;
mod report;
mod schema;
mod text;
mod tier;
mod variables;
mod version;
mod worker;
