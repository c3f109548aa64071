//! Attention tiers: the longer nobody looks, the less runs.

use std::collections::{HashMap, HashSet};

use crate::clock::Instant;
use crate::json::JsString;
use crate::schema::engine_state::{CompletedTask, Deferral, EngineState, Task, TaskSeverity};
use crate::schema::manifest::Tier;

use super::instant;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// How long an inattentive tier puts an info task off.
const DEFERRAL_MS: i64 = 7 * DAY_MS;

/// The tier of an operator who last interacted then; never, and a time that does not parse, are
/// normal.
pub fn tier(last_interaction_at: Option<&JsString>, now: Instant) -> Tier {
    let Some(last) = last_interaction_at.and_then(instant) else {
        return Tier::Normal;
    };
    match now.since(last).div_euclid(DAY_MS) {
        ..2 => Tier::Normal,
        2..7 => Tier::Degraded,
        7..14 => Tier::Extended,
        14.. => Tier::Suspended,
    }
}

/// Whether a plugin with this `min_tier` runs in the current tier.
pub fn is_eligible(current: Tier, min_tier: Tier) -> bool {
    current <= min_tier
}

/// Idle milliseconds for a reader: whole days, else hours, else minutes (`3d`, `5h`, `12m`).
pub fn format_idle(ms: i64) -> String {
    let ms = ms.max(0);
    if ms >= DAY_MS {
        format!("{}d", ms / DAY_MS)
    } else if ms >= HOUR_MS {
        format!("{}h", ms / HOUR_MS)
    } else {
        format!("{}m", ms / MINUTE_MS)
    }
}

/// What the tier does to open info tasks: suspended archives them, degraded and extended put those
/// off for seven days that are not put off already.
pub fn task_effects(state: &mut EngineState, tier: Tier, now: Instant) {
    match tier {
        Tier::Normal => {}
        Tier::Degraded | Tier::Extended => defer_info_tasks(state, tier, now),
        Tier::Suspended => archive_info_tasks(state, now),
    }
}

/// The ids of tasks that are done.
pub(super) fn completed(state: &EngineState) -> HashSet<JsString> {
    state.completed_tasks.iter().map(|task| task.task_id.clone()).collect()
}

/// The ids of tasks that are put off; a deferral whose end is reached or does not parse is over.
pub(super) fn deferred(state: &EngineState, now: Instant) -> HashSet<JsString> {
    deferrals(state, now).into_keys().cloned().collect()
}

/// The ids of [`deferred`] with the end of the last deferral of each.
pub(super) fn deferrals(state: &EngineState, now: Instant) -> HashMap<&JsString, &JsString> {
    let live = |deferral: &&Deferral| instant(&deferral.expires_at).is_some_and(|end| end > now);
    let live = state.deferrals.iter().filter(live);
    live.map(|deferral| (&deferral.task_id, &deferral.expires_at)).collect()
}

fn defer_info_tasks(state: &mut EngineState, tier: Tier, now: Instant) {
    let Some(expires_at) = now.plus_ms(DEFERRAL_MS) else {
        return;
    };
    let mut settled = completed(state);
    settled.extend(deferred(state, now));
    for task in &state.task_aging {
        if task.severity == TaskSeverity::Info && settled.insert(task.task_id.clone()) {
            state.deferrals.push(Deferral {
                task_id: task.task_id.clone(),
                reason: format!("put off while the operator is away ({tier} tier)").into(),
                deferred_at: now.to_iso().into(),
                expires_at: expires_at.to_iso().into(),
            });
        }
    }
}

