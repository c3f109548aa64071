//! The worker that this process is: the engine is in another one.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use warpline_core::json::JsString;
use warpline_core::worker::Link;

use crate::call::Outcome;
use crate::guard::guarded;
use crate::host::{Inbox, next_start, receive};
use crate::prints::NativePrints;
use crate::process;
use crate::text::{string, value};

/// What plugin code is run for, where a program of another language or another process asks.
///
/// It has the methods of `NativeEngine` that a host needs. Whatever waits for the engine lets go of
/// the interpreter's lock meanwhile.
#[pyclass(frozen, module = "warpline._native")]
pub(crate) struct NativeWorker {
    link: Arc<Link>,
    inbox: Arc<Inbox>,
}

#[pymethods]
impl NativeWorker {
    /// Makes this process a worker: from here on, descriptor 0 has nothing to read, and descriptor 1
    /// leads to standard error. The process ends when the engine goes away.
    #[new]
    fn new() -> PyResult<Self> {
        guarded(|| {
            let inbox = Arc::new(Inbox::new());
            let link = Link::take(inbox.clone())
                .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            Ok(Self { link, inbox })
        })
    }

    /// Waits for ever: there are no posted operations.
    fn receive(&self, py: Python<'_>) -> PyResult<Option<(u64, &'static str, String)>> {
        guarded(|| receive(py, &self.inbox))
    }

    /// Waits for what a thread for plugin code does next, `back` being the turn that it had before, and puts
    /// it into `given`: `(turn, call, "start", request_json)`, `(turn, call, "abort", reason)`, or
    /// `(0, 0, "relief", "")` where it starts one more thread, which is to come here too. Nothing where it
    /// may end. What was returned would be lost where another thread has something raised on this one.
    fn next_start(&self, back: Option<u64>, given: &Bound<'_, PyList>) -> PyResult<()> {
        guarded(|| next_start(&self.inbox, back, given))
    }

    /// Answers a started call with JSON: a `value`, the text of what `raised`, or the text that says
    /// why what was returned has `no_json` form.
    #[allow(clippy::needless_pass_by_value)] // what the interpreter hands over
    fn complete(&self, py: Python<'_>, call: u64, outcome: &str, json: String) -> PyResult<()> {
        guarded(|| {
            let outcome = Outcome::read(outcome)?;
            self.detached(py, |link| link.complete(call, outcome.completion(&json)))
        })
    }

    /// Asks whether plugin code may run for a call, right before it does.
    fn begin(&self, py: Python<'_>, call: u64) -> PyResult<bool> {
        guarded(|| self.detached(py, |link| link.begin(call)))
    }

    /// Where the prints of an invocation go; `None` once it is over. `secrets_json` are the values of
    /// its secrets, for a child that is forked: it cannot ask any more.
    fn prints(
        &self,
        py: Python<'_>,
        invocation: u64,
        secrets_json: &str,
    ) -> PyResult<Option<NativePrints>> {
        guarded(|| {
            let secrets = value(secrets_json)?;
            let secrets = secrets.as_array().unwrap_or_default().iter();
            let secrets = secrets.filter_map(|secret| secret.as_string().cloned()).collect();
            let taken = self.detached(py, |link| link.prints(invocation))?;
            Ok(taken.then(|| NativePrints::of_worker(self.link.clone(), invocation, secrets)))
        })
    }

    /// Says that the signal of an aborted call has fired.
    fn aborted(&self, py: Python<'_>, call: u64) -> PyResult<()> {
        guarded(|| self.detached(py, |link| link.aborted(call)))
    }

    /// Tells a reader of something that does not stop anything, in one line (a JSON string).
    fn warn(&self, py: Python<'_>, operation: u64, json: &str) -> PyResult<()> {
        guarded(|| {
            let text = string(json)?;
            self.detached(py, |link| link.warn(operation, text))
        })
    }

    /// Tells a reader of what plugin code raised where no call fails of it, in one line (a JSON string).
    fn stray(&self, py: Python<'_>, operation: u64, json: &str) -> PyResult<()> {
        guarded(|| {
            let text = string(json)?;
            self.detached(py, |link| link.stray(operation, text))
        })
    }

    /// Tells a reader what the code of a plugin raised and where; both are JSON strings, without the
    /// values of secrets.
    fn fault(&self, py: Python<'_>, operation: u64, plugin_json: &str, json: &str) -> PyResult<()> {
        guarded(|| {
            let (plugin, text): (JsString, JsString) = (string(plugin_json)?, string(json)?);
            self.detached(py, |link| link.fault(operation, plugin, text))
        })
    }
}

impl NativeWorker {
    fn detached<T: Send>(
        &self,
        py: Python<'_>,
        say: impl FnOnce(&Link) -> T + Send,
    ) -> PyResult<T> {
        process::detached(py, || say(&self.link)).ok_or_else(process::closed_error)
    }
}
