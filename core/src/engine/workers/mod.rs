//! Plugin code outside of the host's process: which operation has which processes.
//!
//! A plugin of a language that the host does not run gets a worker of that language, one for the whole
//! operation, started when something first has to run there. With isolation every manifest and every
//! attempt has a process of its own, whatever its language. No process outlives its operation.

mod find;
mod pool;
mod process;
mod said;
mod state;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use rustix::process::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::home::Environment;
use crate::home::plugins::Language;

use super::{AbortReason, CallId, Engine, Host, Isolation, PluginModule, Request};
use find::Launch;
use pool::Slot;
use worker::Worker;

/// Where the calls of a plugin go.
#[derive(Clone)]
pub(super) enum Place {
    /// To the host.
    Host(Arc<dyn Host>),
    /// To processes, one after the other.
    Slot(Arc<Slot>),
}

impl Place {
    pub(super) fn start(&self, operation: u64, call: CallId, request: Request) {
        match self {
            Self::Host(host) => host.start(call, operation, request),
            Self::Slot(slot) => slot.start(call, request),
        }
    }

    pub(super) fn abort(&self, call: CallId, reason: AbortReason) {
        match self {
            Self::Host(host) => host.abort(call, reason),
            Self::Slot(slot) => slot.abort(call, reason),
        }
    }
}

/// Where one plugin runs. A process that serves this plugin alone ends with that.
pub(super) struct Seat {
    pub(super) place: Place,
}

impl Seat {
    /// Whether it is a process, with a standard error that the host does not write to.
    pub(super) fn is_apart(&self) -> bool {
        matches!(self.place, Place::Slot(_))
    }

    /// Whether the next attempt would meet a process that has not loaded this handler.
    pub(super) fn must_load(&self, plugin: &PluginModule) -> bool {
        matches!(&self.place, Place::Slot(slot) if !slot.has_loaded(plugin))
    }

    /// Waits until there is room for the process that the next call needs. Says no when the caller
    /// cancelled first.
    pub(super) async fn ready(&self, cancel: &CancellationToken) -> bool {
        let Place::Slot(slot) = &self.place else { return true };
        tokio::select! {
            biased;
            () = cancel.cancelled() => false,
            () = slot.ready() => true,
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Place::Slot(slot) = &self.place {
            slot.leave();
        }
    }
}

/// What the processes of an operation share.
pub(super) struct Operation {
    engine: Weak<Engine>,
    number: u64,
    environment: Arc<Environment>,
    /// How many plugins run at once.
    concurrency: usize,
    /// How many processes there may be that serve one plugin each.
    room: OnceLock<Arc<Semaphore>>,
    processes: Mutex<Processes>,
    /// How many processes are not gone.
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct Processes {
    live: Vec<Arc<Worker>>,
    /// Set once the operation ends: nothing is started any more.
    closed: bool,
}

impl Operation {
    fn engine(&self) -> Option<Arc<Engine>> {
        self.engine.upgrade()
    }

