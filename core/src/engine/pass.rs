//! What an advance knows while it runs, and what becomes of it at the end.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::clock::Instant;
use crate::decide::dueness::locked_plugins;
use crate::decide::levels::order;
use crate::decide::merge::{self, lay_over};
use crate::decide::tier::tier;
use crate::error::{Error, Result};
use crate::home::journal::Journal;
use crate::home::jsonl::{self, Level, Line, LineEvent};
use crate::home::{Paths, events, runs, state};
use crate::json::{JsString, Record};
use crate::schema::engine_state::{EngineState, PendingGate, PluginRun};
use crate::schema::event::{self, BoardEvent};
use crate::schema::manifest::Tier;
use crate::schema::run_log::{AdvanceStatus, EntryStatus, PluginLogEntry, RunLog};

use super::{AdvanceOptions, PluginState, Roster};

/// The facts of a pass that never change.
pub(super) struct Facts {
    pub run_id: JsString,
    pub started: Instant,
    pub paths: Paths,
    pub roster: Roster,
    /// Topological levels of the plugins that can be placed.
    pub levels: Vec<Vec<JsString>>,
    /// Plugins on a cycle or behind one, with the text that says so.
    pub unplaced: Vec<(JsString, String)>,
    pub tier: Tier,
    /// The plugins that an open task locks.
    pub locked: HashSet<JsString>,
    /// Run logs that were removed at the start.
    pub pruned: usize,
    pub resumed_from: Option<JsString>,
    pub dry_run: bool,
    /// The number under which the host hears of this pass.
    pub operation: u64,
}

impl Facts {
    pub(super) fn new(
        run_id: JsString,
        started: Instant,
        paths: Paths,
        roster: Roster,
        state: &EngineState,
        options: &AdvanceOptions,
    ) -> Self {
        let graph: Vec<(JsString, Vec<JsString>)> = roster
            .plugins
            .iter()
            .map(|(name, plugin)| (name.clone(), plugin.manifest.dependencies.clone()))
            .collect();
        let order = order(&graph);
        Self {
            run_id,
            started,
            paths,
            roster,
            levels: order.levels,
            unplaced: order.unplaced,
            tier: tier(state.last_interaction_at.as_ref(), started),
            locked: locked_plugins(state, started),
            pruned: 0,
            resumed_from: None,
            dry_run: options.dry_run,
            operation: 0,
        }
    }

    /// Plugins that cannot be considered, with the reason: on or behind a cycle, or not loaded.
    pub(super) fn unloaded(&self) -> impl Iterator<Item = (&JsString, &str)> {
        let both = self.unplaced.iter().chain(&self.roster.failures);
        both.map(|(name, reason)| (name, reason.as_str()))
    }

    pub(super) fn not_recorded(&self, error: Error) -> Error {
        Error::NotRecorded { run_id: self.run_id.to_text(), source: Box::new(error) }
    }

    pub(super) fn has_unloaded(&self) -> bool {
        self.unloaded().next().is_some()
    }
}

/// What a pass has found out so far. One lock guards all of it, so that an ending that comes from
/// outside (a signal, an exit) always sees whole outcomes.
pub(super) struct Pass {
    pub facts: Facts,
    progress: Mutex<Progress>,
    /// Held by whoever records the pass: its own end, or the end of the process.
    recording: Mutex<()>,
}

/// See [`Pass`].
pub(super) struct Progress {
    /// The state document as the pass sees it; dependents read the runs of their dependencies here.
    pub state: EngineState,
    pub states: Record<PluginState>,
    pub entries: Record<PluginLogEntry>,
    pub ran: Record<PluginRun>,
    pub gates: Vec<PendingGate>,
    pub gated: Vec<JsString>,
    /// Plugins that no grant covered.
    pub unapproved: Vec<JsString>,
    /// When the plugins that run now were started.
    pub running: Record<Instant>,
    /// What the level that runs now has to tell, by the place of the plugin in it.
    told: Vec<(usize, Vec<BoardEvent>)>,
    pub journal: Option<Journal>,
    /// Whether the pass is being recorded, was recorded, or was given up. From then on no plugin
    /// starts and no outcome counts any more.
    pub ended: bool,
}

impl Pass {
    pub(super) fn new(facts: Facts, state: EngineState, journal: Option<Journal>) -> Self {
        let states =
            facts.roster.plugins.keys().map(|name| (name.clone(), PluginState::Pending)).collect();
        let progress = Progress {
            state,
            states,
            entries: Record::new(),
            ran: Record::new(),
            gates: Vec::new(),
            gated: Vec::new(),
            unapproved: Vec::new(),
            running: Record::new(),
            told: Vec::new(),
            journal,
            ended: false,
        };
        Self { facts, progress: Mutex::new(progress), recording: Mutex::new(()) }
    }

