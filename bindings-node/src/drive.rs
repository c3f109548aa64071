//! Drives operations on the JavaScript thread for as long as they need not wait, and on the runtime after that.
//!
//! What JavaScript says (a call is made, code begins, code has answered) mostly lets an operation go on at
//! once. Done right there, no thread has to wake another. What the engine asks for meanwhile is handed to
//! JavaScript when it is done, so that no operation is driven while plugin code runs.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};

use napi::Env;
use napi::bindgen_prelude::{FnArgs, FunctionRef, JsValuesTupleIntoVec};
use tokio::runtime::Handle;
use warpline_core::engine::on_host_thread;

use crate::host::Message;

/// A function of the JavaScript thread, for calls on that thread.
pub(crate) type Direct<A> = Arc<FunctionRef<A, ()>>;

/// Nobody drives it, and nothing has happened that would let it go on.
const IDLE: u8 = 0;
/// It is going to be driven.
const DUE: u8 = 1;
/// A thread drives it.
const DRIVEN: u8 = 2;
/// A thread drives it, and should look once more.
const DUE_AGAIN: u8 = 3;
/// It is over.
const OVER: u8 = 4;

/// An operation in progress.
pub(crate) struct Task {
    state: AtomicU8,
    work: Mutex<Option<Work>>,
    /// Whether it has left the JavaScript thread, which is for good.
    left: AtomicBool,
    thread: ThreadId,
    runtime: Handle,
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A message on its way to JavaScript.
type Tell = Box<dyn FnOnce(&Env)>;

/// What happens on the JavaScript thread while it is in a function of the engine.
#[derive(Default)]
struct Turn {
    due: VecDeque<Arc<Task>>,
    messages: Vec<Tell>,
}

thread_local! {
    static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

fn in_turn<T>(change: impl FnOnce(&mut Turn) -> T) -> Option<T> {
    TURN.with_borrow_mut(|turn| turn.as_mut().map(change))
}

/// Does what JavaScript has asked for, on its thread, and drives what can go on because of it.
pub(crate) fn here<T>(env: &Env, act: impl FnOnce() -> T) -> T {
    struct Outer(Option<Option<Turn>>);
    impl Drop for Outer {
        fn drop(&mut self) {
            if let Some(turn) = self.0.take() {
                TURN.set(turn);
            }
        }
    }
    // A message of an outer turn may have led here: that turn is at its end.
    let mut outer = Outer(Some(TURN.replace(Some(Turn::default()))));
    let done = act();
    while let Some(Some(task)) = in_turn(|turn| turn.due.pop_front()) {
        task.drive();
    }
    let turn = TURN.replace(outer.0.take().flatten());
    for tell in turn.map(|turn| turn.messages).unwrap_or_default() {
        tell(env);
    }
    done
}

/// What a callback takes.
#[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
pub(crate) fn message(number: u64, text: String) -> Message {
    FnArgs::from((number as f64, text))
}

/// Whether this is the JavaScript thread, and messages can be handed over without a queue.
pub(crate) fn is_here() -> bool {
    in_turn(|_| ()).is_some()
}

/// Hands a message over at the end of this turn; gives it back where there is none.
pub(crate) fn hand_over<A: JsValuesTupleIntoVec + 'static>(
    function: &Direct<A>,
    message: A,
) -> Option<A> {
    if !is_here() {
        return Some(message);
    }
    let function = function.clone();
    let tell = move |env: &Env| {
        // It does not throw; where it cannot be called, the thread is ending.
        let _ending = function.borrow_back(env).and_then(|function| function.call(message));
    };
    in_turn(|turn| turn.messages.push(Box::new(tell)));
    None
}

impl Task {
    /// Begins an operation in the turn that is on. The runtime serves it once it has to wait.
    pub(crate) fn begin(runtime: &Handle, work: impl Future<Output = ()> + Send + 'static) {
        let task = Arc::new(Self {
            state: AtomicU8::new(DUE),
            work: Mutex::new(Some(Box::pin(work))),
            left: AtomicBool::new(false),
            thread: thread::current().id(),
            runtime: runtime.clone(),
        });
        task.dispatch();
    }

    fn dispatch(self: Arc<Self>) {
        if !self.left.load(Ordering::Acquire) && thread::current().id() == self.thread {
            let task = self.clone();
            if in_turn(|turn| turn.due.push_back(task)).is_some() {
                return;
            }
        }
        let runtime = self.runtime.clone();
        runtime.spawn(async move { self.drive() });
    }

    fn drive(self: Arc<Self>) {
        // A swap, so that whoever woke it before this is seen to have done what it woke it for.
        self.state.swap(DRIVEN, Ordering::AcqRel);
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(future) = work.as_mut() else { return };
        let waker = Waker::from(self.clone());
        let mut poll = || -> Result<Poll<()>, Box<dyn Any + Send>> {
            let mut context = Context::from_waker(&waker);
            catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context)))
        };
        let (polled, left) = if is_here() {
            let _entered = self.runtime.enter();
            on_host_thread(poll)
        } else {
            (poll(), false)
        };
        if !matches!(polled, Ok(Poll::Pending)) {
            // One that panicked says with its drop that it is over.
            let _panicked = catch_unwind(AssertUnwindSafe(|| drop(work.take())));
            self.state.store(OVER, Ordering::Release);
            return;
        }
        drop(work);
        if left {
            self.left.store(true, Ordering::Release);
        }
        let is_idle =
            self.state.compare_exchange(DRIVEN, IDLE, Ordering::AcqRel, Ordering::Acquire);
        if is_idle.is_err() {
            self.state.swap(DUE, Ordering::AcqRel);
            self.dispatch();
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let next = |state| match state {
            IDLE => Some(DUE),
            DRIVEN => Some(DUE_AGAIN),
            // Written all the same: see `drive`.
            DUE | DUE_AGAIN => Some(state),
            _ => None,
        };
        let woken = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        if woken == Ok(IDLE) {
            self.dispatch();
        }
    }
}
