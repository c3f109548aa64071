//! The host contract over three JavaScript callbacks: messages go out, nothing is awaited.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::{FnArgs, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Result, Status};
use warpline_core::cli::progress;
use warpline_core::engine::{
    AbortReason, CallId, Completion, Host, HostFailure, Notice, Request, WorkerCommand,
};
use warpline_core::json::JsString;

use crate::drive::{self, Direct};
use crate::erase::{Erased, erased_ahead};
use crate::text::{string, value};

/// `(call or operation, text)`.
pub(crate) type Message = FnArgs<(f64, String)>;

/// `(call, request, what the handler's file is as JavaScript)`, the last where it is to be loaded and known.
pub(crate) type StartMessage = FnArgs<(f64, String, Option<Erased>)>;

type StartCallback = ThreadsafeFunction<StartMessage, (), StartMessage, Status, false, true>;

/// A callback on the JavaScript thread. Weak: an idle engine does not keep the process alive.
pub(crate) type Callback = ThreadsafeFunction<Message, (), Message, Status, false, true>;

/// Sends what the engine asks to JavaScript.
pub(crate) struct NodeHost {
    start: (StartCallback, Direct<StartMessage>),
    abort: HostFunction,
    notify: HostFunction,
    worker: WorkerCommand,
    operations: Mutex<Operations>,
}

/// What is known of operations that are open.
#[derive(Default)]
struct Operations {
    /// Those whose callers want to hear of progress.
    told: HashSet<u64>,
    /// Those with notices on their way that other threads have sent: what follows must not overtake them.
    sent: HashSet<u64>,
}

/// A callback, and the function behind it for calls on its own thread.
struct HostFunction {
    queued: Callback,
    direct: Direct<Message>,
}

impl HostFunction {
    fn new(function: &Function<'_, Message, ()>) -> Result<Self> {
        let direct = Arc::new(function.create_ref()?);
        Ok(Self { queued: weak(function)?, direct })
    }

    /// Calls back: at the end of the turn where this is the JavaScript thread.
    fn call(&self, number: u64, text: String) {
        if let Some(message) = drive::hand_over(&self.direct, drive::message(number, text)) {
            let _closing = self.queued.call(message, ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

impl NodeHost {
    /// Takes the callbacks, none of which may throw, and how to start a worker.
    pub(crate) fn new(
        start: &Function<'_, StartMessage, ()>,
        abort: &Function<'_, Message, ()>,
        notify: &Function<'_, Message, ()>,
        worker: WorkerCommand,
    ) -> Result<Self> {
        let queued =
            start.build_threadsafe_function().callee_handled::<false>().weak::<true>().build()?;
        Ok(Self {
            start: (queued, Arc::new(start.create_ref()?)),
            abort: HostFunction::new(abort)?,
            notify: HostFunction::new(notify)?,
            worker,
            operations: Mutex::default(),
        })
    }

    fn with<T>(&self, change: impl FnOnce(&mut Operations) -> T) -> T {
        change(&mut self.operations.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends a notice behind those of the same operation that were sent before.
    fn tell(&self, operation: u64, text: String) {
        let is_here = drive::is_here();
        let is_behind = self.with(|operations| match is_here {
            true => operations.sent.contains(&operation),
            false => !operations.sent.insert(operation),
        });
        if is_here && !is_behind {
            self.notify.call(operation, text);
        } else {
            send(&self.notify.queued, operation, text);
        }
    }

    /// Has every notice of an operation told; without that, only those that an operator must see are.
    pub(crate) fn tell_progress(&self, operation: u64) {
        self.with(|operations| operations.told.insert(operation));
    }

    /// Tells that an operation is over, with what else is to be said of that: no notice of it follows.
    pub(crate) fn ended(&self, operation: u64, outcome: Option<String>) {
        let text = outcome.unwrap_or_else(|| r#"{"kind":"ended"}"#.to_owned());
        self.tell(operation, text);
        self.with(|operations| {
            operations.told.remove(&operation);
            operations.sent.remove(&operation);
        });
    }
}

/// The callback of a function, for any thread.
pub(crate) fn weak(function: &Function<'_, Message, ()>) -> Result<Callback> {
    function.build_threadsafe_function().callee_handled::<false>().weak::<true>().build()
}

/// Calls back. A status other than ok means that the JavaScript thread is going away: its cleanup hook
/// cancels every operation, so nobody waits for this message's answer.
pub(crate) fn send(callback: &Callback, number: u64, text: String) {
    let message = drive::message(number, text);
    let _closing = callback.call(message, ThreadsafeFunctionCallMode::NonBlocking);
}

/// What a call came to, of the JSON that JavaScript says it with.
pub(crate) fn completion(outcome: &str, json: &str) -> Completion {
    match (outcome, value(json)) {
        ("value", Ok(value)) => Ok(value),
        ("threw", Ok(text)) => Err(HostFailure::Threw(string(&text))),
        (_, Ok(text)) => Err(HostFailure::NoJson(string(&text))),
        (_, Err(fault)) => Err(HostFailure::NoJson(fault.reason.to_string().into())),
    }
}

/// A counter, as JavaScript has it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // made as integers
pub(crate) fn number(counter: f64) -> u64 {
    counter as u64
}

impl Host for NodeHost {
    fn keeps_handlers(&self) -> bool {
        true
    }

    fn hears(&self, operation: u64) -> bool {
        self.with(|operations| operations.told.contains(&operation))
    }

    fn worker(&self) -> Option<WorkerCommand> {
        Some(self.worker.clone())
    }

    fn minds_prints(&self) -> bool {
        progress::is_shown()
    }

    fn before_print(&self, text: &JsString) {
        if let Some(last) = text.units().last() {
            progress::before_print(last == u16::from(b'\n'));
        }
    }

    fn start(&self, call: CallId, operation: u64, request: Request) {
        let text = request.to_text(operation);
        #[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
        let call = call as f64;
        let (queued, direct) = &self.start;
        let Some(message) = drive::hand_over(direct, FnArgs::from((call, text, None))) else {
            return;
        };
        let (call, text, _) = message.data;
        // Erased here, where the one thread of JavaScript need not wait for it.
        let erased = match &request {
            Request::Attempt(attempt) if attempt.load => erased_ahead(&attempt.plugin.directory),
            _ => None,
        };
        let message = FnArgs::from((call, text, erased));
        let _closing = queued.call(message, ThreadsafeFunctionCallMode::NonBlocking);
    }

    fn abort(&self, call: CallId, reason: AbortReason) {
        self.abort.call(call, reason.as_str().to_owned());
    }

    fn notify(&self, operation: u64, notice: Notice) {
        let must =
            matches!(notice, Notice::Warning { .. } | Notice::Fault { .. } | Notice::Stray { .. });
        if !must && !self.with(|operations| operations.told.contains(&operation)) {
            return;
        }
        self.tell(operation, notice.to_value().to_compact());
    }
}
