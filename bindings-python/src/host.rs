//! The host contract over mailboxes: the engine's threads leave messages, Python threads fetch them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpline_core::engine::{AbortReason, CallId, Host, Notice, Request};
use warpline_core::home::plugins::Language;

use crate::mailbox::Mailbox;
use crate::operation::Operation;

/// What plugin threads are asked for.
pub(crate) enum HostMessage {
    /// Start a call: the request as JSON.
    Start(CallId, String),
    /// Abort a call: the reason's name.
    Abort(CallId, &'static str),
}

/// Leaves what the engine asks where Python fetches it.
pub(crate) struct PythonHost {
    /// Read by the one dispatching thread.
    pub(crate) messages: Mailbox<HostMessage>,
    operations: Mutex<HashMap<u64, Arc<Operation>>>,
}

impl PythonHost {
    pub(crate) fn new() -> Self {
        Self { messages: Mailbox::new(), operations: Mutex::default() }
    }

    fn operations(&self) -> MutexGuard<'_, HashMap<u64, Arc<Operation>>> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes an operation known under its number. False for a number that is taken.
    pub(crate) fn enter(&self, number: u64, operation: &Arc<Operation>) -> bool {
        let mut operations = self.operations();
        if operations.contains_key(&number) {
            return false;
        }
        operations.insert(number, operation.clone());
        true
    }

    /// The operation with this number.
    pub(crate) fn operation(&self, number: u64) -> Option<Arc<Operation>> {
        self.operations().get(&number).cloned()
    }

    /// Forgets an operation.
    pub(crate) fn forget(&self, number: u64) {
        self.operations().remove(&number);
    }

    /// Every operation that has not been forgotten.
    pub(crate) fn all(&self) -> Vec<Arc<Operation>> {
        self.operations().values().cloned().collect()
    }
}

impl Host for PythonHost {
    fn name(&self) -> &'static str {
        "Python"
    }

    fn language(&self) -> Language {
        Language::Python
    }

    fn start(&self, call: CallId, operation: u64, request: Request) {
        let request = request.to_value(operation).to_compact();
        self.messages.put(HostMessage::Start(call, request));
    }

    fn abort(&self, call: CallId, reason: AbortReason) {
        let reason = match reason {
            AbortReason::Timeout => "timeout",
            AbortReason::Cancelled => "cancelled",
            AbortReason::Dropped => "dropped",
        };
        self.messages.put(HostMessage::Abort(call, reason));
    }

    fn notify(&self, operation: u64, notice: Notice) {
        if let Some(operation) = self.operation(operation) {
            operation.notify(notice.to_value().to_compact());
        }
    }
}
