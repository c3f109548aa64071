//! The real thing: a home on disk, the engine on a virtual clock, the commands a person types.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use warpline_core::cli::input::Input;
use warpline_core::cli::writer::Writer;
use warpline_core::cli::{Io, Package, run};
use warpline_core::clock::Instant;
use warpline_core::decide::tasks::flagged;
use warpline_core::engine::{
    AbortReason, CallId, Clock, Engine, Host, HostFailure, Notice, Request,
};
use warpline_core::home::{Environment, Paths, state};
use warpline_core::json::{JsString, Value, parse};
use warpline_core::schema::engine_state::TaskSeverity;

use crate::disk;
use crate::pass::TIMEOUT;
use crate::rules::HOUR;
use crate::seen::{Outcome, Seen, SeenPlan};
use crate::step::{Facts, Meanwhile, Script, Step};

/// A handler that was called.
#[derive(Clone, Debug)]
pub struct Called {
    pub plugin: String,
    /// From 1; the contract asks for a yes once, before the first.
    pub attempt: u32,
    pub at: i64,
    /// The grant file at that moment.
    pub grant: Option<crate::seen::SeenGrant>,
}

/// Plays the scripts.
struct Stage {
    engine: OnceLock<Weak<Engine>>,
    home: PathBuf,
    scripts: BTreeMap<String, Script>,
    called: Mutex<Vec<Called>>,
}

impl Host for Stage {
    fn start(&self, id: CallId, _: u64, request: Request) {
        let engine = self.engine.get().and_then(Weak::upgrade).expect("the engine lives");
        assert!(engine.begin(id), "nobody has given up yet");
        let attempt = match request {
            Request::LoadManifests { plugins, .. } => {
                let row =
                    |name: &JsString| Value::from(format!("the manifest of {name} threw").as_str());
                let rows = plugins.iter().map(|plugin| {
                    let pairs =
                        [("plugin", Value::from(&plugin.name)), ("error", row(&plugin.name))];
                    Value::from(warpline_core::json::Map::from_iter(pairs))
                });
                let rows: Vec<Value> = rows.collect();
                return engine.complete(id, Ok(rows.into()));
            }
            Request::LoadHandler { .. } => return engine.complete(id, Ok(Value::Null)),
            Request::Attempt(attempt) => attempt,
        };
        let plugin = attempt.plugin.name.to_text();
        let script = self.scripts.get(&plugin).cloned().unwrap_or_default();
        let (at, grant, attempt) = (engine.now().ms(), disk::grant(&self.home), attempt.attempt);
        self.called.lock().expect("no poison").push(Called { plugin, attempt, at, grant });
        if script.ending == "hangs" {
            return;
        }
        let answer = answer(&script, attempt);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(script.takes.unsigned_abs())).await;
            engine.complete(id, answer);
        });
    }

    fn abort(&self, _: CallId, _: AbortReason) {}

    fn notify(&self, _: u64, _: Notice) {}
}

