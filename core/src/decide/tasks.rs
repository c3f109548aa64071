//! Tasks: how each open one stands, and what a human's answer makes of it.

use crate::clock::Instant;
use crate::json::{JsString, Map};
use crate::schema::closed_set;
use crate::schema::engine_state::{CompletedTask, Deferral, EngineState, Task, TaskSeverity};

use super::{instant, tier};

closed_set! {
    /// How an open task stands.
    TaskState {
        /// It waits for somebody.
        Pending = "pending",
        /// It is put off.
        Deferred = "deferred",
    }
}

/// An open task as a reader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenTask<'a> {
    /// The record.
    pub task: &'a Task,
    /// Whether it is put off.
    pub state: TaskState,
    /// When it is back; `None` unless it is put off.
    pub deferred_until: Option<&'a JsString>,
    /// How long it has been open: `3d`; empty where its clock does not parse.
    pub age: String,
}

/// A task that is flagged for the first time, of no plugin and without detail.
pub fn flagged(
    task_id: JsString,
    description: JsString,
    severity: TaskSeverity,
    now: Instant,
) -> Task {
    Task {
        task_id,
        first_flagged: now.to_iso().into(),
        description,
        severity,
        run_count: 1.0,
        clean_streak: 0.0,
        last_detail: JsString::new(),
        source_check: JsString::new(),
        first_run_id: None,
        last_flagged_run_id: None,
        action_type: "self_directed".into(),
        due_date: None,
        extensions: Map::new(),
    }
}

/// The tasks that are not done, in the order of the document.
pub fn open(state: &EngineState, now: Instant) -> Vec<OpenTask<'_>> {
    let done = tier::completed(state);
    let deferred = tier::deferrals(state, now);
    let open = state.task_aging.iter().filter(|task| !done.contains(&task.task_id));
    open.map(|task| {
        let deferred_until = deferred.get(&task.task_id).copied();
        let age = instant(&task.first_flagged).map(|since| tier::format_idle(now.since(since)));
        OpenTask {
            task,
            state: if deferred_until.is_some() { TaskState::Deferred } else { TaskState::Pending },
            deferred_until,
            age: age.unwrap_or_default(),
        }
    })
    .collect()
}

/// Calls an open task done; `None` where there is no such task.
pub fn complete(
    state: &mut EngineState,
    task_id: &JsString,
    now: Instant,
) -> Option<CompletedTask> {
    let at = position(state, task_id)?;
    let task = state.task_aging.remove(at);
    let completed = CompletedTask {
        task_id: task.task_id,
        description: task.description,
        severity: task.severity,
        source_check: task.source_check,
        completed_at: now.to_iso().into(),
        extensions: task.extensions,
    };
    state.completed_tasks.push(completed.clone());
    Some(completed)
}

/// Puts an open task off until `until`, in place of an earlier deferral; `None` where there is no
/// such task.
pub fn defer(
    state: &mut EngineState,
    task_id: &JsString,
    until: Instant,
    now: Instant,
) -> Option<Deferral> {
    position(state, task_id)?;
    let deferral = Deferral {
        task_id: task_id.clone(),
        reason: "put off by the operator".into(),
        deferred_at: now.to_iso().into(),
        expires_at: until.to_iso().into(),
    };
    state.deferrals.retain(|earlier| earlier.task_id != *task_id);
    state.deferrals.push(deferral.clone());
    Some(deferral)
}

fn position(state: &EngineState, task_id: &JsString) -> Option<usize> {
    let done = state.completed_tasks.iter().any(|task| task.task_id == *task_id);
    if done { None } else { state.task_aging.iter().position(|task| task.task_id == *task_id) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::fixtures::{self, at, js, now, task};

    /// Cases: T488.
    #[test]
    fn an_open_task_is_pending_or_put_off_and_tells_its_age() {
        let mut state = fixtures::state();
        for id in ["a", "b", "c", "done"] {
            state.task_aging.push(task(id, TaskSeverity::Warning, "p"));
        }
        state.task_aging[2].first_flagged = "once".into();
        assert!(complete(&mut state, &"done".into(), now()).is_some());
        state.task_aging.push(task("done", TaskSeverity::Warning, "p"));
        let until = at("2026-08-21T12:00:00.000Z");
        assert!(defer(&mut state, &"a".into(), until, now()).is_some());
        assert!(defer(&mut state, &"c".into(), at("2026-08-20T12:00:00.001Z"), now()).is_some());
        let later = at("2026-08-20T13:00:00.000Z");
        let (open, until) = (open(&state, later), JsString::from(until.to_iso()));
        let told: Vec<_> = open
            .iter()
            .map(|one| {
                (one.task.task_id.to_text(), one.state, one.deferred_until, one.age.as_str())
            })
            .collect();
        let expected = [
            ("a".to_owned(), TaskState::Deferred, Some(&until), "1d"),
            ("b".to_owned(), TaskState::Pending, None, "1d"),
            ("c".to_owned(), TaskState::Pending, None, ""),
        ];
        assert_eq!(told, expected);
    }

    /// Cases: T489.
    #[test]
    fn a_task_that_is_done_moves_once_with_the_time_of_it() {
        let mut state = fixtures::state();
        state.task_aging.push(task("a", TaskSeverity::Info, "p"));
        state.task_aging.push(task("b", TaskSeverity::Info, "p"));
        let completed = complete(&mut state, &"a".into(), now()).expect("it is open");
        assert_eq!(completed.completed_at, fixtures::NOW);
        assert_eq!(state.completed_tasks, [completed]);
        assert_eq!(state.task_aging, [task("b", TaskSeverity::Info, "p")]);
        let once = state.clone();
        for id in ["a", "__proto__", ""] {
            assert_eq!(complete(&mut state, &js(id), now()), None);
            assert_eq!(defer(&mut state, &js(id), now(), now()), None);
        }
        assert_eq!(state, once);
    }

    #[test]
    fn putting_off_again_replaces_the_earlier_time() {
        let mut state = fixtures::state();
        state.task_aging.push(task("a", TaskSeverity::Info, "p"));
        for until in ["2026-08-21T12:00:00.000Z", "2026-08-20T13:00:00.000Z"] {
            let deferral = defer(&mut state, &"a".into(), at(until), now()).expect("it is open");
            assert_eq!(deferral.deferred_at, fixtures::NOW);
            assert_eq!(state.deferrals, [deferral]);
            assert_eq!(state.deferrals[0].expires_at, until);
        }
    }

    /// Cases: T491.
    #[test]
    fn a_task_that_is_flagged_anew_has_the_defaults() {
        let task = flagged("a".into(), "look".into(), TaskSeverity::Critical, now());
        assert_eq!((task.run_count, task.clean_streak), (1.0, 0.0));
        assert_eq!((task.last_detail, task.source_check), (JsString::new(), JsString::new()));
        assert_eq!((task.first_run_id, task.last_flagged_run_id), (None, None));
        assert_eq!(task.first_flagged, fixtures::NOW);
    }
}