fn archive_info_tasks(state: &mut EngineState, now: Instant) {
    let done = completed(state);
    let open_info =
        |task: &mut Task| task.severity == TaskSeverity::Info && !done.contains(&task.task_id);
    for task in state.task_aging.extract_if(.., open_info) {
        state.completed_tasks.push(CompletedTask {
            task_id: task.task_id,
            description: task.description,
            severity: task.severity,
            source_check: task.source_check,
            completed_at: now.to_iso().into(),
            extensions: task.extensions,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::{self, NOW, now, task};

    fn ids<'a>(ids: impl IntoIterator<Item = &'a JsString>) -> Vec<String> {
        ids.into_iter().map(JsString::to_text).collect()
    }

    /// Cases: T447, T448.
    #[test]
    fn idle_time_decides_the_tier() {
        for (hours, expected) in [
            (-5, Tier::Normal),
            (1, Tier::Normal),
            (47, Tier::Normal),
            (48, Tier::Degraded),
            (5 * 24, Tier::Degraded),
            (7 * 24 - 1, Tier::Degraded),
            (7 * 24, Tier::Extended),
            (10 * 24, Tier::Extended),
            (14 * 24 - 1, Tier::Extended),
            (14 * 24, Tier::Suspended),
            (30 * 24, Tier::Suspended),
        ] {
            let last = now().plus_ms(-hours * HOUR_MS).expect("in range").to_iso().into();
            assert_eq!(tier(Some(&last), now()), expected, "{hours} h");
        }
        assert_eq!(tier(None, now()), Tier::Normal);
        for text in ["", "nonsense"] {
            assert_eq!(tier(Some(&text.into()), now()), Tier::Normal);
        }
    }

    #[test]
    fn idle_time_reads_in_its_largest_unit() {
        for (ms, text) in [
            (-1, "0m"),
            (59_999, "0m"),
            (12 * MINUTE_MS, "12m"),
            (HOUR_MS, "1h"),
            (DAY_MS - 1, "23h"),
            (3 * DAY_MS, "3d"),
        ] {
            assert_eq!(format_idle(ms), text);
        }
    }

    #[test]
    fn suspended_archives_open_info_tasks_and_nothing_else() {
        let mut state = fixtures::state();
        state.task_aging = vec![
            task("a", TaskSeverity::Info, "p"),
            task("b", TaskSeverity::Warning, "p"),
            task("done", TaskSeverity::Info, "p"),
            task("c", TaskSeverity::Info, "q"),
        ];
        let done = CompletedTask {
            task_id: "done".into(),
            description: "d".into(),
            severity: TaskSeverity::Info,
            source_check: "p".into(),
            completed_at: "2026-08-01T00:00:00.000Z".into(),
            extensions: Default::default(),
        };
        state.completed_tasks = vec![done.clone()];
        task_effects(&mut state, Tier::Suspended, now());
        assert_eq!(ids(state.task_aging.iter().map(|task| &task.task_id)), ["b", "done"]);
        assert_eq!(state.completed_tasks[0], done);
        let archived = &state.completed_tasks[1..];
        assert_eq!(ids(archived.iter().map(|task| &task.task_id)), ["a", "c"]);
        assert!(archived.iter().all(|task| task.completed_at == NOW));
        assert_eq!(archived[1].source_check, "q");
    }

    #[test]
    fn degraded_and_extended_defer_open_info_tasks_once() {
        for tier in [Tier::Degraded, Tier::Extended] {
            let mut state = fixtures::state();
            state.task_aging = vec![
                task("a", TaskSeverity::Info, "p"),
                task("b", TaskSeverity::Critical, "p"),
                task("expired", TaskSeverity::Info, "p"),
                task("deferred", TaskSeverity::Info, "p"),
            ];
            for (id, expires_at) in
                [("expired", NOW), ("deferred", "2026-08-20T12:00:00.001Z"), ("expired", "x")]
            {
                state.deferrals.push(Deferral {
                    task_id: id.into(),
                    reason: "r".into(),
                    deferred_at: NOW.into(),
                    expires_at: expires_at.into(),
                });
            }
            task_effects(&mut state, tier, now());
            let added = &state.deferrals[3..];
            assert_eq!(ids(added.iter().map(|deferral| &deferral.task_id)), ["a", "expired"]);
            assert!(added.iter().all(|deferral| {
                deferral.deferred_at == NOW && deferral.expires_at == "2026-08-27T12:00:00.000Z"
            }));
            let before = state.clone();
            task_effects(&mut state, tier, now());
            assert_eq!(state, before);
        }
    }

    #[test]
    fn a_normal_tier_leaves_tasks_alone() {
        let mut state = fixtures::state();
        state.task_aging = vec![task("a", TaskSeverity::Info, "p")];
        let before = state.clone();
        task_effects(&mut state, Tier::Normal, now());
        assert_eq!(state, before);
    }

    #[test]
    fn where_a_deferral_would_end_after_the_last_date_nothing_is_put_off() {
        let mut state = EngineState::default();
        state.task_aging.push(task("a", TaskSeverity::Info, "p"));
        let last = Instant::from_ms(8_640_000_000_000_000).expect("the last date");
        defer_info_tasks(&mut state, Tier::Degraded, last);
        assert!(state.deferrals.is_empty());
        defer_info_tasks(&mut state, Tier::Degraded, now());
        assert_eq!(state.deferrals.len(), 1);
    }
}
