//! The engine of one JavaScript thread, and the operations that are open on it.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use napi::bindgen_prelude::{Function, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tokio_util::sync::CancellationToken;
use warpline_core::cli::{self, Io, Package};
use warpline_core::engine::{
    AdvanceOptions, Engine, HostFailure, InvokeOptions, LoadReport, Witness,
};
use warpline_core::error::Error;
use warpline_core::home::Environment;
use warpline_core::json::{JsString, Map, Value};

use crate::host::{Message, NodeHost};
use crate::text::{environment, error, object, string, value};

/// The engine of one JavaScript thread.
#[napi]
pub struct NativeEngine {
    engine: Arc<Engine>,
    host: Arc<NodeHost>,
    operations: Arc<Operations>,
    command_received: Arc<AtomicBool>,
}

/// A task that ends with its owner.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// How long JavaScript may take to receive the exit code of a command.
const LEAVE_AFTER: Duration = Duration::from_secs(5);

/// Ends the process where JavaScript does not: a plugin that never gives the thread back would keep
/// a command for ever that is over and on record.
fn leave_unless(received: Arc<AtomicBool>, code: i32) {
    let watch = move || {
        std::thread::sleep(LEAVE_AFTER);
        if !received.load(Ordering::Acquire) {
            // SAFETY: `_exit` takes no pointer and runs no code of this process. All files of the
            // home are written, and handlers of `exit` could not run on the thread that is kept.
            unsafe { libc::_exit(code) }
        }
    };
    // Without a thread to watch, the command ends when the plugin lets it.
    let _watching = std::thread::Builder::new().name("warpline-leave".into()).spawn(watch);
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
}

impl Operation {
    /// What the engine takes of it.
    fn parts(&self) -> (Arc<Engine>, u64, CancellationToken) {
        (self.engine.clone(), self.number, self.cancel.clone())
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.operations.with(|open| open.remove(&self.number));
        self.host.ended(self.number);
    }
}