fn answer(script: &Script, attempt: u32) -> Result<Value, HostFailure> {
    let flaky = script.ending == "flaky" && attempt == 1;
    let (status, summary) = match script.ending.as_str() {
        "throws" => return Err(HostFailure::Threw("it threw".into())),
        _ if flaky => ("failed", "it failed once"),
        "flaky" => ("success", "did it"),
        "handoff" => ("skipped", "[needs-llm] look. Context: x"),
        other => (other, "did it"),
    };
    let output = script.output.as_ref().filter(|_| !flaky).map_or(String::new(), |output| {
        let (kind, path) = output.split_once("|path:").expect("an output");
        format!(r#"{{"type":"{kind}","path":"{path}"}}"#)
    });
    let errors = if status == "failed" {
        format!(r#"{{"code":"rate_limit","message":"m","impact":"LOW","retryable":{flaky}}}"#)
    } else {
        String::new()
    };
    let text = format!(
        r#"{{"status":"{status}","phases_completed":[],"phases_failed":[],"data_freshness":{{}},"summary":"{summary}","errors":[{errors}],"artifacts_produced":[{output}]}}"#
    );
    Ok(parse(&text).expect("JSON"))
}

pub struct Real {
    directory: TempDir,
    pub now: i64,
    scripts: BTreeMap<String, Script>,
    /// The calls of the last step.
    pub called: Vec<Called>,
}

impl Real {
    pub fn new(now: i64) -> Self {
        // In memory, where there is such a place: every step waits for a disk otherwise.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let directory = directory.expect("a directory");
        fs::create_dir_all(directory.path().join("home/plugins")).expect("directories");
        Self { directory, now, scripts: BTreeMap::new(), called: Vec::new() }
    }

    pub fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn instant(&self) -> Instant {
        Instant::from_ms(self.now).expect("in range")
    }

    pub fn step(&mut self, step: &Step) -> Outcome {
        let home = self.home();
        let plugin = |name: &str| home.join("plugins").join(name);
        match step {
            Step::Plugin(name, facts) => write_plugin(&plugin(name), name, facts),
            Step::Break(name) => {
                put(&plugin(name).join("manifest.ts"), "throw new Error('broken')\n");
                put(&plugin(name).join("handler.ts"), "");
            }
            Step::Remove(name) => drop(fs::remove_dir_all(plugin(name))),
            Step::Plays(name, script) => {
                // A directory in place of a file is what nobody can read.
                let config = home.join("config").join(format!("{name}.json"));
                if script.ending == "unreadable" {
                    fs::create_dir_all(config).expect("created");
                } else if config.exists() {
                    fs::remove_dir(config).expect("removed");
                }
                self.scripts.insert(name.clone(), script.clone());
            }
            Step::Wait(ms) => self.now += ms,
            Step::Task { id, severity, plugin } => self.flag(id, severity, plugin),
            Step::Preferences { review_gate, quiet } => {
                let clock = |minute: i64| format!("{:02}:{:02}", minute / 60, minute % 60);
                let quiet = quiet.map_or("null".to_owned(), |(start, end)| {
                    format!(r#"{{"start":"{}","end":"{}"}}"#, clock(start), clock(end))
                });
                let text = format!(r#"{{"review_gate":{review_gate},"quiet_hours":{quiet}}}"#);
                put(&home.join("preferences.json"), &text);
            }
            Step::GrantFile { scopes, lasts } => {
                let end = Instant::from_ms(self.now + lasts).expect("in range").to_iso();
                let (now, scopes) = (self.instant().to_iso(), scopes.clone());
                let scopes: Vec<String> = scopes.iter().map(|name| format!("{name:?}")).collect();
                let text = format!(
                    r#"{{"granted_at":"{now}","first_granted_at":"{now}","expires_at":"{end}","scopes":[{}]}}"#,
                    scopes.join(",")
                );
                put(&home.join(".session-approval"), &text);
            }
            Step::Advance { options, meanwhile } => {
                return self.advance(options, meanwhile.as_ref());
            }
            Step::Command(words) => {
                return Outcome { exit: self.command(words).0, ..Outcome::default() };
            }
        }
        Outcome::default()
    }

    /// What no command does: a check that flags a task. It goes the way of every verb.
    fn flag(&self, id: &str, severity: &str, plugin: &str) {
        let severity = match severity {
            "info" => TaskSeverity::Info,
            "warning" => TaskSeverity::Warning,
            other => panic!("no severity: {other}"),
        };
        let mut task = flagged(id.into(), "look".into(), severity, self.instant());
        task.source_check = plugin.into();
        let flag = |state: &mut warpline_core::schema::engine_state::EngineState| {
            state.task_aging.push(task);
            Ok(state::Decision::Write(()))
        };
        state::update(&Paths::new(self.home()), self.instant(), flag).expect("the state is usable");
    }

    pub fn plan(&mut self, profile: Option<&str>) -> SeenPlan {
        let mut words = vec!["plan".to_owned(), "--json".to_owned()];
        words.extend(profile.map(|profile| format!("--profile={profile}")));
        let (exit, report) = self.command(&words);
        disk::plan(&report, exit)
    }

    pub fn seen(&mut self) -> Seen {
        let plan = self.plan(None);
        disk::seen(&self.home(), self.now, plan)
    }

    fn command(&mut self, words: &[String]) -> (i32, String) {
        let (exit, report, _) = self.play(words, None);
        (exit, report)
    }

    fn advance(
        &mut self,
        options: &BTreeSet<String>,
        meanwhile: Option<&(i64, Meanwhile)>,
    ) -> Outcome {
        let mut words = vec!["advance".to_owned(), "--json".to_owned()];
        words.extend(options.iter().cloned());
        let began = self.now;
        let copy = self.directory.path().join("copy");
        let (exit, report, fired) = self.play(&words, meanwhile);
        if let (Some(_), Some((after, Meanwhile::Killed))) = (&fired, meanwhile) {
            fs::remove_dir_all(self.home()).expect("removed");
            fs::rename(copy, self.home()).expect("renamed");
            self.now = began + after;
            return Outcome { interrupted: true, ..Outcome::default() };
        }
        if copy.exists() {
            // The journal as it was comes back.
            fs::rename(copy, Paths::new(self.home()).journal()).expect("renamed");
        }
        let report = parse(&report).unwrap_or_else(|_| panic!("exit {exit} of {words:?}"));
        let mut outcome = disk::outcome(&report);
        outcome.exit = exit;
        outcome.called = self.called.iter().map(|called| called.plugin.clone()).collect();
        outcome.called.sort();
        outcome.interrupted = fired.is_some();
        if let Some((_, Meanwhile::Command(_))) = meanwhile {
            outcome.entries.extend(fired.map(|exit| ("@".to_owned(), exit.to_string())));
        }
        outcome
    }

    /// Runs a command; its exit code, what it printed, and what came of what happened meanwhile.
    fn play(
        &mut self,
        words: &[String],
        meanwhile: Option<&(i64, Meanwhile)>,
    ) -> (i32, String, Option<i32>) {
        let home = self.home();
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().expect("a runtime");
        let stage = Arc::new(Stage {
            engine: OnceLock::new(),
            home: home.clone(),
            scripts: self.scripts.clone(),
            called: Mutex::default(),
        });
        let (exit, out, fired) = runtime.block_on(async {
            let engine = Engine::with_clock(stage.clone(), Clock::starting_at(self.instant()));
            assert!(stage.engine.set(Arc::downgrade(&engine)).is_ok(), "set once");
            let cancel = CancellationToken::new();
            let (mut fired, out) = (None, Writer::memory());
            let advance = typed(&engine, &home, words, &out, &cancel);
            let exit = match meanwhile {
                None => advance.await,
                Some((after, what)) => {
                    let happens = async {
                        tokio::time::sleep(Duration::from_millis(after.unsigned_abs())).await;
                        fired = Some(match what {
                            Meanwhile::Killed => {
                                copy(&home, &self.directory.path().join("copy"));
                                0
                            }
                            Meanwhile::Cancelled => {
                                cancel.cancel();
                                0
                            }
                            Meanwhile::Unremoved => {
                                let journal = Paths::new(home.clone()).journal();
                                if journal.exists() && !words.iter().any(|word| word == "--dry-run")
                                {
                                    let copy = self.directory.path().join("copy");
                                    fs::copy(journal, copy).expect("copied");
                                }
                                0
                            }
                            Meanwhile::Command(words) => {
                                let other = CancellationToken::new();
                                typed(&engine, &home, words, &Writer::memory(), &other).await
                            }
                        });
                        std::future::pending::<()>().await;
                    };
                    tokio::select! {
                        biased;
                        exit = advance => exit,
                        () = happens => unreachable!("it waits for ever"),
                    }
                }
            };
            self.now = engine.now().ms();
            (exit, out.contents(), fired)
        });
        drop(runtime);
        self.called = std::mem::take(&mut *stage.called.lock().expect("no poison"));
        (exit, out, fired)
    }
}

/// What a person types.
async fn typed(
    engine: &Arc<Engine>,
    home: &Path,
    words: &[String],
    out: &Writer,
    cancel: &CancellationToken,
) -> i32 {
    let vars = [("WARPLINE_HOME".to_owned(), home.display().to_string().into())].into();
    let environment = Environment { vars, cwd: home.to_owned() };
    let clock = engine.clone();
    let io = Io {
        out: out.clone(),
        err: Writer::memory(),
        input: Input::none(),
        clock: Arc::new(move || clock.now()),
        package: Package::default(),
    };
    run(words, environment, engine.clone(), 1, cancel.clone(), &io).await
}

fn write_plugin(directory: &Path, name: &str, facts: &Facts) {
    let names = |names: &[String]| {
        names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(",")
    };
    let Facts { ttl_ms, deps, effects, autonomy, schedule, min_tier } = facts;
    // Hours are written as an author writes them, with the decimals they need.
    let ttl = format!("{}.{:02}", ttl_ms / HOUR, ttl_ms % HOUR / 36_000);
    let text = format!(
        r#"export const manifest = {{"name":"{name}","version":"1","description":"","ttl_hours":{ttl},"autonomy_level":"{autonomy}","schedule":"{schedule}","min_tier":"{min_tier}","dependencies":[{}],"side_effects":[{}],"timeout_ms":{TIMEOUT},"retry_delay_ms":0}}"#,
        names(deps),
        names(effects),
    );
    put(&directory.join("manifest.ts"), &text);
    put(&directory.join("handler.ts"), "export const handler = 1\n");
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("created");
    fs::write(path, text).expect("written");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("created");
    for entry in fs::read_dir(from).expect("readable") {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).expect("an entry");
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).expect("copied");
        }
    }
}
