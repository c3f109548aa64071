//! One process of a race: runs commands at random and logs what each told it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio_util::sync::CancellationToken;

use crate::answers::{complete_task, defer_task};
use crate::cli::input::Input;
use crate::cli::writer::Writer;
use crate::cli::{self, Io, Package};
use crate::clock::Instant;
use crate::decide::tasks;
use crate::engine::{AbortReason, CallId, Engine, Host, Notice, Request};
use crate::home::{Environment, Paths, acknowledgements};
use crate::json::{Map, Value, parse};
use crate::schema::acknowledgement::{Acknowledgement, ActionTaken};
use crate::schema::engine_state::{EngineState, TaskSeverity};

const TASK: &str = "WARPLINE_TEST_ANSWERER";

/// Grants that each process may give: the plugins `act-<process>-<number>`.
pub(super) const ACTS: u64 = 3;

/// Plugins that the first process grants and all others deny: `both-<number>`.
const BOTH: u64 = 2;

/// The lifetime of a grant of those, in minutes, less the number of its command: longer than any
/// that another command gives, and read back by [`granting_command`].
const BOTH_TTL: usize = 241;

/// The command of the first process that gave a grant of this lifetime, in milliseconds.
pub(super) fn granting_command(lifetime_ms: i64) -> Option<usize> {
    let minutes = usize::try_from(lifetime_ms).ok().filter(|ms| ms % 60_000 == 0)? / 60_000;
    minutes.checked_sub(BOTH_TTL)
}

/// Events that each process acknowledges: `event-<process>-<number>`.
pub(super) const EVENTS: u64 = 3;

