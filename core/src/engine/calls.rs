//! Calls to hosts and workers that have not been answered yet.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::workers::Place;
use super::{AbortReason, CallId, Completion, Request};

/// The shortest pause between two looks at how far a call has come.
const LEAST_PAUSE: Duration = Duration::from_millis(1);

/// The open calls of one engine.
#[derive(Default)]
pub(super) struct Calls {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: CallId,
    waiting: HashMap<CallId, Waiting>,
}

/// How far the host has come with a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    /// How many pieces of plugin code have begun to run for it.
    pub(super) begun: usize,
    /// When the last of them did; the start of the call before that.
    pub(super) since: Instant,
}

/// An answer that whoever waits for it works out.
type Answer = Box<dyn FnOnce() -> Completion + Send>;

/// How to reach whoever waits for an answer.
struct Waiting {
    answer: oneshot::Sender<(Answer, Reached)>,
    reached: Reached,
}

/// What waiting for an answer came to.
pub(super) enum Waited {
    /// The answer, and how far the host had come. `None` means that the host dropped the call.
    Answered(Option<(Completion, Reached)>),
    /// The caller cancelled first.
    Cancelled,
    /// The time of what ran, or until something ran, was over first.
    OutOfTime,
}

/// How long a call may take.
pub(super) struct Limits<'a> {
    /// Until plugin code runs for it.
    pub(super) reach: Duration,
    /// Each piece of plugin code that runs for it, in their order.
    pub(super) code: &'a [Duration],
}

impl Limits<'_> {
    /// Until when the host may take for what it does now.
    fn deadline(&self, reached: Reached) -> Option<Instant> {
        let limit = match reached.begun.checked_sub(1) {
            None => self.reach,
            Some(running) => *self.code.get(running).or_else(|| self.code.last())?,
        };
        reached.since.checked_add(limit)
    }

    /// When to look again at a call. What begins to run tells nobody, which would cost a wake-up each
    /// time: a look comes no later than the end of whatever can have begun since this one.
    fn next_look(&self, reached: Reached, now: Instant) -> Option<Instant> {
        let ahead = self.code.get(reached.begun..).unwrap_or_default().iter().min();
        let look = ahead.and_then(|limit| now.checked_add((*limit).max(LEAST_PAUSE)));
        self.deadline(reached).into_iter().chain(look).min()
    }
}

impl Calls {
    fn with<T>(&self, change: impl FnOnce(&mut Open) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Hands the answer to whoever waits for it; an answer nobody waits for is dropped.
    pub(super) fn complete(&self, call: CallId, completion: Completion) {
        self.complete_with(call, move || completion);
    }

    /// [`Calls::complete`] with an answer that is worked out where it is waited for.
    pub(super) fn complete_with(
        &self,
        call: CallId,
        completion: impl FnOnce() -> Completion + Send + 'static,
    ) {
        let waiting = self.with(|open| open.waiting.remove(&call));
        if let Some(Waiting { answer, reached }) = waiting {
            // The receiver may be gone a moment earlier; then this answer is late as well.
            let _late = answer.send((Box::new(completion), reached));
        }
    }

    /// Marks that plugin code begins to run for this call: its time counts from here. Says no when
    /// nobody waits any more: the code must not run then.
    pub(super) fn begin(&self, call: CallId) -> bool {
        let since = Instant::now();
        self.with(|open| match open.waiting.get_mut(&call) {
            None => false,
            Some(Waiting { reached, .. }) => {
                *reached = Reached { begun: reached.begun + 1, since };
                true
            }
        })
    }

    /// Whether somebody still waits for the answer.
    pub(super) fn waits_for(&self, call: CallId) -> bool {
        self.with(|open| open.waiting.contains_key(&call))
    }

    /// Names a call that nobody here waits for.
    pub(super) fn reserve(&self) -> CallId {
        self.with(|open| {
            open.last += 1;
            open.last
        })
    }

    /// Starts a call. Dropping what is returned before the answer came aborts the call.
    pub(super) fn start(&self, place: &Place, operation: u64, request: Request) -> OpenCall<'_> {
        let (answer_to, answer) = oneshot::channel();
        let reached = Reached { begun: 0, since: Instant::now() };
        let id = self.with(|open| {
            open.last += 1;
            open.waiting.insert(open.last, Waiting { answer: answer_to, reached });
            open.last
        });
        // It may be answered before `start` returns: the entry is there already.
        place.start(operation, id, request);
        OpenCall {
            calls: self,
            place: place.clone(),
            id,
            answer,
            reached,
            reason: Some(AbortReason::Dropped),
        }
    }
}

/// A call that was not answered yet.
pub(super) struct OpenCall<'a> {
    calls: &'a Calls,
    place: Place,
    id: CallId,
    answer: oneshot::Receiver<(Answer, Reached)>,
    /// As it was seen last.
    reached: Reached,
    /// What the host is told when this is dropped; `None` once it has answered.
    reason: Option<AbortReason>,
}

impl OpenCall<'_> {
    /// Waits for the answer, or for what comes before it. What decides against an answer that arrives
    /// at the same moment is the cancellation, then the time.
    pub(super) async fn wait(&mut self, limits: &Limits<'_>, cancel: &CancellationToken) -> Waited {
        loop {
            let look = limits.next_look(self.reached, Instant::now());
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Waited::Cancelled,
                () = until(look) => {
                    self.look();
                    let deadline = limits.deadline(self.reached);
                    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        return Waited::OutOfTime;
                    }
                }
                answer = &mut self.answer => {
                    self.reason = None;
                    return Waited::Answered(answer.ok().map(|(answer, reached)| (answer(), reached)));
                }
            }
        }
    }

    /// How far the host had come when that was last looked at.
    pub(super) fn reached(&self) -> Reached {
        self.reached
    }

    fn look(&mut self) {
        let reached = |open: &mut Open| open.waiting.get(&self.id).map(|waiting| waiting.reached);
        self.reached = self.calls.with(reached).unwrap_or(self.reached);
    }

    /// Gives the call up: the host is told why, and its answer will be ignored. Gives how far the host had
    /// come, `None` where it has answered meanwhile; from here on no plugin code can begin for it.
    pub(super) fn abort(mut self, reason: AbortReason) -> Option<Reached> {
        let waiting = self.calls.with(|open| open.waiting.remove(&self.id));
        self.reason = Some(reason);
        waiting.map(|waiting| waiting.reached)
    }
}

/// Sleeps until an instant; for ever where that is further than a clock goes.
async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if let Some(reason) = self.reason {
            self.calls.with(|open| open.waiting.remove(&self.id));
            self.place.abort(self.id, reason);
        }
    }
}