#[napi]
impl NativeEngine {
    /// Takes the callbacks of the host; none of them may throw.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        env: &Env,
        start: Function<'_, Message, ()>,
        abort: Function<'_, Message, ()>,
        notify: Function<'_, Message, ()>,
    ) -> Result<Self> {
        let host = Arc::new(NodeHost::new(&start, &abort, &notify)?);
        let operations = Arc::new(Operations::default());
        // Otherwise the engine would go on retrying and writing files after its worker ended.
        env.add_env_cleanup_hook(operations.thread.clone(), |thread| thread.cancel())?;
        let command_received = Arc::default();
        Ok(Self { engine: Engine::new(host.clone()), host, operations, command_received })
    }

    /// Answers a started call with JSON: a value, the text of what was `threw`n, or the text that
    /// says why what was returned has `noJson`.
    #[napi(catch_unwind)]
    pub fn complete(&self, call: f64, outcome: String, json: String) {
        let completion = match (outcome.as_str(), value(&json)) {
            ("value", Ok(value)) => Ok(value),
            ("threw", Ok(text)) => Err(HostFailure::Threw(string(&text))),
            (_, Ok(text)) => Err(HostFailure::NoJson(string(&text))),
            (_, Err(fault)) => Err(HostFailure::NoJson(fault.reason.to_string().into())),
        };
        self.engine.complete(number(call), completion);
    }

    /// Asks whether plugin code may run for a call, right before it does. No means that nobody waits
    /// any more.
    #[napi(catch_unwind)]
    pub fn begin(&self, call: f64) -> bool {
        self.engine.begin(number(call))
    }

    /// Hands over what plugin code printed.
    #[napi(catch_unwind)]
    pub fn print(&self, invocation: f64, text: String) {
        self.engine.print(number(invocation), &text.into());
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
        environment_json: String,
        options_json: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let begun = self.open(operation, aborted);
        let environment = environment(&environment_json)?;
        let options = value(&options_json)?;
        let options = AdvanceOptions::from_value(&options).map_err(|refusal| error(&refusal))?;
        let (engine, number, cancel) = begun.parts();
        spawn(env, begun, async move {
            let result = engine.advance(&environment, &options, number, &cancel).await?;
            Ok(result.to_value())
        })
    }

    /// Runs one plugin: `{plugin, args, options, witness}`.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn invoke<'env>(
        &self,
        env: &'env Env,
        operation: f64,
        aborted: bool,
        environment_json: String,
        request_json: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let begun = self.open(operation, aborted);
        let environment = environment(&environment_json)?;
        let request = value(&request_json)?;
        let member = |key: &str| request.get(key).cloned().unwrap_or_default();
        let plugin = string(&member("plugin"));
        let options = InvokeOptions::from_value(&member("args"), &member("options"));
        let options = options.map_err(|refusal| error(&refusal))?;
        let witness = Witness::from_value(&member("witness")).map_err(|refusal| error(&refusal))?;
        let (engine, number, cancel) = begun.parts();
        spawn(env, begun, async move {
            let outcome =
                engine.invoke(&environment, &plugin, &options, &witness, number, &cancel).await?;
            Ok(outcome.to_value())
        })
    }

    /// Loads the manifests of a root: `{pluginsDir}`.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn load_manifests<'env>(
        &self,
        env: &'env Env,
        operation: f64,
        aborted: bool,
        environment_json: String,
        options_json: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let begun = self.open(operation, aborted);
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
            Ok(report_value(engine.load_manifests(&root, number).await))
        })
    }

    /// Runs the command line: `{arguments, package, seed}`. JSON: the exit code.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn command<'env>(
        &self,
        env: &'env Env,
        operation: f64,
        aborted: bool,
        environment_json: String,
        request_json: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let begun = self.open(operation, aborted);
        let environment = environment(&environment_json)?;
        let request = value(&request_json)?;
        let path = |key: &str| Some(PathBuf::from(request.get(key)?.as_string()?.to_text()));
        let package = Package { directory: path("package"), seed: path("seed") };
        let arguments = arguments(&request);
        let (engine, number, cancel) = begun.parts();
        let received = self.command_received.clone();
        spawn(env, begun, async move {
            let io = Io::process(package);
            let _interrupts = AbortOnDrop(tokio::spawn(cli::cancel_on_signal(cancel.clone())));
            let code = cli::run(&arguments, environment, engine, number, cancel, &io).await;
            leave_unless(received, code);
            Ok(f64::from(code).into())
        })
    }

    /// Says that the exit code of a command has reached JavaScript, which now ends the process.
    #[napi(catch_unwind)]
    pub fn command_ended(&self) {
        self.command_received.store(true, Ordering::Release);
    }

    /// Opens an operation; `aborted` says that its caller's signal has fired already.
    fn open(&self, operation: f64, aborted: bool) -> Operation {
        let number = number(operation);
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
        }
    }
}

/// The home that `--home` among these arguments (a JSON array) names, absolute, for plugin code.
#[napi(catch_unwind)]
pub fn home_argument(environment_json: String, request_json: String) -> Result<Option<String>> {
    let Environment { cwd, .. } = environment(&environment_json)?;
    let home = cli::home_argument(&arguments(&value(&request_json)?), &cwd);
    Ok(home.map(|home| home.to_string_lossy().into_owned()))
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

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counters, made as integers
fn number(counter: f64) -> u64 {
    counter as u64
}

fn report_value(report: LoadReport) -> Value {
    let manifests: Vec<Value> = report
        .roster
        .plugins
        .iter()
        .map(|(name, plugin)| Value::from(vec![name.into(), plugin.manifest.to_value()]))
        .collect();
    let failures: Vec<Value> = report
        .roster
        .failures
        .iter()
        .map(|(plugin, text)| object([("plugin", plugin.into()), ("error", text.as_str().into())]))
        .collect();
    let mut loaded = Map::new();
    loaded.insert("manifests", manifests);
    loaded.insert("failures", failures);
    let warnings: Vec<&str> = report.roster.warnings.iter().map(String::as_str).collect();
    loaded.insert("warnings", warnings);
    if let Some((path, code)) = report.root_error {
        let path = path.to_string_lossy().into_owned();
        loaded.insert("root_error", object([("path", path.into()), ("code", code.into())]));
    }
    loaded.into()
}
