//! Plugins in processes of their own: real ones, which do what plugin code may do to its process.

#[allow(dead_code, unused_imports)]
#[path = "../engine/support.rs"]
mod engine_support;
mod support;

mod aborts;
mod deaths;
mod ends;
mod finding;
mod hostile;
mod isolation;
mod prints;
mod routing;
