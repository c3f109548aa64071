//! The engine of one interpreter.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use warpline_core::engine::{Engine, HostFailure};
use warpline_core::json::{Value, parse};

use crate::guard::guarded;
use crate::host::{HostMessage, PythonHost};
use crate::mailbox::Taken;
use crate::operation::{Operation, Task, Told, run};
use crate::process;
use crate::text::{environment, error_text, value};

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

    /// Waits for the next `(call, kind, text)`: `start` with a request in JSON, or `abort` with a
    /// reason. `None` once there will be no more.
    fn receive(&self, py: Python<'_>) -> PyResult<Option<(u64, &'static str, String)>> {
        guarded(|| {
            let host = &self.parts()?.host;
            loop {
                match process::detached(py, || host.messages.take(Duration::from_secs(3600))) {
                    Some(Taken::Message(HostMessage::Start(call, request))) => {
                        return Ok(Some((call, "start", request)));
                    }
                    Some(Taken::Message(HostMessage::Abort(call, reason))) => {
                        return Ok(Some((call, "abort", reason.to_owned())));
                    }
                    Some(Taken::Nothing) => {}
                    // Who comes when the interpreter ends already has missed nothing.
                    Some(Taken::Closed) | None => return Ok(None),
                }
            }
        })
    }

    /// Answers a started call with JSON: a `value`, the text of what `raised`, or the text that says
    /// why what was returned has `no_json` form.
    fn complete(&self, call: u64, outcome: &str, json: String) -> PyResult<()> {
        guarded(|| {
            let engine = self.parts()?.engine.clone();
            let outcome = match outcome {
                "value" => Outcome::Value,
                "raised" => Outcome::Raised,
                "no_json" => Outcome::NoJson,
                _ => return Err(PyValueError::new_err("a call ends by no such outcome")),
            };
            if json.len() > LARGE {
                let runtime = process::runtime()?;
                runtime.spawn_blocking(move || complete(&engine, call, outcome, &json));
            } else {
                complete(&engine, call, outcome, &json);
            }
            Ok(())
        })
    }

    /// Asks whether plugin code may run for a call, right before it does. No means that nobody waits
    /// any more.
    fn begin(&self, call: u64) -> PyResult<bool> {
        guarded(|| Ok(self.parts()?.engine.begin(call)))
    }

    /// Hands over what plugin code printed, as a JSON string.
    fn print(&self, invocation: u64, json: &str) -> PyResult<()> {
        guarded(|| {
            if let Some(text) = value(json)?.as_string() {
                self.parts()?.engine.print(invocation, text);
            }
            Ok(())
        })
    }

    /// Opens an operation under a number of the caller's choice, which must not be in use. `aborted`
    /// says that its caller's signal is set already. What it is refused for comes from `wait`.
    fn open(
        &self,
        operation: u64,
        aborted: bool,
        kind: &str,
        environment_json: &str,
        request_json: &str,
    ) -> PyResult<()> {
        guarded(|| {
            if process::is_closed() {
                return Err(process::closed_error());
            }
            let Parts { engine, host } = self.parts()?.clone();
            let environment = environment(environment_json)?;
            let task = Task::read(kind, &value(request_json)?);
            let number = operation;
            let operation = Operation::new();
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
    /// last `("ended", json)` or `("failed", json)`, which ends the operation. `None` when nothing
    /// came. Raises what a signal's handler raises, within 50 ms, on the main thread.
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
                    Taken::Message(Told::Notice(json)) => ("notice", json),
                    Taken::Message(Told::Ended(json)) => ("ended", json),
                    Taken::Message(Told::Failed(json)) => ("failed", json),
                    Taken::Nothing if since.elapsed() < patience => continue,
                    Taken::Nothing | Taken::Closed => return Ok(None),
                };
                if told.0 != "notice" {
                    running.receive();
                    self.parts()?.host.forget(operation);
                }
                return Ok(Some(told));
            }
        })
    }

    /// Interrupts an operation: what has finished is recorded, then it ends.
    fn cancel(&self, operation: u64) -> PyResult<()> {
        guarded(|| {
            self.operation(operation)?.cancel.cancel();
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
            host.messages.close();
            Ok(process::drain(py, DRAIN, || running.iter().all(|one| one.has_ended())))
        })
    }
}

#[derive(Clone, Copy)]
enum Outcome {
    Value,
    Raised,
    NoJson,
}

fn complete(engine: &Engine, call: u64, outcome: Outcome, json: &str) {
    let text = |value: Value| value.as_string().cloned().unwrap_or_default();
    let completion = match (outcome, parse(json)) {
        (Outcome::Value, Ok(value)) => Ok(value),
        (Outcome::Raised, Ok(value)) => Err(HostFailure::Threw(text(value))),
        (Outcome::NoJson, Ok(value)) => Err(HostFailure::NoJson(text(value))),
        (_, Err(fault)) => Err(HostFailure::NoJson(fault.to_string().into())),
    };
    engine.complete(call, completion);
}
