//! A pass that was killed: what its journal says is folded into the document.

use std::collections::HashSet;

use crate::clock::Instant;
use crate::json::JsString;
use crate::schema::engine_state::{EngineState, PendingGate, PluginRun, RunStatus};

use super::{instant, record};

/// A journal line: a plugin that declares effects was on the point of being called.
#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    /// The directory name.
    pub plugin: JsString,
    /// The run.
    pub run_id: JsString,
    /// When.
    pub started_at: JsString,
}

/// A journal line: the outcome of a plugin was known.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The directory name.
    pub plugin: JsString,
    /// The run.
    pub run_id: JsString,
    /// The record it left.
    pub run: PluginRun,
    /// The gate it parked.
    pub gate: Option<PendingGate>,
}

/// What the operator must hear about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    /// Plugins whose effects may have fired though no outcome is known, with their run.
    pub unfinished: Vec<(JsString, JsString)>,
}

/// Folds the journal of a dead pass into the document.
///
/// Lines of the run that the document names as its last are in it already and change nothing: that
/// pass died after its state write. A record that is later than an outcome stays as well. A plugin that started without an outcome is recorded failed at
/// `now`: it is not called again before its ttl is over, and what depends on it is held back until then. The dead run becomes the last run, as
/// its own write would have made it: the next advance resumes from it, and folding again changes
/// nothing.
pub fn fold(
    state: &mut EngineState,
    started: &[Started],
    outcomes: &[Outcome],
    now: Instant,
) -> Folded {
    let written = state.last_run_id.clone();
    let is_new = |run_id: &JsString| Some(run_id) != written.as_ref();
    let mut known = HashSet::new();
    let mut parked = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| is_new(&outcome.run_id)) {
        known.insert((&outcome.plugin, &outcome.run_id));
        if is_later(state.plugin_runs.get(&outcome.plugin), &outcome.run) {
            continue;
        }
        record::put(state, &outcome.plugin, &outcome.run, &outcome.run_id);
        parked.extend(&outcome.gate);
    }
    park(state, parked);
    let mut folded = Folded::default();
    for line in started.iter().filter(|line| is_new(&line.run_id)) {
        if !known.insert((&line.plugin, &line.run_id)) {
            continue;
        }
        let previous = state.plugin_runs.get(&line.plugin);
        let run = PluginRun {
            last_run_at: now.to_iso().into(),
            status: RunStatus::Failed,
            duration_ms: None,
            last_output: previous.and_then(|run| run.last_output.clone()),
        };
        state.plugin_runs.insert(line.plugin.clone(), run);
        folded.unfinished.push((line.plugin.clone(), line.run_id.clone()));
    }
    let runs = started.iter().map(|line| &line.run_id);
    let mut runs = runs.chain(outcomes.iter().map(|outcome| &outcome.run_id));
    if let Some(dead) = runs.rfind(|run_id| is_new(run_id)) {
        state.last_run_id = Some(dead.clone());
        state.last_run_at = Some(now.to_iso().into());
    }
    folded
}

/// Whether a record is of a later run than an outcome.
fn is_later(record: Option<&PluginRun>, outcome: &PluginRun) -> bool {
    let record = record.and_then(|record| instant(&record.last_run_at));
    matches!((record, instant(&outcome.last_run_at)), (Some(record), Some(own)) if record > own)
}

