//! The host contract: what runs plugin code, and how the engine talks to it.
//!
//! A host (Node, Python, a worker process, the tests' fake) answers messages. Both directions are
//! fire and forget: the engine calls [`Host::start`] and [`Host::abort`], the host answers each
//! started call exactly once with `Engine::complete`. An answer that comes too late, or twice, is
//! dropped. Right before plugin code runs the host asks `Engine::begin`, and leaves the code alone
//! where the answer is no: what the engine has recorded as over must not have effects after that. A host never decides when, how often or how long: it has no timer and no retry.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::home::plugins::Language;
use crate::json::{JsString, Value};
use crate::schema::closed_set;

use super::Document;

/// Names one started call. Never reused within an engine.
pub type CallId = u64;

/// What the engine asks of a host.
#[derive(Clone, Debug)]
pub enum Request {
    /// Import the manifests of these plugins and answer with the exported value of each.
    ///
    /// Answer: an array with one object per plugin, in any order: `{plugin, manifest}` or
    /// `{plugin, error}`, `error` being the text of what was thrown.
    LoadManifests {
        /// The plugins whose manifest must be run to be known.
        plugins: Vec<PluginModule>,
        /// Names what is printed while they are evaluated.
        invocation: u64,
        /// Whether that goes through `Engine::prints`.
        prints: bool,
    },
    /// Import the handler of a plugin, so that the attempts that follow can call it.
    ///
    /// Answer: anything. A failure's text is what the reader sees of a plugin that does not load.
    LoadHandler {
        /// The plugin.
        plugin: PluginModule,
        /// The invocation that wants it, for what the module prints while it is evaluated.
        invocation: u64,
        /// Names of the variables whose values a host must not show when it tells what was thrown.
        secrets: Vec<JsString>,
        /// Whether that goes through `Engine::prints`.
        prints: bool,
    },
    /// Call the handler once.
    ///
    /// Answer: what the handler returned, as JSON; `null` where it returned nothing.
    Attempt(Box<AttemptRequest>),
}

/// Where a plugin's code lies.
#[derive(Clone, Debug)]
pub struct PluginModule {
    /// The directory name.
    pub name: JsString,
    /// The canonical directory.
    pub directory: PathBuf,
    /// Changes whenever a file of the plugin does; a host imports each revision once.
    pub revision: String,
}

/// One handler call.
#[derive(Clone, Debug)]
pub struct AttemptRequest {
    /// The plugin, loaded by [`Request::LoadHandler`] before unless `load` says otherwise.
    pub plugin: PluginModule,
    /// Whether the host is to load the handler first, and to ask `Engine::begin` twice: before it loads
    /// and before it calls. Asked only of a host that keeps handlers.
    pub load: bool,
    /// From 1.
    pub attempt: u32,
    /// The invocation this attempt belongs to; the same for all its attempts.
    pub invocation: u64,
    /// First argument of the handler: the validated manifest.
    pub manifest: Document,
    /// Second argument of the handler: the resolved arguments.
    pub args: Value,
    /// What the host builds the capability context from:
    /// `{caller: {plugin, runId}, secrets: [name], dependencies: {name: {output, run}}}`, both
    /// `null` for a declared dependency without a record.
    pub context: Value,
    /// Whether what the handler prints goes through `Engine::prints`: a transcript is kept, or there is
    /// a secret that must not be shown.
    pub prints: bool,
}

closed_set! {
    /// Why an attempt is aborted.
    AbortReason {
        /// Its time ran out.
        Timeout = "timeout",
        /// The caller cancelled, or the process was signalled.
        Cancelled = "cancelled",
        /// Nobody waits for it any more.
        Dropped = "dropped",
    }
}

/// What the engine tells a host about an operation while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// An advance is about to invoke a plugin.
    PluginStart {
        /// The directory name.
        plugin: JsString,
    },
    /// A plugin of an advance came to its end.
    PluginEnd {
        /// The directory name.
        plugin: JsString,
        /// Its state machine state.
        state: super::PluginState,
        /// Milliseconds it took.
        elapsed_ms: f64,
        /// Why it did not run, or how it failed.
        reason: Option<JsString>,
    },
    /// The advance did not end complete. Comes once, last.
    RunFailure {
        /// For a reader.
        text: JsString,
    },
    /// An attempt is about to start.
    AttemptStart {
        /// From 1.
        attempt: u32,
    },
    /// An attempt failed or timed out: another follows, or it was the last.
    AttemptFailed {
        /// From 1.
        attempt: u32,
        /// The first error's message, or the summary of a result without errors.
        message: JsString,
    },
    /// Something went wrong that does not stop the operation; belongs on standard error.
    Warning {
        /// For a reader.
        text: String,
    },
    /// Plugin code threw in a worker where no call fails of it; belongs on standard error, and in the
    /// exit code of a command.
    Stray {
        /// For a reader.
        text: String,
    },
    /// Plugin code threw in a worker. The failure itself comes as from any other call; this says where.
    Fault {
        /// The directory name.
        plugin: JsString,
        /// What was thrown and where, over several lines, without the values of secrets.
        text: JsString,
    },
}

/// Why a call has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum HostFailure {
    /// Plugin code threw; the text of what was thrown. One that the host has cut for its length says so
    /// with `… (cut)`: the cut may go through a secret.
    Threw(JsString),
    /// Plugin code returned what JSON has no form for; the text says why.
    NoJson(JsString),
}

impl HostFailure {
    /// The text for a reader.
    pub fn message(&self) -> &JsString {
        match self {
            Self::Threw(message) | Self::NoJson(message) => message,
        }
    }
}

/// What a call ended with.
pub type Completion = Result<Value, HostFailure>;

/// How a worker is started that runs plugins of the host's own language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// What it is given.
    pub arguments: Vec<OsString>,
}

/// Runs plugin code. See the module for the rules.
pub trait Host: Send + Sync + 'static {
    /// What the plugins are written in that this host runs itself. Others run in a worker.
    fn language(&self) -> Language {
        Language::TypeScript
    }

    /// Whether a handler that this host has loaded stays loaded, for every later attempt of the same
    /// revision. It is then not asked to load it again.
    fn keeps_handlers(&self) -> bool {
        false
    }

    /// Whether somebody hears the notices of progress of this operation, and so in which moment they come.
    fn hears(&self, _operation: u64) -> bool {
        true
    }

    /// How to start a process of this host's own kind, for plugins that are to have one each. Without
    /// that, such a process is looked for like that of any other language.
    fn worker(&self) -> Option<WorkerCommand> {
        None
    }

    /// Starts a call and returns at once. `operation` is the number its caller began it with: code
    /// runs in that caller's async context where the language has one.
    fn start(&self, call: CallId, operation: u64, request: Request);

    /// Aborts a started call; the host fires its signal and need not answer any more.
    fn abort(&self, call: CallId, reason: AbortReason);

    /// Whether [`Host::before_print`] is to be called for what plugin code in workers prints.
    fn minds_prints(&self) -> bool {
        false
    }

    /// A worker is about to write this to the standard error that it shares with this process.
    fn before_print(&self, _text: &JsString) {}

    /// Tells of progress of the operation that was begun with this number.
    fn notify(&self, operation: u64, notice: Notice);
}
