//! A worker's side of its talk with the engine: the same for every language.
//!
//! A host in another process holds one [`Link`] where the host of the engine's own process holds an
//! engine. Its methods mirror those of the engine: they may be called on any thread, and those that
//! ask wait for the answer.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, getpgrp, getpid, kill_current_process_group, kill_process};

use crate::engine::{AbortReason, CallId, Completion};
use crate::error::{Error, Result};
use crate::json::{JsString, Value};

use super::protocol::{AskId, FromWorker, Question, ToWorker, VERSION};

/// Runs plugin code in a worker: what [`crate::engine::Host`] is in the engine's own process.
///
/// Its methods are called on the thread that reads what the engine says: they return at once.
pub trait WorkerHost: Send + Sync + 'static {
    /// Starts a call. `request` is JSON text, as [`crate::engine::Request::to_value`] writes it.
    fn start(&self, call: CallId, request: String);

    /// Aborts a started call. Once its signal has fired the host says [`Link::aborted`], from the
    /// thread that plugin code runs on where there is only one: one that is kept busy cannot say so.
    fn abort(&self, call: CallId, reason: AbortReason);
}

/// The talk with the engine.
///
/// In a process that plugin code has forked there is nobody to talk to: nothing is said, and what is
/// asked is answered with no and with empty text.
pub struct Link {
    process: Pid,
    output: Mutex<File>,
    open: Mutex<Open>,
    /// What happens when there is no engine any more. Does not return, except under test.
    end: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Open {
    last: AskId,
    asks: HashMap<AskId, Sender<Value>>,
    /// The calls that were started, and neither aborted nor completed.
    calls: HashSet<CallId>,
    /// Set once there is no engine any more.
    over: bool,
}

impl Link {
    /// Makes this process a worker: the engine is at the other end of standard input and output.
    ///
    /// From here on descriptor 0 has nothing to read, and descriptor 1 leads to standard error: what
    /// plugin code and the programs it starts read and write cannot get between messages. The
    /// engine is told that the worker is ready. When it goes away, this process ends, with all of
    /// its process group where it leads one.
    ///
    /// # Errors
    ///
    /// [`Error::Host`] where the standard streams cannot be set aside, or no thread can be started.
    pub fn take(host: Arc<dyn WorkerHost>) -> Result<Arc<Self>> {
        let streams = set_aside()
            .and_then(|(input, output)| Self::over(input, output, host, Box::new(end_process)));
        streams.map_err(|error| Error::Host {
            message: format!("this process cannot be made a worker: {error}"),
        })
    }

    fn over(
        input: OwnedFd,
        output: OwnedFd,
        host: Arc<dyn WorkerHost>,
        end: Box<dyn Fn() + Send + Sync>,
    ) -> io::Result<Arc<Self>> {
        let (output, open) = (Mutex::new(output.into()), Mutex::default());
        let link = Arc::new(Self { process: getpid(), output, open, end });
        link.say(&FromWorker::Hello { version: VERSION.to_owned() });
        let reader = Reader(link.clone());
        let read = move || reader.0.listen(BufReader::new(input.into()), &*host);
        thread::Builder::new().name("warpline-link".into()).spawn(read)?;
        Ok(link)
    }

    /// `Engine::begin`: whether plugin code may run for a call. Waits for the answer, except for a call
    /// that is known to be aborted.
    pub fn begin(&self, call: CallId) -> bool {
        self.is_here()
            && self.with(|open| open.calls.contains(&call))
            && self.ask(Question::Begin(call)).and_then(|answer| answer.as_bool()) == Some(true)
    }

    /// `Engine::prints`: whether the prints of an invocation go through [`Link::print`].
    pub fn prints(&self, invocation: u64) -> bool {
        let answer = self.ask(Question::Prints(invocation));
        answer.and_then(|answer| answer.as_bool()) == Some(true)
    }

    /// `Prints::print`: what may be shown now; `None` where the text may be shown as it came.
    pub fn print(&self, invocation: u64, text: &JsString) -> Option<JsString> {
        match self.ask(Question::Print(invocation, text.clone())) {
            Some(Value::Null) => None,
            answer => Some(text_of(answer)),
        }
    }

