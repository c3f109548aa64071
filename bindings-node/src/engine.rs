//! The engine of one JavaScript thread, and the operations that are open on it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::{Function, PromiseRaw, within_runtime_if_available};
use napi::{Env, Result};
use napi_derive::napi;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use warpline_core::cli::{self, Io, Package};
use warpline_core::engine::{
    AdvanceOptions, Engine, InvokeOptions, Moment, Witness, WorkerCommand,
};
use warpline_core::error::Error;
use warpline_core::home::Environment;
use warpline_core::json::{JsString, Value};

use crate::drive::{self, Task};
use crate::host::{Message, NodeHost, StartMessage, completion, number};
use crate::leave;
use crate::prints::NativePrints;
use crate::report::report_value;
use crate::text::{environment, error, kept_environment, string, value};
use crate::variables;

/// How long the JSON text of an answer may be that is dealt with on the JavaScript thread, in bytes.
const SHORT: usize = 64 * 1024;

/// The engine of one JavaScript thread.
#[napi]
pub struct NativeEngine {
    engine: Arc<Engine>,
    host: Arc<NodeHost>,
    operations: Arc<Operations>,
    command_received: Arc<AtomicBool>,
    runtime: Handle,
    prepared: Mutex<Prepared>,
}

/// Invocations that JavaScript has called for and not begun.
#[derive(Default)]
struct Prepared {
    /// What those share that were called for last.
    moment: Option<(Arc<Environment>, Arc<Moment>)>,
    work: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

/// What can still be cancelled.
#[derive(Default)]
struct Operations {
    /// Cancelled when the thread ends, and with it everything that was begun on it.
    thread: CancellationToken,
    open: Mutex<HashMap<u64, CancellationToken>>,
}

impl Operations {
    fn with<T>(&self, change: impl FnOnce(&mut HashMap<u64, CancellationToken>) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An operation in progress. Dropping it tells JavaScript that no notice follows.
struct Operation {
    number: u64,
    engine: Arc<Engine>,
    host: Arc<NodeHost>,
    operations: Arc<Operations>,
    cancel: CancellationToken,
    /// What is said of its end, where that is more than that it has come.
    outcome: Option<String>,
}

impl Operation {
    /// What the engine takes of it.
    fn parts(&self) -> (Arc<Engine>, u64, CancellationToken) {
        (self.engine.clone(), self.number, self.cancel.clone())
    }

    /// Ends it with a notice of its own.
    fn end(mut self, outcome: String) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.operations.with(|open| open.remove(&self.number));
        self.host.ended(self.number, self.outcome.take());
    }
}

#[napi]
impl NativeEngine {
    /// Takes the callbacks of the host, none of which may throw, and what to start a worker with: the
    /// program, and what it is given.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        env: &Env,
        start: Function<'_, StartMessage, ()>,
        abort: Function<'_, Message, ()>,
        notify: Function<'_, Message, ()>,
        program: String,
        arguments: Vec<String>,
    ) -> Result<Self> {
        let arguments = arguments.into_iter().map(OsString::from).collect();
        let worker = WorkerCommand { program: program.into(), arguments };
        let host = Arc::new(NodeHost::new(&start, &abort, &notify, worker)?);
        let operations = Arc::new(Operations::default());
        let command_received = Arc::default();
        let engine = Engine::new(host.clone());
        // Otherwise the engine would go on retrying and writing files after its worker ended. Recorded
        // here, as the threads of the engine are stopped with the last thread that has one.
        let ending = (operations.thread.clone(), Arc::downgrade(&engine));
        env.add_env_cleanup_hook(ending, |(thread, engine)| {
            thread.cancel();
            leave::record_end_of(&engine);
        })?;
        leave::record_at_exit(&engine);
        let runtime = within_runtime_if_available(Handle::current);
        let prepared = Mutex::default();
        Ok(Self { engine, host, operations, command_received, runtime, prepared })
    }

    /// Answers a started call with JSON: a value, the text of what was `threw`n, or the text that
    /// says why what was returned has `noJson`.
    #[napi(catch_unwind)]
    pub fn complete(&self, env: &Env, call: f64, outcome: String, json: String) {
        // To read, check and write a long one takes its time.
        let is_long = json.len() > SHORT;
        // Read on the thread that waits for it.
        let complete =
            || self.engine.complete_with(number(call), move || completion(&outcome, &json));
        if is_long { complete() } else { drive::here(env, complete) }
    }

