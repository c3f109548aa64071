//! A pass that was killed is brought to its end: its journal becomes part of the state.

use std::collections::HashMap;

use crate::clock::Instant;
use crate::decide::crash;
use crate::error::Result;
use crate::json::JsString;
use crate::schema::engine_state::{EngineState, RunStatus};
use crate::schema::event::{self, BoardEvent};
use crate::schema::run_log::{AdvanceStatus, EntryStatus, PluginLogEntry, RunLog};

use super::journal::{self, Lines};
use super::lock::{RunLock, StateLock};
use super::{Paths, events, files, run_id, runs, state};

/// Brings the passes of a journal that a dead pass left into the state; whether there was one.
///
/// The journal is a dead pass's when nobody but the caller holds the run lock: `run_lock` is the
/// caller's own, without it the lock is taken for that moment. A running pass keeps its journal.
///
/// A state or journal that cannot be used refuses before anything is changed. The order of the
/// steps makes each of them repeatable: the state is written first, in one step
/// together with the run id by which a repetition knows that it is done; then the run log where
/// there is none; then the notices that are not there yet; the journal goes last. Killed in
/// between, the next call goes on.
pub(super) fn settle(paths: &Paths, now: Instant, run_lock: Option<&RunLock>) -> Result<bool> {
    if !files::is_there(&paths.journal()) {
        return Ok(false);
    }
    let _momentary = match run_lock {
        Some(lock) if lock.covers(paths) => None,
        _ => match RunLock::try_acquire(paths, &run_id::new(now), now)? {
            Some(lock) => Some(lock),
            None => return Ok(false),
        },
    };
    let lines = journal::read(paths)?;
    write_state(paths, &lines, now)?;
    step(Step::State);
    for run_id in lines.run_ids() {
        if !runs::has_document(paths, run_id)? {
            runs::write_run_log(paths, &run_log(run_id, &lines, now))?;
        }
    }
    step(Step::Log);
    events::append(paths, &missing_notices(paths, &lines, now))?;
    step(Step::Notices);
    files::remove(&paths.home, &paths.journal())
}

fn write_state(paths: &Paths, lines: &Lines, now: Instant) -> Result<()> {
    let _lock = StateLock::acquire(paths, now)?;
    let mut document = state::read(paths)?;
    if lay_over(&mut document, lines, now) { state::write(paths, &document) } else { Ok(()) }
}

/// Lays what a journal tells over a document, which then names the pass as its last; whether it
/// changed.
///
/// A document that names the pass already has all of it.
pub(super) fn lay_over(document: &mut EngineState, lines: &Lines, now: Instant) -> bool {
    let last = lines.run_ids().pop();
    if last.is_none_or(|last| document.last_run_id.as_ref() == Some(last)) {
        return false;
    }
    crash::fold(document, &lines.started, &lines.outcomes, now);
    true
}

/// What a killed pass has left to be recorded: its run and the entry of each plugin, which stand in
/// no run log yet. None where the journal cannot be read: who writes next says so.
pub fn unrecorded(paths: &Paths, now: Instant) -> Vec<(JsString, PluginLogEntry)> {
    if !journal::is_left(paths) {
        return Vec::new();
    }
    let lines = journal::read(paths).unwrap_or_default();
    let of = |run_id: &JsString| {
        let entries = run_log(run_id, &lines, now).plugin_entries;
        entries.into_iter().map(|entry| (run_id.clone(), entry)).collect::<Vec<_>>()
    };
    lines.run_ids().into_iter().flat_map(of).collect()
}

/// The run log of a killed pass, as far as its journal tells.
fn run_log(run_id: &JsString, lines: &Lines, now: Instant) -> RunLog {
    let started: HashMap<&JsString, &JsString> = lines
        .started
        .iter()
        .filter(|line| line.run_id == *run_id)
        .map(|line| (&line.plugin, &line.started_at))
        .collect();
    let outcomes = lines.outcomes.iter().filter(|line| line.run_id == *run_id);
    let ended = outcomes.map(|line| {
        let gate = line.gate.as_ref();
        let status = match line.run.status {
            RunStatus::Failed => EntryStatus::Failed,
            RunStatus::Gated => EntryStatus::Gated,
            RunStatus::Success | RunStatus::Partial | RunStatus::Skipped => EntryStatus::Completed,
        };
        PluginLogEntry {
            elapsed_ms: line.run.duration_ms.unwrap_or(0.0),
            result: gate.map(|gate| gate.plugin_result.clone()),
            ..entry(
                &line.plugin,
                status,
                started.get(&line.plugin).unwrap_or(&&line.run.last_run_at),
                gate.map_or_else(
                    || "ended before the pass was killed; its summary is lost".into(),
                    |gate| gate.payload_summary.clone(),
                ),
            )
        }
    });
    let killed = lines.unfinished().into_iter().filter(|line| line.run_id == *run_id).map(|line| {
        let summary = "the pass was killed while this ran; its side effects may have fired";
        entry(&line.plugin, EntryStatus::Failed, &line.started_at, summary.into())
    });
    let plugin_entries: Vec<PluginLogEntry> = ended.chain(killed).collect();
    let first = plugin_entries.iter().map(|entry| &entry.started_at).min();
    let began = run_id::started_at(run_id).unwrap_or(now).to_iso().into();
    RunLog {
        run_id: run_id.clone(),
        started_at: first.filter(|first| **first < began).cloned().unwrap_or(began),
        completed_at: None,
        status: AdvanceStatus::Interrupted,
        resumed_from: None,
        summary: format!("Engine run {run_id}: {} plugins processed", plugin_entries.len()).into(),
        plugin_entries,
        manifests_loaded: None,
    }
}

fn entry(
    plugin: &JsString,
    status: EntryStatus,
    started_at: &JsString,
    result_summary: JsString,
) -> PluginLogEntry {
    PluginLogEntry {
        plugin: plugin.clone(),
        status,
        started_at: started_at.clone(),
        elapsed_ms: 0.0,
        result_summary,
        reversible: None,
        undo_instruction: None,
        retried: false,
        result: None,
    }
}

/// One warning for each plugin that did not come to its end, those left out that are there already.
fn missing_notices(paths: &Paths, lines: &Lines, now: Instant) -> Vec<BoardEvent> {
    let mut notices: Vec<BoardEvent> = lines
        .unfinished()
        .into_iter()
        .map(|line| event::run_unfinished(&events::stamp(now), &line.plugin, &line.run_id))
        .collect();
    if !notices.is_empty() {
        let there: std::collections::HashSet<_> =
            events::read(paths).into_iter().map(|event| event.metadata_json).collect();
        notices.retain(|notice| !there.contains(&notice.metadata_json));
    }
    notices
}

/// Points of [`settle`] that a test can stop at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    State,
    Log,
    Notices,
}

#[cfg(not(test))]
fn step(_: Step) {}

#[cfg(test)]
use tests::step;

#[cfg(test)]
mod tests;
