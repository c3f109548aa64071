//! One plugin inside an advance: is it due, run it, fold what came of it into the pass.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

use crate::clock::Instant;
use crate::decide::dueness::{Question, Reason, Verdict, evaluate};
use crate::decide::record;
use crate::error::Result;
use crate::home::{Environment, approval, events};
use crate::json::{JsString, Map, Record};
use crate::schema::engine_state::{PendingGate, PluginRun, RunStatus};
use crate::schema::event::{self, BoardEvent};
use crate::schema::manifest::{AutonomyLevel, Manifest};
use crate::schema::run_log::{EntryStatus, PluginLogEntry};
use crate::schema::skill_result::{ResultStatus, SkillResult};

use super::invoke::{Job, elapsed};
use super::pass::{Pass, entry};
use super::workers::WorkerSet;
use super::{AdvanceOptions, Engine, Invocation, Notice, PluginState};

/// Runs the plugins of one pass.
pub(super) struct PluginRunner {
    pub engine: Arc<Engine>,
    pub pass: Arc<Pass>,
    pub environment: Environment,
    pub options: AdvanceOptions,
    /// Whether autonomous results are parked as well.
    pub review_gate: bool,
    pub cancel: CancellationToken,
    pub workers: Arc<WorkerSet>,
    /// Whether a cancellation kept a plugin from starting or from finishing.
    pub cut_short: AtomicBool,
}

/// How one plugin ended, for the record.
struct Ended {
    state: PluginState,
    entry: PluginLogEntry,
    run: Option<PluginRun>,
    gate: Option<PendingGate>,
    /// What `onPluginEnd` is told beside the state.
    reason: Option<JsString>,
}

impl PluginRunner {
    /// Decides about one plugin: it is due since some instant, or does not run and was recorded. Events
    /// are to be appended when the level has ended.
    pub(super) fn decide(&self, name: &JsString) -> ControlFlow<Vec<BoardEvent>, Instant> {
        let Some(plugin) = self.pass.facts.roster.plugins.get(name) else {
            return ControlFlow::Break(Vec::new());
        };
        if self.cancel.is_cancelled() {
            self.cut_short.store(true, Ordering::Relaxed);
            return ControlFlow::Break(Vec::new());
        }
        if self.pass.with(|progress| progress.ended) {
            return ControlFlow::Break(Vec::new());
        }
        let now = self.engine.clock.now();
        let verdict = self.verdict(name, &plugin.manifest, now);
        if self.options.dry_run && self.blocked(&plugin.manifest, &verdict) {
            let told = self.skip(name, now, "blocked (dry-run): it declares side effects");
            return ControlFlow::Break(told);
        }
        match verdict {
            Verdict::NotDue(reason) => ControlFlow::Break(self.not_due(name, now, &reason)),
            Verdict::Due => ControlFlow::Continue(now),
        }
    }

    fn verdict(&self, name: &JsString, manifest: &Manifest, now: Instant) -> Verdict {
        let facts = &self.pass.facts;
        self.pass.with(|progress| {
            evaluate(&Question {
                plugin: name,
                manifest,
                state: &progress.state,
                locked: &facts.locked,
                profile: self.options.profile,
                tier: facts.tier,
                force: self.options.force,
                // Read anew for each plugin that needs it: a grant revoked meanwhile is gone.
                grant: &|| approval::read(&facts.paths),
                due_at_earlier_level: None,
                now,
            })
        })
    }

    /// Whether a dry run leaves this plugin out for its effects alone.
    fn blocked(&self, manifest: &Manifest, verdict: &Verdict) -> bool {
        let considered =
            matches!(verdict, Verdict::Due | Verdict::NotDue(Reason::Unapproved { .. }));
        considered && !manifest.side_effects.is_empty()
    }

    fn skip(&self, name: &JsString, now: Instant, detail: &str) -> Vec<BoardEvent> {
        let summary = format!("skipped: {detail}").into();
        let entry = entry(name, EntryStatus::Skipped, now, 0.0, summary);
        self.record(name, Ended::without_run(PluginState::Skipped, entry));
        let run_id = &self.pass.facts.run_id;
        vec![event::plugin_skipped(&events::stamp(now), name, &detail.into(), Some(run_id))]
    }

    fn not_due(&self, name: &JsString, now: Instant, reason: &Reason) -> Vec<BoardEvent> {
        let detail = reason.detail();
        if matches!(reason, Reason::Unapproved { .. }) {
            self.pass.with(|progress| progress.unapproved.push(name.clone()));
        }
        if matches!(reason, Reason::Unapproved { .. } | Reason::DependencyFailed { .. }) {
            self.end(name, PluginState::Skipped, 0.0, Some(detail.as_str().into()));
        }
        let Reason::Denied { .. } = reason else {
            return self.skip(name, now, &detail);
        };
        let entry = entry(name, EntryStatus::Denied, now, 0.0, detail.as_str().into());
        self.record(name, Ended::without_run(PluginState::Skipped, entry));
        let run_id = &self.pass.facts.run_id;
        vec![event::plugin_denied(&events::stamp(now), name, &detail.into(), run_id)]
    }

