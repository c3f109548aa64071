//! The sign that an advance returned, for a monitor that must notice when none does any more.

use crate::home::last_advance::{self, LastAdvance};
use crate::schema::run_log::{EntryStatus, PluginLogEntry};

use super::pass::Facts;
use super::{AdvanceResult, Engine, Notice};

impl Engine {
    /// Leaves the sign of an advance that returns, an interrupted one too: its status tells a monitor
    /// that is to notice when every advance is cut short. The run lock is still held.
    pub(super) fn show_alive(
        &self,
        facts: &Facts,
        result: &AdvanceResult,
        skipped_reason: Option<&'static str>,
        pending_gates: usize,
    ) {
        let failed = |entry: &&PluginLogEntry| entry.status == EntryStatus::Failed;
        let last = LastAdvance {
            run_id: result.run_id.clone(),
            completed_at: self.clock.now(),
            status: result.status,
            skipped_reason,
            gated: result.gated_plugins.len(),
            pending_gates,
            failed: result.plugin_entries.iter().filter(failed).count(),
            pruned: facts.pruned,
        };
        // The pass itself is on record; that the sign grows old is what the monitor tells.
        if let Err(error) = last_advance::write(&facts.paths, &last) {
            self.host.notify(facts.operation, Notice::Warning { text: error.to_string() });
        }
    }
}