    /// Reads or changes what is known. Never held across a wait.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Progress) -> T) -> T {
        change(&mut self.progress.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the pass and claims the right to record it, for as long as the guard lives. Only the
    /// first caller has it; a later one waits until the first has written everything.
    pub(super) fn claim_recording(&self) -> Option<MutexGuard<'_, ()>> {
        let recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        self.give_up().then_some(recording)
    }

    /// Ends the pass; whether it was not ended before.
    pub(super) fn give_up(&self) -> bool {
        self.with(|progress| !std::mem::replace(&mut progress.ended, true))
    }

    /// Keeps what is to be told of the plugin at this place of its level until the level has ended,
    /// so that the order of the events does not depend on which plugin was faster. Once the pass has ended,
    /// nothing more is recorded of a plugin, so nothing is told of it either.
    pub(super) fn hear(&self, place: usize, told: Vec<BoardEvent>) {
        self.with(|progress| {
            if !progress.ended {
                progress.told.push((place, told));
            }
        });
    }

    /// Takes what the level has to tell, in the order of the level.
    pub(super) fn take_told(&self) -> Vec<BoardEvent> {
        let mut told = self.with(|progress| std::mem::take(&mut progress.told));
        told.sort_by_key(|(place, _)| *place);
        told.into_iter().flat_map(|(_, events)| events).collect()
    }

    /// Brings what ended into the order of the levels, so that no file tells which plugin was faster.
    pub(super) fn arrange(&self) {
        let levels = self.facts.levels.iter().flatten();
        let places: HashMap<&JsString, usize> =
            levels.enumerate().map(|(place, name)| (name, place)).collect();
        let place = |name: &JsString| places.get(name).copied();
        self.with(|progress| {
            progress.ran.sort_by(|left, _, right, _| place(left).cmp(&place(right)));
            progress.gates.sort_by_key(|gate| place(&gate.plugin));
            progress.gated.sort_by_key(place);
        });
    }

    /// Adds the entries of plugins that could not even be considered: on a cycle, or not loaded.
    pub(super) fn record_unloaded(&self) {
        let facts = &self.facts;
        self.with(|progress| {
            for (name, reason) in facts.unloaded() {
                progress.states.insert(name.clone(), PluginState::Failed);
                let entry = entry(name, EntryStatus::Failed, facts.started, 0.0, reason.into());
                progress.entries.insert(name.clone(), entry);
            }
        });
    }

    /// How the pass ended, seen from what is known.
    pub(super) fn status(&self, interrupted: bool) -> AdvanceStatus {
        let roster = &self.facts.roster;
        self.with(|progress| {
            let failed = || {
                progress.entries.values().any(|entry| entry.status == EntryStatus::Failed)
                    || !progress.gated.is_empty()
            };
            if interrupted {
                AdvanceStatus::Interrupted
            } else if roster.plugins.is_empty() {
                AdvanceStatus::Failed
            } else if failed() {
                AdvanceStatus::Partial
            } else {
                AdvanceStatus::Complete
            }
        })
    }

    /// Writes what the pass came to: state, run log, JSONL lines, the closing event, in this order.
    ///
    /// # Errors
    ///
    /// When the state could not be merged nothing of it is overwritten, the logs are written all
    /// the same, and the journal stays for the next read to fold; the first error is returned.
    pub(super) fn record(&self, status: AdvanceStatus, now: Instant) -> Result<Recorded> {
        let facts = &self.facts;
        let log = self.run_log(status, now);
        // The largest text is made while the state is read and written. That touches no file.
        let (merged, text) = thread::scope(|scope| {
            let text = thread::Builder::new().spawn_scoped(scope, || runs::run_log_text(&log));
            let merged = self.merge_state(now);
            let text = text.ok().and_then(|text| text.join().ok());
            (merged, text.unwrap_or_else(|| runs::run_log_text(&log)))
        });
        let logged = runs::write_run_log_text(&facts.paths, &log.run_id, &text);
        let streamed = jsonl::append(&facts.paths, &jsonl_lines(&log), now);
        let mut told = self.take_told();
        told.push(self.completed_event(&log, now));
        let told = events::append(&facts.paths, &told);
        let pending_gates = merged?;
        streamed.and(told).and(logged).map(|log| Recorded { log, pending_gates })
    }

