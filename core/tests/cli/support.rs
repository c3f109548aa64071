//! A home in a temporary directory, a fleet of manifests, a frozen clock, and a command to run.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;
use warpline_core::cli::fleet::{Fleet, Loaded};
use warpline_core::cli::input::Input;
use warpline_core::cli::writer::Writer;
use warpline_core::cli::{Io, Package, run_with};
use warpline_core::clock::Instant;
use warpline_core::engine::{
    AdvanceOptions, AdvanceResult, Invocation, InvokeOptions, Isolation, Witness,
};
use warpline_core::error::{Error, Result};
use warpline_core::home::Environment;
use warpline_core::json::{JsString, Map, Value, parse};
use warpline_core::schema::manifest::Manifest;

/// The instant of every test.
pub const NOW: &str = "2026-08-20T12:00:00.000Z";

/// Everything that a test sets up.
pub struct Home {
    directory: tempfile::TempDir,
    pub fleet: FakeFleet,
    pub variables: BTreeMap<String, JsString>,
    pub package: Package,
    pub now: Instant,
    pub cancel: CancellationToken,
    /// What a person types; nobody is there unless a test says so.
    pub input: Input,
}

/// What a command came to.
#[derive(Debug, PartialEq)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The report as a value.
    pub fn json(&self) -> Value {
        parse(&self.out).expect("a report in JSON")
    }
}

/// The report of a command that succeeded.
#[track_caller]
pub fn reported(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

/// A fleet whose answers the test chooses.
#[derive(Default)]
pub struct FakeFleet {
    pub loaded: Loaded,
    pub advance: Mutex<Option<Result<AdvanceResult>>>,
    pub invoke: Mutex<Option<Result<Invocation>>>,
    /// What the engine was asked, in order.
    pub asked: Mutex<Vec<String>>,
}

impl Fleet for FakeFleet {
    async fn load_in(&self, root: &Path, isolation: Isolation) -> Loaded {
        if isolation == Isolation::Process {
            self.ask("load apart".to_owned());
        }
        if root.as_os_str().is_empty() {
            let root_error = Some((root.to_owned(), "ENOENT".to_owned()));
            return Loaded { root_error, ..Loaded::default() };
        }
        self.loaded.clone()
    }

    async fn read(&self, root: &Path) -> Loaded {
        self.ask("read only".to_owned());
        self.load_in(root, Isolation::None).await
    }

    async fn advance(
        &self,
        environment: &Environment,
        options: &AdvanceOptions,
        _: &CancellationToken,
    ) -> Result<AdvanceResult> {
        let home = environment.var("WARPLINE_HOME").unwrap_or_default();
        self.ask(format!("advance {home} {options:?}"));
        take(&self.advance)
    }

    fn running(&self) -> Vec<(JsString, Instant)> {
        Vec::new()
    }

    async fn invoke(
        &self,
        _: &Environment,
        plugin: &JsString,
        options: &InvokeOptions,
        witness: &Witness,
        _: &CancellationToken,
    ) -> Result<Invocation> {
        let args = Value::from(options.args.clone()).to_compact();
        let InvokeOptions { max_retries, persist_artifact, user_initiated, .. } = options;
        let apart = if options.isolation == Isolation::Process { " apart" } else { "" };
        self.ask(format!(
            "invoke{apart} {plugin} {witness:?} {args} {max_retries:?} {persist_artifact} {user_initiated}"
        ));
        take(&self.invoke)
    }
}

fn take<T>(slot: &Mutex<Option<Result<T>>>) -> Result<T> {
    let answer = slot.lock().expect("no poison").take();
    answer.unwrap_or_else(|| Err(Error::Host { message: "no answer was set".into() }))
}

impl FakeFleet {
    fn ask(&self, what: String) {
        self.asked.lock().expect("no poison").push(what);
    }

    /// What the engine was asked to do.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no poison").clone()
    }
}

