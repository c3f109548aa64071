//! The command line over a host that runs no language: what each handler does is read from
//! `behaviour.json` in the plugin's folder. The scenarios of the project run under it, Node.js and Python.

// An example may give up where it cannot go on.
#![allow(clippy::print_stderr, clippy::expect_used)]

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use warpline_core::cli::{self, Io, Package, cancel_on_signal};
use warpline_core::engine::{
    AbortReason, AttemptRequest, CallId, Completion, Engine, Host, HostFailure, Notice,
    PluginModule, Request,
};
use warpline_core::home::Environment;
use warpline_core::json::{JsString, Map, Value, parse};

/// What is open, and the engine that wants it.
#[derive(Default)]
struct Player {
    engine: OnceLock<Weak<Engine>>,
    open: Mutex<HashMap<CallId, CancellationToken>>,
    environment: OnceLock<Environment>,
}

struct PlayingHost(Arc<Player>);

impl Host for PlayingHost {
    fn start(&self, call: CallId, _operation: u64, request: Request) {
        let player = self.0.clone();
        let Some(engine) = player.engine.get().and_then(Weak::upgrade) else { return };
        tokio::spawn(async move {
            let aborted = CancellationToken::new();
            // In one step with the question, so that no abort comes in between.
            {
                let mut open = player.open.lock().expect("no thread panics");
                if !engine.begin(call) {
                    return;
                }
                open.insert(call, aborted.clone());
            }
            let answer = match request {
                Request::LoadManifests { plugins, .. } => {
                    Ok(plugins.iter().map(manifest_row).collect::<Vec<Value>>().into())
                }
                Request::LoadHandler { plugin, .. } => match member(&plugin.directory, "module") {
                    Value::String(text) => Err(HostFailure::Threw(text)),
                    _ => Ok(Value::Null),
                },
                Request::Attempt(request) => player.attempt(&engine, &request, &aborted).await,
            };
            player.open.lock().expect("no thread panics").remove(&call);
            engine.complete(call, answer);
        });
    }

    fn abort(&self, call: CallId, _reason: AbortReason) {
        if let Some(aborted) = self.0.open.lock().expect("no thread panics").get(&call) {
            aborted.cancel();
        }
    }

    fn notify(&self, _operation: u64, notice: Notice) {
        if let Notice::Warning { text } = notice {
            eprintln!("warpline: {text}");
        }
    }
}

/// A member of a plugin's `behaviour.json`.
fn member(directory: &Path, key: &str) -> Value {
    let text = std::fs::read_to_string(directory.join("behaviour.json")).expect("it is there");
    parse(&text).expect("it is JSON").get(key).cloned().unwrap_or_default()
}

fn manifest_row(plugin: &PluginModule) -> Value {
    let manifest = member(&plugin.directory, "manifest");
    let key = if matches!(manifest, Value::String(_)) { "error" } else { "manifest" };
    Map::from_iter([("plugin", Value::from(&plugin.name)), (key, manifest)]).into()
}

impl Player {
    async fn attempt(
        &self,
        engine: &Engine,
        request: &AttemptRequest,
        aborted: &CancellationToken,
    ) -> Completion {
        let directory = &request.plugin.directory;
        let calls = member(directory, "calls").as_string().expect("a path").to_text();
        let called = Path::new(&calls).join(request.plugin.name.to_text());
        std::fs::create_dir_all(&calls).expect("created");
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&called);
        file.as_mut().expect("opened").write_all(b".").expect("written");
        let size = usize::try_from(std::fs::metadata(&called).expect("there").len()).expect("few");
        let does = member(directory, "does");
        let does = does.as_array().expect("a list");
        let now = does.get(size.min(does.len()) - 1).expect("one is always left");
        self.print(engine, request, now);
        for (path, text) in
            now.get("writes").and_then(Value::as_object).into_iter().flat_map(Map::iter)
        {
            let text = text.as_string().expect("text").to_text();
            std::fs::write(Path::new(&self.variable("WARPLINE_HOME")).join(path.to_text()), text)
                .expect("written");
        }
        if let Some(Value::Number(ms)) = now.get("sleeps") {
            tokio::time::sleep(Duration::from_secs_f64(ms / 1000.0)).await;
        }
        let held = |mark: &Value| !Path::new(&calls).join(shown(Some(mark))).exists();
        let holds =
            now.get("holds").map(|marks| marks.as_array().unwrap_or(std::slice::from_ref(marks)));
        while holds.is_some_and(|marks| marks.iter().any(held)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        if now.get("waits").is_some() {
            aborted.cancelled().await;
            if now.get("tells").is_some() {
                std::fs::write(format!("{}.aborted", called.display()), "").expect("written");
            }
        }
        if let Some(text) = now.get("throws").and_then(Value::as_string) {
            return Err(HostFailure::Threw(self.fill(text, request)?));
        }
        self.filled(now.get("returns").unwrap_or(&Value::Null), request)
    }

