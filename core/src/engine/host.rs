//! The host contract: what runs plugin code, and how the engine talks to it.
//!
//! A host (Node, Python, a worker process, the tests' fake) answers messages. Both directions are
//! fire and forget: the engine calls [`Host::start`] and [`Host::abort`], the host answers each
//! started call exactly once with `Engine::complete`. An answer that comes too late, or twice, is
//! dropped. Right before plugin code runs the host asks `Engine::begin`, and leaves the code alone
//! where the answer is no: what the engine has recorded as over must not have effects after that. A host never decides when, how often or how long: it has no timer and no retry.

use std::path::PathBuf;

use crate::home::plugins::Language;
use crate::json::{JsString, Value};

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
    },
    /// Import the handler of a plugin, so that the attempts that follow can call it.
    ///
    /// Answer: anything. A failure's text is what the reader sees of a plugin that does not load.
    LoadHandler {
        /// The plugin.
        plugin: PluginModule,
        /// The invocation that wants it, for what the module prints while it is evaluated.
        invocation: u64,
        /// Whether that is to be handed back through `Engine::print`.
        capture: bool,
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
    /// The plugin, loaded by [`Request::LoadHandler`] before.
    pub plugin: PluginModule,
    /// From 1.
    pub attempt: u32,
    /// The invocation this attempt belongs to; the same for all its attempts.
    pub invocation: u64,
    /// First argument of the handler: the validated manifest.
    pub manifest: Value,
    /// Second argument of the handler: the resolved arguments.
    pub args: Value,
    /// What the host builds the capability context from:
    /// `{caller: {plugin, runId}, secrets: [name], dependencies: {name: {output, run}}}`, both
    /// `null` for a declared dependency without a record.
    pub context: Value,
    /// Whether what the handler prints is to be handed back through `Engine::print`.
    pub capture: bool,
}

/// Why an attempt is aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortReason {
    /// Its time ran out.
    Timeout,
    /// The caller cancelled, or the process was signalled.
    Cancelled,
    /// Nobody waits for it any more.
    Dropped,
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
    /// An attempt failed and another follows, or it was the last.
    AttemptFailed {
        /// From 1.
        attempt: u32,
        /// The first error's message.
        message: JsString,
    },
    /// Something went wrong that does not stop the operation; belongs on standard error.
    Warning {
        /// For a reader.
        text: String,
    },
}

/// Why a call has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum HostFailure {
    /// Plugin code threw; the text of what was thrown.
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

/// Runs plugin code. See the module for the rules.
pub trait Host: Send + Sync + 'static {
    /// The program that runs the plugins, for a reader.
    fn name(&self) -> &'static str {
        "Node.js"
    }

    /// What the plugins are written in that this host runs. Others do not load.
    fn language(&self) -> Language {
        Language::TypeScript
    }

    /// Starts a call and returns at once. `operation` is the number its caller began it with: code
    /// runs in that caller's async context where the language has one.
    fn start(&self, call: CallId, operation: u64, request: Request);

    /// Aborts a started call; the host fires its signal and need not answer any more.
    fn abort(&self, call: CallId, reason: AbortReason);

    /// Tells of progress of the operation that was begun with this number.
    fn notify(&self, operation: u64, notice: Notice);
}
