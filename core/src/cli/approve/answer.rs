//! The parked results among the named plugins: accepted where one waits, reported either way.

use crate::answers::{self, Answer, Parked};
use crate::cli::args::Approve;
use crate::cli::context::{Context, Refused};
use crate::cli::{exit, names, text};
use crate::json::JsString;
use crate::schema::engine_state::Denial;

use super::Named;

/// What became of the named plugins.
pub(super) enum Outcome {
    /// No result waits; a grant is what was asked for.
    NothingParked,
    /// Every result was answered; the exit code says whether all were recorded.
    Answered(i32),
}

/// Answers what is parked.
pub(super) fn answer<F>(
    context: &Context<'_, F>,
    options: &Approve,
    named: &[Named<'_>],
) -> Result<Outcome, Refused> {
    let parked = answers::apply(&context.paths, named, options.run.as_ref(), context.now());
    match parked.map_err(|error| Refused::from(&error))? {
        Parked::Denied(denials) => Err(denied(&denials)),
        Parked::Mixed { waiting, others } => Err(mixed(&waiting, &others)),
        Parked::OtherRun { plugin, waiting, applied_at } => {
            let seen = options.run.clone().unwrap_or_default();
            Err(other_run(&plugin, &seen, waiting.as_ref(), applied_at.as_ref()))
        }
        Parked::NothingWaits(spent) => {
            for (name, answer) in &spent {
                if let Answer::AlreadyApplied { run_id, applied_at } = answer {
                    context.say(&format!(
                        "{}: the result of run {} was already applied at {}; this grants the \
                         plugin and does not re-record it",
                        text::line(name),
                        text::line(run_id),
                        text::line(applied_at)
                    ));
                }
            }
            Ok(Outcome::NothingParked)
        }
        Parked::Answered(answers) => Ok(Outcome::Answered(tell(context, named, &answers))),
    }
}

fn denied(denials: &[Denial]) -> Refused {
    let sentences: Vec<String> = denials
        .iter()
        .map(|denial| {
            format!("`{}` was denied at {} ({})", denial.plugin, denial.denied_at, denial.reason)
        })
        .collect();
    let message =
        format!("{}: approving would not make it run. Nothing was granted", sentences.join("; "));
    let names = text::words(denials.iter().map(|denial| &denial.plugin));
    let hint = format!("`warpline deny --remove {names}` takes the denial back");
    Refused::new(message).hint(hint)
}

fn mixed(waiting: &[JsString], others: &[JsString]) -> Refused {
    let message = format!(
        "a result is parked for {} and none for {}: nothing was recorded and nothing was granted",
        names::list(waiting),
        names::list(others),
    );
    Refused::new(message).hint("answer the parked results and grant the others in two commands")
}

fn other_run(
    plugin: &JsString,
    seen: &JsString,
    waiting: Option<&JsString>,
    applied_at: Option<&JsString>,
) -> Refused {
    let nothing = "nothing was recorded and nothing was granted";
    match (waiting, applied_at) {
        (Some(waiting), _) => Refused::new(format!(
            "the result that waits for `{plugin}` is that of run {waiting} and not of run {seen}: \
             {nothing}"
        ))
        .hint("`warpline plan` shows the results that wait"),
        (None, Some(applied_at)) => Refused::new(format!(
            "the result of `{plugin}` from run {seen} was already applied at {applied_at}: {nothing}"
        )),
        (None, None) => Refused::new(format!(
            "no result of `{plugin}` from run {seen} waits for an answer: {nothing}"
        )),
    }
}

/// Reports every answer and returns the exit code.
fn tell<F>(context: &Context<'_, F>, named: &[Named<'_>], answers: &[(JsString, Answer)]) -> i32 {
    let mut recorded = 0;
    let mut refusals = Vec::new();
    for ((name, answer), (_, manifest)) in answers.iter().zip(named) {
        match answer {
            Answer::Applied { run_id, run_completed_at, summary } => {
                recorded += 1;
                context.say(&format!(
                    "{}: recorded the parked result of run {}, completed at {}; the plugin is not run again",
                    text::line(name),
                    text::line(run_id),
                    text::line(run_completed_at)
                ));
                if !summary.is_empty() {
                    context.say(&format!("  {}", text::line(summary)));
                }
                context.say(&format!(
                    "  declared side effects: {}",
                    text::effects(&manifest.side_effects)
                ));
            }
            other => refusals.push(refused_answer(name, other)),
        }
    }
    let refused = !refusals.is_empty();
    for refusal in &refusals {
        context.refuse(refusal);
    }
    if refused && recorded > 0 {
        let results = text::count(recorded, "parked result");
        context.note(&format!(
            "note: {results} recorded by this command stay; a refusal does not undo them"
        ));
    }
    if refused { exit::FAILED } else { exit::DONE }
}

fn refused_answer(name: &JsString, answer: &Answer) -> Refused {
    match answer {
        Answer::DependencyMoved { run_id, moved } => Refused::new(format!(
            "the parked result of `{name}` from run {run_id} was computed before its dependency {} ran again, so it was discarded",
            names::list(moved)
        ))
        .hint(format!("`{name}` is due again; the next advance runs it")),
        Answer::Expired { run_id } => Refused::new(format!(
            "the parked result of `{name}` from run {run_id} has expired, so it was discarded"
        ))
        .hint(format!("`{name}` is due again; the next advance runs it")),
        Answer::Unusable { run_id } => Refused::new(format!(
            "the parked result of `{name}` from run {run_id} has a clock that cannot be read, so it cannot be recorded"
        ))
        .hint(format!("`warpline deny {}` discards it", text::word(name))),
        Answer::Denied { denied_at, reason } => {
            Refused::new(format!("`{name}` was denied at {denied_at} ({reason})"))
        }
        Answer::AlreadyApplied { run_id, .. } => {
            Refused::new(format!("the result of `{name}` from run {run_id} was already applied"))
        }
        Answer::None | Answer::Applied { .. } => {
            Refused::new(format!("no result is parked for `{name}`"))
        }
    }
}
