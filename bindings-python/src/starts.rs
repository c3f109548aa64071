//! Calls that wait for a thread of Python: one thread runs them one after the other while each is short,
//! and another goes on with those that wait where one is not.
//!
//! Threads that run side by side take turns at the interpreter's lock, and lose more by that than they win,
//! unless what they run waits for something else than the lock.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use warpline_core::engine::{AbortReason, CallId};

use crate::thread::Thread;

/// How long a call may wait for something before the next one is run beside it.
const SHORT: Duration = Duration::from_millis(5);

/// The same, once call after call has taken longer.
const SHORTEST: Duration = Duration::from_micros(50);

/// How many times as long a call may take that computes, or waits for the processor: another would have to
/// wait for the same.
const COMPUTING: u32 = 20;

/// How long a thread that nobody needs stays.
const IDLE: Duration = Duration::from_secs(10);

/// How long a thread may take to come. The one that could not be started does not.
const COMING: Duration = Duration::from_secs(1);

/// How many threads stay in any case: one that runs a call, and one that would go on.
const KEPT: usize = 2;

/// The queue of started calls.
pub(crate) struct Starts {
    inner: Mutex<Inner>,
    /// For the one thread that waits for a call.
    called: Condvar,
    /// For all others.
    relieved: Condvar,
}

#[derive(Default)]
struct Inner {
    calls: VecDeque<(CallId, String)>,
    /// Come before every call that waits, and do not wait for a call that runs.
    aborts: VecDeque<(CallId, AbortReason)>,
    closed: bool,
    turns: Turn,
    /// Since when the turns that were taken last.
    running: HashMap<Turn, Instant>,
    /// The last one that was taken, until its thread comes back.
    last: Option<Last>,
    /// How long that may wait for something before the next one is run beside it.
    patience: Duration,
    /// How many threads are in [`Starts::take`].
    threads: usize,
    /// Since when one more is about to come.
    coming: Option<Instant>,
    /// Whether one of them waits for a call, and whether one for the end of the last one's time.
    waits: bool,
    watches: bool,
}

struct Last {
    turn: Turn,
    since: Instant,
    /// When it is looked at.
    due: Instant,
    thread: Option<Thread>,
}

/// Numbers what a thread was given to do. From 1.
pub(crate) type Turn = u64;

/// What a thread is to do.
pub(crate) enum Next {
    /// Run a call: the request as JSON.
    Run(Turn, CallId, String),
    /// Abort a call.
    Abort(Turn, CallId, AbortReason),
    /// Start another thread: none is there that would go on if a call takes long.
    Relief,
    /// End: there is nothing to do, or there will be nothing any more.
    End,
}

impl Inner {
    /// A thread has come back.
    fn back(&mut self, turn: Turn, now: Instant) {
        if self.last.as_ref().is_some_and(|last| last.turn == turn) {
            self.last = None;
        }
        if let Some(since) = self.running.remove(&turn)
            && now.saturating_duration_since(since) < SHORT
        {
            self.patience = SHORT;
        }
    }

    /// When it has to be seen whether the next call is run beside the last one; `None` where it may be now.
    fn due(&mut self, now: Instant) -> Option<Instant> {
        let Some(last) = &mut self.last else { return None };
        let busy = || last.thread.as_ref().is_some_and(Thread::computes);
        let enough = self.patience.saturating_mul(COMPUTING);
        if last.due <= now && now.saturating_duration_since(last.since) < enough && busy() {
            last.due = now + self.patience;
        }
        (last.due > now).then_some(last.due)
    }

    /// The same while no call waits: nothing has to be seen then.
    fn last_due(&self, now: Instant) -> Option<Instant> {
        self.last.as_ref().map(|last| last.due).filter(|due| *due > now)
    }

