//! One worker process: what it is given, when it is ended, and what becomes of its calls.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use tokio::sync::OwnedSemaphorePermit;

use crate::engine::{AbortReason, CallId, Engine, HostFailure, Request};
use crate::worker::protocol::{FromWorker, ToWorker};

use super::Operation;
use super::find::Launch;
use super::pool::Slot;
use super::process::{Due, Ended, Hears, Process};
use super::state::{Ending, Held, State, about, name};

/// The longest message of a worker, in bytes.
const LINE_LIMIT: usize = 512 * 1024 * 1024;

/// How long a process may take until it says that it is ready.
const HELLO_LIMIT: Duration = Duration::from_secs(30);

/// How long plugin code may keep the signal of an aborted call from firing; and how long code that has
/// a process of its own may go on after that.
const ABORT_GRACE: Duration = Duration::from_secs(2);

/// How long a process may take to end by itself.
const END_GRACE: Duration = Duration::from_millis(200);

/// How long a process may go on without its output. One that ends closes it a little earlier.
const CLOSED_GRACE: Duration = Duration::from_secs(1);

/// Why it is killed then.
const CLOSED: &str = "it closed its output";

/// Why a process was not started.
pub(super) struct Unstarted {
    /// For a reader.
    pub(super) text: String,
    /// Whether the system was out of something that others give back.
    pub(super) shortage: bool,
}

/// A process and its calls.
pub(super) struct Worker {
    pub(super) operation: Arc<Operation>,
    slot: Weak<Slot>,
    pub(super) launch: Arc<Launch>,
    /// Whether it serves one plugin alone.
    pub(super) own: bool,
    pub(super) process: Arc<Process>,
    state: Mutex<State>,
}

/// A call that a process ended under before any code ran for it.
pub(super) type Unbegun = (CallId, Request);

impl Worker {
    /// Starts a process, which takes `room` along.
    ///
    /// # Errors
    ///
    /// Why it cannot be started; the room stays.
    pub(super) fn start(
        operation: &Arc<Operation>,
        slot: &Arc<Slot>,
        launch: &Arc<Launch>,
        own: bool,
        room: &mut Option<OwnedSemaphorePermit>,
    ) -> Result<Arc<Self>, Unstarted> {
        let failed =
            |error| Unstarted { text: launch.cannot_start(&error), shortage: is_shortage(&error) };
        let mut command = launch.command(&operation.environment);
        let (process, streams) = Process::spawn(&mut command).map_err(failed)?;
        let state = State::new(Instant::now() + HELLO_LIMIT, room.take());
        let worker = Arc::new(Self {
            operation: operation.clone(),
            slot: Arc::downgrade(slot),
            launch: launch.clone(),
            own,
            process: process.clone(),
            state: Mutex::new(state),
        });
        operation.enter(&worker);
        let attended = streams.attend(&process, worker.clone(), LINE_LIMIT);
        attended.map_err(failed).inspect_err(|_| {
            *room = worker.with(|state| state.room.take());
            operation.leave(&worker);
        })?;
        Ok(worker)
    }

    pub(super) fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives it a call. `load` is the request that loads the handler of an attempt, should it not be
    /// loaded here.
    ///
    /// # Errors
    ///
    /// The request, where the process is gone or takes no more.
    pub(super) fn give(
        &self,
        call: CallId,
        request: Request,
        load: Option<Request>,
    ) -> Result<(), Request> {
        let Some(engine) = self.operation.engine() else { return Err(request) };
        self.with(|state| {
            if state.over || state.ending != Ending::No {
                return Err(request);
            }
            let loaded = match &request {
                Request::Attempt(attempt) => state.has_loaded(&attempt.plugin),
                _ => true,
            };
            match load {
                Some(load) if !loaded => {
                    let id = engine.calls.reserve();
                    self.send(state, &engine, id, &load);
                    state.held.insert(id, Held { load_for: Some(call), ..Held::new(load) });
                    state.held.insert(call, Held { waits: true, ..Held::new(request) });
                }
                _ => {
                    self.send(state, &engine, call, &request);
                    state.held.insert(call, Held::new(request));
                }
            }
            Ok(())
        })
    }

    pub(super) fn send(&self, state: &mut State, engine: &Engine, call: CallId, request: &Request) {
        let (invocation, plugins) = about(request);
        if let Some(prints) = engine.prints(invocation) {
            state.prints.insert(invocation, prints);
        }
        state.plugins.extend(plugins.iter().map(|plugin| plugin.name.clone()));
        state.given.insert(call);
        let request = request.to_value(self.operation.number);
        self.process.say(ToWorker::Start { call, request }.to_line());
    }

    /// Aborts a call, if it is here.
    pub(super) fn abort(&self, call: CallId, reason: AbortReason) {
        self.with(|state| {
            let now = Instant::now();
            let Some(held) = state.held.get(&call) else { return };
            let (mut id, waits) = (call, held.waits);
            if waits {
                // What runs for it is the load of its handler.
                state.held.remove(&call);
                let load = state.held.iter().find(|(_, held)| held.load_for == Some(call));
                let Some((load, _)) = load else { return };
                id = *load;
            }
            let Some(held) = state.held.get_mut(&id) else { return };
            // Code that has not begun cannot begin any more: nobody has to wait for its signal.
            held.aborted = true;
            held.until = held.begun.then(|| now + ABORT_GRACE);
            let (begun, name) = (held.begun, name(&held.request));
            self.process.say(ToWorker::Abort { call: id, reason }.to_line());
            if self.own {
                let until = if begun { now + ABORT_GRACE } else { now };
                state.kill_by(until, format!("`{name}` did not end when it was aborted"));
            }
        });
        self.process.wake();
    }