impl Home {
    /// A home that does not exist yet, with an empty plugin root to come.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let home = directory.path().join(".warpline").display().to_string();
        Self {
            directory,
            fleet: FakeFleet::default(),
            variables: BTreeMap::from([("WARPLINE_HOME".to_owned(), home.into())]),
            package: Package::default(),
            now: Instant::parse(NOW).expect("an instant"),
            cancel: CancellationToken::new(),
            input: Input::none(),
        }
    }

    /// The temporary directory around the home.
    pub fn around(&self) -> &Path {
        self.directory.path()
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(".warpline").join(relative)
    }

    /// Adds a plugin whose manifest has `extra` properties, written as JSON without braces.
    #[must_use]
    pub fn plugin(mut self, name: &str, extra: &str) -> Self {
        let base = format!(r#"{{"name":"{name}","version":"1.0.0","description":"","#);
        let rest = if extra.is_empty() { r#""inputs":{}"# } else { extra };
        let mut value = parse(&format!("{base}{rest}}}")).expect("JSON");
        let map = value.as_object_mut().expect("an object");
        for key in ["inputs", "outputs"] {
            if map.get(key).is_none() {
                map.insert(key, Map::new());
            }
        }
        for (key, value) in [
            ("capabilities", Value::from(Vec::<Value>::new())),
            ("schedule", "daily".into()),
            ("autonomy_level", "autonomous".into()),
            ("side_effects", Vec::<Value>::new().into()),
            ("secrets", Vec::<Value>::new().into()),
            ("dependencies", Vec::<Value>::new().into()),
            ("ttl_hours", 24.0.into()),
        ] {
            if map.get(key).is_none() {
                map.insert(key, value);
            }
        }
        let manifest = Manifest::parse(&value).unwrap_or_else(|issues| panic!("{issues:?}"));
        self.fleet.loaded.manifests.push((name.into(), manifest));
        self.fleet.loaded.manifests.sort_by(|left, right| left.0.cmp(&right.0));
        self
    }

    /// Adds a directory whose manifest does not load.
    #[must_use]
    pub fn broken(mut self, name: &str, error: &str) -> Self {
        self.fleet.loaded.failures.push((name.into(), error.to_owned()));
        self
    }

    #[must_use]
    pub fn file(self, relative: &str, text: &str) -> Self {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("a file");
        self
    }

    /// Writes a grant of these scopes (JSON) that ends at `expires_at`.
    #[must_use]
    pub fn grant(self, scopes: &str, expires_at: &str) -> Self {
        let start = "2026-08-20T11:00:00.000Z";
        let text = format!(
            r#"{{"granted_at":"{start}","first_granted_at":"{start}","expires_at":"{expires_at}","scopes":{scopes}}}"#
        );
        self.file(".session-approval", &text)
    }

    /// Writes a state document with these properties, written as JSON without braces.
    #[must_use]
    pub fn state(self, properties: &str) -> Self {
        let text = format!(r#"{{"schema_version":1,{properties}}}"#);
        self.file("state/engine-state.json", &text)
    }

    pub fn read(&self, relative: &str) -> Option<String> {
        fs::read_to_string(self.path(relative)).ok()
    }

    /// A file of the home as JSON.
    pub fn json(&self, relative: &str) -> Value {
        parse(&self.read(relative).expect("the file is there")).expect("JSON")
    }

    /// The metadata of every event, in order.
    pub fn events(&self) -> Vec<String> {
        let text = self.read("state/events.jsonl").unwrap_or_default();
        let metadata = |line: &str| {
            let event = parse(line).expect("a line");
            event.get("metadata_json").and_then(Value::as_string).map(JsString::to_text)
        };
        text.lines().filter_map(metadata).collect()
    }

    /// Every file below the temporary directory with its bytes and time of change.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.directory.path().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).expect("a directory") {
                let path = entry.expect("an entry").path();
                let facts = fs::symlink_metadata(&path).expect("facts");
                let bytes = if facts.is_dir() {
                    open.push(path.clone());
                    Vec::new()
                } else if facts.is_symlink() {
                    fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
                } else {
                    fs::read(&path).expect("bytes")
                };
                found.insert(path, (bytes, facts.modified().expect("a time")));
            }
        }
        found
    }

    /// Lets a person at a terminal type this, and then nothing more.
    #[must_use]
    pub fn typing(mut self, text: &str) -> Self {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(text.as_bytes()).expect("room in the pipe");
        self.input = Input::terminal(reader.into());
        self
    }

    pub fn run(&self, line: &str) -> Ran {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.run_words(&words)
    }

    pub fn run_words(&self, words: &[&str]) -> Ran {
        let (out, err) = (Writer::memory(), Writer::memory());
        let code = self.run_into(words, out.clone(), err.clone());
        Ran { code, out: out.contents(), err: err.contents() }
    }

    pub fn run_into(&self, words: &[&str], out: Writer, err: Writer) -> i32 {
        let now = self.now;
        let (clock, input) = (Arc::new(move || now), self.input.clone());
        let io = Io { out, err, input, clock, package: self.package.clone() };
        self.run_with(words, &io)
    }

    pub fn run_with(&self, words: &[&str], io: &Io) -> i32 {
        let environment =
            Environment { vars: self.variables.clone(), cwd: self.directory.path().to_owned() };
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        runtime.block_on(run_with(&words, environment, &self.fleet, self.cancel.clone(), io))
    }
}

