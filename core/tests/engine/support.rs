//! The vocabulary of the engine's tests: a home with plugins, a host whose handlers are closures,
//! and a clock that stands still until somebody waits.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use warpline_core::clock::Instant;
use warpline_core::decide::{denial, gate};
use warpline_core::engine::{
    AbortReason, AdvanceOptions, AdvanceResult, AttemptRequest, CallId, Clock, Engine, Host,
    HostFailure, Invocation, InvokeOptions, Isolation, Notice, PluginState, Request, Witness,
};
use warpline_core::error::{Error, Result};
use warpline_core::home::{Environment, Paths, state};
use warpline_core::json::{JsString, Map, Value, parse};
use warpline_core::schema::engine_state::{Denial, EngineState};
use warpline_core::schema::manifest::Manifest;
use warpline_core::schema::run_log::PluginLogEntry;

/// The instant every test starts at.
pub const START: &str = "2026-08-20T12:00:00.000Z";

/// What a handler returns: JSON, or the text of what it throws.
pub type Answer = std::result::Result<Value, String>;

/// What a plugin was called with, call by call.
pub type Requests = Arc<Mutex<Vec<AttemptRequest>>>;

/// Sees each notice at the moment it is told.
type Watcher = Box<dyn Fn(&Notice) + Send>;

type Handler = Arc<dyn Fn(Call) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync>;

/// What a handler is given.
pub struct Call {
    pub request: AttemptRequest,
    pub aborted: CancellationToken,
    pub engine: Arc<Engine>,
}

impl Call {
    /// Prints, and gives what a reader may see of it.
    pub fn print(&self, text: &JsString) -> String {
        let prints = self.engine.prints(self.request.invocation).expect("it is running");
        prints.print(text).as_ref().unwrap_or(text).to_text()
    }
}

#[derive(Default)]
pub struct FakeHost {
    engine: OnceLock<Weak<Engine>>,
    handlers: Mutex<HashMap<String, Handler>>,
    unloadable: Mutex<HashMap<String, String>>,
    open: Mutex<HashMap<CallId, CancellationToken>>,
    /// Whether it keeps handlers and nobody hears its notices: then it loads and calls in one.
    pub keeps: AtomicBool,
    /// How long the handler of a plugin takes to load then, in milliseconds; without end if not said.
    pub loading: Mutex<HashMap<String, Option<u64>>>,
    pub started: Arc<Mutex<Vec<String>>>,
    pub aborts: Mutex<Vec<AbortReason>>,
    pub notices: Mutex<Vec<Notice>>,
    pub watcher: Mutex<Option<Watcher>>,
}

impl Host for FakeHost {
    fn keeps_handlers(&self) -> bool {
        self.keeps.load(Ordering::Relaxed)
    }

    fn hears(&self, _operation: u64) -> bool {
        !self.keeps_handlers()
    }

    fn start(&self, id: CallId, _operation: u64, request: Request) {
        let engine = self.engine.get().and_then(Weak::upgrade).expect("the engine lives");
        match request {
            Request::LoadManifests { plugins, .. } => {
                assert!(engine.begin(id));
                if plugins.iter().any(|plugin| plugin.name == "hangs") {
                    return;
                }
                let rows = plugins.iter().map(|plugin| {
                    let source = std::fs::read_to_string(plugin.directory.join("manifest.ts"));
                    let source = source.unwrap_or_default();
                    assert_ne!(source, "panic", "a bug of the host");
                    let manifest = source.strip_prefix("export const manifest = ").map(parse);
                    let mut row = Map::new();
                    row.insert("plugin", &plugin.name);
                    match manifest {
                        Some(Ok(manifest)) => row.insert("manifest", manifest),
                        _ => row.insert(
                            "error",
                            source.strip_prefix("throws: ").unwrap_or("the manifest threw"),
                        ),
                    }
                    row.into()
                });
                let rows: Vec<Value> = rows.collect();
                engine.complete(id, Ok(rows.into()));
            }
            Request::LoadHandler { plugin, .. } => {
                assert!(engine.begin(id), "nobody has given up yet");
                let thrown = self.unloadable.lock().unwrap().get(&plugin.name.to_text()).cloned();
                let failed = |message: String| HostFailure::Threw(message.into());
                engine.complete(id, thrown.map_or(Ok(Value::Null), |text| Err(failed(text))));
            }
            Request::Attempt(request) => {
                let name = request.plugin.name.to_text();
                if name == "unreached" {
                    return;
                }
                assert!(engine.begin(id), "nobody has given up yet");
                let aborted = CancellationToken::new();
                self.open.lock().unwrap().insert(id, aborted.clone());
                let failed = |message: String| HostFailure::Threw(message.into());
                let load = request.load;
                if load && let Some(thrown) = self.unloadable.lock().unwrap().get(&name) {
                    return engine.complete(id, Err(failed(thrown.clone())));
                }
                let loading = self.loading.lock().unwrap().get(&name).copied();
                let handler = self.handlers.lock().unwrap()[&name].clone();
                let call = Call { request: *request, aborted, engine: engine.clone() };
                let started = self.started.clone();
                let run = move || {
                    started.lock().unwrap().push(name);
                    handler(call)
                };
                if !load {
                    let answer = run();
                    tokio::spawn(async move { engine.complete(id, answer.await.map_err(failed)) });
                    return;
                }
                tokio::spawn(async move {
                    match loading.unwrap_or(Some(0)) {
                        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                        None => return,
                    }
                    if engine.begin(id) {
                        let answer = run().await;
                        engine.complete(id, answer.map_err(failed));
                    }
                });
            }
        }
    }

