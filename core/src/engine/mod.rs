//! When, in which order, how often and how long: the one driver behind every language.

mod advance;
mod alive;
mod attempt;
mod calls;
mod direct;
mod document;
mod exit;
mod here;
mod host;
mod invoke;
mod known;
mod loaded;
mod moment;
mod options;
mod parallelism;
mod pass;
mod plugin_run;
mod prints;
mod records;
mod roster;
mod time;
mod wire;
mod workers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use advance::AdvanceResult;
pub use document::Document;
pub use here::on_host_thread;
pub use host::{
    AbortReason, AttemptRequest, CallId, Completion, Host, HostFailure, Notice, PluginModule,
    Request, WorkerCommand,
};
pub use invoke::Invocation;
pub use moment::Moment;
pub use options::{
    AdvanceOptions, DEFAULT_CONCURRENCY, InvokeOptions, Isolation, PathOverrides, Witness,
};
pub use prints::Prints;
pub use roster::{LoadReport, LoadedPlugin, Roster};
pub use time::Clock;

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
    prints: prints::OpenPrints,
    parallelism: parallelism::Parallelism,
    active: exit::Active,
    open_runs: records::OpenRuns,
    workers: workers::Operations,
    memory: loaded::Memory,
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
            calls: calls::Calls::default(),
            host,
            clock,
            prints: prints::OpenPrints::default(),
            parallelism: parallelism::Parallelism::default(),
            active: exit::Active::default(),
            open_runs: records::OpenRuns::default(),
            workers: workers::Operations::default(),
            memory: loaded::Memory::default(),
            invocations: AtomicU64::new(0),
        })
    }

    /// Takes the host's answer to a call. Late and repeated answers are dropped.
    pub fn complete(&self, call: CallId, completion: Completion) {
        self.calls.complete(call, completion);
    }

    /// [`Engine::complete`] with an answer that is worked out on the thread which waits for it.
    pub fn complete_with(
        &self,
        call: CallId,
        completion: impl FnOnce() -> Completion + Send + 'static,
    ) {
        self.calls.complete_with(call, completion);
    }

    /// Asks whether plugin code may run for a call, right before it does: its time counts from here.
    /// `false` means that nobody waits any more, and that the code must not run.
    pub fn begin(&self, call: CallId) -> bool {
        self.calls.begin(call)
    }

    /// Where the prints of an invocation go whose request says `prints`. Asked for when its code is
    /// about to run; `None` once nobody waits for it any more.
    pub fn prints(&self, invocation: u64) -> Option<Arc<Prints>> {
        self.prints.get(invocation)
    }

    /// What the engine's clock shows.
    pub fn now(&self) -> crate::clock::Instant {
        self.clock.now()
    }

    fn next_invocation(&self) -> u64 {
        self.invocations.fetch_add(1, Ordering::Relaxed) + 1
    }
}
