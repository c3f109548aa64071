//! What exists once in a process: the engine's threads, and the end of the interpreter.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyImportError, PyRuntimeError, PySystemExit};
use pyo3::ffi::{PyInterpreterState_Get, PyInterpreterState_GetID};
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// Threads that drive the engine. Plugin code never runs on them.
const ENGINE_THREADS: usize = 2;

/// Set once, first of all, when the interpreter ends.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// The thread that ends the interpreter, once one does.
static CLOSER: OnceLock<ThreadId> = OnceLock::new();

/// Python threads that have let go of the interpreter's lock in here and will want it back.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

/// The runtime of the process with this id. Only locked by holders of the interpreter's lock, who do
/// not let go of it meanwhile, so that no fork finds it locked.
static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// Refuses every interpreter but the main one: engine, streams and the end of it all exist once in a
/// process, and a thread that waits in here when its interpreter ends would abort the process.
pub(crate) fn refuse_subinterpreters(_attached: Python<'_>) -> PyResult<()> {
    // SAFETY: this thread is attached to an interpreter, whose state both calls only read.
    match unsafe { PyInterpreterState_GetID(PyInterpreterState_Get()) } {
        0 => Ok(()),
        _ => Err(PyImportError::new_err(
            "warpline runs in the main interpreter alone, and this is a subinterpreter; \
             under mod_wsgi, `WSGIApplicationGroup %{GLOBAL}` chooses the main one",
        )),
    }
}

/// The runtime that the engine of this process runs on.
///
/// A forked child has none of its parent's threads and gets a runtime of its own. The parent's is
/// leaked there: whatever its threads were doing stays as it was at the fork.
pub(crate) fn runtime() -> PyResult<&'static Runtime> {
    let mut slot = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let pid = std::process::id();
    match *slot {
        Some((owner, runtime)) if owner == pid => Ok(runtime),
        _ => {
            let built = Builder::new_multi_thread()
                .worker_threads(ENGINE_THREADS)
                .thread_name("warpline")
                .enable_all()
                .build()
                .map_err(|error| {
                    PyRuntimeError::new_err(format!("the engine cannot start its threads: {error}"))
                })?;
            // Only the thread that forked is in the child: whatever waited in here did not come along.
            if slot.is_some() {
                INSIDE.store(0, Ordering::SeqCst);
            }
            let runtime: &'static Runtime = Box::leak(Box::new(built));
            *slot = Some((pid, runtime));
            Ok(runtime)
        }
    }
}

struct Inside;

impl Inside {
    fn enter() -> Option<Self> {
        // Counted before the look at CLOSED: whoever closes waits for all that are counted.
        INSIDE.fetch_add(1, Ordering::SeqCst);
        let inside = Self;
        (!is_closed()).then_some(inside)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits without the interpreter's lock. Refused with `None` once the interpreter ends: a thread that
/// wants the lock back then is unwound through Rust, which aborts the process.
pub(crate) fn detached<T: Send>(py: Python<'_>, wait: impl FnOnce() -> T + Send) -> Option<T> {
    let _inside = Inside::enter()?;
    Some(py.detach(wait))
}

/// Whether the interpreter is ending.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(Ordering::SeqCst)
}

/// The error of what comes too late: a `RuntimeError` on the thread that ends the interpreter. On any
/// other a `SystemExit`, which ends that thread, as the interpreter is about to, without a traceback.
pub(crate) fn closed_error() -> PyErr {
    let text = "the interpreter is ending: the engine takes no more work";
    if CLOSER.get().is_none_or(|closer| *closer == thread::current().id()) {
        PyRuntimeError::new_err(text)
    } else {
        PySystemExit::new_err(text)
    }
}

/// Begins the end, on the thread that ends the interpreter: nothing new is let in from here on.
pub(crate) fn close() {
    CLOSER.get_or_init(|| thread::current().id());
    CLOSED.store(true, Ordering::SeqCst);
}

/// Waits, without the interpreter's lock, until `is_done` and every waiting thread has come back.
pub(crate) fn drain(
    py: Python<'_>,
    patience: Duration,
    is_done: impl Fn() -> bool + Send + Sync,
) -> bool {
    py.detach(|| {
        let since = Instant::now();
        loop {
            if is_done() && INSIDE.load(Ordering::SeqCst) == 0 {
                return true;
            }
            if since.elapsed() >= patience {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
    })
}

/// Keeps a Python object until the process is gone, also through the end of the interpreter.
#[pyfunction]
pub(crate) fn keep_for_ever(object: Py<PyAny>) {
    std::mem::forget(object);
}
