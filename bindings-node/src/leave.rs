//! How a process ends: with what was running on record and, where it is a command, with its own exit
//! code, whatever plugin code does meanwhile.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use warpline_core::cli;
use warpline_core::cli::text::line;
use warpline_core::engine::Engine;

/// How long JavaScript may take to receive the exit code of a command, and then to end the process.
const LEAVE_AFTER: Duration = Duration::from_secs(5);

/// How often it is looked whether the handlers of signals are still in place.
const LOOK_AT_SIGNALS: Duration = Duration::from_millis(50);

/// The engines of this process, one for each thread that has one.
static ENGINES: Mutex<Vec<Weak<Engine>>> = Mutex::new(Vec::new());

/// The exit code of the process where it runs a command: 1 until something better is known.
static CODE: AtomicI32 = AtomicI32::new(1);

/// Whether this process runs a command.
static COMMAND: AtomicBool = AtomicBool::new(false);

/// The signals that ask a process to end, and what was done about each when the command began.
static HANDLERS: Mutex<Vec<(libc::c_int, libc::sigaction)>> = Mutex::new(Vec::new());

/// Sees to it that what an engine is running is recorded when the process ends, also where plugin
/// code has taken away the listeners for that.
pub(crate) fn record_at_exit(engine: &Arc<Engine>) {
    static REGISTERED: Once = Once::new();
    let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
    engines.retain(|engine| engine.strong_count() > 0);
    engines.push(Arc::downgrade(engine));
    REGISTERED.call_once(|| {
        // SAFETY: the function is of this library, which is never unloaded without being called.
        unsafe { libc::atexit(at_exit) };
    });
}

extern "C" fn at_exit() {
    let _panicked = catch_unwind(record);
    if COMMAND.load(Ordering::Acquire) {
        // SAFETY: `_exit` takes no pointer and runs no code of this process.
        unsafe { libc::_exit(CODE.load(Ordering::Acquire)) }
    }
}

/// Records what the engine of a thread that ends is still running.
pub(crate) fn record_end_of(engine: &Weak<Engine>) {
    let _panicked = catch_unwind(AssertUnwindSafe(|| engine.upgrade().map(|engine| engine.exit())));
}

fn record() {
    let engines = std::mem::take(&mut *ENGINES.lock().unwrap_or_else(PoisonError::into_inner));
    for engine in engines.iter().filter_map(Weak::upgrade) {
        let text = match engine.exit() {
            Ok(running) if running.is_empty() => continue,
            Ok(running) => {
                let names: Vec<String> = running.iter().map(line).collect();
                format!("the process ends while these plugins run: {}", names.join(", "))
            }
            Err(error) => format!("the run could not be recorded: {error}"),
        };
        let _nobody_reads = writeln!(std::io::stderr(), "warpline: {text}");
    }
}

/// Says that this process runs a command, so that its exit code is not for plugin code to choose.
pub(crate) fn command_begins() {
    COMMAND.store(true, Ordering::Release);
}

/// Says that JavaScript ends the process now, and with which code.
pub(crate) fn command_over(code: i32) {
    CODE.store(code, Ordering::Release);
    after(code, || true);
}

/// Ends the process where JavaScript does not: a plugin that never gives the thread back would keep
/// a command for ever that is over and on record.
pub(crate) fn leave_unless(received: Arc<AtomicBool>, code: i32) {
    after(code, move || !received.load(Ordering::Acquire));
}

fn after(code: i32, leave: impl FnOnce() -> bool + Send + 'static) {
    let watch = move || {
        std::thread::sleep(LEAVE_AFTER);
        if leave() {
            // SAFETY: `_exit` takes no pointer and runs no code of this process. All files of the
            // home are written, and handlers of `exit` could not run on a thread that is kept.
            unsafe { libc::_exit(code) }
        }
    };
    // Without a thread to watch, the command ends when the plugin lets it.
    let _watching = std::thread::Builder::new().name("warpline-leave".into()).spawn(watch);
}

/// Cancels at a signal that asks the process to end, until it is dropped.
pub(crate) fn cancel_on_signal(cancel: CancellationToken) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        tokio::select! {
            biased;
            () = cli::cancel_on_signal(cancel) => {}
            () = keep_handlers() => {}
        }
    }))
}

/// Keeps the handlers of signals that are in place now.
async fn keep_handlers() {
    let signals = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    let found = signals.into_iter().filter_map(|signal| Some((signal, handler(signal)?)));
    *HANDLERS.lock().unwrap_or_else(PoisonError::into_inner) = found.collect();
    loop {
        tokio::time::sleep(LOOK_AT_SIGNALS).await;
        restore_handlers();
    }
}

/// Puts the handlers of signals back. When the last listener of JavaScript goes, Node takes the handler
/// away with it, whoever else has set one.
pub(crate) fn restore_handlers() {
    for (signal, action) in HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        if handler(*signal).is_some_and(|now| now.sa_sigaction != action.sa_sigaction) {
            // SAFETY: the action is one that was installed for this very signal.
            unsafe { libc::sigaction(*signal, action, std::ptr::null_mut()) };
        }
    }
}

fn handler(signal: libc::c_int) -> Option<libc::sigaction> {
    // SAFETY: all zeroes is a value of this plain struct, which the call only writes to.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let asked = libc::sigaction(signal, std::ptr::null(), &mut action);
        (asked == 0).then_some(action)
    }
}
