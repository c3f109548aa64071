//! Calls to the host that have not been answered yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::{AbortReason, CallId, Completion, Host, Request};

/// The open calls of one engine.
pub(super) struct Calls {
    host: Arc<dyn Host>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: CallId,
    waiting: HashMap<CallId, Waiting>,
}

/// How to reach whoever waits for an answer.
struct Waiting {
    answer: oneshot::Sender<Completion>,
    /// Taken when plugin code begins.
    begun: Option<oneshot::Sender<()>>,
}

impl Calls {
    pub(super) fn new(host: Arc<dyn Host>) -> Self {
        Self { host, open: Mutex::default() }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Open) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Hands the answer to whoever waits for it; an answer nobody waits for is dropped.
    pub(super) fn complete(&self, call: CallId, completion: Completion) {
        let waiting = self.with(|open| open.waiting.remove(&call));
        if let Some(waiting) = waiting {
            // The receiver may be gone a moment earlier; then this answer is late as well.
            let _late = waiting.answer.send(completion);
        }
    }

    /// Marks that plugin code begins to run for this call. Says no when nobody waits any more: the
    /// code must not run then.
    pub(super) fn begin(&self, call: CallId) -> bool {
        self.with(|open| match open.waiting.get_mut(&call) {
            None => false,
            Some(waiting) => {
                if let Some(begun) = waiting.begun.take() {
                    let _given_up = begun.send(());
                }
                true
            }
        })
    }

    /// Starts a call. Dropping what is returned before the answer came aborts the call.
    pub(super) fn start(&self, operation: u64, request: Request) -> OpenCall<'_> {
        let (answer_to, answer) = oneshot::channel();
        let (begun_to, begun) = oneshot::channel();
        let id = self.with(|open| {
            open.last += 1;
            let waiting = Waiting { answer: answer_to, begun: Some(begun_to) };
            open.waiting.insert(open.last, waiting);
            open.last
        });
        // The host may answer before `start` returns: the entry is there already.
        self.host.start(id, operation, request);
        OpenCall { calls: self, id, answer, begun, reason: Some(AbortReason::Dropped) }
    }
}

/// A call that the host has not answered yet.
pub(super) struct OpenCall<'a> {
    calls: &'a Calls,
    id: CallId,
    answer: oneshot::Receiver<Completion>,
    begun: oneshot::Receiver<()>,
    /// What the host is told when this is dropped; `None` once it has answered.
    reason: Option<AbortReason>,
}

impl OpenCall<'_> {
    /// Waits for the answer. `None` means that the host dropped the call.
    pub(super) async fn answer(&mut self) -> Option<Completion> {
        let answer = (&mut self.answer).await.ok();
        self.reason = None;
        answer
    }

    /// Waits until plugin code runs, or the host has answered without running any.
    pub(super) async fn begun(&mut self) {
        let _answered_without = (&mut self.begun).await;
    }

    /// Gives the call up: the host is told why, and its answer will be ignored. Says whether plugin
    /// code had begun; from here on it cannot begin any more.
    pub(super) fn abort(mut self, reason: AbortReason) -> bool {
        let waiting = self.calls.with(|open| open.waiting.remove(&self.id));
        self.reason = Some(reason);
        waiting.is_none_or(|waiting| waiting.begun.is_none())
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if let Some(reason) = self.reason {
            self.calls.with(|open| open.waiting.remove(&self.id));
            self.calls.host.abort(self.id, reason);
        }
    }
}