    /// Runs a plugin that was found due at `now`, and gives the events.
    pub(super) async fn run(&self, name: &JsString, now: Instant) -> Vec<BoardEvent> {
        let Some(plugin) = self.pass.facts.roster.plugins.get(name) else {
            return Vec::new();
        };
        let manifest = &plugin.manifest;
        match self.begin(name, manifest, now) {
            Ok(true) => {}
            Ok(false) => return Vec::new(),
            Err(error) => {
                // Without the journal a crash would let the effects happen twice: not started.
                let reason = JsString::from(format!("not started: {error}"));
                let entry = entry(name, EntryStatus::Failed, now, 0.0, reason.clone());
                self.record(name, Ended::without_run(PluginState::Failed, entry));
                self.end(name, PluginState::Failed, 0.0, Some(reason.clone()));
                return self.failed_event(name, now, &reason);
            }
        }
        let operation = self.pass.facts.operation;
        self.engine.host.notify(operation, Notice::PluginStart { plugin: name.clone() });
        let dependencies = self.dependency_runs(manifest);
        let facts = &self.pass.facts;
        let job = Job {
            plugin,
            paths: &facts.paths,
            environment: &self.environment,
            run_id: &facts.run_id,
            args: &Map::new(),
            max_retries: manifest.max_retries,
            dependency_runs: &dependencies,
            artifact: None,
            events: !self.options.dry_run,
            operation,
            cancel: &self.cancel,
            clock: self.engine.clock,
            workers: &self.workers,
            met: None,
        };
        let invocation = self.engine.run(&job).await;
        let completed = self.engine.clock.now();
        let ended = match &invocation {
            Ok(invocation) => self.ended(name, manifest, invocation, now, completed),
            Err(error) => self.threw(name, error.to_string().into(), now, completed),
        };
        let (state, elapsed_ms) = (ended.state, ended.entry.elapsed_ms);
        let reason = ended.reason.clone();
        let events = self.events_of(name, &ended, completed);
        self.record(name, ended);
        self.end(name, state, elapsed_ms, reason);
        events
    }

    /// Notes in the crash journal that effects may fire from here on. Says no when the pass has
    /// ended meanwhile.
    fn begin(&self, name: &JsString, manifest: &Manifest, now: Instant) -> Result<bool> {
        self.pass.with(|progress| {
            if progress.ended {
                return Ok(false);
            }
            if let (Some(journal), false) =
                (&mut progress.journal, manifest.side_effects.is_empty())
            {
                journal.started(name, now)?;
            }
            progress.states.insert(name.clone(), PluginState::Running);
            progress.running.insert(name.clone(), now);
            Ok(true)
        })
    }

    /// The last runs of the declared dependencies, as the pass knows them now.
    fn dependency_runs(&self, manifest: &Manifest) -> Record<PluginRun> {
        self.pass.with(|progress| {
            let known = |name: &JsString| {
                progress.state.plugin_runs.get(name).map(|run| (name.clone(), run.clone()))
            };
            manifest.dependencies.iter().filter_map(known).collect()
        })
    }

    /// What an invocation means for the pass.
    fn ended(
        &self,
        name: &JsString,
        manifest: &Manifest,
        invocation: &Invocation,
        started: Instant,
        completed: Instant,
    ) -> Ended {
        let result = &invocation.result;
        let failed = result.status == ResultStatus::Failed;
        let waits = self.review_gate || manifest.autonomy_level == AutonomyLevel::Supervised;
        let gated = waits && !failed && !self.options.dry_run;
        if invocation.cancelled {
            self.cut_short.store(true, Ordering::Relaxed);
        }
        let (state, status) = match () {
            () if failed => (PluginState::Failed, EntryStatus::Failed),
            () if gated => (PluginState::Gated, EntryStatus::Gated),
            () => (PluginState::Completed, EntryStatus::Completed),
        };
        let mut entry =
            entry(name, status, started, elapsed(started, completed), result.summary.clone());
        if waits && !failed && self.options.dry_run {
            let note = JsString::from("would wait for approval: ");
            entry.result_summary = note.concat(&result.summary);
        }
        entry.reversible = result.reversible;
        entry.undo_instruction = result.undo_instruction.clone();
        entry.retried = invocation.retried;
        entry.result = Some(result.clone());
        let run_status = if gated { RunStatus::Gated } else { record::status_of(result) };
        let run =
            self.run_record(name, run_status, Some(result), completed, invocation.duration_ms);
        let gate = gated.then(|| self.gate(name, result, started, completed));
        let counts = !invocation.never_called;
        let reason = failed.then(|| invocation.final_error.clone()).flatten();
        Ended { state, entry, run: counts.then_some(run), gate, reason }
    }

