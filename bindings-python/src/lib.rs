//! The Python binding of the warpline engine.
//!
//! It converts, calls and maps errors; nothing is decided here. Text crosses the boundary: a value is
//! JSON written by the side that has it, with everything beyond ASCII escaped on the way in, so that
//! key order, numbers and unpaired surrogates survive.
//!
//! No thread of the engine ever takes the interpreter's lock. What the engine has to say waits in a
//! mailbox, and threads that Python made come and fetch it. A thread of the engine that wanted the
//! lock while the interpreter shuts down would be unwound through Rust, and the process would abort.

mod call;
mod document;
mod engine;
mod guard;
mod host;
mod leave;
mod mailbox;
mod operation;
mod prints;
mod process;
mod starts;
mod text;
mod thread;
mod worker;

use pyo3::prelude::*;

/// The native module behind the package `warpline`.
// A function, so that the refusal comes first: a class made in another interpreter would be kept for
// the main one as well, and be gone with the interpreter that made it.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    process::refuse_subinterpreters(module.py())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    // What an interpreter is given, after `-c`, to be a worker.
    module.add("WORKER_START", warpline_core::worker::python::START)?;
    module.add_class::<engine::NativeEngine>()?;
    module.add_class::<prints::NativePrints>()?;
    module.add_class::<worker::NativeWorker>()?;
    module.add_function(wrap_pyfunction!(document::before_print, module)?)?;
    module.add_function(wrap_pyfunction!(document::build_result, module)?)?;
    module.add_function(wrap_pyfunction!(document::document_names, module)?)?;
    module.add_function(wrap_pyfunction!(document::error_codes, module)?)?;
    module.add_function(wrap_pyfunction!(document::home_argument, module)?)?;
    module.add_function(wrap_pyfunction!(document::json_schema, module)?)?;
    module.add_function(wrap_pyfunction!(document::json_text, module)?)?;
    module.add_function(wrap_pyfunction!(document::read_text, module)?)?;
    module.add_function(wrap_pyfunction!(document::validate_json, module)?)?;
    module.add_function(wrap_pyfunction!(document::warpline_home, module)?)?;
    module.add_function(wrap_pyfunction!(document::write_atomic, module)?)?;
    module.add_function(wrap_pyfunction!(process::keep_for_ever, module)?)?;
    #[cfg(debug_assertions)]
    module.add_function(wrap_pyfunction!(guard::panic_for_a_test, module)?)?;
    Ok(())
}