/// Splitmix64: the same numbers for the same seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Writes a home: for each process a supervised plugin and some that need a grant, for all one that
/// runs in every advance.
pub(super) fn prepare(home: &Path, processes: usize) {
    let plugin = |name: &str, extra: &str| {
        let directory = home.join("plugins").join(name);
        fs::create_dir_all(&directory).expect("a directory");
        let manifest = format!(
            r#"export const manifest = {{"name":"{name}","version":"1","description":"","ttl_hours":12,{extra}}}"#
        );
        fs::write(directory.join("manifest.ts"), manifest).expect("a file");
        fs::write(directory.join("handler.ts"), "export const handler = 1").expect("a file");
    };
    plugin("tick", r#""autonomy_level":"autonomous""#);
    let tasks =
        (0..processes).flat_map(|process| [format!("later-{process}"), format!("done-{process}")]);
    let flagged = tasks
        .map(|id| tasks::flagged(id.into(), "look".into(), TaskSeverity::Warning, Instant::now()));
    let document = EngineState { task_aging: flagged.collect(), ..EngineState::default() };
    // The schedule keeps them out of the advances here: only their grants matter.
    let acting =
        r#""autonomy_level":"autonomous","schedule":"manual","side_effects":["sends_email"]"#;
    (0..BOTH).for_each(|number| plugin(&format!("both-{number}"), acting));
    fs::create_dir_all(home.join("state")).expect("a directory");
    fs::write(home.join("state/engine-state.json"), document.to_text()).expect("a file");
    for process in 0..processes {
        plugin(&format!("sup-{process}"), r#""autonomy_level":"supervised""#);
        for number in 0..ACTS {
            plugin(&format!("act-{process}-{number}"), acting);
        }
    }
}

/// Nanoseconds since 1970; all processes of a machine share this clock.
pub(super) fn clock() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos()
}

/// The work of one process.
pub(super) struct Task {
    pub home: PathBuf,
    pub log: PathBuf,
    pub process: usize,
    /// The first command to run, and the one to stop before.
    pub from: usize,
    pub to: usize,
    /// Whether it only contends for one plugin: the first process grants it, the others deny it and
    /// take that back.
    pub contends: bool,
}

impl Task {
    pub(super) fn hand_to(&self, command: &mut Command) {
        let Self { home, log, process, from, to, contends } = self;
        let (home, log) = (home.display(), log.display());
        command.env(TASK, format!("{home}\n{log}\n{process}\n{from}\n{to}\n{contends}"));
    }

    pub(super) fn of_this_process() -> Option<Self> {
        let text = std::env::var(TASK).ok()?;
        let parts: Vec<&str> = text.split('\n').collect();
        let number = |at: usize| parts[at].parse().expect("a number");
        Some(Self {
            home: parts[0].into(),
            log: parts[1].into(),
            process: number(2),
            from: number(3),
            to: number(4),
            contends: parts[5] == "true",
        })
    }

    pub(super) fn run(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let host = Arc::new(InstantHost::default());
            let engine = Engine::new(host.clone());
            assert!(host.engine.set(Arc::downgrade(&engine)).is_ok());
            let log = OpenOptions::new().create(true).append(true).open(&self.log);
            let mut log = log.expect("a log");
            for operation in self.from..self.to {
                self.operate(operation, &engine, &mut log).await;
            }
        });
    }

    async fn operate(&self, operation: usize, engine: &Arc<Engine>, log: &mut File) {
        let words = self.choose(operation);
        let begin = format!("begin\t{}\t{words}\n", clock());
        log.write_all(begin.as_bytes()).expect("logged");
        let (code, told) = match words.split_once(' ') {
            Some(("ack", event)) => self.acknowledge(event, operation),
            Some(("defer", task)) => self.task(task, true),
            Some(("done", task)) => self.task(task, false),
            _ => self.command(&words, engine).await,
        };
        let end = format!("end\t{}\t{code}\t{}\n", clock(), told.replace(['\n', '\t'], " "));
        log.write_all(end.as_bytes()).expect("logged");
    }

    fn choose(&self, operation: usize) -> String {
        let process = self.process;
        let mut random = Random::new((process * 100_000 + operation) as u64);
        let both = random.below(BOTH);
        let grant = |number| format!("approve both-{number} --ttl {}m", BOTH_TTL + operation);
        if self.contends {
            return match (process, operation % 2) {
                (0, _) => grant(0),
                (_, 0) => "deny both-0".to_owned(),
                _ => "deny --remove both-0".to_owned(),
            };
        }
        if process == 0 && random.below(3) > 0 {
            return grant(both);
        }
        match random.below(1000) {
            0..110 if process > 0 => format!("deny both-{both}"),
            110..220 if process > 0 => format!("deny --remove both-{both}"),
            0..220 => format!("approve act-{process}-{}", random.below(ACTS)),
            220..260 => format!("defer later-{process}"),
            260..280 => format!("done done-{process}"),
            280..460 => format!("deny sup-{process}"),
            460..600 => format!("deny --remove sup-{process}"),
            600..720 => format!("approve sup-{process}"),
            720..840 => format!("ack event-{process}-{}", random.below(EVENTS)),
            840..992 => "advance --force --json".to_owned(),
            _ => "revoke".to_owned(),
        }
    }

    async fn command(&self, words: &str, engine: &Arc<Engine>) -> (i32, String) {
        let (out, err) = (Writer::memory(), Writer::memory());
        let (clock, package) = (Arc::new(Instant::now), Package::default());
        let io = Io { out: out.clone(), err: err.clone(), input: Input::none(), clock, package };
        let vars =
            BTreeMap::from([("WARPLINE_HOME".to_owned(), self.home.display().to_string().into())]);
        let environment = Environment { vars, cwd: self.home.clone() };
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let cancel = CancellationToken::new();
        let code = cli::run(&words, environment, engine.clone(), 1, cancel, &io).await;
        (code, out.contents() + &err.contents())
    }

    fn task(&self, task: &str, later: bool) -> (i32, String) {
        let (paths, now) = (Paths::new(self.home.clone()), Instant::now());
        let until = now.plus_ms(3_600_000).expect("in range");
        let known = if later {
            defer_task(&paths, &task.into(), until, now).map(|task| task.is_some())
        } else {
            complete_task(&paths, &task.into(), now).map(|task| task.is_some())
        };
        match known {
            Ok(true) => (0, String::new()),
            Ok(false) => (1, "no open task".to_owned()),
            Err(error) => (1, error.to_string()),
        }
    }

    /// Acknowledges an event; the time in the answer says which operation gave it.
    fn acknowledge(&self, event: &str, operation: usize) -> (i32, String) {
        let paths = Paths::new(self.home.clone());
        let answer = Acknowledgement {
            acknowledged_at: operation.to_string().into(),
            action_taken: ActionTaken::Acknowledge,
        };
        let changed = acknowledgements::update(&paths, Instant::now(), |answers| {
            answers.0.insert(event.into(), answer);
        });
        match changed {
            Ok(()) => (0, String::new()),
            Err(error) => (1, error.to_string()),
        }
    }
}

/// A host whose handlers all succeed at once with the same output.
#[derive(Default)]
struct InstantHost {
    engine: OnceLock<Weak<Engine>>,
}

impl Host for InstantHost {
    fn start(&self, id: CallId, _: u64, request: Request) {
        let engine = self.engine.get().and_then(Weak::upgrade).expect("the engine lives");
        let answer = match request {
            Request::LoadManifests { plugins, .. } => {
                let rows = plugins.iter().map(|plugin| {
                    let source = fs::read_to_string(plugin.directory.join("manifest.ts"));
                    let text = source.expect("a file").replace("export const manifest = ", "");
                    let mut row = Map::new();
                    row.insert("plugin", &plugin.name);
                    row.insert("manifest", parse(&text).expect("JSON"));
                    row
                });
                rows.collect::<Vec<Map>>().into()
            }
            Request::LoadHandler { .. } => Value::Null,
            Request::Attempt(_) => parse(concat!(
                r#"{"status":"success","phases_completed":[],"phases_failed":[],"data_freshness":{},"#,
                r#""summary":"done","artifacts_produced":[{"type":"note","path":"note.md"}]}"#
            ))
            .expect("JSON"),
        };
        engine.complete(id, Ok(answer));
    }

    fn abort(&self, _: CallId, _: AbortReason) {}

    fn notify(&self, _: u64, _: Notice) {}
}
