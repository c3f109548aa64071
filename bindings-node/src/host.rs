//! The host contract over three JavaScript callbacks: messages go out, nothing is awaited.

use napi::bindgen_prelude::{FnArgs, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Result, Status};
use warpline_core::engine::{AbortReason, CallId, Host, Notice, Request};

/// `(call or operation, text)`.
pub(crate) type Message = FnArgs<(f64, String)>;

/// A callback on the JavaScript thread. Weak: an idle engine does not keep the process alive.
type Callback = ThreadsafeFunction<Message, (), Message, Status, false, true>;

/// Sends what the engine asks to JavaScript.
pub(crate) struct NodeHost {
    start: Callback,
    abort: Callback,
    notify: Callback,
}

impl NodeHost {
    /// Takes the callbacks. None of them may throw.
    pub(crate) fn new(
        start: &Function<'_, Message, ()>,
        abort: &Function<'_, Message, ()>,
        notify: &Function<'_, Message, ()>,
    ) -> Result<Self> {
        Ok(Self { start: weak(start)?, abort: weak(abort)?, notify: weak(notify)? })
    }

    /// Tells that an operation is over: no notice of it follows.
    pub(crate) fn ended(&self, operation: u64) {
        send(&self.notify, operation, r#"{"kind":"ended"}"#.to_owned());
    }
}

fn weak(function: &Function<'_, Message, ()>) -> Result<Callback> {
    function.build_threadsafe_function().callee_handled::<false>().weak::<true>().build()
}

/// A status other than ok means that the JavaScript thread is going away: its cleanup hook cancels
/// every operation, so nobody waits for this message's answer.
#[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
fn send(callback: &Callback, number: u64, text: String) {
    let message = FnArgs::from((number as f64, text));
    let _closing = callback.call(message, ThreadsafeFunctionCallMode::NonBlocking);
}

impl Host for NodeHost {
    fn start(&self, call: CallId, operation: u64, request: Request) {
        send(&self.start, call, request.to_value(operation).to_compact());
    }

    fn abort(&self, call: CallId, reason: AbortReason) {
        let reason = match reason {
            AbortReason::Timeout => "timeout",
            AbortReason::Cancelled => "cancelled",
            AbortReason::Dropped => "dropped",
        };
        send(&self.abort, call, reason.to_owned());
    }

    fn notify(&self, operation: u64, notice: Notice) {
        send(&self.notify, operation, notice.to_value().to_compact());
    }
}