    /// Removes the crash journal of a pass that is recorded.
    ///
    /// # Errors
    ///
    /// Nothing is lost then: the state names the pass, so that the next one folds nothing.
    pub(super) fn close_journal(&self) -> Result<()> {
        let journal = self.with(|progress| progress.journal.take());
        journal.map_or(Ok(()), Journal::close)
    }

    /// Lays the pass over the state; the number of parked results that wait afterwards.
    fn merge_state(&self, now: Instant) -> Result<usize> {
        let facts = &self.facts;
        let pass = self.with(|progress| merge::Pass {
            run_id: facts.run_id.clone(),
            last_run_at: now.to_iso().into(),
            started_at: facts.started.to_iso().into(),
            plugin_runs: progress.ran.clone(),
            parked: progress.gates.clone(),
            tier: facts.tier,
            now,
        });
        state::update(&facts.paths, now, |fresh| {
            let expired = lay_over(fresh, &pass);
            // The notices come first: no result goes without one.
            let notice = |gate: &PendingGate| {
                event::gate_expired(&events::stamp(now), &gate.plugin, &gate.run_id)
            };
            events::append(&facts.paths, &expired.iter().map(notice).collect::<Vec<_>>())?;
            Ok::<_, Error>(state::Decision::Write(waiting(fresh)))
        })
    }

    /// The entries in the order of the files: by level and name, then what could not be placed or
    /// loaded. The order in which plugins ended would differ from run to run.
    pub(super) fn entries(&self) -> Vec<PluginLogEntry> {
        let facts = &self.facts;
        let placed = facts.levels.iter().flatten();
        let unplaced = facts.unplaced.iter().map(|(name, _)| name);
        let failed = facts.roster.failures.iter().map(|(name, _)| name);
        self.with(|progress| {
            let names = placed.chain(unplaced).chain(failed);
            names.filter_map(|name| progress.entries.get(name).cloned()).collect()
        })
    }

    fn run_log(&self, status: AdvanceStatus, now: Instant) -> RunLog {
        let facts = &self.facts;
        let entries = self.entries();
        let count = entries.len();
        RunLog {
            run_id: facts.run_id.clone(),
            started_at: facts.started.to_iso().into(),
            completed_at: (status != AdvanceStatus::Interrupted).then(|| now.to_iso().into()),
            status,
            resumed_from: facts.resumed_from.clone(),
            summary: format!("Engine run {}: {count} plugins processed", facts.run_id).into(),
            plugin_entries: entries,
            manifests_loaded: Some(loaded_count(&facts.roster)),
        }
    }

    fn completed_event(&self, log: &RunLog, now: Instant) -> BoardEvent {
        event::run_completed(&events::stamp(now), &log.run_id, log.status)
    }
}

/// What recording a pass came to.
pub(super) struct Recorded {
    /// The run log.
    pub log: PathBuf,
    /// Parked results that wait for an answer now.
    pub pending_gates: usize,
}

/// The parked results of a document that wait for an answer.
pub(super) fn waiting(state: &EngineState) -> usize {
    state.pending_gates.iter().filter(|gate| gate.applied_at.is_none()).count()
}

#[allow(clippy::cast_precision_loss)]
fn loaded_count(roster: &Roster) -> f64 {
    roster.plugins.len() as f64
}

/// One entry without a result.
pub(super) fn entry(
    plugin: &JsString,
    status: EntryStatus,
    started: Instant,
    elapsed_ms: f64,
    summary: JsString,
) -> PluginLogEntry {
    PluginLogEntry {
        plugin: plugin.clone(),
        status,
        started_at: started.to_iso().into(),
        elapsed_ms,
        result_summary: summary,
        reversible: None,
        undo_instruction: None,
        retried: false,
        result: None,
    }
}

/// The lines an advance leaves in the daily log when it ends.
fn jsonl_lines(log: &RunLog) -> Vec<Line> {
    let results = log.plugin_entries.iter().map(|entry| {
        let failed = entry.status == EntryStatus::Failed;
        Line {
            run_id: log.run_id.clone(),
            level: if failed { Level::Error } else { Level::Info },
            event: LineEvent::PluginResult,
            plugin: Some(entry.plugin.clone()),
            status: Some(entry.status.as_str()),
            elapsed_ms: Some(entry.elapsed_ms),
            detail: Some(entry.result_summary.clone()),
        }
    });
    let complete = log.status == AdvanceStatus::Complete;
    let end = Line {
        run_id: log.run_id.clone(),
        level: if complete { Level::Info } else { Level::Warn },
        event: LineEvent::RunEnd,
        plugin: None,
        status: Some(log.status.as_str()),
        elapsed_ms: None,
        detail: Some(log.summary.clone()),
    };
    results.chain([end]).collect()
}
