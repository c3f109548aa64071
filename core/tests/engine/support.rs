//! The vocabulary of the engine's tests: a home with plugins, a host whose handlers are closures,
//! and a clock that stands still until somebody waits.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use warpline_core::clock::Instant;
use warpline_core::engine::{
    AbortReason, AdvanceOptions, AdvanceResult, AttemptRequest, CallId, Clock, Engine, Host,
    HostFailure, Invocation, InvokeOptions, Notice, PluginState, Request, Witness,
};
use warpline_core::error::{Error, Result};
use warpline_core::home::{Environment, Paths};
use warpline_core::json::{JsString, Map, Value, parse};

/// The instant every test starts at.
pub const START: &str = "2026-08-20T12:00:00.000Z";

type Answer = std::result::Result<Value, String>;
type Handler = Arc<dyn Fn(Call) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync>;

/// What a handler is given.
pub struct Call {
    pub request: AttemptRequest,
    pub aborted: CancellationToken,
}

#[derive(Default)]
pub struct FakeHost {
    engine: OnceLock<Weak<Engine>>,
    handlers: Mutex<HashMap<String, Handler>>,
    open: Mutex<HashMap<CallId, CancellationToken>>,
    pub started: Mutex<Vec<String>>,
    pub aborts: Mutex<Vec<AbortReason>>,
    pub notices: Mutex<Vec<Notice>>,
}

impl Host for FakeHost {
    fn start(&self, id: CallId, _operation: u64, request: Request) {
        let engine = self.engine.get().and_then(Weak::upgrade).expect("the engine lives");
        match request {
            Request::LoadManifests { plugins } => {
                let rows = plugins.iter().map(|plugin| {
                    let source = std::fs::read_to_string(plugin.directory.join("manifest.ts"));
                    let source = source.unwrap_or_default();
                    let manifest = source.strip_prefix("export const manifest = ").map(parse);
                    let mut row = Map::new();
                    row.insert("plugin", &plugin.name);
                    match manifest {
                        Some(Ok(manifest)) => row.insert("manifest", manifest),
                        _ => row.insert("error", "the manifest threw"),
                    }
                    row.into()
                });
                let rows: Vec<Value> = rows.collect();
                engine.complete(id, Ok(rows.into()));
            }
            Request::LoadHandler { plugin } => {
                let known = self.handlers.lock().unwrap().contains_key(&plugin.name.to_text());
                let failure = HostFailure { message: "Cannot find module handler.ts".into() };
                engine.complete(id, if known { Ok(Value::Null) } else { Err(failure) });
            }
            Request::Attempt(request) => {
                let name = request.plugin.name.to_text();
                let aborted = CancellationToken::new();
                self.started.lock().unwrap().push(name.clone());
                self.open.lock().unwrap().insert(id, aborted.clone());
                let handler = self.handlers.lock().unwrap()[&name].clone();
                let answer = handler(Call { request: *request, aborted });
                tokio::spawn(async move {
                    let answer = answer.await;
                    let failed = |message: String| HostFailure { message: message.into() };
                    engine.complete(id, answer.map_err(failed));
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
        self.notices.lock().unwrap().push(notice);
    }
}

/// A home with plugins and an engine over it.
pub struct Fleet {
    pub home: TempDir,
    pub host: Arc<FakeHost>,
    pub engine: Arc<Engine>,
    pub environment: Environment,
    pub paths: Paths,
    pub cancel: CancellationToken,
}

impl Fleet {
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        let root = home.path().canonicalize().expect("it exists");
        std::fs::create_dir(root.join("plugins")).expect("created");
        let host = Arc::new(FakeHost::default());
        let start = Instant::parse(START).expect("parses");
        let engine = Engine::with_clock(host.clone(), Clock::starting_at(start));
        assert!(host.engine.set(Arc::downgrade(&engine)).is_ok(), "set once");
        let vars = [("WARPLINE_HOME".to_owned(), root.display().to_string())].into();
        let environment = Environment { vars, cwd: root.clone() };
        let paths = Paths::new(root);
        Self { home, host, engine, environment, paths, cancel: CancellationToken::new() }
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
        let mut open = vec![self.home.path().to_owned()];
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