    fn with<T>(&self, change: impl FnOnce(&mut Processes) -> T) -> T {
        change(&mut self.processes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_closed(&self) -> bool {
        self.with(|processes| processes.closed)
    }

    /// Takes a process that was just started.
    fn enter(&self, worker: &Arc<Worker>) {
        self.count.send_modify(|count| *count += 1);
        let closed = self.with(|processes| {
            processes.live.push(worker.clone());
            processes.closed
        });
        if closed {
            worker.kill();
        }
    }

    /// Lets go of a process that is gone.
    fn leave(&self, worker: &Worker) {
        self.with(|processes| {
            processes.live.retain(|each| !std::ptr::eq(&raw const **each, worker))
        });
        self.count.send_modify(|count| *count = count.saturating_sub(1));
    }

    fn live(&self) -> Vec<Arc<Worker>> {
        self.with(|processes| processes.live.clone())
    }

    fn close(&self) -> Vec<Arc<Worker>> {
        self.with(|processes| {
            processes.closed = true;
            processes.live.clone()
        })
    }

    fn kill(&self) {
        for worker in self.close() {
            worker.kill();
        }
    }

    async fn room(&self) -> Option<OwnedSemaphorePermit> {
        let room = || Arc::new(Semaphore::new(self.concurrency.min(affordable())));
        self.room.get_or_init(room).clone().acquire_owned().await.ok()
    }
}

/// How many processes our descriptors suffice for, with some left for files.
fn affordable() -> usize {
    const FOR_FILES: u64 = 40;
    const FOR_EACH: u64 = 10;
    let most = Semaphore::MAX_PERMITS;
    getrlimit(Resource::Nofile).current.map_or(most, |limit| {
        let count = limit.saturating_sub(FOR_FILES) / FOR_EACH;
        usize::try_from(count).map_or(most, |count| count.clamp(1, most))
    })
}

/// The processes of one operation.
pub(super) struct WorkerSet {
    engine: Arc<Engine>,
    operation: Arc<Operation>,
    isolation: Isolation,
    plugins: PathBuf,
    type_script: OnceLock<Result<Arc<Slot>, String>>,
    python: OnceLock<Result<Arc<Slot>, String>>,
}

impl WorkerSet {
    /// No process yet. `concurrency` is how many plugins run at once.
    pub(super) fn open(
        engine: &Arc<Engine>,
        environment: &Arc<Environment>,
        plugins: &Path,
        isolation: Isolation,
        concurrency: usize,
        operation: u64,
    ) -> Arc<Self> {
        let operation = Arc::new(Operation {
            engine: Arc::downgrade(engine),
            number: operation,
            environment: environment.clone(),
            concurrency,
            room: OnceLock::new(),
            processes: Mutex::default(),
            count: watch::Sender::new(0),
        });
        engine.workers.enter(&operation);
        Arc::new(Self {
            engine: engine.clone(),
            operation,
            isolation,
            plugins: plugins.to_owned(),
            type_script: OnceLock::new(),
            python: OnceLock::new(),
        })
    }

    /// The number that the host knows the operation by.
    pub(super) fn operation(&self) -> u64 {
        self.operation.number
    }

    /// Where a plugin of this language runs.
    ///
    /// # Errors
    ///
    /// What is missing for that, for a reader. Nothing is started to find out.
    pub(super) fn seat(&self, language: Language) -> Result<Seat, String> {
        let own = self.isolation == Isolation::Process;
        if !own && language == self.engine.host.language() {
            return Ok(Seat { place: Place::Host(self.engine.host.clone()) });
        }
        let shared = self.slot(language)?;
        let slot = if own { shared.another() } else { shared };
        Ok(Seat { place: Place::Slot(slot) })
    }

    fn slot(&self, language: Language) -> Result<Arc<Slot>, String> {
        let slot = match language {
            Language::TypeScript => &self.type_script,
            Language::Python => &self.python,
        };
        let find = || {
            let host = &self.engine.host;
            let command = (language == host.language()).then(|| host.worker()).flatten();
            let environment = &self.operation.environment;
            let launch = Launch::find(language, command, environment, &self.plugins)?;
            let own = self.isolation == Isolation::Process;
            Ok(Slot::new(&self.operation, Arc::new(launch), own))
        };
        slot.get_or_init(find).clone()
    }

    /// Does the work of the operation, then closes it. Where nobody waits for the work any more, its
    /// processes are killed.
    pub(super) async fn around<T>(&self, work: impl Future<Output = T>) -> T {
        let _end = End(&self.operation);
        let outcome = work.await;
        self.close().await;
        outcome
    }

    /// Ends every process, and waits until all are gone: none is started any more. What an aborted
    /// call keeps busy has two seconds from its abort.
    pub(super) async fn close(&self) {
        for worker in self.operation.close() {
            worker.end();
        }
        let mut count = self.operation.count.subscribe();
        // The sender lives as long as this.
        let _gone = count.wait_for(|count| *count == 0).await;
    }
}

struct End<'a>(&'a Operation);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl Drop for WorkerSet {
    fn drop(&mut self) {
        self.engine.workers.leave(&self.operation);
    }
}

/// The operations of an engine that may have processes, for the end of its own.
#[derive(Default)]
pub(super) struct Operations {
    open: Mutex<Vec<Arc<Operation>>>,
}

impl Operations {
    fn with<T>(&self, change: impl FnOnce(&mut Vec<Arc<Operation>>) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn enter(&self, operation: &Arc<Operation>) {
        self.with(|open| open.push(operation.clone()));
    }

    fn leave(&self, operation: &Arc<Operation>) {
        self.with(|open| open.retain(|each| !Arc::ptr_eq(each, operation)));
    }

    /// Kills every process of every operation: the engine's own process ends now.
    pub(super) fn kill(&self) {
        for operation in self.with(|open| open.clone()) {
            operation.kill();
        }
    }
}
