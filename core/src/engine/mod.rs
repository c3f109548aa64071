//! When, in which order, how often and how long: the one driver behind every language.

mod host;

pub use host::{
    AbortReason, AttemptRequest, CallId, Completion, Host, HostFailure, Notice, PluginModule,
    Request,
};

use crate::schema::closed_set;

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
