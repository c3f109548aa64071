//! One advance: every due plugin of a root, level by level.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::clock::Instant;
use crate::decide::quiet;
use crate::error::{Error, Result};
use crate::home::journal::Journal;
use crate::home::jsonl::{self, Level, Line, LineEvent};
use crate::home::lock::{RunLock, StateLock};
use crate::home::{
    Environment, Paths, events, leftovers, preferences, run_id, runs, shared, state,
};
use crate::json::{JsString, Map, Record, Value};
use crate::schema::event::{self, BoardEvent};
use crate::schema::run_log::{AdvanceStatus, EntryStatus, PluginLogEntry};

use super::pass::{Facts, Pass, entry, waiting};
use super::plugin_run::PluginRunner;
use super::workers::WorkerSet;
use super::{AdvanceOptions, DEFAULT_CONCURRENCY, Engine, Notice, PluginState};

/// What an advance came to.
#[derive(Clone, Debug, PartialEq)]
pub struct AdvanceResult {
    /// Names the run log.
    pub run_id: JsString,
    /// How the pass ended.
    pub status: AdvanceStatus,
    /// Where every plugin stands, load failures included.
    pub plugin_states: Record<PluginState>,
    /// The plugins whose result was parked by this pass.
    pub gated_plugins: Vec<JsString>,
    /// The plugins that were skipped because no grant covers their declared side effects.
    pub unapproved_plugins: Vec<JsString>,
    /// The run log; `None` when none was written.
    pub run_log_path: Option<PathBuf>,
    /// What happened, plugin by plugin.
    pub plugin_entries: Vec<PluginLogEntry>,
    /// Why the pass is not complete; what `onRunFailure` was told.
    pub failure: Option<JsString>,
}

impl AdvanceResult {
    /// `{run_id, status, plugin_states, gated_plugins, run_log_path, plugin_entries}`, the states as
    /// an object and the path empty when no log was written.
    pub fn to_value(&self) -> Value {
        let path = self.run_log_path.as_ref().map(|path| path.display().to_string());
        let entries: Vec<Value> =
            self.plugin_entries.iter().map(PluginLogEntry::to_value).collect();
        [
            ("run_id", Value::from(&self.run_id)),
            ("status", self.status.into()),
            ("plugin_states", self.plugin_states.clone().into()),
            ("gated_plugins", self.gated_plugins.clone().into()),
            ("run_log_path", path.unwrap_or_default().into()),
            ("plugin_entries", entries.into()),
        ]
        .into_iter()
        .collect::<Map>()
        .into()
    }
}

impl Engine {
    /// Runs every due plugin of a root once.
    ///
    /// # Errors
    ///
    /// A refusal (plugin root, preferences, run lock, state document) leaves the home as it was. An
    /// error after plugins ran means that the state could not be merged: the logs are written, and
    /// the crash journal keeps the outcomes for the next advance.
    pub async fn advance(
        self: &Arc<Self>,
        environment: &Environment,
        options: &AdvanceOptions,
        operation: u64,
        cancel: &CancellationToken,
    ) -> Result<AdvanceResult> {
        let concurrency = options.concurrency.unwrap_or(DEFAULT_CONCURRENCY);
        if concurrency == 0 {
            let expected = "an integer of at least 1".into();
            return Err(Error::Option { option: "concurrency", expected });
        }
        let paths = options.paths.resolve(environment)?;
        shared::refuse(&paths, environment)?;
        let (root, isolation) = (&paths.plugins, options.isolation);
        let given = Arc::new(environment.clone());
        let workers = WorkerSet::open(self, &given, root, isolation, concurrency, operation);
        let pass = self.advance_with(environment, options, paths.clone(), &workers, cancel);
        workers.around(pass).await
    }