    /// Ends it: at once where it serves one plugin and no code of an aborted call runs; else as soon as
    /// every abort is answered, with some time to do so by itself.
    pub(super) fn end(&self) {
        self.with(|state| {
            if state.ending == Ending::No {
                state.ending = Ending::Asked;
            }
            if self.own && state.kill_at.is_none() {
                state.kill_by(Instant::now(), "its work is done".into());
            }
        });
        self.process.wake();
    }

    /// Kills it at once.
    pub(super) fn kill(&self) {
        self.with(|state| state.ending = Ending::InputEnded);
        self.process.kill();
    }

    /// Whether anything came of it.
    pub(super) fn progressed(&self) -> bool {
        self.with(|state| state.progressed)
    }

    /// Kills it now: its work is done.
    pub(super) fn retire(&self) {
        if let Some(slot) = self.slot.upgrade() {
            slot.part_with(self);
        }
        self.kill();
    }
}

/// Descriptors, processes, threads or memory.
fn is_shortage(error: &io::Error) -> bool {
    let short = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|error| short.contains(&error))
}

impl Hears for Worker {
    fn hear(&self, line: Result<&str, &'static str>) {
        let now = Instant::now();
        if self.with(|state| state.kill_at.as_ref().is_some_and(|(at, _)| *at <= now)) {
            return;
        }
        let Some(engine) = self.operation.engine() else { return self.kill() };
        let said = line.and_then(|line| {
            let said = FromWorker::from_line(line);
            let first = self.with(|state| state.hello_until.is_some());
            match said {
                Some(said @ (FromWorker::Hello { .. } | FromWorker::Unable { .. })) => Ok(said),
                Some(said) if !first => Ok(said),
                _ if first => Err("it did not say first that it was ready"),
                _ => Err("a line of it was no message"),
            }
        });
        if let Err(fault) = said.and_then(|said| self.take(&engine, said)) {
            self.with(|state| match state.hello_until {
                Some(_) => state.give_up(self.launch.no_worker(fault)),
                None => state.kill_by(Instant::now(), fault.to_owned()),
            });
        }
    }

    fn closed(&self) {
        self.with(|state| state.kill_by(Instant::now() + CLOSED_GRACE, CLOSED.to_owned()));
    }

    fn due(&self, now: Instant) -> Due {
        self.with(|state| {
            if state.hello_until.is_some_and(|until| until <= now) {
                state.give_up(self.launch.no_worker(&format!(
                    "it did not say within {} seconds that it was ready",
                    HELLO_LIMIT.as_secs()
                )));
            }
            let is_late = |held: &&Held| !self.own && held.until.is_some_and(|until| until <= now);
            let late = state.held.values().find(is_late);
            if let Some(late) = late {
                let text = format!("`{}` kept it busy and did not stop", name(&late.request));
                state.kill_by(now, text);
            }
            let mut due = Due::default();
            if state.ending == Ending::Asked && !state.answers_aborts() {
                state.ending = Ending::InputEnded;
                state.kill_by(now + END_GRACE, "the operation is over".into());
                due.end_input = true;
            }
            due.kill = match &state.kill_at {
                Some((at, text)) if *at <= now => {
                    state.killed.get_or_insert_with(|| text.clone());
                    true
                }
                _ => false,
            };
            if !due.kill {
                let aborts = state.held.values().filter_map(|held| held.until);
                let kill_at = state.kill_at.as_ref().map(|(at, _)| *at);
                due.next = aborts.chain(kill_at).chain(state.hello_until).min();
            }
            due
        })
    }

    fn gone(&self, how: &Ended) {
        let (held, reason, hopeless, room) = self.with(|state| {
            state.over = true;
            // It was ending when it closed its output, and a busy machine took longer over that.
            if how.is_its_own() && state.killed.as_deref() == Some(CLOSED) {
                state.killed = None;
            }
            if state.hello_until.is_some() && state.killed.is_none() {
                state.hopeless = state.hopeless.take().or_else(|| self.launch.lacks_package(how));
            }
            let reason = match &state.killed {
                Some(reason) => format!("was killed: {reason}"),
                None => format!("ended: {how}"),
            };
            let held = std::mem::take(&mut state.held);
            (held, reason, state.hopeless.take(), state.room.take())
        });
        let failure = format!("the worker process that this ran in {reason}");
        let died_loading: HashSet<CallId> =
            held.values().filter(|held| held.begun).filter_map(|held| held.load_for).collect();
        let mut unbegun = Vec::new();
        let mut begun = Vec::new();
        for (call, held) in held {
            match held {
                Held { aborted: true, .. } | Held { load_for: Some(_), .. } => {}
                Held { begun: true, .. } => begun.push(call),
                _ if died_loading.contains(&call) => begun.push(call),
                Held { request, .. } => unbegun.push((call, request)),
            }
        }
        // At the end of an operation nobody waits; at the end of the engine's own process it has been
        // recorded that these ran.
        if let Some(engine) = self.operation.engine()
            && !self.operation.is_closed()
        {
            for call in begun {
                let failure = HostFailure::Threw(failure.as_str().into());
                engine.calls.complete(call, Err(failure));
            }
        }
        if let Some(slot) = self.slot.upgrade() {
            slot.lost(self, unbegun, &reason, hopeless, room);
        }
        self.operation.leave(self);
    }
}

#[cfg(test)]
mod tests;
