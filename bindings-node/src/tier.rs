//! Attention tiers, for hosts that show them.

use napi::{Error, Result, Status};
use napi_derive::napi;
use warpline_core::clock::Instant;
use warpline_core::decide;
use warpline_core::schema::manifest::Tier;

use crate::text::value;

/// The tier of an operator who last interacted at this instant (JSON: a string or `null`).
#[napi(catch_unwind)]
pub fn tier(last_interaction_at_json: String, now_ms: f64) -> Result<String> {
    let last = value(&last_interaction_at_json)?;
    let now = instant(now_ms).ok_or_else(|| invalid("the instant"))?;
    Ok(decide::tier::tier(last.as_string(), now).as_str().to_owned())
}

/// Whether a plugin of this `min_tier` may run in this tier.
#[napi(catch_unwind)]
pub fn is_eligible_for_tier(current: String, min_tier: String) -> Result<bool> {
    let tier = |name: &str| Tier::from_name(name).ok_or_else(|| invalid("the tier"));
    Ok(decide::tier::is_eligible(tier(&current)?, tier(&min_tier)?))
}

/// Idle milliseconds for a reader.
#[napi(catch_unwind)]
#[allow(clippy::cast_possible_truncation)] // what lies beyond the range is shown as its end
pub fn format_idle(ms: f64) -> String {
    decide::tier::format_idle(ms as i64)
}

/// The instant this many milliseconds after the epoch, as a JavaScript `Date` holds it.
#[allow(clippy::cast_possible_truncation)] // checked to be whole and within the range
fn instant(ms: f64) -> Option<Instant> {
    (ms.trunc() == ms).then(|| Instant::from_ms(ms as i64)).flatten()
}

fn invalid(what: &str) -> Error {
    Error::new(Status::InvalidArg, format!("{what} is not valid"))
}
