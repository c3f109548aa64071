//! Parked results: answering one, and how long one waits.

use std::collections::HashSet;

use crate::clock::{HOUR_MS, Instant};
use crate::json::JsString;
use crate::schema::engine_state::{EngineState, PendingGate, RunStatus};
use crate::schema::manifest::Manifest;

use super::denial::{Standing, standing};
use super::{instant, number, record};

/// The age, in milliseconds, past which no parked result can be accepted.
pub const GATE_CEILING_MS: f64 = 23.0 * HOUR_MS;

/// What became of a human's yes to a parked result.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// No result of the plugin is parked.
    None,
    /// The result was accepted before.
    AlreadyApplied {
        /// The run whose result it is.
        run_id: JsString,
        /// When, ISO 8601.
        applied_at: JsString,
    },
    /// A live denial answers the same proposal.
    Denied {
        /// When, ISO 8601.
        denied_at: JsString,
        /// Why, in the words of who denied.
        reason: JsString,
    },
    /// Dependencies have run since the parked run began; the gate is discarded.
    DependencyMoved {
        /// The run whose result it was.
        run_id: JsString,
        /// Those dependencies, in manifest order.
        moved: Vec<JsString>,
    },
    /// The result is too old; the gate is discarded.
    Expired {
        /// The run whose result it was.
        run_id: JsString,
    },
    /// A clock of the gate is missing or does not parse; the gate stays until it is denied.
    Unusable {
        /// The run whose result it is.
        run_id: JsString,
    },
    /// The result is recorded.
    Applied {
        /// The run whose result it is.
        run_id: JsString,
        /// When the handler ended, ISO 8601: from then on the result counts as a run.
        run_completed_at: JsString,
        /// The summary of the result.
        summary: JsString,
        /// When a later run of the plugin ended, ISO 8601: it stays the plugin's last run.
        later_run_at: Option<JsString>,
    },
}

/// What a yes to a parked result would meet, apart from denials.
#[derive(Clone, Debug, PartialEq)]
pub enum Prospect {
    /// It would be accepted, up to and including this instant.
    AcceptedUntil(Instant),
    /// These dependencies, in manifest order, have run since the parked run began.
    DependencyMoved(Vec<JsString>),
    /// It could be accepted up to and including this instant, which is over.
    ExpiredAt(Instant),
    /// A clock of it is missing or does not parse.
    Unusable,
}

impl Answer {
    /// Whether the document changed and must be written: the result was recorded or discarded.
    pub fn writes(&self) -> bool {
        matches!(self, Self::Applied { .. } | Self::DependencyMoved { .. } | Self::Expired { .. })
    }
}

/// The result of `plugin` that waits for an answer: its newest gate, unless that was accepted.
pub fn waiting<'a>(state: &'a EngineState, plugin: &JsString) -> Option<&'a PendingGate> {
    newest(state, plugin).filter(|gate| gate.applied_at.is_none())
}

/// The newest gate of `plugin`, accepted or not.
pub fn newest<'a>(state: &'a EngineState, plugin: &JsString) -> Option<&'a PendingGate> {
    state.pending_gates.iter().rev().find(|gate| gate.plugin == *plugin)
}

/// Accepts the newest parked result of `plugin`, if it may be: the apply side of `approve`.
///
/// Everything is decided before anything changes. The handler is not called again.
pub fn answer(
    state: &mut EngineState,
    plugin: &JsString,
    manifest: &Manifest,
    now: Instant,
) -> Answer {
    let newest = state.pending_gates.iter().rposition(|gate| gate.plugin == *plugin);
    let Some((index, gate)) = newest.and_then(|at| Some((at, state.pending_gates.get(at)?))) else {
        return Answer::None;
    };
    if gate.applied_at.is_none()
        && let Standing::Live(denial) = standing(plugin, manifest, state)
    {
        let (denied_at, reason) = (denial.denied_at.clone(), denial.reason.clone());
        return Answer::Denied { denied_at, reason };
    }
    apply(state, index, manifest, now)
}

