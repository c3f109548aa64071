//! The host contract over mailboxes: the engine's threads leave messages, Python threads fetch them.
//! Calls that are started wait in a queue of their own, for the threads that run plugin code.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyList;
use warpline_core::cli::progress;
use warpline_core::engine::{AbortReason, CallId, Host, Notice, Request, WorkerCommand};
use warpline_core::home::plugins::Language;
use warpline_core::json::JsString;
use warpline_core::worker::WorkerHost;

use crate::mailbox::{Mailbox, Taken};
use crate::operation::{Operation, Told};
use crate::process;
use crate::starts::{Next, Starts};

/// What an operation with this number tells whose caller does not wait for it on a thread.
pub(crate) struct HostMessage(pub(crate) u64, pub(crate) Told);

/// What waits for threads of Python.
pub(crate) struct Inbox {
    /// Read by the one dispatching thread.
    pub(crate) messages: Mailbox<HostMessage>,
    /// Read by threads that run plugin code.
    pub(crate) starts: Starts,
}

impl Inbox {
    pub(crate) fn new() -> Self {
        Self { messages: Mailbox::new(), starts: Starts::new() }
    }

    /// Ends it: there will be no more.
    pub(crate) fn close(&self) {
        self.messages.close();
        self.starts.close();
    }
}

/// Gives a thread for plugin code what it does next, after the turn `back`, if any, as turn, call, kind and
/// text: starts a call, for which the text is the request; aborts one, the text being the reason; or
/// starts one more thread. Gives it nothing where it ends.
pub(crate) fn next_start(
    inbox: &Inbox,
    back: Option<u64>,
    given: &Bound<'_, PyList>,
) -> PyResult<()> {
    // Most calls are short, and the next one is there: nobody else needs the lock then.
    let next = match inbox.starts.poll(back) {
        Some(next) => next,
        None => process::detached(given.py(), || inbox.starts.take()).unwrap_or(Next::End),
    };
    match next {
        Next::Run(turn, call, request) => given.append((turn, call, "start", request)),
        Next::Abort(turn, call, reason) => given.append((turn, call, "abort", reason.as_str())),
        Next::Relief => given.append((0, 0, "relief", "")),
        Next::End => Ok(()),
    }
}

/// Waits for the next `(operation, what, json)` of what a posted operation tells. `None` once there will be no more.
pub(crate) fn receive(
    py: Python<'_>,
    inbox: &Inbox,
) -> PyResult<Option<(u64, &'static str, String)>> {
    loop {
        match process::detached(py, || inbox.messages.take(Duration::from_secs(3600))) {
            Some(Taken::Message(HostMessage(operation, told))) => {
                let (what, json) = told.parts();
                return Ok(Some((operation, what, json)));
            }
            Some(Taken::Nothing) => {}
            // Who comes when the interpreter ends already has missed nothing.
            Some(Taken::Closed) | None => return Ok(None),
        }
    }
}

/// In a worker, the engine's messages come from another process.
impl WorkerHost for Inbox {
    fn start(&self, call: CallId, request: String) {
        self.starts.put(call, request);
    }

    fn abort(&self, call: CallId, reason: AbortReason) {
        self.starts.abort(call, reason);
    }
}

/// Leaves what the engine asks where Python fetches it.
pub(crate) struct PythonHost {
    pub(crate) inbox: Arc<Inbox>,
    operations: Mutex<HashMap<u64, Arc<Operation>>>,
    /// As Python said last.
    worker: Mutex<Option<WorkerCommand>>,
}

impl PythonHost {
    pub(crate) fn new() -> Self {
        Self {
            inbox: Arc::new(Inbox::new()),
            operations: Mutex::default(),
            worker: Mutex::default(),
        }
    }

    /// Says how a process of the same kind as this one is started, if that is possible.
    pub(crate) fn set_worker(&self, command: Option<WorkerCommand>) {
        *self.worker.lock().unwrap_or_else(PoisonError::into_inner) = command;
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
    fn language(&self) -> Language {
        Language::Python
    }

    fn keeps_handlers(&self) -> bool {
        true
    }

    fn hears(&self, operation: u64) -> bool {
        self.operation(operation).is_some_and(|operation| operation.listens)
    }

    fn worker(&self) -> Option<WorkerCommand> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn minds_prints(&self) -> bool {
        progress::is_shown()
    }

    fn before_print(&self, text: &JsString) {
        if let Some(last) = text.units().last() {
            progress::before_print(last == u16::from(b'\n'));
        }
    }

    fn start(&self, call: CallId, operation: u64, request: Request) {
        self.inbox.starts.put(call, request.to_text(operation));
    }

    fn abort(&self, call: CallId, reason: AbortReason) {
        self.inbox.starts.abort(call, reason);
    }

    fn notify(&self, operation: u64, notice: Notice) {
        if let Some(operation) = self.operation(operation) {
            operation.notify(notice);
        }
    }
}