    async fn advance_with(
        self: &Arc<Self>,
        environment: &Environment,
        options: &AdvanceOptions,
        paths: Paths,
        workers: &Arc<WorkerSet>,
        cancel: &CancellationToken,
    ) -> Result<AdvanceResult> {
        let operation = workers.operation();
        let concurrency = options.concurrency.unwrap_or(DEFAULT_CONCURRENCY);
        let roster = self.roster(&paths.plugins, environment, cancel, workers).await?;
        for text in &roster.warnings {
            self.host.notify(operation, Notice::Warning { text: text.clone() });
        }
        let preferences = preferences::read(&paths)?;
        let started = self.clock.now();
        let run = JsString::from(run_id::new(started));
        let lock = if options.dry_run {
            None
        } else {
            Some(RunLock::acquire(&paths, &run.to_text(), started)?)
        };
        let (document, resumed_from) = if options.dry_run {
            let (state, unusable) = state::preview(&paths, started);
            if let Some(error) = unusable {
                let text = format!("{error}: an advance that is no dry run would be refused");
                self.host.notify(operation, Notice::Warning { text });
            }
            (state, None)
        } else {
            let loaded = state::load_for_write(&paths, started, lock.as_ref())?;
            (loaded.state, loaded.resumed_from)
        };
        let mut facts = Facts::new(run, started, paths, roster, &document, options);
        facts.resumed_from = resumed_from;
        facts.operation = operation;
        let quiet = quiet::skips_advance(
            preferences.quiet_hours,
            started.local_minute(),
            options.force,
            options.dry_run,
        );
        let result = if quiet {
            workers.close().await;
            self.quiet_pass(&facts, waiting(&document))
        } else {
            let journal = if options.dry_run {
                None
            } else {
                // What cannot be locked now cannot be written at the end: found out before any effect.
                StateLock::acquire(&facts.paths, started)?.release();
                Some(self.open_records(&mut facts)?)
            };
            let cut_short = facts.roster.cut_short;
            let pass = Arc::new(Pass::new(facts, document, journal));
            let _active = self.active.enter(&pass);
            let runner = PluginRunner {
                engine: self.clone(),
                pass: pass.clone(),
                environment: environment.clone(),
                options: options.clone(),
                review_gate: preferences.review_gate,
                cancel: cancel.clone(),
                workers: workers.clone(),
                cut_short: AtomicBool::new(cut_short),
            };
            let interrupted = run_levels(Arc::new(runner), concurrency).await;
            // Whoever sees the record, or takes the lock next, meets nothing that a plugin still does.
            workers.close().await;
            self.finish(&pass, interrupted)
        };
        if let Some(lock) = lock {
            lock.release();
        }
        let result = result?;
        if let Some(text) = &result.failure {
            self.host.notify(operation, Notice::RunFailure { text: text.clone() });
        }
        Ok(result)
    }

    /// Writes the opening lines of a pass and prunes what is too old.
    ///
    /// # Errors
    ///
    /// [`Error::NotRecorded`] where the event was written and the line was not; any other error
    /// leaves the home as it was.
    fn open_records(&self, facts: &mut Facts) -> Result<Journal> {
        let Facts { paths, run_id, started, .. } = &*facts;
        events::append(paths, &[event::run_started(&events::stamp(*started), run_id)])?;
        let line = Line {
            run_id: run_id.clone(),
            level: Level::Info,
            event: LineEvent::RunStart,
            plugin: None,
            status: None,
            elapsed_ms: None,
            detail: None,
        };
        jsonl::append(paths, &[line], *started).map_err(|error| facts.not_recorded(error))?;
        let pruned = runs::prune_run_logs(paths, *started);
        jsonl::prune(paths, *started);
        leftovers::sweep(paths, *started);
        let journal = Journal::open(paths, &run_id.to_text());
        facts.pruned = pruned;
        Ok(journal)
    }

    /// A pass inside quiet hours: nothing runs. Only the closing event is written, and what a
    /// monitor watches.
    fn quiet_pass(&self, facts: &Facts, pending_gates: usize) -> Result<AdvanceResult> {
        let pass_status = match () {
            () if facts.roster.plugins.is_empty() => AdvanceStatus::Failed,
            () if facts.has_unloaded() => AdvanceStatus::Partial,
            () => AdvanceStatus::Complete,
        };
        let mut states: Record<PluginState> = Record::new();
        let mut entries = Vec::new();
        for name in facts.levels.iter().flatten() {
            states.insert(name.clone(), PluginState::Skipped);
            let text = JsString::from("skipped: quiet hours");
            entries.push(entry(name, EntryStatus::Skipped, facts.started, 0.0, text));
        }
        for (name, reason) in facts.unloaded() {
            states.insert(name.clone(), PluginState::Failed);
            entries.push(entry(name, EntryStatus::Failed, facts.started, 0.0, reason.into()));
        }
        let stamp = events::stamp(self.clock.now());
        events::append(&facts.paths, &[event::run_completed(&stamp, &facts.run_id, pass_status)])?;
        let result = AdvanceResult {
            run_id: facts.run_id.clone(),
            status: pass_status,
            plugin_states: states,
            gated_plugins: Vec::new(),
            unapproved_plugins: Vec::new(),
            run_log_path: None,
            failure: failure_text(pass_status, facts, &entries, &[]),
            plugin_entries: entries,
        };
        self.show_alive(facts, &result, Some("quiet_hours"), pending_gates);
        Ok(result)
    }

    /// Ends a pass whose levels are through.
    fn finish(&self, pass: &Pass, interrupted: bool) -> Result<AdvanceResult> {
        let Some(_recording) = pass.claim_recording() else {
            let message = "the process ended while the advance was running".into();
            return Err(Error::Host { message });
        };
        let (result, pending_gates) = self.record(pass, interrupted)?;
        if let Some(pending_gates) = pending_gates {
            self.show_alive(&pass.facts, &result, None, pending_gates);
        }
        Ok(result)
    }