/// Applies the gate at `index`, whatever denials say: ask [`answer`] instead.
///
/// A refusal discards the gate and deletes the plugin's run record, so that the plugin is due; under
/// a live denial the record stays: its output is part of what was denied.
pub fn apply(state: &mut EngineState, index: usize, manifest: &Manifest, now: Instant) -> Answer {
    let Some(gate) = state.pending_gates.get(index) else {
        return Answer::None;
    };
    let run_id = gate.run_id.clone();
    if let Some(applied_at) = gate.applied_at.clone() {
        return Answer::AlreadyApplied { run_id, applied_at };
    }
    let Some(clocks) = Clocks::of(gate) else {
        return Answer::Unusable { run_id };
    };
    match clocks.prospect(state, manifest, now) {
        Prospect::Unusable => Answer::Unusable { run_id },
        Prospect::DependencyMoved(moved) => {
            discard(state, index, manifest);
            Answer::DependencyMoved { run_id, moved }
        }
        Prospect::ExpiredAt(_) => {
            discard(state, index, manifest);
            Answer::Expired { run_id }
        }
        Prospect::AcceptedUntil(_) => record_outcome(state, index, &clocks, now),
    }
}

/// What a yes to `gate` at `now` would meet, where no denial stands against it.
pub fn prospect(
    state: &EngineState,
    gate: &PendingGate,
    manifest: &Manifest,
    now: Instant,
) -> Prospect {
    match Clocks::of(gate) {
        Some(clocks) => clocks.prospect(state, manifest, now),
        None => Prospect::Unusable,
    }
}

/// Whether an advance at `now` keeps a gate that was there before it.
///
/// A plugin parked again (`parked_now`) supersedes its older gates. An applied gate ages from
/// `applied_at`, a live one from `run_completed_at`; at 23 hours it goes.
pub fn survives(gate: &PendingGate, now: Instant, parked_now: &HashSet<JsString>) -> bool {
    let clock = gate.applied_at.as_ref().or(gate.run_completed_at.as_ref());
    let age = clock.and_then(instant).map(|since| number(now.since(since)));
    age.is_some_and(|age| age < GATE_CEILING_MS) && !parked_now.contains(&gate.plugin)
}

/// Both clocks of a gate.
struct Clocks {
    started: Instant,
    completed: Instant,
    /// The completion as written: the record keeps its text.
    completed_at: JsString,
}

impl Clocks {
    fn of(gate: &PendingGate) -> Option<Self> {
        let completed_at = gate.run_completed_at.clone()?;
        Some(Self {
            started: instant(gate.run_started_at.as_ref()?)?,
            completed: instant(&completed_at)?,
            completed_at,
        })
    }

    fn prospect(&self, state: &EngineState, manifest: &Manifest, now: Instant) -> Prospect {
        let has_moved = |name: &&JsString| {
            let last = state.plugin_runs.get(*name).and_then(|run| instant(&run.last_run_at));
            last.is_some_and(|last| last > self.started)
        };
        let moved: Vec<_> = manifest.dependencies.iter().filter(has_moved).cloned().collect();
        if !moved.is_empty() {
            return Prospect::DependencyMoved(moved);
        }
        // Ages are whole milliseconds, and at most 23 hours of them fit.
        #[allow(clippy::cast_possible_truncation)]
        let limit = (manifest.ttl_hours * HOUR_MS).min(GATE_CEILING_MS).floor() as i64;
        let last = self.completed.plus_ms(limit).unwrap_or(self.completed);
        if now.since(self.completed) > limit {
            Prospect::ExpiredAt(last)
        } else {
            Prospect::AcceptedUntil(last)
        }
    }
}

fn record_outcome(state: &mut EngineState, index: usize, clocks: &Clocks, now: Instant) -> Answer {
    let Some(gate) = state.pending_gates.get_mut(index) else {
        return Answer::None;
    };
    gate.applied_at = Some(now.to_iso().into());
    let previous = state.plugin_runs.get(&gate.plugin);
    // A later run that was not parked (it failed) is the plugin's last run: accepting the older
    // result must not move that back in time, or the plugin's effects fire again too early.
    let later_run = previous.filter(|run| {
        run.status != RunStatus::Gated
            && instant(&run.last_run_at).is_some_and(|last| last > clocks.completed)
    });
    let later_run_at = later_run.map(|run| run.last_run_at.clone());
    if later_run_at.is_none() {
        let entry = record::entry(
            previous,
            record::status_of(&gate.plugin_result),
            Some(&gate.plugin_result),
            clocks.completed_at.clone(),
            number(clocks.completed.since(clocks.started).max(0)),
        );
        state.plugin_runs.insert(gate.plugin.clone(), entry);
    }
    Answer::Applied {
        run_id: gate.run_id.clone(),
        run_completed_at: clocks.completed_at.clone(),
        summary: gate.plugin_result.summary.clone(),
        later_run_at,
    }
}

