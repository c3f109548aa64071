//! `tasks`, `defer` and `done`: the open tasks of a home, later or finished.

use crate::answers;
use crate::decide::tasks::{self, OpenTask, TaskState};
use crate::home::state;
use crate::json::{JsString, Map};
use crate::schema::engine_state::EngineState;

use super::super::context::{Context, Refused};
use super::super::ids::{self, Found, Ids};
use super::super::{exit, text};

/// Shows the open tasks, and returns the exit code.
pub(in super::super) fn list<F>(context: &Context<'_, F>, json: bool) -> i32 {
    let now = context.now();
    let (document, unusable) = state::preview(&context.paths, now);
    if let Some(error) = unusable {
        context.note(&format!("note: {error}; no task in it is shown"));
    }
    let open = tasks::open(&document, now);
    context.report(
        json,
        || open.iter().map(|one| one.task.to_value()).collect::<Vec<_>>().into(),
        || match open.len() {
            0 => "No open tasks.\n".to_owned(),
            count => open
                .iter()
                .map(task_lines)
                .fold(format!("Tasks ({count}):\n"), |all, one| all + &one),
        },
    );
    exit::DONE
}

fn task_lines(open: &OpenTask<'_>) -> String {
    let task = open.task;
    let state = match open.deferred_until {
        Some(until) => format!("{} until {}", open.state, text::at(until)),
        None => open.state.to_string(),
    };
    let age = if open.age.is_empty() { "of unknown age" } else { &open.age };
    let id = text::word(&task.task_id);
    let description = text::line(&task.description);
    let line = format!("  {id} — {}, {age}, {state}: {description}\n", task.severity);
    if task.source_check.is_empty() || open.state == TaskState::Deferred {
        return line;
    }
    format!("{line}    {} does not run while it is pending\n", text::line(&task.source_check))
}

/// Puts the task whose id begins with `typed` off for `span_ms` milliseconds, and returns the exit
/// code.
pub(in super::super) fn defer<F>(
    context: &Context<'_, F>,
    typed: &JsString,
    span_ms: i64,
    json: bool,
) -> i32 {
    ended(context, try_defer(context, typed, span_ms, json))
}

fn try_defer<F>(
    context: &Context<'_, F>,
    typed: &JsString,
    span_ms: i64,
    json: bool,
) -> Result<(), Refused> {
    let now = context.now();
    let document = readable(context)?;
    let id = meant(&document, &tasks::open(&document, now), typed)?;
    let until = now.plus_ms(span_ms).ok_or_else(|| {
        Refused::new("the deferral ends later than any date can tell")
            .leaving("nothing was written")
    })?;
    let deferred = answers::defer_task(&context.paths, &id, until, now);
    let deferral = deferred.map_err(|error| Refused::from(&error))?.ok_or_else(|| gone(&id))?;
    context.report(
        json,
        || Map::from_iter([("deferred", vec![deferral.to_value()])]).into(),
        || format!("{}: put off until {}\n", text::word(&id), text::at(&deferral.expires_at)),
    );
    Ok(())
}

/// Calls the task whose id begins with `typed` done, and returns the exit code.
pub(in super::super) fn done<F>(context: &Context<'_, F>, typed: &JsString, json: bool) -> i32 {
    ended(context, try_done(context, typed, json))
}

fn try_done<F>(context: &Context<'_, F>, typed: &JsString, json: bool) -> Result<(), Refused> {
    let now = context.now();
    let document = readable(context)?;
    let id = meant(&document, &tasks::open(&document, now), typed)?;
    let completed = answers::complete_task(&context.paths, &id, now);
    let task = completed.map_err(|error| Refused::from(&error))?.ok_or_else(|| gone(&id))?;
    context.report(
        json,
        || Map::from_iter([("completed", vec![task.to_value()])]).into(),
        || format!("{}: done — {}\n", text::word(&id), text::line(&task.description)),
    );
    Ok(())
}

fn ended<F>(context: &Context<'_, F>, ended: Result<(), Refused>) -> i32 {
    match ended {
        Ok(()) => exit::DONE,
        Err(refused) => {
            context.refuse(&refused);
            exit::FAILED
        }
    }
}

/// The state, refused where it cannot be used: an answer is not given to what cannot be seen.
fn readable<F>(context: &Context<'_, F>) -> Result<EngineState, Refused> {
    match state::preview(&context.paths, context.now()) {
        (document, None) => Ok(document),
        (_, Some(error)) => Err(Refused::from(&error)),
    }
}

/// The id of the open task that is meant.
fn meant(
    document: &EngineState,
    open: &[OpenTask<'_>],
    typed: &JsString,
) -> Result<JsString, Refused> {
    let ids = Ids::of(open.iter().map(|one| &one.task.task_id));
    match ids.find(typed) {
        Found::One(id) => return Ok(id.clone()),
        Found::Several(count) => {
            return Err(ids::ambiguous(typed, count, "open task", "warpline tasks"));
        }
        Found::None => {}
    }
    let shown = text::line(typed);
    if let Some(task) = document.completed_tasks.iter().rev().find(|task| task.task_id == *typed) {
        let message = format!("task `{shown}` was done at {}", text::at(&task.completed_at));
        return Err(Refused::new(message).leaving("nothing was written"));
    }
    let message = format!("no open task has an id that begins with `{shown}`");
    let refused = Refused::new(message).leaving("nothing was written");
    Err(match ids.nearest(typed) {
        Some(id) => refused.hint(format!("did you mean `{}`?", text::line(id))),
        None => refused.hint("`warpline tasks` shows the open tasks with their ids"),
    })
}

/// The refusal of a task that somebody else answered in this moment.
fn gone(id: &JsString) -> Refused {
    Refused::new(format!("task `{}` is not open any more", text::line(id)))
        .leaving("nothing was written")
        .hint("`warpline tasks` shows the open tasks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_went_meanwhile_is_told_of_safely() {
        let told = gone(&"a\u{1b}".into()).message;
        assert_eq!(told, "task `a\\u{1b}` is not open any more: nothing was written");
    }
}
