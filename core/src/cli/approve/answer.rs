//! The parked results among the named plugins: checked together, then answered one by one.

use crate::decide::denial::{Standing, standing};
use crate::decide::gate::{self, Answer};
use crate::home::events;
use crate::home::state::{self, Decision};
use crate::json::JsString;
use crate::schema::engine_state::EngineState;
use crate::schema::event::{self, BoardEvent, GateReason};

use super::Named;
use crate::cli::context::{Context, Refused};
use crate::cli::{exit, names, text};
use crate::clock::Instant;

/// What became of the named plugins.
pub(super) enum Outcome {
    /// Nothing was written.
    Refused(Refused),
    /// No result waits; a grant is what was asked for.
    NothingParked,
    /// Every result was answered; the exit code says whether all were recorded.
    Answered(i32),
}

enum Step {
    Refused(Refused),
    NothingParked(Vec<(JsString, Answer)>),
    Answered(Vec<(JsString, Answer)>),
}

/// Answers what is parked, in one read and write of the state document under its lock.
pub(super) fn answer<F>(context: &Context<'_, F>, named: &[Named<'_>]) -> Result<Outcome, Refused> {
    let now = context.now();
    let step = state::update(&context.paths, now, |document| {
        if let Some(refused) = refusal(document, named) {
            return Ok(Decision::Keep(Step::Refused(refused)));
        }
        let mut answers = Vec::new();
        for (name, manifest) in named {
            answers.push(((*name).clone(), gate::answer(document, name, manifest, now)));
        }
        let parked = is_parked(&answers);
        // The trace comes first: there is no yes without one.
        let traces: Vec<BoardEvent> =
            answers.iter().filter_map(|(name, answer)| trace(now, name, answer)).collect();
        events::append(&context.paths, &traces)?;
        let writes = answers.iter().any(|(_, answer)| answer.writes());
        let step = if parked { Step::Answered(answers) } else { Step::NothingParked(answers) };
        Ok(if writes { Decision::Write(step) } else { Decision::Keep(step) })
    });
    match step.map_err(|error| Refused::from(&error))? {
        Step::Refused(refused) => Ok(Outcome::Refused(refused)),
        Step::NothingParked(spent) => {
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
        Step::Answered(answers) => Ok(Outcome::Answered(tell(context, &answers))),
    }
}

fn is_parked(answers: &[(JsString, Answer)]) -> bool {
    answers
        .iter()
        .any(|(_, answer)| !matches!(answer, Answer::None | Answer::AlreadyApplied { .. }))
}

/// Why nothing may be written: a standing denial, or results that wait for some names alone.
fn refusal(document: &EngineState, named: &[Named<'_>]) -> Option<Refused> {
    if let Some(refused) = denied(document, named) {
        return Some(refused);
    }
    let (waiting, others): (Vec<Named<'_>>, Vec<Named<'_>>) =
        named.iter().partition(|(name, _)| waits(document, name));
    if waiting.is_empty() || others.is_empty() {
        return None;
    }
    let message = format!(
        "a result is parked for {} and none for {}: nothing was recorded and nothing was granted",
        names::list(waiting.iter().map(|(name, _)| *name)),
        names::list(others.iter().map(|(name, _)| *name)),
    );
    Some(
        Refused::new(message)
            .hint("answer the parked results and grant the others in two commands"),
    )
}

/// Whether the newest result parked for a plugin has not been accepted yet.
fn waits(document: &EngineState, plugin: &JsString) -> bool {
    let newest = document.pending_gates.iter().rev().find(|gate| gate.plugin == *plugin);
    newest.is_some_and(|gate| gate.applied_at.is_none())
}

fn denied(document: &EngineState, named: &[Named<'_>]) -> Option<Refused> {
    let mut sentences = Vec::new();
    let mut denied = Vec::new();
    for (name, manifest) in named {
        if let Standing::Live(denial) = standing(name, manifest, document) {
            denied.push(text::line(name));
            sentences
                .push(format!("`{name}` was denied at {} ({})", denial.denied_at, denial.reason));
        }
    }
    if denied.is_empty() {
        return None;
    }
    let message =
        format!("{}: approving would not make it run. Nothing was granted", sentences.join("; "));
    let hint = format!("`warpline deny --remove {}` takes the denial back", denied.join(" "));
    Some(Refused::new(message).hint(hint))
}

/// Reports every answer and returns the exit code.
fn tell<F>(context: &Context<'_, F>, answers: &[(JsString, Answer)]) -> i32 {
    let mut recorded = 0;
    let mut refusals = Vec::new();
    for (name, answer) in answers {
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

/// The event that an answer leaves behind.
fn trace(now: Instant, name: &JsString, answer: &Answer) -> Option<BoardEvent> {
    let stamp = &events::stamp(now);
    match answer {
        Answer::Applied { run_id, .. } => Some(event::gate_applied(stamp, name, run_id)),
        Answer::Expired { run_id } => Some(event::gate_expired(stamp, name, run_id)),
        Answer::DependencyMoved { run_id, .. } => {
            Some(event::gate_invalidated(stamp, name, run_id, GateReason::DependencyMoved))
        }
        Answer::None
        | Answer::AlreadyApplied { .. }
        | Answer::Denied { .. }
        | Answer::Unusable { .. } => None,
    }
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
        .hint(format!("`warpline deny {name}` discards it")),
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
