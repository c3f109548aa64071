//! A process that is no engine but the worker of one, over two JavaScript callbacks.

use std::sync::Arc;

use napi::Result;
use napi::bindgen_prelude::Function;
use napi_derive::napi;
use warpline_core::engine::{AbortReason, CallId};
use warpline_core::worker::{Link, WorkerHost};

use crate::host::{Callback, Message, completion, number, send, weak};
use crate::prints::NativePrints;
use crate::text::error;

/// Hands what the engine says to JavaScript.
struct NodeWorker {
    start: Callback,
    abort: Callback,
}

impl WorkerHost for NodeWorker {
    fn start(&self, call: CallId, request: String) {
        send(&self.start, call, request);
    }

    fn abort(&self, call: CallId, reason: AbortReason) {
        send(&self.abort, call, reason.as_str().to_owned());
    }
}

/// The engine in another process, whose worker this one is. Does not keep the process alive; ends it when
/// the engine goes away.
#[napi]
pub struct NativeWorker {
    link: Arc<Link>,
}

#[napi]
impl NativeWorker {
    /// Takes the callbacks of the host, none of which may throw, and the standard streams.
    #[napi(constructor, catch_unwind)]
    pub fn new(start: Function<'_, Message, ()>, abort: Function<'_, Message, ()>) -> Result<Self> {
        let host = NodeWorker { start: weak(&start)?, abort: weak(&abort)? };
        let link = Link::take(Arc::new(host)).map_err(|refusal| error(&refusal))?;
        Ok(Self { link })
    }

    /// Answers a started call, as an engine of this process would be.
    #[napi(catch_unwind)]
    pub fn complete(&self, call: f64, outcome: String, json: String) {
        self.link.complete(number(call), completion(&outcome, &json));
    }

    /// Asks whether plugin code may run for a call, right before it does.
    #[napi(catch_unwind)]
    pub fn begin(&self, call: f64) -> bool {
        self.link.begin(number(call))
    }

    /// Where the prints of an invocation go; `null` once it is over.
    #[napi(catch_unwind)]
    pub fn prints(&self, invocation: f64) -> Option<NativePrints> {
        let invocation = number(invocation);
        let listens = self.link.prints(invocation);
        listens.then(|| NativePrints::remote(self.link.clone(), invocation))
    }

    /// Says that the signal of an aborted call has fired.
    #[napi(catch_unwind)]
    pub fn aborted(&self, call: f64) {
        self.link.aborted(number(call));
    }

    /// Tells a reader of something that does not stop anything.
    #[napi(catch_unwind)]
    pub fn warn(&self, operation: f64, text: String) {
        self.link.warn(number(operation), text.into());
    }

    /// Tells a reader of what plugin code threw where no call fails of it.
    #[napi(catch_unwind)]
    pub fn stray(&self, operation: f64, text: String) {
        self.link.stray(number(operation), text.into());
    }

    /// Tells a reader what plugin code threw and where, without secrets.
    #[napi(catch_unwind)]
    pub fn fault(&self, operation: f64, plugin: String, text: String) {
        self.link.fault(number(operation), plugin.into(), text.into());
    }
}
