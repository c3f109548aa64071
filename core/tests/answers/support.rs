//! A home with plugins, and an engine over it whose handlers are one function.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};

use tokio_util::sync::CancellationToken;
use warpline_core::clock::Instant;
use warpline_core::engine::{
    AbortReason, AdvanceOptions, AdvanceResult, AttemptRequest, CallId, Clock, Engine, Host,
    Notice, Request,
};
use warpline_core::error::Result;
use warpline_core::home::{Environment, Paths, events, state};
use warpline_core::json::{JsString, Map, Value, parse};
use warpline_core::schema::engine_state::EngineState;
use warpline_core::schema::manifest::Manifest;

/// The instant that tests with a clock of their own start at.
pub const NOW: &str = "2026-08-20T12:00:00.000Z";

pub fn at(text: &str) -> Instant {
    Instant::parse(text).expect("an instant")
}

type Answer = Pin<Box<dyn Future<Output = Value> + Send>>;
type Handler = Box<dyn Fn(AttemptRequest) -> Answer + Send + Sync>;

struct FunctionHost {
    engine: OnceLock<Weak<Engine>>,
    handler: Handler,
}

impl Host for FunctionHost {
    fn start(&self, id: CallId, _: u64, request: Request) {
        let engine = self.engine.get().and_then(Weak::upgrade).expect("the engine lives");
        let answer = match request {
            Request::LoadManifests { plugins, .. } => {
                let rows = plugins.iter().map(|plugin| {
                    let mut row = Map::new();
                    row.insert("plugin", &plugin.name);
                    row.insert("manifest", manifest_on_disk(&plugin.directory));
                    row
                });
                rows.collect::<Vec<Map>>().into()
            }
            Request::LoadHandler { .. } => Value::Null,
            Request::Attempt(attempt) => {
                let answer = (self.handler)(*attempt);
                tokio::spawn(async move { engine.complete(id, Ok(answer.await)) });
                return;
            }
        };
        engine.complete(id, Ok(answer));
    }

    fn abort(&self, _: CallId, _: AbortReason) {}

    fn notify(&self, _: u64, _: Notice) {}
}

fn manifest_on_disk(directory: &Path) -> Value {
    let source = std::fs::read_to_string(directory.join("manifest.ts")).expect("a manifest");
    parse(&source.replace("export const manifest = ", "")).expect("JSON")
}

/// A successful result with one output at `path`.
pub fn done(path: &str) -> Value {
    let text = format!(
        concat!(
            r#"{{"status":"success","phases_completed":[],"phases_failed":[],"data_freshness":{{}},"#,
            r#""summary":"done","artifacts_produced":[{{"type":"note","path":"{}"}}]}}"#
        ),
        path
    );
    parse(&text).expect("JSON")
}

/// A home; it is removed with the directory that its owner keeps.
pub struct Home {
    pub paths: Paths,
}

impl Home {
    pub fn at(root: PathBuf) -> Self {
        std::fs::create_dir_all(root.join("plugins")).expect("directories");
        Self { paths: Paths::new(root) }
    }

    /// Adds a plugin; `fields` are JSON members over a minimal autonomous manifest.
    pub fn plugin(&self, name: &str, fields: &str) {
        let directory = self.paths.plugins.join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        let separator = if fields.is_empty() { "" } else { "," };
        let base = format!(
            r#"{{"name":"{name}","version":"1","description":"","autonomy_level":"autonomous","ttl_hours":12{separator}{fields}}}"#
        );
        // A later member wins.
        let literal = parse(&base).expect("JSON").to_compact();
        let source = format!("export const manifest = {literal}");
        std::fs::write(directory.join("manifest.ts"), source).expect("a file");
        std::fs::write(directory.join("handler.ts"), "export const handler = 1").expect("a file");
    }

    pub fn manifest(&self, name: &str) -> Manifest {
        Manifest::parse(&manifest_on_disk(&self.paths.plugins.join(name))).expect("a manifest")
    }

    /// Advances with one handler for all plugins.
    pub async fn advance<A>(
        &self,
        clock: Clock,
        options: AdvanceOptions,
        handler: impl Fn(AttemptRequest) -> A + Send + Sync + 'static,
    ) -> Result<AdvanceResult>
    where
        A: Future<Output = Value> + Send + 'static,
    {
        let handler: Handler = Box::new(move |attempt| Box::pin(handler(attempt)));
        let host = Arc::new(FunctionHost { engine: OnceLock::new(), handler });
        let engine = Engine::with_clock(host.clone(), clock);
        assert!(host.engine.set(Arc::downgrade(&engine)).is_ok());
        let vars =
            [("WARPLINE_HOME".to_owned(), self.paths.home.display().to_string().into())].into();
        let environment = Environment { vars, cwd: self.paths.home.clone() };
        engine.advance(&environment, &options, 1, &CancellationToken::new()).await
    }

    pub fn state(&self) -> EngineState {
        state::load_read_only(&self.paths, at(NOW))
    }

    /// The metadata of every event that has some.
    pub fn events(&self) -> Vec<String> {
        let metadata = events::read(&self.paths).into_iter().filter_map(|one| one.metadata_json);
        metadata.map(|text| text.to_text()).collect()
    }
}

pub fn name(text: &str) -> JsString {
    text.into()
}