    fn abort(&self, id: CallId, reason: AbortReason) {
        self.aborts.lock().unwrap().push(reason);
        if let Some(aborted) = self.open.lock().unwrap().get(&id) {
            aborted.cancel();
        }
    }

    fn notify(&self, _operation: u64, notice: Notice) {
        if let Some(watcher) = &*self.watcher.lock().unwrap() {
            watcher(&notice);
        }
        self.notices.lock().unwrap().push(notice);
    }
}

impl FakeHost {
    /// Loses a handler: from now on its module does not load.
    pub fn forget(&self, name: &str) {
        self.fail_to_load(name, "Cannot find module handler.ts");
    }

    /// From now on the handler's module throws this while it loads.
    pub fn fail_to_load(&self, name: &str, message: &str) {
        self.unloadable.lock().unwrap().insert(name.into(), message.into());
    }
}

/// A home with plugins and an engine over it.
pub struct Fleet {
    #[allow(dead_code)] // held so that the home is removed at the end
    pub directory: Option<TempDir>,
    pub host: Arc<FakeHost>,
    pub engine: Arc<Engine>,
    pub environment: Environment,
    pub paths: Paths,
    pub cancel: CancellationToken,
}

impl Fleet {
    /// A fleet over a fresh home.
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let root = home.path().canonicalize().expect("it exists");
        std::fs::create_dir(root.join("plugins")).expect("created");
        Self { directory: Some(home), ..Self::over(&root) }
    }

    /// Another engine, with a host of its own and the clock at the start, over a home that is there.
    pub fn over(root: &Path) -> Self {
        let root = root.to_owned();
        let host = Arc::new(FakeHost::default());
        let start = Instant::parse(START).expect("parses");
        let engine = Engine::with_clock(host.clone(), Clock::starting_at(start));
        assert!(host.engine.set(Arc::downgrade(&engine)).is_ok(), "set once");
        let vars = [("WARPLINE_HOME".to_owned(), root.display().to_string().into())].into();
        let environment = Environment { vars, cwd: root.clone() };
        let paths = Paths::new(root);
        let cancel = CancellationToken::new();
        Self { directory: None, host, engine, environment, paths, cancel }
    }

    /// Adds a plugin. `fields` are JSON members that are laid over a minimal autonomous manifest.
    pub fn plugin<F, A>(&self, name: &str, fields: &str, handler: F) -> &Self
    where
        F: Fn(Call) -> A + Send + Sync + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        let base = format!(
            "{{\"name\":{name:?},\"version\":\"1.0.0\",\"description\":\"d\",\
             \"autonomy_level\":\"autonomous\",\"ttl_hours\":6{}{fields}}}",
            if fields.is_empty() { "" } else { "," }
        );
        // JSON.parse semantics: a later member wins, so `fields` may replace any of the base.
        let manifest = parse(&base).expect("the fields are JSON").to_compact();
        self.file(name, &format!("export const manifest = {manifest}\n"));
        let handler: Handler = Arc::new(move |call| Box::pin(handler(call)));
        self.host.handlers.lock().unwrap().insert(name.into(), handler);
        self
    }

    /// Adds a plugin that succeeds and keeps what it was called with.
    pub fn spy(&self, name: &str, fields: &str) -> Requests {
        let requests = Requests::default();
        let kept = requests.clone();
        self.plugin(name, fields, move |call| {
            kept.lock().unwrap().push(call.request);
            async { ok("seen", "") }
        });
        requests
    }

    /// Adds a plugin whose answers are given one after the other; the last is repeated.
    pub fn plays(&self, name: &str, fields: &str, answers: Vec<Answer>) {
        let left = Mutex::new(answers);
        self.plugin(name, fields, move |_| {
            let mut left = left.lock().unwrap();
            let next = if left.len() > 1 { left.remove(0) } else { left[0].clone() };
            async move { next }
        });
    }

    /// Writes a plugin's manifest module as given.
    pub fn file(&self, name: &str, manifest: &str) {
        let directory = self.paths.plugins.join(name);
        std::fs::create_dir_all(&directory).expect("created");
        std::fs::write(directory.join("manifest.ts"), manifest).expect("written");
    }

    pub async fn advance(&self) -> AdvanceResult {
        self.advance_with(AdvanceOptions::default()).await.expect("the advance returns")
    }

    pub async fn advance_with(&self, options: AdvanceOptions) -> Result<AdvanceResult, Error> {
        self.engine.advance(&self.environment, &options, 1, &self.cancel).await
    }

    pub async fn invoke(&self, name: &str, options: InvokeOptions) -> Invocation {
        let witness = Witness::ManualRun;
        let name = JsString::from(name);
        self.engine
            .invoke(&self.environment, &name, &options, &witness, 1, &self.cancel)
            .await
            .expect("the invocation returns")
    }

    /// The manifest of a plugin, as the engine loads it.
    pub async fn manifest(&self, name: &str) -> Manifest {
        let loaded = self
            .engine
            .load_manifests(&self.paths.plugins, &self.environment, Isolation::None, 1)
            .await;
        loaded.roster.plugins[&JsString::from(name)].manifest.clone()
    }

    /// Changes the state document as a verb of a human would.
    pub fn change<T>(&self, change: impl FnOnce(&mut EngineState) -> T) -> T {
        let written = |state: &mut EngineState| Ok(state::Decision::Write(change(state)));
        state::update(&self.paths, self.engine.now(), written).expect("the state is usable")
    }

    /// Records a denial of what the plugin proposes now.
    pub async fn deny(&self, name: &str) {
        let manifest = self.manifest(name).await;
        self.change(|state| deny(state, name, &manifest));
    }

    /// Answers the plugin's parked result with yes.
    pub async fn approve(&self, name: &str) -> gate::Answer {
        let (manifest, now) = (self.manifest(name).await, self.engine.now());
        self.change(|state| gate::answer(state, &name.into(), &manifest, now))
    }

    /// Grants `scopes` (JSON) for `hours` from the start of the test.
    pub fn grant(&self, scopes: &str, hours: i64) {
        let start = Instant::parse(START).expect("parses");
        let expires = start.plus_ms(hours * 3_600_000).expect("in range").to_iso();
        let text = format!(
            "{{\"granted_at\":{START:?},\"first_granted_at\":{START:?},\
             \"expires_at\":{expires:?},\"scopes\":{scopes}}}"
        );
        std::fs::write(&self.paths.approval, text).expect("written");
    }

    /// Writes a file of the home, directories included.
    pub fn put(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        std::fs::write(path, text).expect("written");
    }

    /// Lets the clock go on.
    pub async fn wait_hours(&self, hours: u64) {
        tokio::time::advance(std::time::Duration::from_secs(hours * 3600)).await;
    }

    /// How many times a handler was called.
    pub fn calls(&self, name: &str) -> usize {
        self.started().iter().filter(|started| *started == name).count()
    }

    /// The texts that the host was told with, of one kind of notice.
    pub fn run_failures(&self) -> Vec<String> {
        let notices = self.host.notices.lock().unwrap();
        let text = |notice: &Notice| match notice {
            Notice::RunFailure { text } => Some(text.to_text()),
            _ => None,
        };
        notices.iter().filter_map(text).collect()
    }

    /// The starts and ends of one plugin that the host was told, in order.
    pub fn starts_and_ends(&self, name: &str) -> Vec<Notice> {
        let notices = self.host.notices.lock().unwrap();
        let told = notices.iter().filter(|notice| match notice {
            Notice::PluginStart { plugin } | Notice::PluginEnd { plugin, .. } => *plugin == name,
            _ => false,
        });
        told.cloned().collect()
    }

    /// The warnings that the host was told.
    pub fn warnings(&self) -> Vec<String> {
        let notices = self.host.notices.lock().unwrap();
        let text = |notice: &Notice| match notice {
            Notice::Warning { text } => Some(text.clone()),
            _ => None,
        };
        notices.iter().filter_map(text).collect()
    }

    /// The state document on disk.
    pub fn state(&self) -> Value {
        parse(&self.text(&self.paths.state_file)).expect("the state is JSON")
    }

    /// The run log of an advance.
    pub fn run_log(&self, result: &AdvanceResult) -> Value {
        let path = result.run_log_path.as_ref().expect("a run log was written");
        parse(&self.text(path)).expect("the run log is JSON")
    }

    /// The events so far.
    pub fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.paths.events).unwrap_or_default();
        text.lines().map(|line| parse(line).expect("an event is JSON")).collect()
    }

    pub fn text(&self, path: &Path) -> String {
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Every file below the home with its bytes, lock files aside.
    pub fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut open = vec![self.paths.home.clone()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).expect("readable") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    open.push(path);
                } else if !path
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().ends_with("lock"))
                {
                    let bytes = std::fs::read(&path).expect("readable");
                    files.push((path, bytes));
                }
            }
        }
        files.sort();
        files
    }

    pub fn started(&self) -> Vec<String> {
        self.host.started.lock().unwrap().clone()
    }
}

