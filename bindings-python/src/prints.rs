//! What plugin code prints, on its way to the reader.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use warpline_core::engine::Prints;
use warpline_core::json::{JsString, Value};
use warpline_core::worker::Link;

use crate::guard::guarded;
use crate::process;
use crate::text::string;

/// The prints of one invocation. Texts are JSON strings.
#[pyclass(frozen, module = "warpline._native")]
pub(crate) struct NativePrints {
    /// The process it belongs to.
    pid: u32,
    prints: Held,
}

/// Who looks after them.
enum Held {
    /// The engine of this process.
    Here(Arc<Prints>),
    /// The engine that this process is a worker of.
    There {
        link: Arc<Link>,
        invocation: u64,
        /// For a child that is forked.
        secrets: Vec<JsString>,
    },
}

impl NativePrints {
    pub(crate) fn of_engine(prints: Arc<Prints>) -> Self {
        Self::new(Held::Here(prints))
    }

    pub(crate) fn of_worker(link: Arc<Link>, invocation: u64, secrets: Vec<JsString>) -> Self {
        Self::new(Held::There { link, invocation, secrets })
    }

    fn new(prints: Held) -> Self {
        Self { pid: std::process::id(), prints }
    }

    /// A lock may be held, in a child that was forked, by a thread that is not there.
    fn own(&self) -> PyResult<&Held> {
        if self.pid == std::process::id() {
            return Ok(&self.prints);
        }
        Err(PyRuntimeError::new_err("these prints belong to the process that forked"))
    }
}

#[pymethods]
impl NativePrints {
    /// Takes text and gives what may be shown now; `None` where it may be shown as it came.
    fn print(&self, py: Python<'_>, json: &str) -> PyResult<Option<String>> {
        guarded(|| {
            let shown = match self.own()? {
                Held::Here(prints) if !prints.listens() => None,
                Held::Here(prints) => prints.print(&string(json)?),
                Held::There { link, invocation, .. } => {
                    let text = string(json)?;
                    asked(py, || link.print(*invocation, &text))?
                }
            };
            Ok(shown.map(json_of))
        })
    }

    /// Gives what was kept back.
    fn release(&self, py: Python<'_>) -> PyResult<String> {
        guarded(|| {
            let rest = match self.own()? {
                Held::Here(prints) => prints.release(),
                Held::There { link, invocation, .. } => asked(py, || link.release(*invocation))?,
            };
            Ok(json_of(rest))
        })
    }

    /// Takes the secrets out of what was raised.
    fn redact(&self, py: Python<'_>, json: &str) -> PyResult<String> {
        guarded(|| {
            let text = string(json)?;
            let redacted = match self.own()? {
                Held::Here(prints) => prints.redact(&text),
                Held::There { link, invocation, .. } => {
                    asked(py, || link.redact(*invocation, &text))?
                }
            };
            Ok(json_of(redacted))
        })
    }

    /// The same secrets and nothing printed yet: for a child that was forked.
    fn anew(&self) -> Self {
        Self::of_engine(Arc::new(match &self.prints {
            Held::Here(prints) => prints.anew(),
            Held::There { secrets, .. } => Prints::of(secrets.clone()),
        }))
    }
}

/// Waits for the engine's answer without the interpreter's lock.
fn asked<T: Send>(py: Python<'_>, ask: impl FnOnce() -> T + Send) -> PyResult<T> {
    process::detached(py, ask).ok_or_else(process::closed_error)
}

fn json_of(text: JsString) -> String {
    Value::from(text).to_compact()
}
