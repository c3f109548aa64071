//! The version of the engine, for the package around it to compare with its own.

use napi_derive::napi;
use warpline_core::worker::protocol::VERSION;

/// The version that this engine was released in.
#[napi(catch_unwind)]
pub fn version() -> &'static str {
    VERSION
}
