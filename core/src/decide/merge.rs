//! The one state write of an advance: what a pass lays over what others wrote meanwhile.

use std::collections::{HashMap, HashSet};

use crate::clock::Instant;
use crate::json::{JsString, Record};
use crate::schema::engine_state::{EngineState, PendingGate, PluginRun};
use crate::schema::manifest::Tier;

use super::{gate, record, tier};

/// What a pass has to say about the document.
#[derive(Clone, Debug)]
pub struct Pass {
    /// The run.
    pub run_id: JsString,
    /// When it ended.
    pub last_run_at: JsString,
    /// When it began: the new last interaction.
    pub started_at: JsString,
    /// The records of the plugins that ran, in the order they ended.
    pub plugin_runs: Record<PluginRun>,
    /// The gates it parked.
    pub parked: Vec<PendingGate>,
    /// The tier it ran under.
    pub tier: Tier,
    /// The clock by which gates and tasks age.
    pub now: Instant,
}

/// Lays a pass over a document that was read afresh for this write.
///
/// `fresh` may hold what `approve`, `deny` or the task board wrote while the pass ran. All of it
/// stays: applied and removed gates, records of plugins that did not run, denials, completed tasks,
/// unknown keys. Only what this pass did is changed. Gates age on the way: returned are those that
/// went before anybody answered them, and that no newer gate of their plugin stands for.
pub fn lay_over(fresh: &mut EngineState, pass: &Pass) -> Vec<PendingGate> {
    fresh.last_run_id = Some(pass.run_id.clone());
    fresh.last_run_at = Some(pass.last_run_at.clone());
    fresh.last_interaction_at = Some(pass.started_at.clone());
    for (plugin, run) in &pass.plugin_runs {
        record::put(fresh, plugin, run, &pass.run_id);
    }
    let parked_now: HashSet<JsString> =
        pass.parked.iter().map(|gate| gate.plugin.clone()).collect();
    let (kept, dropped): (Vec<_>, Vec<_>) = std::mem::take(&mut fresh.pending_gates)
        .into_iter()
        .enumerate()
        .partition(|(_, gate)| gate::survives(gate, pass.now, &parked_now));
    let newest: HashMap<JsString, usize> =
        kept.iter().chain(&dropped).fold(HashMap::new(), |mut newest, (at, gate)| {
            let last = newest.entry(gate.plugin.clone()).or_insert(*at);
            *last = (*last).max(*at);
            newest
        });
    let unanswered = |(at, gate): &(usize, PendingGate)| {
        gate.applied_at.is_none()
            && !parked_now.contains(&gate.plugin)
            && newest.get(&gate.plugin) == Some(at)
    };
    fresh.pending_gates = kept.into_iter().map(|(_, gate)| gate).collect();
    fresh.pending_gates.extend(pass.parked.iter().cloned());
    tier::task_effects(fresh, pass.tier, pass.now);
    dropped.into_iter().filter(unanswered).map(|(_, gate)| gate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::{self, NOW, gate, js, manifest, now, task};
    use crate::schema::engine_state::{CompletedTask, RunStatus, TaskSeverity};

    fn pass() -> Pass {
        Pass {
            run_id: "now".into(),
            last_run_at: "2026-08-20T12:00:09.000Z".into(),
            started_at: NOW.into(),
            plugin_runs: Record::new(),
            parked: vec![],
            tier: Tier::Normal,
            now: now(),
        }
    }

    fn run_ids(state: &EngineState) -> Vec<String> {
        state.pending_gates.iter().map(|gate| gate.run_id.to_text()).collect()
    }

    #[test]
    fn a_pass_records_itself_and_the_plugins_that_ran() {
        let mut fresh = fixtures::state();
        for name in ["a", "b"] {
            fresh.plugin_runs.insert(name.into(), fixtures::run("old", RunStatus::Success));
        }
        let mut pass = pass();
        for name in ["new", "a"] {
            pass.plugin_runs.insert(name.into(), fixtures::run(NOW, RunStatus::Failed));
        }
        lay_over(&mut fresh, &pass);
        assert_eq!(fresh.last_run_id, Some("now".into()));
        assert_eq!(fresh.last_run_at, Some("2026-08-20T12:00:09.000Z".into()));
        assert_eq!(fresh.last_interaction_at, Some(NOW.into()));
        let runs: Vec<_> = fresh
            .plugin_runs
            .iter()
            .map(|(name, run)| (name.to_text(), run.last_run_at.to_text()))
            .collect();
        let expected = [("a", NOW), ("b", "old"), ("new", NOW)];
        assert_eq!(runs, expected.map(|(name, at)| (name.to_owned(), at.to_owned())));
    }

    #[test]
    fn a_gate_that_was_applied_meanwhile_stays_applied_with_its_record() {
        let mut fresh = fixtures::state();
        fresh.plugin_runs.insert("p".into(), fixtures::run(NOW, RunStatus::Gated));
        fresh.pending_gates.push(gate("p", "r1"));
        let answer = gate::answer(&mut fresh, &"p".into(), &manifest(), now());
        assert!(answer.writes());
        let applied = fresh.clone();
        lay_over(&mut fresh, &pass());
        assert_eq!(fresh.pending_gates, applied.pending_gates);
        assert_eq!(fresh.plugin_runs, applied.plugin_runs);
    }

    #[test]
    fn a_result_that_nobody_answered_in_time_is_handed_back() {
        let old = |plugin: &str, run_id: &str| PendingGate {
            run_completed_at: Some("2026-08-19T13:00:00.000Z".into()),
            ..gate(plugin, run_id)
        };
        let mut fresh = fixtures::state();
        let applied =
            PendingGate { applied_at: Some("2026-08-19T13:00:00.000Z".into()), ..old("d", "r6") };
        fresh.pending_gates = vec![
            old("a", "r1"),
            old("b", "r2"),
            gate("b", "r3"),
            old("c", "r4"),
            old("c", "r5"),
            applied,
            old("e", "r7"),
            PendingGate { run_completed_at: Some("x".into()), ..gate("f", "r8") },
        ];
        let pass = Pass { parked: vec![gate("e", "now")], ..pass() };
        let expired = lay_over(&mut fresh, &pass);
        let named: Vec<_> = expired.iter().map(|gate| gate.run_id.to_text()).collect();
        assert_eq!(named, ["r1", "r5", "r8"]);
        assert_eq!(run_ids(&fresh), ["r3", "now"]);
    }

    #[test]
    fn what_was_removed_or_denied_meanwhile_stays_so() {
        let mut fresh = fixtures::state();
        fresh.denials.insert("p".into(), fixtures::denial("p", "f"));
        fresh.unknown.insert("of_a_newer_build", true);
        let before = fresh.clone();
        lay_over(&mut fresh, &pass());
        assert!(fresh.pending_gates.is_empty() && fresh.plugin_runs.is_empty());
        assert_eq!(fresh.denials, before.denials);
        assert_eq!(fresh.unknown, before.unknown);
    }

    #[test]
    fn a_gate_parked_now_supersedes_older_ones_of_its_plugin_alone() {
        let mut fresh = fixtures::state();
        let mut spent = gate("p", "spent");
        spent.applied_at = Some(NOW.into());
        let mut old = gate("q", "old");
        old.run_completed_at = Some("2026-08-19T13:00:00.000Z".into());
        fresh.pending_gates = vec![gate("p", "r1"), gate("q", "r2"), spent, old];
        let pass = Pass { parked: vec![gate("p", "r3")], ..pass() };
        lay_over(&mut fresh, &pass);
        assert_eq!(run_ids(&fresh), ["r2", "r3"]);
    }

    #[test]
    fn a_run_without_an_output_keeps_the_pointer_that_is_there_now() {
        let mut carried = fixtures::run(NOW, RunStatus::Failed);
        carried.last_output = Some(fixtures::output("old.md", "before"));
        let mut produced = fixtures::run(NOW, RunStatus::Success);
        produced.last_output = Some(fixtures::output("new.md", "now"));
        let mut pass = pass();
        for (name, run) in [("moved", &carried), ("gone", &carried), ("own", &produced)] {
            pass.plugin_runs.insert(name.into(), run.clone());
        }
        let mut fresh = fixtures::state();
        let mut meanwhile = fixtures::run("old", RunStatus::Success);
        meanwhile.last_output = Some(fixtures::output("moved.md", "meanwhile"));
        for name in ["moved", "own"] {
            fresh.plugin_runs.insert(name.into(), meanwhile.clone());
        }
        lay_over(&mut fresh, &pass);
        assert_eq!(fresh.plugin_runs[&js("moved")].last_output, meanwhile.last_output);
        assert_eq!(fresh.plugin_runs[&js("moved")].status, RunStatus::Failed);
        assert_eq!(fresh.plugin_runs[&js("gone")].last_output, None);
        assert_eq!(fresh.plugin_runs[&js("own")].last_output, produced.last_output);
    }

    #[test]
    fn task_effects_spare_what_was_completed_meanwhile() {
        let mut fresh = fixtures::state();
        fresh.task_aging =
            vec![task("open", TaskSeverity::Info, "p"), task("done", TaskSeverity::Info, "p")];
        fresh.completed_tasks.push(CompletedTask {
            task_id: "done".into(),
            description: "d".into(),
            severity: TaskSeverity::Info,
            source_check: "p".into(),
            completed_at: "2026-08-20T11:59:00.000Z".into(),
            extensions: Default::default(),
        });
        lay_over(&mut fresh, &Pass { tier: Tier::Suspended, ..pass() });
        let times: Vec<_> =
            fresh.completed_tasks.iter().map(|task| task.completed_at.to_text()).collect();
        assert_eq!(times, ["2026-08-20T11:59:00.000Z", NOW]);
    }
}
