//! The rules of the engine: pure, without clock, disk or randomness.
//!
//! Instants, random samples and file text come in as arguments; a verdict carries its reason and
//! the facts behind it. What a plugin or operator wrote is looked up by own key alone.

pub mod attempt;
pub mod capability;
pub mod crash;
pub mod denial;
pub mod dueness;
pub mod freshness;
pub mod gate;
pub mod grant;
pub mod levels;
pub mod merge;
pub mod quiet;
pub mod record;
pub mod retention;
pub mod retry;
pub mod tasks;
pub mod tier;

use crate::clock::Instant;
use crate::json::JsString;

#[cfg(test)]
pub(crate) mod fixtures;

/// The instant that a clock of a document names; `None` where it is not an ECMA-262 date-time.
pub(crate) fn instant(text: &JsString) -> Option<Instant> {
    Instant::parse(text.as_str()?)
}

/// A span or instant in milliseconds as the number that JavaScript has; exact, `Date` ends at 2^53.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn number(ms: i64) -> f64 {
    ms as f64
}
