//! Keeps panics from crossing the border as something that `except Exception` does not catch.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Runs code that must not unwind into Python: a panic becomes a `RuntimeError`.
pub(crate) fn guarded<T>(code: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(code))
        .unwrap_or_else(|panic| Err(PyRuntimeError::new_err(panic_text(panic.as_ref()))))
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let said = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text.as_str(),
        _ => "without a message",
    };
    format!("the engine panicked: {said}")
}

/// Panics, so that a test can see what becomes of it. Not in a released module.
#[cfg(debug_assertions)]
#[pyfunction]
pub(crate) fn panic_for_a_test() -> PyResult<()> {
    #[allow(clippy::panic)]
    guarded(|| panic!("asked for"))
}
