//! The parked results among the named plugins: accepted where one waits, refused with a reason else.

use crate::answers::{self, Answer, Approved, Merged, Parked, Terms};
use crate::cli::args::Approve;
use crate::cli::context::{Context, Refused};
use crate::cli::{exit, names, text};
use crate::clock::Instant;
use crate::json::JsString;
use crate::schema::engine_state::Denial;

use super::Named;
use super::report::Answered;

const WAITING: &str = "`warpline plan` shows the results that wait";

/// What became of the named plugins.
pub(super) enum Outcome {
    /// No result waits; the plugins are granted.
    Granted {
        /// The results that were accepted before.
        results: Vec<Answered>,
        /// The grant file from now on.
        merged: Merged,
    },
    /// Every result was answered.
    Answered {
        /// One for each name.
        results: Vec<Answered>,
        /// Whether all were recorded.
        code: i32,
    },
}

/// Answers what is parked, or grants where nothing is.
pub(super) fn answer<F>(
    context: &Context<'_, F>,
    options: &Approve,
    named: &[Named<'_>],
    now: Instant,
) -> Result<Outcome, Refused> {
    let ttl_ms = options.ttl.map(|ttl| ttl.ms);
    let terms = Terms { ttl_ms, replace: options.replace, long: options.long };
    let approved = answers::approve(&context.paths, named, options.run.as_ref(), &terms, now);
    let Approved { parked, granted } = approved.map_err(|error| Refused::from(&error))?;
    match parked {
        Parked::Denied(denials) => Err(denied(&denials)),
        Parked::Mixed { waiting, others } => Err(mixed(&waiting, &others)),
        Parked::OtherRun { plugin, waiting, applied_at } => {
            let seen = options.run.clone().unwrap_or_default();
            Err(other_run(&plugin, &seen, waiting.as_ref(), applied_at.as_ref()))
        }
        Parked::NothingWaits(answers) | Parked::Answered(answers) => {
            let mut results = results(answers, named);
            if let Some(merged) = granted {
                results.retain(|answered| matches!(answered.answer, Answer::AlreadyApplied { .. }));
                return Ok(Outcome::Granted { results, merged });
            }
            let code = refuse_rest(context, &results);
            Ok(Outcome::Answered { results, code })
        }
    }
}

fn results(answers: Vec<(JsString, Answer)>, named: &[Named<'_>]) -> Vec<Answered> {
    let answers = answers.into_iter().zip(named);
    let result = |((plugin, answer), (_, manifest)): (_, &Named<'_>)| Answered {
        plugin,
        side_effects: manifest.side_effects.clone(),
        answer,
    };
    answers.map(result).collect()
}

fn denied(denials: &[Denial]) -> Refused {
    let sentences: Vec<String> = denials
        .iter()
        .map(|denial| {
            let at = text::at(&denial.denied_at);
            format!("`{}` was denied at {at} ({})", denial.plugin, denial.reason)
        })
        .collect();
    let message =
        format!("{}: an approval does not lift that, so none was given", sentences.join("; "));
    let names = denials.iter().map(|denial| &denial.plugin);
    let hint = format!("`{}` takes the denial back", text::command("deny --remove", names, ""));
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
        .hint(WAITING),
        (None, Some(applied_at)) => Refused::new(format!(
            "the result of `{plugin}` from run {seen} was already applied at {}: {nothing}",
            text::at(applied_at)
        ))
        .hint(format!("`{}` without `--run` grants it", text::command("approve", [plugin], ""))),
        (None, None) => Refused::new(format!(
            "no result of `{plugin}` from run {seen} waits for an answer: {nothing}"
        ))
        .hint(WAITING),
    }
}

/// Says why results were not recorded, and returns the exit code.
fn refuse_rest<F>(context: &Context<'_, F>, results: &[Answered]) -> i32 {
    let (recorded, refused): (Vec<_>, Vec<_>) =
        results.iter().partition(|answered| matches!(answered.answer, Answer::Applied { .. }));
    for answered in &refused {
        context.refuse(&refused_answer(answered, || again(context, answered)));
    }
    if refused.is_empty() {
        return exit::DONE;
    }
    if !recorded.is_empty() {
        let results = text::count(recorded.len(), "parked result");
        context.note(&format!(
            "note: {results} recorded by this command stay; a refusal does not undo them"
        ));
    }
    exit::FAILED
}

/// What comes of a plugin whose result was discarded. The grant it ran under may be over by now.
fn again<F>(context: &Context<'_, F>, answered: &Answered) -> String {
    let name = &answered.plugin;
    let waits_for_grant = !answered.side_effects.is_empty()
        && !answers::is_approved(&context.paths, name, context.now());
    if waits_for_grant {
        let command = text::command("approve", [name], "");
        return format!(
            "`{name}` is due again, and no grant covers it now: `{command}` once more gives one"
        );
    }
    format!("`{name}` is due again; the next advance runs it")
}

fn refused_answer(answered: &Answered, again: impl FnOnce() -> String) -> Refused {
    let name = &answered.plugin;
    match &answered.answer {
        Answer::DependencyMoved { run_id, moved } => Refused::new(format!(
            "the parked result of `{name}` from run {run_id} was computed before its dependency {} ran again, so it was discarded",
            names::list(moved)
        ))
        .hint(again()),
        Answer::Expired { run_id } => Refused::new(format!(
            "the parked result of `{name}` from run {run_id} has expired, so it was discarded"
        ))
        .hint(again()),
        Answer::Unusable { run_id } => Refused::new(format!(
            "the parked result of `{name}` from run {run_id} has a clock that cannot be read, so it cannot be recorded"
        ))
        .hint(format!("`{}` discards it", text::command("deny", [name], ""))),
        Answer::Denied { denied_at, reason } => {
            Refused::new(format!("`{name}` was denied at {} ({reason})", text::at(denied_at)))
                .hint(format!("`{}` takes that back", text::command("deny --remove", [name], "")))
        }
        Answer::AlreadyApplied { run_id, .. } => {
            Refused::new(format!("the result of `{name}` from run {run_id} was already applied"))
                .hint(WAITING)
        }
        Answer::None | Answer::Applied { .. } => {
            Refused::new(format!("no result is parked for `{name}`")).hint(WAITING)
        }
    }
}
