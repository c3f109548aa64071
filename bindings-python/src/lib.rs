//! The Python binding of the warpline engine.
//!
//! It converts, calls and maps errors; nothing is decided here. Text crosses the boundary: a value is
//! JSON written by the side that has it, with everything beyond ASCII escaped on the way in, so that
//! key order, numbers and unpaired surrogates survive.
//!
//! No thread of the engine ever takes the interpreter's lock. What the engine has to say waits in a
//! mailbox, and threads that Python made come and fetch it. A thread of the engine that wanted the
//! lock while the interpreter shuts down would be unwound through Rust, and the process would abort.

mod document;
mod engine;
mod guard;
mod host;
mod leave;
mod mailbox;
mod operation;
mod output;
mod process;
mod text;

use pyo3::prelude::*;

/// The native module behind the package `warpline`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::document::{
        build_result, error_codes, home_argument, json_schema, json_text, read_text, validate_json,
        warpline_home, write_atomic,
    };
    #[pymodule_export]
    use super::engine::NativeEngine;
    #[cfg(debug_assertions)]
    #[pymodule_export]
    use super::guard::panic_for_a_test;
    #[pymodule_export]
    use super::process::keep_for_ever;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