    /// The task of a plugin came to no end of its own: the host failed inside of it.
    pub(super) fn lost(&self, name: &JsString) -> Vec<BoardEvent> {
        let now = self.engine.clock.now();
        let message = JsString::from("the plugin host failed while this plugin was handled");
        let began = self.pass.with(|progress| progress.running.get(name).copied());
        let mut ended = self.threw(name, message, began.unwrap_or(now), now);
        if began.is_none() {
            ended.run = None;
        }
        let events = self.events_of(name, &ended, now);
        self.record(name, ended);
        events
    }

    /// The invocation itself could not be carried out.
    fn threw(
        &self,
        name: &JsString,
        message: JsString,
        started: Instant,
        completed: Instant,
    ) -> Ended {
        let elapsed_ms = elapsed(started, completed);
        let entry = entry(name, EntryStatus::Failed, started, elapsed_ms, message.clone());
        let run = self.run_record(name, RunStatus::Failed, None, completed, elapsed_ms);
        let (state, reason) = (PluginState::Failed, Some(message));
        Ended { state, entry, run: Some(run), gate: None, reason }
    }

    fn run_record(
        &self,
        name: &JsString,
        status: RunStatus,
        result: Option<&SkillResult>,
        completed: Instant,
        duration_ms: f64,
    ) -> PluginRun {
        self.pass.with(|progress| {
            let previous = progress.state.plugin_runs.get(name);
            record::entry(previous, status, result, completed.to_iso().into(), duration_ms)
        })
    }

    fn gate(
        &self,
        name: &JsString,
        result: &SkillResult,
        started: Instant,
        completed: Instant,
    ) -> PendingGate {
        // The completion instant is the one in plugin_runs: one clock read for both.
        PendingGate {
            plugin: name.clone(),
            run_id: self.pass.facts.run_id.clone(),
            created_at: completed.to_iso().into(),
            payload_summary: result.summary.clone(),
            plugin_result: result.clone(),
            run_started_at: Some(started.to_iso().into()),
            run_completed_at: Some(completed.to_iso().into()),
            applied_at: None,
        }
    }

    /// Folds an ending into the pass and notes it in the crash journal.
    fn record(&self, name: &JsString, ended: Ended) {
        let Ended { state, entry, run, gate, reason: _ } = ended;
        let plugin = self.pass.facts.roster.plugins.get(name);
        let effects = plugin.is_none_or(|plugin| !plugin.manifest.side_effects.is_empty());
        let noted = self.pass.with(|progress| {
            if progress.ended {
                return Ok(());
            }
            progress.running.shift_remove(name);
            progress.states.insert(name.clone(), state);
            progress.entries.insert(name.clone(), entry);
            let Some(run) = run else { return Ok(()) };
            let noted = match &mut progress.journal {
                Some(journal) => journal.outcome(name, &run, gate.as_ref(), effects),
                None => Ok(()),
            };
            progress.state.plugin_runs.insert(name.clone(), run.clone());
            progress.ran.insert(name.clone(), run);
            if let Some(gate) = gate {
                progress.gated.push(name.clone());
                progress.gates.push(gate);
            }
            noted
        });
        if let Err(error) = noted {
            self.warn(format!("{error}: a crash now would forget how `{name}` ended"));
        }
    }

    fn events_of(&self, name: &JsString, ended: &Ended, now: Instant) -> Vec<BoardEvent> {
        let stamp = events::stamp(now);
        let run_id = Some(&self.pass.facts.run_id);
        let summary = &ended.entry.result_summary;
        match ended.state {
            PluginState::Gated => vec![event::plugin_gated(&stamp, name, run_id)],
            PluginState::Failed => {
                let error = ended.reason.as_ref().unwrap_or(summary);
                self.failed_event(name, now, error)
            }
            _ => vec![event::plugin_completed(&stamp, name, summary, run_id)],
        }
    }

    fn failed_event(&self, name: &JsString, now: Instant, error: &JsString) -> Vec<BoardEvent> {
        vec![event::plugin_failed(&events::stamp(now), name, error, Some(&self.pass.facts.run_id))]
    }

    /// Appends the events of a level. A log that cannot be written costs the lines, not the pass.
    pub(super) fn tell(&self) {
        let told = self.pass.take_told();
        if self.options.dry_run || told.is_empty() || self.pass.with(|progress| progress.ended) {
            return;
        }
        if let Err(error) = events::append(&self.pass.facts.paths, &told) {
            self.warn(error.to_string());
        }
    }

    fn end(&self, name: &JsString, state: PluginState, elapsed_ms: f64, reason: Option<JsString>) {
        let plugin = name.clone();
        let notice = Notice::PluginEnd { plugin, state, elapsed_ms, reason };
        self.engine.host.notify(self.pass.facts.operation, notice);
    }

    pub(super) fn warn(&self, text: String) {
        self.engine.host.notify(self.pass.facts.operation, Notice::Warning { text });
    }
}

impl Ended {
    /// An ending that leaves no run record.
    fn without_run(state: PluginState, entry: PluginLogEntry) -> Self {
        Self { state, entry, run: None, gate: None, reason: None }
    }
}