fn discard(state: &mut EngineState, index: usize, manifest: &Manifest) {
    let plugin = state.pending_gates.remove(index).plugin;
    if !matches!(standing(&plugin, manifest, state), Standing::Live(_)) {
        state.plugin_runs.shift_remove(&plugin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::denial::proposal_fingerprint;
    use crate::decide::fixtures::{self, NOW, at, gate, js, manifest, names, now};
    use crate::schema::skill_result::ResultStatus;

    /// A plugin `p` whose run r1 is parked.
    fn parked() -> EngineState {
        let mut state = fixtures::state();
        let mut run = fixtures::run("2026-08-20T10:00:00.000Z", RunStatus::Gated);
        run.last_output = Some(fixtures::output("a.md", "r1"));
        state.plugin_runs.insert("p".into(), run);
        state.pending_gates.push(gate("p", "r1"));
        state
    }

    fn deny(state: &mut EngineState) {
        let fingerprint = proposal_fingerprint(&"p".into(), &manifest(), state);
        state.denials.insert("p".into(), fixtures::denial("p", &fingerprint));
    }

    fn yes(state: &mut EngineState, manifest: &Manifest) -> Answer {
        answer(state, &"p".into(), manifest, now())
    }

    /// Cases: T137.
    #[test]
    fn applying_records_the_real_outcome_once() {
        let mut state = parked();
        state.pending_gates[0].plugin_result = fixtures::result(ResultStatus::Partial);
        let first = yes(&mut state, &manifest());
        assert!(matches!(&first, Answer::Applied { run_id, .. } if *run_id == "r1"));
        assert!(first.writes());
        let run = &state.plugin_runs[&js("p")];
        assert_eq!((run.status, run.duration_ms), (RunStatus::Partial, Some(90_000.0)));
        assert_eq!(run.last_run_at, "2026-08-20T10:00:00.000Z");
        assert_eq!(run.last_output, Some(fixtures::output("a.md", "r1")));
        let once = state.clone();
        let second = yes(&mut state, &manifest());
        assert_eq!(second, Answer::AlreadyApplied { run_id: "r1".into(), applied_at: NOW.into() });
        assert!(!second.writes());
        assert_eq!(state, once);
    }

    #[test]
    fn a_moved_dependency_discards_the_gate_and_makes_the_plugin_due() {
        let mut state = parked();
        for (name, time) in [("d", "2026-08-20T09:58:30.001Z"), ("e", "2026-08-20T09:58:30.000Z")] {
            state.plugin_runs.insert(name.into(), fixtures::run(time, RunStatus::Success));
        }
        let manifest = Manifest { dependencies: names(&["e", "d", "absent"]), ..manifest() };
        let answer = yes(&mut state, &manifest);
        let moved = names(&["d"]);
        assert_eq!(answer, Answer::DependencyMoved { run_id: "r1".into(), moved });
        assert!(answer.writes() && state.pending_gates.is_empty());
        assert!(!state.plugin_runs.contains_key(&JsString::from("p")));
        assert_eq!(state.plugin_runs.len(), 2);
    }

    #[test]
    fn a_gate_expires_past_its_ttl_or_the_ceiling_whichever_is_earlier() {
        for (ttl_hours, last, first) in [
            (2.0, "2026-08-20T12:00:00.000Z", "2026-08-20T12:00:00.001Z"),
            (48.0, "2026-08-21T09:00:00.000Z", "2026-08-21T09:00:00.001Z"),
        ] {
            let manifest = Manifest { ttl_hours, ..manifest() };
            let mut state = parked();
            let told = |now| prospect(&state, &state.pending_gates[0], &manifest, at(now));
            assert_eq!(told(last), Prospect::AcceptedUntil(at(last)));
            assert_eq!(told(first), Prospect::ExpiredAt(at(last)));
            let in_time = answer(&mut state, &"p".into(), &manifest, at(last));
            assert!(matches!(in_time, Answer::Applied { .. }), "{ttl_hours}");
            let mut state = parked();
            let late = answer(&mut state, &"p".into(), &manifest, at(first));
            assert_eq!(late, Answer::Expired { run_id: "r1".into() });
            assert!(late.writes());
            assert!(state.pending_gates.is_empty() && state.plugin_runs.is_empty());
        }
    }

    #[test]
    fn a_live_denial_refuses_and_a_superseded_one_does_not() {
        let mut state = parked();
        deny(&mut state);
        let before = state.clone();
        let refused = yes(&mut state, &manifest());
        assert!(matches!(refused, Answer::Denied { .. }) && !refused.writes());
        assert_eq!(state, before);
        let mut state = parked();
        state.denials.insert("p".into(), fixtures::denial("p", "0"));
        assert!(matches!(yes(&mut state, &manifest()), Answer::Applied { .. }));
    }

    #[test]
    fn a_spent_gate_is_told_before_a_denial() {
        let mut state = parked();
        state.pending_gates[0].applied_at = Some(NOW.into());
        deny(&mut state);
        assert!(matches!(yes(&mut state, &manifest()), Answer::AlreadyApplied { .. }));
    }

    /// Cases: T257.
    #[test]
    fn discarding_under_a_live_denial_keeps_the_record_it_is_bound_to() {
        let mut state = parked();
        deny(&mut state);
        let manifest = Manifest { ttl_hours: 1.0, ..manifest() };
        let runs = state.plugin_runs.clone();
        let answer = apply(&mut state, 0, &manifest, now());
        assert!(matches!(answer, Answer::Expired { .. }));
        assert!(state.pending_gates.is_empty());
        assert_eq!(state.plugin_runs, runs);
        assert!(matches!(standing(&"p".into(), &manifest, &state), Standing::Live(_)));
        let moved = Some(fixtures::output("b.md", "r2"));
        state.plugin_runs[&js("p")].last_output = moved;
        assert!(matches!(standing(&"p".into(), &manifest, &state), Standing::Superseded(_)));
    }

    #[test]
    fn a_gate_without_two_readable_clocks_is_refused_and_kept() {
        type Break = fn(&mut PendingGate);
        let breaks: [Break; 4] = [
            |gate| gate.run_started_at = None,
            |gate| gate.run_completed_at = None,
            |gate| gate.run_started_at = Some("x".into()),
            |gate| gate.run_completed_at = Some("x".into()),
        ];
        for spoil in breaks {
            let mut state = parked();
            spoil(&mut state.pending_gates[0]);
            let before = state.clone();
            let answer = yes(&mut state, &manifest());
            assert_eq!(answer, Answer::Unusable { run_id: "r1".into() });
            assert!(!answer.writes());
            assert_eq!(state, before);
        }
    }

    #[test]
    fn the_newest_gate_of_the_plugin_is_the_one_that_is_answered() {
        let mut state = parked();
        state.pending_gates.push(gate("p", "r2"));
        state.pending_gates.push(gate("q", "r3"));
        let answer = yes(&mut state, &manifest());
        assert!(matches!(answer, Answer::Applied { run_id, .. } if run_id == "r2"));
        let applied: Vec<bool> =
            state.pending_gates.iter().map(|gate| gate.applied_at.is_some()).collect();
        assert_eq!(applied, [false, true, false]);
        let mut empty = fixtures::state();
        assert_eq!(yes(&mut empty, &manifest()), Answer::None);
        assert_eq!(apply(&mut empty, 7, &manifest(), now()), Answer::None);
    }

    #[test]
    fn accepting_an_older_result_does_not_undo_a_later_failure() {
        let mut state = parked();
        let failed = fixtures::run("2026-08-20T11:00:00.000Z", RunStatus::Failed);
        state.plugin_runs.insert("p".into(), failed.clone());
        let answer = yes(&mut state, &manifest());
        let Answer::Applied { later_run_at, .. } = answer else { panic!("{answer:?}") };
        assert_eq!(later_run_at, Some("2026-08-20T11:00:00.000Z".into()));
        assert_eq!(state.plugin_runs[&js("p")], failed);
        assert!(state.pending_gates[0].applied_at.is_some());
    }

    /// Cases: T229.
    #[test]
    fn a_gate_outlives_advances_for_twenty_three_hours() {
        let nobody = HashSet::new();
        let mut waiting = gate("p", "r1");
        assert!(survives(&waiting, at("2026-08-21T08:59:59.999Z"), &nobody));
        assert!(!survives(&waiting, at("2026-08-21T09:00:00.000Z"), &nobody));
        let again = HashSet::from([JsString::from("p")]);
        assert!(!survives(&waiting, now(), &again));
        waiting.applied_at = Some("2026-08-21T08:00:00.000Z".into());
        assert!(survives(&waiting, at("2026-08-22T06:59:59.999Z"), &nobody));
        assert!(!survives(&waiting, at("2026-08-22T07:00:00.000Z"), &nobody));
        waiting.applied_at = Some("x".into());
        assert!(!survives(&waiting, now(), &nobody));
        waiting.applied_at = None;
        waiting.run_completed_at = None;
        assert!(!survives(&waiting, now(), &nobody));
    }
}
