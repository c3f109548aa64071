//! How a home stands, as data.

use std::collections::HashMap;

use crate::cli::board;
use crate::cli::fleet::Loaded;
use crate::cli::plan::{self, Facts, Plan};
use crate::clock::Instant;
use crate::decide::denial::{Standing, standing};
use crate::decide::instant;
use crate::decide::tasks::{self, TaskState};
use crate::error::Error;
use crate::home::handoffs::{self, Handoff};
use crate::home::history::Catalog;
use crate::home::lock::Holder;
use crate::home::{Paths, fold, journal, runs};
use crate::json::JsString;
use crate::schema::closed_set;
use crate::schema::engine_state::{Denial, RunStatus};
use crate::schema::event::EventSeverity;
use crate::schema::run_log::AdvanceStatus;

closed_set! {
    /// How the last advance ended.
    LastStatus {
        /// Every plugin that ran came through.
        Complete = "complete",
        /// Something failed, or the pass stopped at a gate.
        Partial = "partial",
        /// Nothing could be loaded.
        Failed = "failed",
        /// It was cancelled or killed.
        Interrupted = "interrupted",
        /// It was killed, and nobody has taken its journal over yet.
        Killed = "killed",
        /// Its run log is not kept any more, or cannot be read.
        Unknown = "unknown",
    }
}

/// How a home stands.
pub(super) struct Status {
    pub plan: Plan,
    pub handoffs: Vec<Handoff>,
    /// Those that stand: of what is proposed now, or of a plugin that does not load.
    pub denials: Vec<Denial>,
    pub tasks_pending: usize,
    pub tasks_deferred: usize,
    pub notices: Vec<(EventSeverity, usize)>,
    pub last: Option<Last>,
    /// The newest advance in `runs/`, where the state names none.
    pub forgotten: Option<JsString>,
    /// Whether a killed pass has left its journal.
    pub journal_left: bool,
    pub running: Option<Holder>,
    pub next: Vec<(Instant, JsString)>,
    pub failed: Vec<FailedRun>,
}

/// The last advance.
pub(super) struct Last {
    pub run_id: JsString,
    pub ended_at: Option<JsString>,
    pub status: LastStatus,
}

/// A plugin whose last run failed.
pub(super) struct FailedRun {
    pub plugin: JsString,
    pub failed_at: JsString,
    /// What its run log says; `None` where that is not kept any more.
    pub reason: Option<JsString>,
    pub run_id: Option<JsString>,
}

/// Looks at everything once; and what could not be read on the way.
pub(super) fn look(paths: &Paths, loaded: &Loaded, facts: &Facts) -> (Status, Option<Error>) {
    let now = facts.now;
    let plan = plan::build(loaded, facts);
    let state = &facts.state;
    let catalog = Catalog::of(paths);
    let next = plan::upcoming(loaded, facts, &plan);
    let journal_left = journal::is_left(paths);
    let stands = |(name, denial): (&JsString, &Denial)| {
        let manifest = loaded.manifest(name);
        let outgrown = manifest.is_some_and(|manifest| {
            matches!(standing(name, manifest, state), Standing::Superseded(_))
        });
        (!outgrown).then(|| denial.clone())
    };
    let open = tasks::open(state, now);
    let pending = open.iter().filter(|task| task.state == TaskState::Pending).count();
    let (notices, fault) = board::unread(paths);
    let last = state.last_run_id.as_ref().map(|run_id| Last {
        run_id: run_id.clone(),
        ended_at: state.last_run_at.clone(),
        status: last_status(paths, run_id, journal_left),
    });
    let newest = catalog.advances().next().map(|(_, run_id)| run_id.clone());
    let status = Status {
        forgotten: newest.filter(|_| last.is_none()),
        handoffs: handoffs::open(paths, &catalog, state),
        denials: state.denials.iter().filter_map(stands).collect(),
        tasks_pending: pending,
        tasks_deferred: open.len() - pending,
        notices,
        last,
        journal_left,
        running: Holder::now(paths),
        next,
        failed: failed(paths, &catalog, facts),
        plan,
    };
    (status, fault)
}

fn last_status(paths: &Paths, run_id: &JsString, journal_left: bool) -> LastStatus {
    match runs::status_of(paths, run_id) {
        Some(AdvanceStatus::Complete) => LastStatus::Complete,
        Some(AdvanceStatus::Partial) => LastStatus::Partial,
        Some(AdvanceStatus::Failed) => LastStatus::Failed,
        Some(AdvanceStatus::Interrupted) => LastStatus::Interrupted,
        None if journal_left => LastStatus::Killed,
        None => LastStatus::Unknown,
    }
}

fn failed(paths: &Paths, catalog: &Catalog, facts: &Facts) -> Vec<FailedRun> {
    let all = || {
        let runs = facts.state.plugin_runs.iter();
        runs.filter(|(_, run)| run.status == RunStatus::Failed)
    };
    let ended = all().filter_map(|(name, run)| Some((name.clone(), instant(&run.last_run_at)?)));
    let mut entries: HashMap<_, _> = catalog.entries(paths, ended);
    // The last word is that of a pass which was killed before it could write a run log.
    let unrecorded = fold::unrecorded(paths, facts.now);
    entries.extend(unrecorded.into_iter().map(|(run, entry)| (entry.plugin.clone(), (run, entry))));
    let mut failed: Vec<FailedRun> = all()
        .map(|(name, run)| {
            let (run_id, reason) =
                entries.remove(name).map(|(run_id, entry)| (run_id, entry.result_summary)).unzip();
            let failed_at = run.last_run_at.clone();
            FailedRun { plugin: name.clone(), failed_at, reason, run_id }
        })
        .collect();
    failed.sort_by(|left, right| left.plugin.cmp(&right.plugin));
    failed
}
