//! Plays one history on both sides and says where they part, or what no history may ever do.

use std::collections::{BTreeMap, BTreeSet};

use warpline_core::json::{JsString, Value, parse};

use crate::disk;
use crate::real::Real;
use crate::rules::{covers, stands};
use crate::seen::{Outcome, Seen};
use crate::step::{Facts, Meanwhile, Step};
use crate::world::{Grant, Scopes, World};

/// 2026-08-20T12:00:00.000Z, half past five in the afternoon where the tests are.
const START: &str = "2026-08-20T12:00:00.000Z";

/// What was learnt on the way about the real home alone.
#[derive(Default)]
struct Witnessed {
    /// Which proposal each fingerprint answers.
    fingerprints: BTreeMap<String, String>,
}

/// Plays the steps; what they met, or the first difference or broken promise as the error.
pub fn play(steps: &[String]) -> Result<BTreeSet<String>, String> {
    let mut met = BTreeSet::new();
    let start = disk::ms(START);
    let mut model = World { now: start, ..World::default() };
    let mut real = Real::new(start);
    let mut witnessed = Witnessed::default();
    for (number, line) in steps.iter().enumerate() {
        let step = Step::parse(line);
        let before = model.clone();
        let told = (model_step(&mut model, &step), real.step(&step));
        let mut faults = differences(&told.0, &told.1);
        faults.extend(broken_promises(&before, &step, &real, &mut witnessed, &model));
        if let Some(profile) = planned(&step) {
            let plans = (model.plan(profile), real.plan(profile));
            faults.extend(differences(&plans.0, &plans.1));
        }
        let seen: (Seen, Seen) = (model.seen(), real.seen());
        faults.extend(differences(&seen.0, &seen.1));
        if !faults.is_empty() {
            return Err(format!("step {number}, `{line}`:\n{}", faults.join("\n")));
        }
        meet(&mut met, &before, &step, &told.0, &model);
    }
    Ok(met)
}

/// Notes what a step was an example of, so that a search can tell that it saw everything.
fn meet(met: &mut BTreeSet<String>, before: &World, step: &Step, outcome: &Outcome, after: &World) {
    met.extend(outcome.entries.values().cloned());
    let (verb, exit) = match step {
        Step::Command(words) => (words[0].as_str(), outcome.exit),
        Step::Advance { meanwhile, .. } => {
            if let (Some((_, what)), true) = (meanwhile, outcome.interrupted) {
                let what = match what {
                    Meanwhile::Command(words) => words[0].clone(),
                    other => format!("{other:?}"),
                };
                met.insert(format!("{what} meanwhile"));
            }
            met.insert(outcome.status.clone());
            ("advance", outcome.exit)
        }
        _ => return,
    };
    met.insert(format!("{verb} {exit}"));
    let (old, new) = (&before.document, &after.document);
    let applied =
        |world: &World| world.document.gates.iter().filter(|gate| gate.applied.is_some()).count();
    let superseded = |one: &str| one.contains(": unapproved ") && !one.ends_with(' ');
    let tier = after.plan(None);
    for (is_met, what) in [
        (verb == "approve" && applied(after) > applied(before), "a result accepted"),
        (verb == "approve" && new.runs.len() < old.runs.len(), "a result too old"),
        (verb == "deny" && new.gates.len() < old.gates.len(), "a result declined"),
        (verb == "advance" && new.gates.len() < old.gates.len(), "a gate dropped"),
        (before.journal.is_some() && after.journal.is_none(), "a killed pass folded in"),
        (tier.not_due.iter().any(|one| superseded(one)), "a denial outgrown"),
        (new.deferrals.len() > old.deferrals.len() && verb == "advance", "a task put off"),
        (new.done.len() > old.done.len() && verb == "advance", "a task archived"),
    ] {
        if is_met {
            met.insert(what.to_owned());
        }
    }
    met.insert(tier.tier);
}

fn model_step(model: &mut World, step: &Step) -> Outcome {
    match step {
        Step::Advance { options, meanwhile } => model.advance(options, meanwhile.as_ref()),
        Step::Command(words) if words[0] == "plan" => {
            let exit = model.plan(None).exit;
            Outcome { exit, ..Outcome::default() }
        }
        Step::Command(words) => Outcome { exit: model.answer(words), ..Outcome::default() },
        other => {
            model.set(other);
            Outcome::default()
        }
    }
}

/// The profile of a step that is a plan.
fn planned(step: &Step) -> Option<Option<&str>> {
    match step {
        Step::Command(words) if words[0] == "plan" => {
            Some(words.iter().find_map(|word| word.strip_prefix("--profile=")))
        }
        _ => None,
    }
}