    fn print(&self, engine: &Engine, request: &AttemptRequest, now: &Value) {
        let prints = request.prints.then(|| engine.prints(request.invocation)).flatten();
        for line in now.get("prints").and_then(Value::as_array).unwrap_or_default() {
            let line: JsString = format!("{}\n", line.as_string().expect("text")).into();
            let shown = prints.as_ref().and_then(|prints| prints.print(&line)).unwrap_or(line);
            eprint!("{shown}");
        }
        if let Some(prints) = prints {
            eprint!("{}", prints.release());
        }
    }

    fn variable(&self, name: &str) -> String {
        self.environment.get().and_then(|known| known.var(name)).unwrap_or_default()
    }

    /// A value with its texts filled in.
    fn filled(&self, value: &Value, request: &AttemptRequest) -> Completion {
        Ok(match value {
            Value::String(text) => self.fill(text, request)?.into(),
            Value::Array(_) => {
                let items = value.as_array().unwrap_or_default();
                let items: Result<Vec<Value>, _> =
                    items.iter().map(|item| self.filled(item, request)).collect();
                items?.into()
            }
            Value::Object(_) => {
                let mut filled = Map::new();
                for (key, item) in value.as_object().into_iter().flat_map(Map::iter) {
                    filled.insert(key.clone(), self.filled(item, request)?);
                }
                filled.into()
            }
            plain => plain.clone(),
        })
    }

    /// Puts in what `${kind.key}` stands for; text that is not well-formed has none of these.
    fn fill(&self, text: &JsString, request: &AttemptRequest) -> Result<JsString, HostFailure> {
        let Some(mut rest) = text.as_str() else { return Ok(text.clone()) };
        let mut filled = String::new();
        while let Some((before, behind)) = rest.split_once("${") {
            let (what, after) = behind.split_once('}').expect("it ends");
            let (kind, key) = what.split_once('.').unwrap_or((what, ""));
            filled += before;
            filled += &self.filler(kind, key, request)?;
            rest = after;
        }
        Ok((filled + rest).into())
    }

    fn filler(
        &self,
        kind: &str,
        key: &str,
        request: &AttemptRequest,
    ) -> Result<String, HostFailure> {
        let context = |name: &str| request.context.get(name).cloned().unwrap_or_default();
        let dependency = |fact: &str| {
            context("dependencies").get(key).and_then(|found| found.get(fact).cloned()).ok_or_else(|| {
                let plugin = &request.plugin.name;
                HostFailure::Threw(format!("plugin `{plugin}` reads `{key}`, which its manifest does not declare: add it to `dependencies`").into())
            })
        };
        Ok(match kind {
            "arg" => shown(request.args.get(key)),
            "args" => request.args.to_compact(),
            "bytes" => "x".repeat(key.parse().expect("a number")),
            "output" => {
                let output = dependency("output")?;
                shown(output.get("body").or(output.get("path")))
            }
            "plugin" => shown(context("caller").get("plugin")),
            "run" => shown(Some(&dependency("run")?)),
            "secret" => self.variable(key),
            "secrets" => {
                let names = context("secrets");
                let names = names.as_array().unwrap_or_default().iter();
                names.map(|name| shown(Some(name))).collect::<Vec<_>>().join(" ")
            }
            other => panic!("nothing fills `{other}`"),
        })
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.to_text(),
        Some(value) => value.to_compact(),
        None => "null".to_owned(),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut environment = Environment::current().expect("there is a directory");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(home) = cli::home_argument(&arguments, &environment.cwd) {
        environment.vars.insert("WARPLINE_HOME".to_owned(), home.display().to_string().into());
    }
    let player = Arc::new(Player::default());
    let engine = Engine::new(Arc::new(PlayingHost(player.clone())));
    assert!(player.engine.set(Arc::downgrade(&engine)).is_ok(), "set once");
    assert!(player.environment.set(environment.clone()).is_ok(), "set once");
    let io = Io::process(Package::default()).expect("the streams are open");
    let cancel = CancellationToken::new();
    tokio::spawn(cancel_on_signal(cancel.clone()));
    let code = cli::run(&arguments, environment, engine, 1, cancel, &io).await;
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