    /// Asks whether plugin code may run for a call, right before it does. No means that nobody waits
    /// any more.
    #[napi(catch_unwind)]
    pub fn begin(&self, env: &Env, call: f64) -> bool {
        drive::here(env, || self.engine.begin(number(call)))
    }

    /// Where the prints of an invocation go; `null` once it is over.
    #[napi(catch_unwind)]
    pub fn prints(&self, invocation: f64) -> Option<NativePrints> {
        self.engine.prints(number(invocation)).map(NativePrints::from)
    }

    /// Interrupts an operation.
    #[napi(catch_unwind)]
    pub fn cancel(&self, operation: f64) {
        let cancel = self.operations.with(|open| open.get(&number(operation)).cloned());
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
    }

    /// Records what is known of running passes; the process ends now. JSON: the plugins that ran.
    #[napi(catch_unwind)]
    pub fn exit(&self) -> Result<String> {
        let running = self.engine.exit().map_err(|refusal| error(&refusal))?;
        Ok(Value::from(running).to_compact())
    }

    /// Runs every due plugin once.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn advance<'env>(
        &self,
        env: &'env Env,
        operation: f64,
        aborted: bool,
        hears: bool,
        environment_json: String,
        options_json: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let begun = self.open(operation, aborted, hears);
        let environment = environment(&environment_json)?;
        let options = value(&options_json)?;
        let options = AdvanceOptions::from_value(&options).map_err(|refusal| error(&refusal))?;
        let (engine, number, cancel) = begun.parts();
        spawn(env, begun, async move {
            let result = engine.advance(&environment, &options, number, &cancel).await?;
            Ok(result.to_value())
        })
    }

    /// Calls for one run of a plugin: `{plugin, args, options, witness, now?}`. The notice of its end has the
    /// `result`, or an `error`. Nothing is looked at before [`NativeEngine::begin_prepared`].
    ///
    /// Where `is_live`, `environment` is the working directory alone, and the variables are those of this
    /// process; `false` says that JavaScript has to say what they are.
    #[napi(catch_unwind)]
    pub fn prepare(
        &self,
        operation: f64,
        aborted: bool,
        hears: bool,
        environment: String,
        is_live: bool,
        request_json: String,
    ) -> Result<bool> {
        let environment = if is_live {
            let Some(environment) = variables::environment(&environment) else { return Ok(false) };
            environment
        } else {
            kept_environment(&environment)?
        };
        let begun = self.open(operation, aborted, hears);
        let request = value(&request_json)?;
        let member = |key: &str| request.get(key).cloned().unwrap_or_default();
        let plugin = string(&member("plugin"));
        let options = InvokeOptions::from_value(&member("args"), &member("options"))
            .and_then(|options| options.standing_at(request.get("now")));
        let options = options.map_err(|refusal| error(&refusal))?;
        let witness = Witness::from_value(&member("witness")).map_err(|refusal| error(&refusal))?;
        let (engine, number, cancel) = begun.parts();
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let moment = match &prepared.moment {
            Some((same, moment)) if Arc::ptr_eq(same, &environment) => moment.clone(),
            _ => {
                let moment = Moment::new(environment.clone());
                prepared.moment = Some((environment, moment.clone()));
                moment
            }
        };
        prepared.work.push(Box::pin(async move {
            let invoked = engine.invoke_at(&moment, &plugin, &options, &witness, number, &cancel);
            let outcome = match invoked.await {
                Ok(outcome) => ended("result", &outcome.to_value().to_compact()),
                Err(refusal) => ended("error", &error(&refusal).reason),
            };
            begun.end(outcome);
        }));
        Ok(true)
    }

