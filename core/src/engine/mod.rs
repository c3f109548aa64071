//! When, in which order, how often and how long: the one driver behind every language.

mod advance;
mod attempt;
mod calls;
mod exit;
mod host;
mod invoke;
mod options;
mod parallelism;
mod pass;
mod plugin_run;
mod prints;
mod records;
mod roster;
mod time;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use advance::AdvanceResult;
pub use host::{
    AbortReason, AttemptRequest, CallId, Completion, Host, HostFailure, Notice, PluginModule,
    Request,
};
pub use invoke::Invocation;
pub use options::{AdvanceOptions, DEFAULT_CONCURRENCY, InvokeOptions, PathOverrides, Witness};
pub use roster::{LoadReport, LoadedPlugin, Roster};
pub use time::Clock;

use crate::json::JsString;
use crate::schema::closed_set;
use attempt::Ending;
use time::random_sample;

closed_set! {
    /// Where a plugin stands in an advance.
    PluginState {
        /// Its level was not reached.
        Pending = "pending",
        /// Its handler is running.
        Running = "running",
        /// Its result waits for a human.
        Gated = "gated",
        /// A human accepted its result.
        Approved = "approved",
        /// Its result was accepted.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was not due.
        Skipped = "skipped",
    }
}

/// The engine of one host.
///
/// It holds no files open and no state between calls apart from what bounds concurrency: every
/// advance reads the home anew.
pub struct Engine {
    host: Arc<dyn Host>,
    clock: Clock,
    calls: calls::Calls,
    prints: prints::Prints,
    parallelism: parallelism::Parallelism,
    active: exit::Active,
    open_runs: records::OpenRuns,
    invocations: AtomicU64,
}

impl Engine {
    /// An engine that runs plugin code in `host`, on the system clock.
    pub fn new(host: Arc<dyn Host>) -> Arc<Self> {
        Self::with_clock(host, Clock::System)
    }

    /// An engine on another clock.
    pub fn with_clock(host: Arc<dyn Host>, clock: Clock) -> Arc<Self> {
        Arc::new(Self {
            calls: calls::Calls::new(host.clone()),
            host,
            clock,
            prints: prints::Prints::default(),
            parallelism: parallelism::Parallelism::default(),
            active: exit::Active::default(),
            open_runs: records::OpenRuns::default(),
            invocations: AtomicU64::new(0),
        })
    }

    /// Takes the host's answer to a call. Late and repeated answers are dropped.
    pub fn complete(&self, call: CallId, completion: Completion) {
        self.calls.complete(call, completion);
    }

    /// Asks whether plugin code may run for a call, right before it does: its time counts from here.
    /// `false` means that nobody waits any more, and that the code must not run.
    pub fn begin(&self, call: CallId) -> bool {
        self.calls.begin(call)
    }

    /// Takes what plugin code printed during an invocation whose request asked for it.
    pub fn print(&self, invocation: u64, text: &JsString) {
        self.prints.print(invocation, text);
    }

    /// What the engine's clock shows.
    pub fn now(&self) -> crate::clock::Instant {
        self.clock.now()
    }

    fn next_invocation(&self) -> u64 {
        self.invocations.fetch_add(1, Ordering::Relaxed) + 1
    }
}
