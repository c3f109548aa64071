//! One process after another: the next begins where a process ended that still had calls to make.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;

use crate::engine::{AbortReason, CallId, HostFailure, PluginModule, Request};

use super::Operation;
use super::find::Launch;
use super::worker::{Unbegun, Unstarted, Worker};

/// How many processes in a row may end before anything came of them.
const LOSSES: u32 = 3;

/// How long a process that cannot be started for want of descriptors or memory is tried again while no
/// other one of the operation could give some back.
const SHORTAGE_LIMIT: Duration = Duration::from_secs(2);

/// How long until it is tried again.
const SHORTAGE_PAUSE: Duration = Duration::from_millis(50);

/// Takes the calls of a language, or of one plugin that has a process of its own for each attempt.
pub(in crate::engine) struct Slot {
    operation: Arc<Operation>,
    launch: Arc<Launch>,
    /// Whether it serves one plugin alone.
    own: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The process that takes calls.
    current: Option<Arc<Worker>>,
    /// The last request to load the handler of each directory: a process that has not loaded it is
    /// given this before it is given an attempt.
    loads: HashMap<PathBuf, Request>,
    losses: u32,
    /// Why no process is started any more.
    given_up: Option<String>,
    /// For the next process.
    room: Option<OwnedSemaphorePermit>,
}

impl Slot {
    pub(super) fn new(operation: &Arc<Operation>, launch: Arc<Launch>, own: bool) -> Arc<Self> {
        let (operation, state) = (operation.clone(), Mutex::default());
        Arc::new(Self { operation, launch, own, state })
    }

    /// One for another plugin.
    pub(super) fn another(&self) -> Arc<Self> {
        Self::new(&self.operation, self.launch.clone(), self.own)
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why no process is started any more.
    #[cfg(test)]
    pub(super) fn given_up(&self) -> Option<String> {
        self.with(|state| state.given_up.clone())
    }

    /// Has a process for the next call, once there is room where it needs one of its own. What fails
    /// here fails the call.
    pub(super) async fn ready(self: &Arc<Self>) {
        let needs = |state: &mut State| state.current.is_none() && state.room.is_none();
        if self.own && self.with(needs) {
            let room = self.operation.room().await;
            self.with(|state| state.room = room);
        }
        let until = Instant::now() + SHORTAGE_LIMIT;
        // A process that serves a whole language gives nothing back before the operation ends.
        while let Err(Unstarted { shortage: true, .. }) = self.with(|state| self.fill(state))
            && (Instant::now() < until || self.own && !self.operation.live().is_empty())
        {
            tokio::time::sleep(SHORTAGE_PAUSE).await;
        }
    }

    pub(super) fn has_loaded(&self, plugin: &PluginModule) -> bool {
        let current = self.with(|state| state.current.clone());
        current.is_some_and(|worker| worker.with(|state| !state.over && state.has_loaded(plugin)))
    }

    /// Starts a process where there is none.
    fn fill(self: &Arc<Self>, state: &mut State) -> Result<(), Unstarted> {
        let over = match &state.given_up {
            _ if state.current.is_some() => return Ok(()),
            _ if self.operation.is_closed() => "the operation that this belonged to is over",
            Some(text) => text,
            None => {
                let (operation, launch) = (&self.operation, &self.launch);
                let started = Worker::start(operation, self, launch, self.own, &mut state.room);
                state.current = Some(started.inspect_err(|fault| {
                    if !fault.shortage {
                        state.given_up = Some(fault.text.clone());
                    }
                })?);
                return Ok(());
            }
        };
        Err(Unstarted { text: over.to_owned(), shortage: false })
    }

    /// Gives the call to a process, which is started where there is none.
    pub(super) fn start(self: &Arc<Self>, call: CallId, request: Request) {
        let Err(text) = self.give(call, request) else { return };
        if let Some(engine) = self.operation.engine() {
            engine.calls.complete(call, Err(HostFailure::Threw(text.as_str().into())));
        }
    }

    fn give(self: &Arc<Self>, call: CallId, mut request: Request) -> Result<(), String> {
        self.with(|state| {
            if let Request::LoadHandler { plugin, .. } = &request {
                state.loads.insert(plugin.directory.clone(), request.clone());
            }
            let load = match &request {
                Request::Attempt(attempt) => state.loads.get(&attempt.plugin.directory).cloned(),
                _ => None,
            };
            loop {
                if let Some(worker) = &state.current {
                    match worker.give(call, request, load.clone()) {
                        Ok(()) => return Ok(()),
                        Err(back) => request = back,
                    }
                }
                if let Some(worker) = state.current.take() {
                    state.count(&worker, "ended at once");
                }
                self.fill(state).map_err(|fault| fault.text)?;
            }
        })
    }

    /// Aborts a call, whichever process has it.
    pub(super) fn abort(&self, call: CallId, reason: AbortReason) {
        for worker in self.operation.live() {
            worker.abort(call, reason);
        }
        if self.own {
            self.with(|state| state.current = None);
        }
    }

    /// Ends the process of a plugin that needs it no more.
    pub(super) fn leave(&self) {
        if self.own
            && let Some(worker) = self.with(|state| state.current.take())
        {
            worker.end();
        }
    }

    /// Gives this process no more calls.
    pub(super) fn part_with(&self, worker: &Worker) {
        self.with(|state| state.current.take_if(|current| is(current, worker)));
    }

    /// A process is gone, and these calls of it have to be made elsewhere.
    pub(super) fn lost(
        self: &Arc<Self>,
        worker: &Worker,
        calls: Vec<Unbegun>,
        reason: &str,
        hopeless: Option<String>,
        room: Option<OwnedSemaphorePermit>,
    ) {
        self.with(|state| {
            if hopeless.is_some() {
                state.given_up = hopeless;
            }
            if state.current.take_if(|current| is(current, worker)).is_some() {
                state.count(worker, reason);
            }
            if !calls.is_empty() {
                state.room = room;
            }
        });
        for (call, request) in calls {
            self.start(call, request);
        }
    }
}

impl State {
    /// Counts the end of a process, and gives up after too many that came to nothing.
    fn count(&mut self, worker: &Worker, reason: &str) {
        if worker.progressed() {
            self.losses = 0;
            return;
        }
        self.losses += 1;
        if self.losses >= LOSSES {
            self.given_up = Some(format!(
                "{LOSSES} worker processes in a row ended before anything ran in them; the last {reason}"
            ));
        }
    }
}

fn is(current: &mut Arc<Worker>, worker: &Worker) -> bool {
    std::ptr::eq(&raw const **current, worker)
}