    /// Begins what was called for.
    #[napi(catch_unwind)]
    pub fn begin_prepared(&self, env: &Env) {
        let prepared = {
            let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *prepared)
        };
        drive::here(env, || {
            for work in prepared.work {
                Task::begin(&self.runtime, work);
            }
        });
    }

    /// Loads the manifests of a root: `{pluginsDir}`.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn load_manifests<'env>(
        &self,
        env: &'env Env,
        operation: f64,
        aborted: bool,
        hears: bool,
        environment_json: String,
        options_json: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let begun = self.open(operation, aborted, hears);
        let environment = environment(&environment_json)?;
        let options = value(&options_json)?;
        let options = AdvanceOptions::from_value(&options).map_err(|refusal| error(&refusal))?;
        let (engine, number, _cancel) = begun.parts();
        spawn(env, begun, async move {
            let root = match options.paths.resolve(&environment) {
                Ok(paths) => paths.plugins,
                Err(Error::EmptyPluginRoot) => PathBuf::new(),
                Err(refusal) => return Err(refusal),
            };
            let loading = engine.load_manifests(&root, &environment, options.isolation, number);
            Ok(report_value(loading.await))
        })
    }

    /// Runs the command line: `{arguments, package, seed}`. JSON: the exit code. Standard output is the
    /// command's own from here on, and the exit code of the process is too.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn command<'env>(
        &self,
        env: &'env Env,
        operation: f64,
        aborted: bool,
        hears: bool,
        environment_json: String,
        request_json: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let begun = self.open(operation, aborted, hears);
        let environment = environment(&environment_json)?;
        let request = value(&request_json)?;
        let path = |key: &str| Some(PathBuf::from(request.get(key)?.as_string()?.to_text()));
        let package = Package { directory: path("package"), seed: path("seed") };
        let io = Io::process(package).map_err(|refusal| error(&refusal))?;
        leave::command_begins();
        let arguments = arguments(&request);
        let (engine, number, cancel) = begun.parts();
        let received = self.command_received.clone();
        spawn(env, begun, async move {
            let _interrupts = leave::cancel_on_signal(cancel.clone());
            let code = cli::run(&arguments, environment, engine, number, cancel, &io).await;
            leave::leave_unless(received, code);
            Ok(f64::from(code).into())
        })
    }

    /// Says that the exit code of a command has reached JavaScript, which now ends the process.
    #[napi(catch_unwind)]
    pub fn command_ended(&self) {
        self.command_received.store(true, Ordering::Release);
    }

    /// Says that the process ends now, with this exit code, whatever plugin code does meanwhile.
    #[napi(catch_unwind)]
    pub fn command_over(&self, code: i32) {
        leave::command_over(code);
    }

    /// Puts back the handlers of signals that a command began with.
    #[napi(catch_unwind)]
    pub fn restore_handlers(&self) {
        leave::restore_handlers();
    }

    /// Opens an operation; `aborted` says that its caller's signal has fired already, `hears` that its
    /// caller wants to be told of progress.
    fn open(&self, operation: f64, aborted: bool, hears: bool) -> Operation {
        let number = number(operation);
        if hears {
            self.host.tell_progress(number);
        }
        let cancel = self.operations.thread.child_token();
        if aborted {
            cancel.cancel();
        }
        self.operations.with(|open| open.insert(number, cancel.clone()));
        Operation {
            number,
            engine: self.engine.clone(),
            host: self.host.clone(),
            operations: self.operations.clone(),
            cancel,
            outcome: None,
        }
    }
}

/// The notice that an operation has ended so.
fn ended(what: &str, json: &str) -> String {
    format!(r#"{{"kind":"ended","{what}":{json}}}"#)
}

/// The home that `--home` among these arguments (a JSON array) names, absolute, for plugin code.
#[napi(catch_unwind)]
pub fn home_argument(environment_json: String, request_json: String) -> Result<Option<String>> {
    let Environment { cwd, .. } = environment(&environment_json)?;
    let home = cli::home_argument(&arguments(&value(&request_json)?), &cwd);
    Ok(home.map(|home| home.to_string_lossy().into_owned()))
}

/// Runs a command that is over with a text, without an engine: its exit code, or `null` where the
/// command needs one. No plugin code may have run in this process.
#[napi(catch_unwind)]
pub fn run_alone(arguments: Vec<String>) -> Option<i32> {
    cli::run_alone(&arguments, &Environment::current().ok()?)
}

/// Makes room on standard error for a print that comes next, and that ends in a newline or does not.
#[napi(catch_unwind)]
pub fn before_print(ends_line: bool) {
    cli::progress::before_print(ends_line);
}

fn arguments(request: &Value) -> Vec<String> {
    let arguments = request.get("arguments").and_then(Value::as_array).unwrap_or_default();
    arguments.iter().filter_map(Value::as_string).map(JsString::to_text).collect()
}

/// Runs an operation on the engine's threads. It ends, for JavaScript, before its promise settles.
fn spawn(
    env: &Env,
    begun: Operation,
    work: impl Future<Output = warpline_core::error::Result<Value>> + Send + 'static,
) -> Result<PromiseRaw<'_, String>> {
    env.spawn_future(async move {
        let outcome = work.await;
        drop(begun);
        outcome.map(|value| value.to_compact()).map_err(|refusal| error(&refusal))
    })
}
