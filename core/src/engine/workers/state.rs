//! What one worker process was given, and when it is to end.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;

use crate::engine::{CallId, Engine, PluginModule, Prints, Request};
use crate::json::JsString;

pub(super) struct State {
    /// Until when it has to say that it is ready; `None` once it has.
    pub(super) hello_until: Option<Instant>,
    pub(super) held: HashMap<CallId, Held>,
    /// Every call that was ever given to it.
    pub(super) given: HashSet<CallId>,
    /// The prints of the invocations it knows of. They stay for code that was given up.
    pub(super) prints: HashMap<u64, Arc<Prints>>,
    /// The plugins it knows of.
    pub(super) plugins: HashSet<JsString>,
    /// The revision of each handler that it has loaded, by directory.
    pub(super) loaded: HashMap<PathBuf, String>,
    /// Whether anything came of it: a call that was completed, or code that ran.
    pub(super) progressed: bool,
    /// When it is killed, and why.
    pub(super) kill_at: Option<(Instant, String)>,
    /// Why it was killed.
    pub(super) killed: Option<String>,
    /// Why another process would do no better.
    pub(super) hopeless: Option<String>,
    pub(super) ending: Ending,
    pub(super) over: bool,
    pub(super) room: Option<OwnedSemaphorePermit>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    No,
    /// As soon as every abort is answered.
    Asked,
    InputEnded,
}

/// A call that is not complete.
pub(super) struct Held {
    pub(super) request: Request,
    /// The attempt that waits for this handler to load, where this process had not loaded it.
    pub(super) load_for: Option<CallId>,
    /// Whether it waits for such a load.
    pub(super) waits: bool,
    /// Whether plugin code runs for it.
    pub(super) begun: bool,
    pub(super) aborted: bool,
    /// Until when the abort has to be answered, where code had begun.
    pub(super) until: Option<Instant>,
}

impl Held {
    pub(super) fn new(request: Request) -> Self {
        Self { request, load_for: None, waits: false, begun: false, aborted: false, until: None }
    }
}

impl State {
    pub(super) fn new(hello_until: Instant, room: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            hello_until: Some(hello_until),
            held: HashMap::new(),
            given: HashSet::new(),
            prints: HashMap::new(),
            plugins: HashSet::new(),
            loaded: HashMap::new(),
            progressed: false,
            kill_at: None,
            killed: None,
            hopeless: None,
            ending: Ending::No,
            over: false,
            room,
        }
    }

    /// Whether the handler was loaded here as its files are now.
    pub(super) fn has_loaded(&self, plugin: &PluginModule) -> bool {
        self.loaded.get(&plugin.directory) == Some(&plugin.revision)
    }

    pub(super) fn begin(&mut self, engine: &Engine, call: CallId) -> bool {
        let Some(held) = self.held.get_mut(&call) else { return false };
        let wanted = !held.aborted
            && match held.load_for {
                Some(attempt) => engine.calls.waits_for(attempt),
                None => engine.begin(call),
            };
        held.begun |= wanted;
        self.progressed |= wanted;
        wanted
    }

    pub(super) fn answers_aborts(&self) -> bool {
        self.held.values().any(|held| held.until.is_some())
    }

    /// Has it killed then, unless that comes earlier anyway.
    pub(super) fn kill_by(&mut self, at: Instant, text: String) {
        if self.kill_at.as_ref().is_none_or(|(earlier, _)| at < *earlier) {
            self.kill_at = Some((at, text));
        }
    }

    pub(super) fn give_up(&mut self, text: String) {
        self.hello_until = None;
        self.kill_by(Instant::now(), text.clone());
        self.hopeless = Some(text);
    }
}

/// The invocation that a request belongs to, and its plugins.
pub(super) fn about(request: &Request) -> (u64, Vec<&PluginModule>) {
    match request {
        Request::LoadManifests { plugins, invocation, .. } => {
            (*invocation, plugins.iter().collect())
        }
        Request::LoadHandler { plugin, invocation, .. } => (*invocation, vec![plugin]),
        Request::Attempt(request) => (request.invocation, vec![&request.plugin]),
    }
}

pub(super) fn name(request: &Request) -> String {
    let (_, plugins) = about(request);
    let names: Vec<String> = plugins.iter().map(|plugin| plugin.name.to_text()).collect();
    names.join(", ")
}