    /// `Prints::release`: what was kept back.
    pub fn release(&self, invocation: u64) -> JsString {
        text_of(self.ask(Question::Release(invocation)))
    }

    /// `Prints::redact`: what was thrown, without the secrets.
    pub fn redact(&self, invocation: u64, text: &JsString) -> JsString {
        text_of(self.ask(Question::Redact(invocation, text.clone())))
    }

    /// Answers a started call, whether it was aborted or not: its code is over.
    pub fn complete(&self, call: CallId, completion: Completion) {
        if self.is_here() {
            self.with(|open| open.calls.remove(&call));
            self.say(&FromWorker::Complete { call, completion });
        }
    }

    /// Says that the signal of an aborted call has fired.
    pub fn aborted(&self, call: CallId) {
        self.say(&FromWorker::Aborted { call });
    }

    /// Tells a reader of something that does not stop anything, in one line.
    pub fn warn(&self, operation: u64, text: JsString) {
        self.say(&FromWorker::Warning { operation, text });
    }

    /// Tells a reader of what plugin code threw where no call fails of it, in one line.
    pub fn stray(&self, operation: u64, text: JsString) {
        self.say(&FromWorker::Stray { operation, text });
    }

    /// Tells a reader what plugin code threw and where. The values of secrets are not in it any more.
    pub fn fault(&self, operation: u64, plugin: JsString, text: JsString) {
        self.say(&FromWorker::Fault { operation, plugin, text });
    }

    /// Whether this is the process that was made a worker, and not one forked from it: there, a lock may
    /// be held by a thread that does not exist.
    pub fn is_here(&self) -> bool {
        getpid() == self.process
    }

    fn with<T>(&self, change: impl FnOnce(&mut Open) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `None` where nobody answers.
    fn ask(&self, question: Question) -> Option<Value> {
        if !self.is_here() {
            return None;
        }
        let (sender, answer) = channel();
        let ask = self.with(|open| {
            open.last += 1;
            let waits = !open.over;
            waits.then(|| {
                open.asks.insert(open.last, sender);
                open.last
            })
        })?;
        self.say(&FromWorker::Ask { ask, question });
        answer.recv().ok()
    }

    fn say(&self, message: &FromWorker) {
        if !self.is_here() {
            return;
        }
        let line = message.to_line();
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let written = output.write_all(line.as_bytes());
        drop(output);
        if written.is_err() {
            self.finish();
        }
    }

    /// Hears the engine until it goes away, or says what is no message.
    fn listen(&self, mut input: BufReader<File>, host: &dyn WorkerHost) {
        let mut line = Vec::new();
        loop {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = str::from_utf8(&line).ok();
            match text.and_then(ToWorker::from_line) {
                None => return,
                Some(ToWorker::Start { call, request }) => {
                    self.with(|open| open.calls.insert(call));
                    host.start(call, request.to_compact());
                }
                Some(ToWorker::Abort { call, reason }) => {
                    self.with(|open| open.calls.remove(&call));
                    host.abort(call, reason);
                }
                Some(ToWorker::Answer { ask, value }) => {
                    if let Some(asked) = self.with(|open| open.asks.remove(&ask)) {
                        // Who asks waits for as long as the sender lives.
                        let _answered = asked.send(value);
                    }
                }
            }
        }
    }

    fn finish(&self) {
        (self.end)();
        self.with(|open| {
            open.over = true;
            open.calls.clear();
            open.asks.clear();
        });
    }
}

/// However reading ends, the worker does.
struct Reader(Arc<Link>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.finish();
    }
}

fn text_of(answer: Option<Value>) -> JsString {
    answer.as_ref().and_then(Value::as_string).cloned().unwrap_or_default()
}

/// Gives what descriptors 0 and 1 led to. No program that is started inherits the copies.
fn set_aside() -> io::Result<(OwnedFd, OwnedFd)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((input, output))
}

/// Ends this process at once, whatever plugin code does meanwhile, and what it has started with it.
fn end_process() {
    let process = getpid();
    let killed = match getpgrp() == process {
        true => kill_current_process_group(Signal::KILL),
        false => kill_process(process, Signal::KILL),
    };
    // The first process of a container is not killed from within.
    let _killed = killed;
    std::process::exit(1);
}

#[cfg(test)]
mod tests;