/// Adds the parked gates; each takes the place of older ones of its plugin.
fn park(state: &mut EngineState, parked: Vec<&PendingGate>) {
    let plugins: HashSet<&JsString> = parked.iter().map(|gate| &gate.plugin).collect();
    state.pending_gates.retain(|gate| !plugins.contains(&gate.plugin));
    state.pending_gates.extend(parked.into_iter().cloned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::{self, NOW, gate, js, now};

    fn started(plugin: &str) -> Started {
        Started { plugin: plugin.into(), run_id: "dead".into(), started_at: NOW.into() }
    }

    fn outcome(plugin: &str, status: RunStatus) -> Outcome {
        Outcome {
            plugin: plugin.into(),
            run_id: "dead".into(),
            run: fixtures::run("2026-08-20T11:00:00.000Z", status),
            gate: (status == RunStatus::Gated).then(|| gate(plugin, "dead")),
        }
    }

    #[test]
    fn outcomes_of_a_dead_pass_are_recorded() {
        let mut state = fixtures::state();
        state.pending_gates = vec![gate("p", "older"), gate("q", "other")];
        let outcomes = [outcome("p", RunStatus::Gated), outcome("r", RunStatus::Success)];
        let folded = fold(&mut state, &[started("p")], &outcomes, now());
        assert_eq!(folded, Folded::default());
        assert_eq!(state.plugin_runs[&js("p")].status, RunStatus::Gated);
        assert_eq!(state.plugin_runs[&js("r")], outcomes[1].run);
        let gates: Vec<_> = state.pending_gates.iter().map(|gate| gate.run_id.to_text()).collect();
        assert_eq!(gates, ["other", "dead"]);
        assert_eq!(state.last_run_id, Some("dead".into()));
        assert_eq!(state.last_run_at, Some(NOW.into()));
    }

    #[test]
    fn folding_twice_changes_nothing_more() {
        let mut state = fixtures::state();
        let outcomes = [outcome("p", RunStatus::Gated)];
        fold(&mut state, &[started("q")], &outcomes, now());
        state.pending_gates[0].applied_at = Some(NOW.into());
        let before = state.clone();
        let later = now().plus_ms(1000).expect("in range");
        let again = fold(&mut state, &[started("q")], &outcomes, later);
        assert!(again.unfinished.is_empty());
        assert_eq!(state, before);
        assert_eq!(fold(&mut state, &[], &[], later), Folded::default());
        assert_eq!(state, before);
    }

    #[test]
    fn a_start_without_an_outcome_is_a_failed_run_at_the_fold() {
        let mut state = fixtures::state();
        let mut before = fixtures::run("2026-08-01T00:00:00.000Z", RunStatus::Success);
        before.last_output = Some(fixtures::output("a.md", "r0"));
        state.plugin_runs.insert("p".into(), before.clone());
        let lines = [started("p"), started("p"), started("new")];
        let folded = fold(&mut state, &lines, &[], now());
        let run = &state.plugin_runs[&js("p")];
        assert_eq!((run.status, &run.last_run_at), (RunStatus::Failed, &NOW.into()));
        assert_eq!(run.last_output, before.last_output);
        assert_eq!(state.plugin_runs[&js("new")].last_output, None);
        let pair = |plugin: &str| (plugin.into(), "dead".into());
        assert_eq!(folded.unfinished, [pair("p"), pair("new")]);
    }

    #[test]
    fn a_pass_that_died_after_its_write_changes_nothing() {
        let mut state = fixtures::state();
        state.last_run_id = Some("dead".into());
        let mut applied = gate("p", "dead");
        applied.applied_at = Some(NOW.into());
        state.pending_gates.push(applied);
        state.plugin_runs.insert("p".into(), fixtures::run(NOW, RunStatus::Success));
        let before = state.clone();
        let lines = [started("p"), started("q")];
        let folded = fold(&mut state, &lines, &[outcome("p", RunStatus::Gated)], now());
        assert_eq!(state, before);
        assert!(folded.unfinished.is_empty());
    }

    #[test]
    fn an_outcome_without_an_output_keeps_the_pointer_of_the_document() {
        let mut state = fixtures::state();
        let mut before = fixtures::run(NOW, RunStatus::Success);
        before.last_output = Some(fixtures::output("a.md", "r0"));
        before.last_run_at = "2026-08-20T10:00:00.000Z".into();
        state.plugin_runs.insert("p".into(), before.clone());
        fold(&mut state, &[], &[outcome("p", RunStatus::Failed)], now());
        assert_eq!(state.plugin_runs[&js("p")].last_output, before.last_output);
        assert_eq!(state.plugin_runs[&js("p")].status, RunStatus::Failed);
    }

    #[test]
    fn a_record_of_a_later_run_stays() {
        let mut state = fixtures::state();
        state.plugin_runs.insert("p".into(), fixtures::run(NOW, RunStatus::Success));
        let before = state.clone();
        fold(&mut state, &[], &[outcome("p", RunStatus::Gated)], now());
        assert_eq!(state.plugin_runs, before.plugin_runs);
        assert!(state.pending_gates.is_empty());
    }
}
