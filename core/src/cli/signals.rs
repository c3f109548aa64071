//! The signals that ask a command to end, heard whatever the host's own thread is doing.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels at the first SIGINT, SIGTERM or SIGHUP. What was installed for them is called as before.
///
/// A host listens as well, but cannot hear anything while a plugin keeps its thread.
pub async fn cancel_on_signal(cancel: CancellationToken) {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else {
        return;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    cancel.cancel();
}