    /// Takes what comes next. Calls that were put later begin once an abort is done.
    fn next(&mut self, now: Instant) -> Option<Next> {
        self.turns += 1;
        let turn = self.turns;
        let next = match self.aborts.pop_front() {
            Some((call, reason)) => Next::Abort(turn, call, reason),
            None => {
                let (call, request) = self.calls.pop_front()?;
                if self.last.is_some() {
                    self.patience = (self.patience / 4).max(SHORTEST);
                }
                Next::Run(turn, call, request)
            }
        };
        let thread = Thread::this();
        self.last = Some(Last { turn, since: now, due: now + self.patience, thread });
        self.running.insert(turn, now);
        Some(next)
    }
}

impl Starts {
    /// An open and empty queue.
    pub(crate) fn new() -> Self {
        let inner = Inner { patience: SHORT, ..Inner::default() };
        Self { inner: Mutex::new(inner), called: Condvar::new(), relieved: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call; one for a closed queue is dropped.
    pub(crate) fn put(&self, call: CallId, request: String) {
        let mut inner = self.lock();
        if !inner.closed {
            inner.calls.push_back((call, request));
            // Where nobody waits, somebody will look: whoever runs a call, or watches it.
            if inner.waits {
                self.called.notify_one();
            }
        }
    }

    /// Adds the abort of a call.
    pub(crate) fn abort(&self, call: CallId, reason: AbortReason) {
        let mut inner = self.lock();
        if !inner.closed {
            inner.aborts.push_back((call, reason));
            let waiting = if inner.waits { &self.called } else { &self.relieved };
            waiting.notify_one();
        }
    }

    /// What a thread that has run `back`, or has only come, does next, if that is known without waiting. Never waits for
    /// anybody who may want the interpreter's lock.
    pub(crate) fn poll(&self, back: Option<Turn>) -> Option<Next> {
        let mut inner = self.lock();
        let now = Instant::now();
        match back {
            Some(turn) => inner.back(turn, now),
            None => inner.coming = None,
        }
        if inner.closed {
            return Some(Next::End);
        }
        if inner.aborts.is_empty() && (inner.calls.is_empty() || inner.due(now).is_some()) {
            return None;
        }
        self.taken(&mut inner, now)
    }

    /// What a thread does next that has no need to wait, and is not counted.
    fn taken(&self, inner: &mut Inner, now: Instant) -> Option<Next> {
        let comes = |since| now.saturating_duration_since(since) < COMING;
        if inner.threads == 0 && !inner.coming.is_some_and(comes) {
            inner.coming = Some(now);
            return Some(Next::Relief);
        }
        let next = inner.next(now)?;
        if !inner.watches {
            self.relieved.notify_one();
        }
        Some(next)
    }

    /// Waits for what a thread does next.
    pub(crate) fn take(&self) -> Next {
        let mut inner = self.lock();
        inner.threads += 1;
        let next = loop {
            if inner.closed {
                inner.threads -= 1;
                break Next::End;
            }
            let now = Instant::now();
            let due = if inner.calls.is_empty() { inner.last_due(now) } else { inner.due(now) };
            if !inner.aborts.is_empty() || due.is_none() && !inner.calls.is_empty() {
                inner.threads -= 1;
                if let Some(next) = self.taken(&mut inner, now) {
                    break next;
                }
                inner.threads += 1;
            } else if due.is_none() && !inner.waits {
                inner.waits = true;
                inner = self.called.wait(inner).unwrap_or_else(PoisonError::into_inner);
                inner.waits = false;
            } else if let (Some(due), false) = (due, inner.watches) {
                inner.watches = true;
                let rest = due.saturating_duration_since(now);
                let waited = self.relieved.wait_timeout(inner, rest);
                (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
                inner.watches = false;
            } else {
                let waited = self.relieved.wait_timeout(inner, IDLE);
                let (after, waited) = waited.unwrap_or_else(PoisonError::into_inner);
                inner = after;
                if waited.timed_out() && inner.threads > KEPT {
                    inner.threads -= 1;
                    break Next::End;
                }
            }
        };
        drop(inner);
        next
    }

    /// Ends it: who waits is woken. What is in it is for nobody any more.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        inner.calls.clear();
        inner.aborts.clear();
        self.called.notify_all();
        self.relieved.notify_all();
    }
}