/// The member of nested objects and arrays that the dotted path names.
pub fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(value, |value, part| {
        let next = match part.parse::<usize>() {
            Ok(index) => value.as_array().and_then(|items| items.get(index)),
            Err(_) => value.get(part),
        };
        next.unwrap_or_else(|| panic!("nothing at `{part}` of `{path}` in {value:?}"))
    })
}

/// The text at a dotted path.
pub fn text_at(value: &Value, path: &str) -> String {
    at(value, path).as_string().unwrap_or_else(|| panic!("no text at `{path}`")).to_text()
}

/// A successful result with JSON members laid over it.
pub fn ok(summary: &str, fields: &str) -> Answer {
    result("success", summary, fields)
}

/// A failed result with one error.
pub fn failed(message: &str, retryable: bool) -> Answer {
    let errors = format!(
        "\"errors\":[{{\"code\":\"rate_limit\",\"message\":{message:?},\"impact\":\"HIGH\",\
         \"retryable\":{retryable}}}]"
    );
    result("failed", message, &errors)
}

pub fn result(status: &str, summary: &str, fields: &str) -> Answer {
    let separator = if fields.is_empty() { "" } else { "," };
    let text = format!(
        "{{\"status\":{status:?},\"phases_completed\":[],\"phases_failed\":[],\
         \"data_freshness\":{{}},\"summary\":{summary:?}{separator}{fields}}}"
    );
    Ok(parse(&text).expect("the fields are JSON"))
}

