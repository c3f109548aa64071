//! The engine of one interpreter.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use warpline_core::engine::{Engine, Notice, WorkerCommand};
use warpline_core::json::JsString;

use crate::call::Outcome;
use crate::guard::guarded;
use crate::host::{PythonHost, next_start, receive};
use crate::mailbox::Taken;
use crate::operation::{Operation, Task, Told, run};
use crate::prints::NativePrints;
use crate::process;
use crate::text::{environment, error_text, string, value};

/// How often a waiting thread looks for signals.
const LOOK_FOR_SIGNALS: Duration = Duration::from_millis(50);

/// How long the end of the interpreter waits for what is running.
const DRAIN: Duration = Duration::from_secs(5);

/// Text beyond this many bytes is parsed without keeping Python waiting.
const LARGE: usize = 64 * 1024;

/// The engine, as the package's own code drives it.
#[pyclass(frozen, module = "warpline._native")]
pub(crate) struct NativeEngine {
    /// The process it belongs to.
    pid: u32,
    /// Always there until the drop.
    parts: Option<Parts>,
}

#[derive(Clone)]
struct Parts {
    engine: Arc<Engine>,
    host: Arc<PythonHost>,
}

impl Drop for NativeEngine {
    fn drop(&mut self) {
        if self.pid != std::process::id() {
            // A forked child leaks its copy: locks in there may be held for ever.
            std::mem::forget(self.parts.take());
        }
    }
}

impl NativeEngine {
    fn parts(&self) -> PyResult<&Parts> {
        match &self.parts {
            Some(parts) if self.pid == std::process::id() => Ok(parts),
            _ => Err(PyRuntimeError::new_err("this engine belongs to the process that forked")),
        }
    }

    fn operation(&self, number: u64) -> PyResult<Arc<Operation>> {
        let operation = self.parts()?.host.operation(number);
        operation.ok_or_else(|| PyValueError::new_err(format!("no operation {number} is running")))
    }
}

#[pymethods]
impl NativeEngine {
    #[new]
    fn new() -> PyResult<Self> {
        guarded(|| {
            if process::is_closed() {
                return Err(process::closed_error());
            }
            process::runtime()?;
            let host = Arc::new(PythonHost::new());
            let parts = Parts { engine: Engine::new(host.clone()), host };
            Ok(Self { pid: std::process::id(), parts: Some(parts) })
        })
    }

    /// Waits for the next `(operation, what, json)` of what a posted operation tells. `None` once there will be no more.
    fn receive(&self, py: Python<'_>) -> PyResult<Option<(u64, &'static str, String)>> {
        guarded(|| receive(py, &self.parts()?.host.inbox))
    }

    /// Waits for what a thread for plugin code does next, `back` being the turn that it had before, and puts
    /// it into `given`: `(turn, call, "start", request_json)`, `(turn, call, "abort", reason)`, or
    /// `(0, 0, "relief", "")` where it starts one more thread, which is to come here too. Nothing where it
    /// may end. What was returned would be lost where another thread has something raised on this one.
    fn next_start(&self, back: Option<u64>, given: &Bound<'_, PyList>) -> PyResult<()> {
        guarded(|| next_start(&self.parts()?.host.inbox, back, given))
    }

    /// Answers a started call with JSON: a `value`, the text of what `raised`, or the text that says
    /// why what was returned has `no_json` form.
    fn complete(&self, call: u64, outcome: &str, json: String) -> PyResult<()> {
        guarded(|| {
            let engine = self.parts()?.engine.clone();
            let outcome = Outcome::read(outcome)?;
            if json.len() > LARGE {
                let runtime = process::runtime()?;
                runtime.spawn_blocking(move || engine.complete(call, outcome.completion(&json)));
            } else {
                engine.complete(call, outcome.completion(&json));
            }
            Ok(())
        })
    }

    /// Asks whether plugin code may run for a call, right before it does. No means that nobody waits
    /// any more.
    fn begin(&self, call: u64) -> PyResult<bool> {
        guarded(|| Ok(self.parts()?.engine.begin(call)))
    }

    /// Where the prints of an invocation go; `None` once it is over.
    fn prints(&self, invocation: u64) -> PyResult<Option<NativePrints>> {
        guarded(|| Ok(self.parts()?.engine.prints(invocation).map(NativePrints::of_engine)))
    }

