//! One call of the engine that a Python thread waits for.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;
use warpline_core::cli::fleet::EngineFleet;
use warpline_core::cli::plan::{Manifests, plan};
use warpline_core::cli::{self, Io, Package};
use warpline_core::engine::{AdvanceOptions, Engine, InvokeOptions, LoadReport, Notice, Witness};
use warpline_core::error::{Error, Result};
use warpline_core::home::Environment;
use warpline_core::json::{JsString, Map, Value};

use crate::guard::panic_text;
use crate::host::{HostMessage, Inbox};
use crate::leave::{cancel_on_signal, leave_unless_received};
use crate::mailbox::Mailbox;
use crate::text::{error_text, object, texts};

/// What an operation tells, in order.
pub(crate) enum Told {
    /// A notice, as JSON.
    Notice(String),
    /// The result, as JSON. Comes once, last.
    Ended(String),
    /// A refusal, as JSON `{code, message, hint}`. Comes once, last.
    Failed(String),
}

impl Told {
    /// Its name and its JSON.
    pub(crate) fn parts(self) -> (&'static str, String) {
        match self {
            Self::Notice(json) => ("notice", json),
            Self::Ended(json) => ("ended", json),
            Self::Failed(json) => ("failed", json),
        }
    }
}

/// A running operation.
pub(crate) struct Operation {
    pub(crate) told: Mailbox<Told>,
    /// Its number and where it is told instead, for an operation whose caller waits for messages.
    posted: Option<(u64, Arc<Inbox>)>,
    /// Whether anybody listens to more than what belongs on standard error.
    pub(crate) listens: bool,
    pub(crate) cancel: CancellationToken,
    ended: AtomicBool,
    received: AtomicBool,
}

impl Operation {
    pub(crate) fn new(posted: Option<(u64, Arc<Inbox>)>, listens: bool) -> Arc<Self> {
        let (told, cancel) = (Mailbox::new(), CancellationToken::new());
        Arc::new(Self {
            told,
            posted,
            listens,
            cancel,
            ended: AtomicBool::default(),
            received: AtomicBool::default(),
        })
    }

    pub(crate) fn notify(&self, notice: Notice) {
        if self.listens || matches!(notice, Notice::Warning { .. } | Notice::Stray { .. }) {
            self.tell(Told::Notice(notice.to_value().to_compact()));
        }
    }

    fn tell(&self, told: Told) {
        match &self.posted {
            Some((number, inbox)) => inbox.messages.put(HostMessage(*number, told)),
            None => self.told.put(told),
        }
    }

    /// Whether everything was told.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Says that the last thing that was told has reached Python, and keeps it for who asks again.
    pub(crate) fn tell_again(&self, last: Told) {
        self.received.store(true, Ordering::SeqCst);
        self.told.put(last);
    }

    /// Whether the last thing has reached Python.
    pub(crate) fn is_received(&self) -> bool {
        self.received.load(Ordering::SeqCst)
    }

    /// Tells the last thing.
    pub(crate) fn end(&self, told: Told) {
        self.tell(told);
        self.ended.store(true, Ordering::SeqCst);
    }
}

/// What an operation is to do.
pub(crate) enum Task {
    Advance(AdvanceOptions),
    Invoke {
        plugin: JsString,
        options: Box<InvokeOptions>,
        witness: Witness,
    },
    LoadManifests(AdvanceOptions),
    Plan(AdvanceOptions),
    Cli {
        arguments: Vec<String>,
        package: Package,
    },
    /// Panics, so that a test can see what becomes of it. Not in a released module.
    #[cfg(debug_assertions)]
    Panic,
}

impl Task {
    /// Reads the request of a kind: `advance`, `manifests` and `plan` take options, `invoke`
    /// `{plugin, args, options, witness, now?}`, `cli` `{arguments, seed}`.
    pub(crate) fn read(kind: &str, request: &Value) -> Result<Self> {
        let member = |key: &str| request.get(key).cloned().unwrap_or(Value::Null);
        let text = |key: &str| member(key).as_string().cloned();
        match kind {
            "advance" => Ok(Self::Advance(AdvanceOptions::from_value(request)?)),
            "manifests" => Ok(Self::LoadManifests(AdvanceOptions::from_value(request)?)),
            "plan" => Ok(Self::Plan(AdvanceOptions::from_value(request)?)),
            "invoke" => Ok(Self::Invoke {
                plugin: text("plugin").ok_or_else(|| Error::Option {
                    option: "plugin",
                    expected: "the name of a plugin, as text".into(),
                })?,
                options: Box::new(
                    InvokeOptions::from_value(&member("args"), &member("options"))?
                        .standing_at(request.get("now"))?,
                ),
                witness: Witness::from_value(&member("witness"))?,
            }),
            "cli" => {
                let arguments = texts(&member("arguments"));
                let seed = text("seed").map(|path| path.to_text().into());
                let package = Package { directory: None, seed };
                Ok(Self::Cli { arguments, package })
            }
            #[cfg(debug_assertions)]
            "panic_for_a_test" => Ok(Self::Panic),
            _ => Err(Error::Host { message: format!("there is no operation `{kind}`") }),
        }
    }
}

