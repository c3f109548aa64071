//! `last-successful-advance`: what a monitor outside watches, to notice that nothing advances any more.

use crate::clock::Instant;
use crate::error::Result;
use crate::json::{JsString, Map, Value};
use crate::schema::run_log::AdvanceStatus;

use super::{Paths, files};

/// The last advance that returned. The time of the file is what a monitor goes by; the
/// document tells a person more.
#[derive(Clone, Debug, PartialEq)]
pub struct LastAdvance {
    /// The run.
    pub run_id: JsString,
    /// When it ended.
    pub completed_at: Instant,
    /// How it ended.
    pub status: AdvanceStatus,
    /// Why it ran nothing: `quiet_hours`.
    pub skipped_reason: Option<&'static str>,
    /// Results that this pass parked.
    pub gated: usize,
    /// Parked results that wait for an answer after it.
    pub pending_gates: usize,
    /// Plugins that failed, those that did not load included.
    pub failed: usize,
    /// Run logs that it removed because they were too old.
    pub pruned: usize,
}

impl LastAdvance {
    /// The document, with every key.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("run_id", &self.run_id);
        map.insert("completed_at", self.completed_at.to_iso());
        map.insert("status", self.status);
        map.insert("skipped_reason", self.skipped_reason);
        map.insert("gated", count(self.gated));
        map.insert("pending_gates", count(self.pending_gates));
        map.insert("failed", count(self.failed));
        map.insert("pruned", count(self.pruned));
        map.into()
    }
}

#[allow(clippy::cast_precision_loss)]
fn count(number: usize) -> f64 {
    number as f64
}

/// Replaces the document in one step.
///
/// # Errors
///
/// [`Error::File`](crate::error::Error::File).
pub fn write(paths: &Paths, last: &LastAdvance) -> Result<()> {
    files::replace(&paths.home, &paths.last_advance(), last.to_value().to_pretty().as_bytes())
}