/// The lines in which two values differ when they are printed.
fn differences<T: std::fmt::Debug + PartialEq>(model: &T, real: &T) -> Vec<String> {
    if model == real {
        return Vec::new();
    }
    let (left, right) = (format!("{model:#?}"), format!("{real:#?}"));
    let only = |one: &str, other: &str, sign: &str| -> Vec<String> {
        let lines = one.lines().filter(|line| !other.lines().any(|same| same == *line));
        lines.map(|line| format!("{sign} {line}")).collect()
    };
    let mut lines = only(&left, &right, "-");
    lines.extend(only(&right, &left, "+"));
    if lines.is_empty() {
        lines = vec![format!("- {model:?}"), format!("+ {real:?}")];
    }
    lines.insert(0, "- the model, + the engine".to_owned());
    lines
}

/// Promises that are checked on the real home, whatever the model thinks of the step.
fn broken_promises(
    before: &World,
    step: &Step,
    real: &Real,
    witnessed: &mut Witnessed,
    after: &World,
) -> Vec<String> {
    let mut broken = Vec::new();
    if let Step::Advance { options, meanwhile } = step {
        let dry = options.contains("--dry-run");
        broken.extend(real.called.iter().filter_map(|called| {
            let facts = before.facts(&called.plugin)?;
            called_in_vain(before, facts, called, dry)
        }));
        // Only who answers while a pass runs gives and takes.
        let answered = matches!(meanwhile, Some((_, Meanwhile::Command(_))));
        if !answered && after.grant != before.grant {
            broken.push("an advance changed the grant".into());
        }
    }
    broken.extend(applied_twice(real));
    broken.extend(mixed_up(real, after, witnessed));
    broken
}

/// A handler with effects that was called without a yes, or against a no.
fn called_in_vain(
    before: &World,
    facts: &Facts,
    called: &crate::real::Called,
    dry: bool,
) -> Option<String> {
    let name = &called.plugin;
    let grant = called.grant.as_ref().map(|grant| Grant {
        granted: grant.granted,
        first: grant.first,
        expires: grant.expires,
        scopes: match grant.scopes.as_str() {
            "*" => Scopes::Everything,
            list => {
                let names = list.trim_matches(['[', ']']).split(',').map(str::to_owned);
                Scopes::Names(names.collect())
            }
        },
    });
    let document = before.read();
    let denial = document.denials.get(name);
    match () {
        () if facts.effects.is_empty() && denial.is_none() => None,
        () if denial.is_some_and(|denial| stands(denial, name, facts, &document)) => {
            Some(format!("`{name}` ran against a denial"))
        }
        () if facts.effects.is_empty() => None,
        () if dry => Some(format!("a dry run called `{name}`, which has effects")),
        () if called.attempt == 1 && !covers(grant.as_ref(), name, called.at) => {
            Some(format!("`{name}` ran without a grant"))
        }
        () => None,
    }
}

/// Results that were accepted more than once.
fn applied_twice(real: &Real) -> Vec<String> {
    let events = std::fs::read_to_string(real.home().join("state/events.jsonl"));
    let mut seen = BTreeSet::new();
    let applied = |line: &&str| line.contains(r#"\"event\":\"gate_applied\""#);
    let metadata = |line: &str| {
        let event = parse(line).expect("an event");
        event.get("metadata_json").and_then(Value::as_string).map(JsString::to_text)
    };
    let events = events.unwrap_or_default();
    let applied = events.lines().filter(applied).filter_map(metadata);
    let twice = applied.filter(|metadata| !seen.insert(metadata.clone()));
    twice.map(|metadata| format!("applied twice: {metadata}")).collect()
}

/// Two proposals with one fingerprint, or one proposal with two.
fn mixed_up(real: &Real, after: &World, witnessed: &mut Witnessed) -> Vec<String> {
    let document = disk::document(&real.home());
    let stored = document.get("denials").and_then(Value::as_object);
    let mut broken = Vec::new();
    for (name, denial) in stored.into_iter().flat_map(|map| map.iter()) {
        let (name, fingerprint) = (name.to_text(), disk::text(denial.get("fingerprint")));
        let fingerprint = fingerprint.expect("a fingerprint");
        let Some(denial) = after.document.denials.get(&name) else { continue };
        let answers = format!("{name} {:?}", denial.proposal);
        let known = witnessed.fingerprints.entry(fingerprint.clone()).or_insert(answers.clone());
        if *known != answers {
            broken.push(format!("one fingerprint for `{known}` and `{answers}`"));
        }
        let others = witnessed.fingerprints.iter();
        let others = others.filter(|(other, same)| **other != fingerprint && **same == answers);
        broken.extend(others.map(|(_, same)| format!("two fingerprints for `{same}`")));
    }
    broken
}