/// A declared side effect, as a property of a manifest.
pub const EFFECT: &str = r#""side_effects":["sends_email"]"#;

/// Three plugins with effects and one without.
pub fn fleet() -> Home {
    Home::new()
        .plugin("render-issue", EFFECT)
        .plugin("digest-sender", EFFECT)
        .plugin("db-writer", r#""side_effects":["writes_db","external_api"]"#)
        .plugin("quiet", "")
}

#[track_caller]
pub fn assert_told(text: &str, fragments: &[&str]) {
    for fragment in fragments {
        assert!(text.contains(fragment), "`{fragment}` is missing in: {text}");
    }
}

/// Asserts exit code 1, an empty standard output, and an error that holds the fragments.
#[track_caller]
pub fn assert_refused(ran: &Ran, fragments: &[&str]) {
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.starts_with("error: "), "{ran:?}");
    assert_told(&ran.err, fragments);
}

/// A parked result of `plugin`, completed at the given instant.
pub fn gate(plugin: &str, completed: &str, applied: &str) -> String {
    format!(
        concat!(
            r#"{{"plugin":"{}","run_id":"run-{}","created_at":"{}","payload_summary":"did it","#,
            r#""plugin_result":{{"status":"success","phases_completed":["a"],"phases_failed":[],"#,
            r#""errors":[],"data_freshness":{{}},"summary":"did it","artifacts_produced":[],"#,
            r#""schema_version":1}},"run_started_at":"2026-08-18T09:00:00.000Z","#,
            r#""run_completed_at":"{}","applied_at":{}}}"#
        ),
        plugin, plugin, completed, completed, applied
    )
}

/// An hour before now.
pub const FRESH: &str = "2026-08-20T11:00:00.000Z";
/// A day and an hour before now.
pub const STALE: &str = "2026-08-19T11:00:00.000Z";

pub fn run_entry(plugin: &str, status: &str) -> String {
    format!(r#""{plugin}":{{"last_run_at":"{FRESH}","status":"{status}"}}"#)
}

pub fn denial(plugin: &str, fingerprint: &str) -> String {
    format!(
        concat!(
            r#""{}":{{"plugin":"{}","reason":"too chatty","denied_at":"2026-08-19T12:00:00.000Z","#,
            r#""note":null,"fingerprint":"{}"}}"#
        ),
        plugin, plugin, fingerprint
    )
}

/// The fingerprint of a plugin of [`fleet`] that has never produced anything.
pub fn fingerprint(plugin: &str) -> String {
    use warpline_core::decide::denial::proposal_fingerprint;
    use warpline_core::schema::engine_state::EngineState;
    let home = fleet();
    let manifest = home.fleet.loaded.manifest(&plugin.into()).expect("a plugin");
    proposal_fingerprint(&plugin.into(), manifest, &EngineState::default())
}