/// Runs a task to its end and tells the operation what came of it.
pub(crate) async fn run(
    engine: Arc<Engine>,
    number: u64,
    operation: Arc<Operation>,
    environment: Environment,
    task: Task,
) {
    let work = AssertUnwindSafe(work(engine, number, operation.clone(), environment, task));
    // A task of its own, so that a panic ends the task and is reported here.
    let told = match tokio::spawn(work).await {
        Ok(Ok(value)) => Told::Ended(value.to_compact()),
        Ok(Err(error)) => Told::Failed(error_text(&error)),
        Err(lost) => {
            let message = match lost.try_into_panic() {
                Ok(panic) => panic_text(panic.as_ref()),
                Err(lost) => lost.to_string(),
            };
            Told::Failed(error_text(&Error::Host { message }))
        }
    };
    operation.end(told);
}

async fn work(
    engine: Arc<Engine>,
    number: u64,
    operation: Arc<Operation>,
    environment: Environment,
    task: Task,
) -> Result<Value> {
    let cancel = operation.cancel.clone();
    match task {
        Task::Advance(options) => {
            Ok(engine.advance(&environment, &options, number, &cancel).await?.to_value())
        }
        Task::Invoke { plugin, options, witness } => Ok(engine
            .invoke(&environment, &plugin, &options, &witness, number, &cancel)
            .await?
            .to_value()),
        Task::LoadManifests(options) => {
            let root = options.paths.resolve(&environment).map(|paths| paths.plugins);
            // An empty root is an unusable root like any other here.
            let root = root.unwrap_or_default();
            let loading = engine.load_manifests(&root, &environment, options.isolation, number);
            Ok(report_value(or_cancelled(&cancel, loading).await?))
        }
        Task::Plan(options) => {
            let paths = options.paths.resolve(&environment)?;
            let clock = engine.clone();
            let fleet = EngineFleet { engine, environment, operation: number };
            let planning = plan(&fleet, &paths, options.profile, Manifests::Run, || clock.now());
            Ok(or_cancelled(&cancel, planning).await?.to_value())
        }
        Task::Cli { arguments, package } => {
            let io = Io::process(package)?;
            let _interrupts = cancel_on_signal(cancel.clone());
            let code = cli::run(&arguments, environment, engine, number, cancel, &io).await;
            leave_unless_received(operation, code);
            Ok(Value::Number(code.into()))
        }
        #[cfg(debug_assertions)]
        #[allow(clippy::panic)]
        Task::Panic => panic!("asked for"),
    }
}

/// What leaves nothing behind can be dropped where it is.
async fn or_cancelled<T>(cancel: &CancellationToken, work: impl Future<Output = T>) -> Result<T> {
    tokio::select! {
        result = work => Ok(result),
        () = cancel.cancelled() => Err(Error::Host { message: "the caller cancelled".into() }),
    }
}

/// `{manifests, failures: [{plugin, error}], root_error: {path, code} | null, warnings}`.
fn report_value(report: LoadReport) -> Value {
    let LoadReport { roster, root_error } = report;
    let manifests: Map = roster
        .plugins
        .into_iter()
        .map(|(name, plugin)| (name, plugin.manifest.to_value()))
        .collect();
    let failures = roster.failures.into_iter().map(|(plugin, error)| {
        object([("plugin", plugin.into()), ("error", error.as_str().into())])
    });
    let root_error = root_error.map(|(path, code)| {
        object([("path", path.display().to_string().into()), ("code", code.as_str().into())])
    });
    object([
        ("manifests", manifests.into()),
        ("failures", failures.collect::<Vec<_>>().into()),
        ("root_error", root_error.into()),
        ("warnings", roster.warnings.into()),
    ])
}