    /// Writes what the pass came to and says how it ended, and how many parked results wait after it
    /// where that was written. The caller holds the claim to record it.
    pub(super) fn record(
        &self,
        pass: &Pass,
        interrupted: bool,
    ) -> Result<(AdvanceResult, Option<usize>)> {
        pass.record_unloaded();
        pass.arrange();
        let status = pass.status(interrupted);
        let facts = &pass.facts;
        let recorded = if facts.dry_run {
            None
        } else {
            let recorded = pass.record(status, self.clock.now());
            let recorded = recorded.map_err(|error| facts.not_recorded(error))?;
            if let Err(error) = pass.close_journal() {
                let text = format!("{error}: the next advance removes it");
                self.host.notify(facts.operation, Notice::Warning { text });
            }
            Some(recorded)
        };
        let entries = pass.entries();
        let (states, gated, mut unapproved) = pass.with(|progress| {
            (progress.states.clone(), progress.gated.clone(), progress.unapproved.clone())
        });
        unapproved.sort();
        let pending_gates = recorded.as_ref().map(|recorded| recorded.pending_gates);
        let result = AdvanceResult {
            run_id: facts.run_id.clone(),
            status,
            plugin_states: states,
            run_log_path: recorded.map(|recorded| recorded.log),
            failure: failure_text(status, facts, &entries, &gated),
            gated_plugins: gated,
            unapproved_plugins: unapproved,
            plugin_entries: entries,
        };
        Ok((result, pending_gates))
    }
}

/// Runs level after level until one parks a result or the caller cancels. Says whether a
/// cancellation kept anything from starting or finishing.
async fn run_levels(runner: Arc<PluginRunner>, concurrency: usize) -> bool {
    let slots = Arc::new(Semaphore::new(concurrency.min(Semaphore::MAX_PERMITS)));
    let pass = runner.pass.clone();
    for level in &pass.facts.levels {
        let mut running = JoinSet::new();
        let mut names: HashMap<Id, (usize, &JsString)> = HashMap::with_capacity(level.len());
        for (place, name) in level.iter().enumerate() {
            // Where there is a slot, no task is made for a plugin that does not run.
            let decided = match slots.clone().try_acquire_owned() {
                Ok(slot) => match decided(&runner, name) {
                    ControlFlow::Break(told) => {
                        pass.hear(place, told);
                        continue;
                    }
                    due => Some((Some(slot), due)),
                },
                Err(_) => None,
            };
            let (runner, slots, own) = (runner.clone(), slots.clone(), name.clone());
            let task = running.spawn(async move {
                let (_slot, decided) = match decided {
                    Some(decided) => decided,
                    None => (slots.acquire_owned().await.ok(), runner.decide(&own)),
                };
                let told = match decided {
                    ControlFlow::Break(told) => told,
                    ControlFlow::Continue(at) => runner.run(&own, at).await,
                };
                runner.pass.hear(place, told);
            });
            names.insert(task.id(), (place, name));
        }
        while let Some(ended) = running.join_next().await {
            if let Err(error) = ended
                && let Some((place, name)) = names.get(&error.id())
            {
                pass.hear(*place, runner.lost(name));
            }
        }
        runner.tell();
        let stop = runner.cut_short.load(Ordering::Relaxed)
            || pass.with(|progress| !progress.gated.is_empty());
        if stop {
            break;
        }
    }
    runner.cut_short.load(Ordering::Relaxed)
}

/// What is decided about a plugin; one that a failing host kept from it is lost.
fn decided(runner: &PluginRunner, name: &JsString) -> ControlFlow<Vec<BoardEvent>, Instant> {
    let decide = AssertUnwindSafe(|| runner.decide(name));
    catch_unwind(decide).unwrap_or_else(|_| ControlFlow::Break(runner.lost(name)))
}

/// What `onRunFailure` is told; `None` for a complete pass.
fn failure_text(
    status: AdvanceStatus,
    facts: &Facts,
    entries: &[PluginLogEntry],
    gated: &[JsString],
) -> Option<JsString> {
    let names = |names: Vec<&JsString>| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let failed = || {
        let failed = entries.iter().filter(|entry| entry.status == EntryStatus::Failed);
        failed.map(|entry| &entry.plugin).collect::<Vec<_>>()
    };
    let root = facts.paths.plugins.display();
    let text = match status {
        AdvanceStatus::Complete => return None,
        AdvanceStatus::Failed if facts.roster.failures.is_empty() => {
            format!("no plugin was loaded from {root}: there is none")
        }
        AdvanceStatus::Failed => {
            format!("no plugin was loaded from {root}: {} failed to load", names(failed()))
        }
        AdvanceStatus::Interrupted => format!("run {} was interrupted", facts.run_id),
        AdvanceStatus::Partial => {
            let mut parts = Vec::new();
            if !failed().is_empty() {
                parts.push(format!("failed: {}", names(failed())));
            }
            if !gated.is_empty() {
                parts.push(format!("waiting for approval: {}", names(gated.iter().collect())));
            }
            format!("run {} is partial; {}", facts.run_id, parts.join("; "))
        }
    };
    Some(text.into())
}