    /// Opens an operation under a number of the caller's choice, which must not be in use. `aborted`
    /// says that its caller's signal is set already, `listens` whether anybody listens to notices that do
    /// not belong on standard error, `worker` how another process of this kind is
    /// started: the program and what it is given; nothing where it cannot be. What the operation is
    /// refused for comes from `wait`, or, like all else that a `posted` one tells, from `receive`.
    #[allow(clippy::too_many_arguments)] // each a fact of its own
    fn open(
        &self,
        operation: u64,
        aborted: bool,
        posted: bool,
        listens: bool,
        kind: &str,
        environment_json: &str,
        request_json: &str,
        worker: Option<Vec<OsString>>,
    ) -> PyResult<()> {
        guarded(|| {
            if process::is_closed() {
                return Err(process::closed_error());
            }
            let Parts { engine, host } = self.parts()?.clone();
            let environment = environment(environment_json)?;
            let task = Task::read(kind, &value(request_json)?);
            let mut worker = worker.unwrap_or_default().into_iter();
            host.set_worker(worker.next().map(|program| WorkerCommand {
                program: program.into(),
                arguments: worker.collect(),
            }));
            let number = operation;
            let operation = Operation::new(posted.then(|| (number, host.inbox.clone())), listens);
            if aborted {
                operation.cancel.cancel();
            }
            if !host.enter(number, &operation) {
                return Err(PyValueError::new_err(format!(
                    "operation {number} is running already"
                )));
            }
            match task {
                Ok(task) => {
                    let running = run(engine, number, operation, environment, task);
                    process::runtime()?.spawn(running);
                }
                Err(error) => operation.end(Told::Failed(error_text(&error))),
            }
            Ok(())
        })
    }

    /// Waits, at most `timeout_ms`, for what an operation tells next: `("notice", json)`, and at
    /// last `("ended", json)` or `("failed", json)`, each time that it is asked from then on: what the
    /// handler of a signal raises may keep the first from its caller. `None` when nothing came.
    /// Raises what a signal's handler raises, within 50 ms, on the main thread.
    fn wait(
        &self,
        py: Python<'_>,
        operation: u64,
        timeout_ms: u64,
    ) -> PyResult<Option<(&'static str, String)>> {
        guarded(|| {
            let running = self.operation(operation)?;
            let patience = Duration::from_millis(timeout_ms);
            let since = Instant::now();
            loop {
                py.check_signals()?;
                let slice = patience.saturating_sub(since.elapsed()).min(LOOK_FOR_SIGNALS);
                let taken = process::detached(py, || running.told.take(slice));
                let told = match taken.ok_or_else(process::closed_error)? {
                    Taken::Message(told) => told,
                    Taken::Nothing if since.elapsed() < patience => continue,
                    Taken::Nothing | Taken::Closed => return Ok(None),
                };
                match &told {
                    Told::Notice(_) => {}
                    Told::Ended(json) => running.tell_again(Told::Ended(json.clone())),
                    Told::Failed(json) => running.tell_again(Told::Failed(json.clone())),
                }
                return Ok(Some(told.parts()));
            }
        })
    }

    /// Lets go of an operation whose last word has arrived.
    fn release(&self, operation: u64) -> PyResult<()> {
        guarded(|| {
            // A child that was forked meanwhile has nothing to let go of.
            if let Ok(parts) = self.parts() {
                parts.host.forget(operation);
            }
            Ok(())
        })
    }

    /// Records what is known of everything that is running; the process ends now. Gives the names of
    /// the plugins that ran.
    fn exit(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        guarded(|| {
            let engine = self.parts()?.engine.clone();
            let running = py.detach(|| engine.exit());
            let running = running.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            Ok(running.iter().map(JsString::to_text).collect())
        })
    }

    /// Interrupts an operation: what has finished is recorded, then it ends.
    fn cancel(&self, operation: u64) -> PyResult<()> {
        guarded(|| {
            self.operation(operation)?.cancel.cancel();
            Ok(())
        })
    }

    /// Tells an operation what the code of a plugin raised and where; both are JSON strings, without the
    /// values of secrets.
    fn fault(&self, operation: u64, plugin_json: &str, json: &str) -> PyResult<()> {
        guarded(|| {
            let (plugin, text) = (string(plugin_json)?, string(json)?);
            if let Some(operation) = self.parts()?.host.operation(operation) {
                operation.notify(Notice::Fault { plugin, text });
            }
            Ok(())
        })
    }

    /// Ends everything, for the end of the interpreter: takes no more work, interrupts what is
    /// running, and waits up to five seconds until it is recorded and no thread waits in here.
    fn close(&self, py: Python<'_>) -> PyResult<bool> {
        guarded(|| {
            process::close();
            let host = &self.parts()?.host;
            let running = host.all();
            for operation in &running {
                operation.cancel.cancel();
            }
            host.inbox.close();
            Ok(process::drain(py, DRAIN, || running.iter().all(|one| one.has_ended())))
        })
    }
}