/// Where a plugin stands after an advance.
pub fn state_of(result: &AdvanceResult, name: &str) -> PluginState {
    result.plugin_states[&JsString::from(name)]
}

/// The entry of a plugin in an advance.
pub fn entry_of<'a>(result: &'a AdvanceResult, name: &str) -> &'a PluginLogEntry {
    let entry = result.plugin_entries.iter().find(|entry| entry.plugin == name);
    entry.unwrap_or_else(|| panic!("no entry of `{name}`"))
}

/// The summary of a plugin's entry.
pub fn summary_of(result: &AdvanceResult, name: &str) -> String {
    entry_of(result, name).result_summary.to_text()
}

/// The own keys of an object, in order.
pub fn keys(value: &Value) -> Vec<String> {
    value.as_object().expect("an object").keys().map(JsString::to_text).collect()
}

/// The elements of an array at a dotted path.
pub fn list_at<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).as_array().unwrap_or_else(|| panic!("no array at `{path}`"))
}

/// Records in a document that a human said no to what the plugin proposes now.
pub fn deny(state: &mut EngineState, name: &str, manifest: &Manifest) {
    let plugin = JsString::from(name);
    let fingerprint = denial::proposal_fingerprint(&plugin, manifest, state).into();
    let denied_at = "2026-08-20T11:30:00.000Z".into();
    let denial =
        Denial { plugin: plugin.clone(), reason: "no".into(), denied_at, note: None, fingerprint };
    state.denials.insert(plugin, denial);
}
