//! How a command ends although plugin code keeps the interpreter's lock, and Python hears nothing.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use warpline_core::cli;

use crate::operation::Operation;

/// How long Python may take to receive the exit code of a command.
const LEAVE_AFTER: Duration = Duration::from_secs(5);

/// Cancels at a signal that asks the process to end, until it is dropped.
pub(crate) fn cancel_on_signal(cancel: CancellationToken) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(cli::cancel_on_signal(cancel)))
}

/// Ends the process where Python does not: a plugin that never lets go of the interpreter's lock would
/// keep a command for ever that is over and on record.
pub(crate) fn leave_unless_received(operation: Arc<Operation>, code: i32) {
    let watch = move || {
        std::thread::sleep(LEAVE_AFTER);
        if !operation.is_received() {
            // SAFETY: `_exit` takes no pointer and runs no code of this process. All files of the
            // home are written, and handlers of `atexit` could not run without the lock.
            unsafe { libc::_exit(code) }
        }
    };
    // Without a thread to watch, the command ends when the plugin lets it.
    let _watching = std::thread::Builder::new().name("warpline-leave".into()).spawn(watch);
}
