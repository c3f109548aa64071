//! `preferences.json`: the operator's choices. Anything unknown or ill-formed is refused.

/// Minutes of the local day, 0 to 1439.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// First quiet minute.
    pub start: u32,
    /// First minute that is not quiet any more.
    pub end: u32,
}

/// The preferences, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Preferences {
    /// How many messages a day may be sent; an integer of at least 0.
    pub max_sends_per_day: f64,
    /// Whether autonomous results are parked as well.
    pub review_gate: bool,
    /// When no plugin runs.
    pub quiet_hours: Option<QuietHours>,
}
