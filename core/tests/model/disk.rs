//! A real home read from its files by their documented keys, with no code of the engine but JSON.

use std::path::Path;

use warpline_core::json::{JsString, Value, parse};

use crate::seen::{Outcome, Seen, SeenGate, SeenGrant, SeenPlan, SeenRun};

/// Milliseconds since the epoch of `2026-08-20T12:00:00.000Z`, counted year by year.
pub fn ms(text: &str) -> i64 {
    let number = |from: usize, to: usize| -> i64 {
        text.get(from..to).and_then(|part| part.parse().ok()).unwrap_or_else(|| panic!("{text}"))
    };
    let leaps = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let mut days = day - 1;
    for year in 1970..year {
        days += if leaps(year) { 366 } else { 365 };
    }
    let february = if leaps(year) { 29 } else { 28 };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    days += lengths.iter().zip(1..month).map(|(length, _)| length).sum::<i64>();
    let minutes = (days * 24 + number(11, 13)) * 60 + number(14, 16);
    (minutes * 60 + number(17, 19)) * 1000 + number(20, 23)
}

pub fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_string).map(JsString::to_text)
}

fn instant(value: &Value, key: &str) -> Option<i64> {
    text(value.get(key)).map(|text| ms(&text))
}

fn list(value: Option<&Value>) -> Vec<Value> {
    value.and_then(Value::as_array).map(|items| items.to_vec()).unwrap_or_default()
}

fn record(value: Option<&Value>) -> Vec<(String, Value)> {
    let entries = value.and_then(Value::as_object).into_iter().flat_map(|map| map.iter());
    entries.map(|(key, value)| (key.to_text(), value.clone())).collect()
}

fn number(value: Option<&Value>) -> Option<i64> {
    value
        .filter(|value| !value.is_null())
        .map(|value| value.to_compact().parse().expect("a number"))
}

fn told(value: &Value, key: &str) -> String {
    text(value.get(key)).unwrap_or_else(|| panic!("no {key} in {}", value.to_compact()))
}

/// `<type>|path:<path>` of an Output.
fn output(value: &Value) -> String {
    format!("{}|path:{}", told(value, "type"), told(value, "path"))
}

/// The grant file, where it can be read at all.
pub fn grant(home: &Path) -> Option<SeenGrant> {
    let file = std::fs::read_to_string(home.join(".session-approval")).ok()?;
    let grant = parse(&file).ok()?;
    Some(SeenGrant {
        granted: instant(&grant, "granted_at")?,
        first: instant(&grant, "first_granted_at")?,
        expires: instant(&grant, "expires_at")?,
        scopes: scopes(grant.get("scopes")?),
    })
}

fn scopes(value: &Value) -> String {
    match text(Some(value)) {
        Some(text) => text,
        None => {
            let names = list(Some(value));
            let mut names: Vec<String> =
                names.iter().map(|name| text(Some(name)).expect("a name")).collect();
            names.sort();
            format!("[{}]", names.join(","))
        }
    }
}

/// The state document; empty where there is none.
pub fn document(home: &Path) -> Value {
    let file = std::fs::read_to_string(home.join("state/engine-state.json"));
    parse(&file.unwrap_or_else(|_| "{}".into())).expect("the state is JSON")
}

pub fn seen(home: &Path, now: i64, plan: SeenPlan) -> Seen {
    let state = document(home);
    let run = |run: &Value| SeenRun {
        at: instant(run, "last_run_at").expect("a clock"),
        status: told(run, "status"),
        duration: number(run.get("duration_ms")),
        output: run.get("last_output").map(output),
    };
    let gate = |gate: &Value| SeenGate {
        plugin: told(gate, "plugin"),
        started: instant(gate, "run_started_at").expect("a clock"),
        completed: instant(gate, "run_completed_at").expect("a clock"),
        applied: instant(gate, "applied_at"),
        result: told(gate.get("plugin_result").expect("a result"), "status"),
    };
    let mut gates: Vec<SeenGate> = list(state.get("pending_gates")).iter().map(gate).collect();
    gates.sort_by(|left, right| left.plugin.cmp(&right.plugin));
    let tasks = list(state.get("task_aging"));
    let completed = list(state.get("completed_tasks"));
    let deferrals = list(state.get("deferrals"));
    Seen {
        now,
        runs: record(state.get("plugin_runs"))
            .iter()
            .map(|(name, one)| (name.clone(), run(one)))
            .collect(),
        gates,
        denials: record(state.get("denials"))
            .into_iter()
            .map(|(name, denial)| (name, instant(&denial, "denied_at").expect("a clock")))
            .collect(),
        grant: grant(home),
        last_interaction: instant(&state, "last_interaction_at"),
        tasks: tasks.iter().map(|task| told(task, "task_id")).collect(),
        done: completed.iter().map(|task| told(task, "task_id")).collect(),
        deferrals: deferrals
            .iter()
            .map(|one| {
                format!("{} {}", told(one, "task_id"), instant(one, "expires_at").expect("a clock"))
            })
            .collect(),
        journal: home.join("state/in-flight.jsonl").exists(),
        plan,
    }
}

/// What `plan --json` says.
pub fn plan(report: &str, exit: i32) -> SeenPlan {
    let report = parse(report).expect("a report");
    let line = |one: &Value| {
        let effects = list(one.get("side_effects"));
        let effects = effects.iter().map(|effect| {
            let approved = effect.get("approved").expect("told").to_compact();
            format!(" {}={approved}", told(effect, "effect"))
        });
        let level = one.get("level").expect("a level").to_compact();
        format!("{} {level}{}", told(one, "plugin"), effects.collect::<String>())
    };
    let held = |one: &Value| {
        let reason = told(one, "reason");
        format!("{}: {reason} {}", line(one), facts(&reason, one.get("data").expect("data")))
    };
    let grant = report.get("grant").filter(|grant| !grant.is_null());
    SeenPlan {
        exit,
        tier: told(&report, "tier"),
        grant: grant.map(|grant| {
            (
                scopes(grant.get("scopes").expect("told")),
                instant(grant, "expires_at").expect("told"),
            )
        }),
        due: list(report.get("due")).iter().map(line).collect(),
        not_due: list(report.get("not_due")).iter().map(held).collect(),
        failures: list(report.get("failures")).iter().map(|one| told(one, "plugin")).collect(),
    }
}

/// The facts behind a reason, as the model tells them.
fn facts(reason: &str, data: &Value) -> String {
    let at = |value: &Value| instant(value, "denied_at").expect("a clock").to_string();
    match reason {
        "profile_schedule" => told(data, "schedule"),
        "min_tier" => format!("{} {}", told(data, "current"), told(data, "min_tier")),
        "dependency_failed" => {
            let names = list(data.get("dependencies"));
            let names = names.iter().map(|name| text(Some(name)).expect("a name"));
            names.collect::<Vec<_>>().join(",")
        }
        "denied" => at(data),
        "unapproved" => {
            data.get("superseded_denial").filter(|one| !one.is_null()).map(at).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// What `advance --json` says; exit code and calls are not in it.
pub fn outcome(report: &Value) -> Outcome {
    let entry = |one: &Value| {
        let (status, summary) = (told(one, "status"), told(one, "result_summary"));
        let reason =
            if status == "skipped" { format!(" {}", why(&summary)) } else { String::new() };
        (told(one, "plugin"), status + &reason)
    };
    let states = record(report.get("plugin_states"));
    let gated = list(report.get("gated_plugins"));
    Outcome {
        status: told(report, "status"),
        entries: list(report.get("plugin_entries")).iter().map(entry).collect(),
        states: states
            .into_iter()
            .map(|(name, state)| (name, text(Some(&state)).expect("a state")))
            .collect(),
        gated: gated.iter().map(|name| text(Some(name)).expect("a name")).collect(),
        ..Outcome::default()
    }
}

/// The guard behind the sentence of a skipped plugin.
fn why(summary: &str) -> &'static str {
    let guards = [
        ("schedule", "profile_schedule"),
        ("attention tier", "min_tier"),
        ("supervised", "headless_supervised"),
        ("manual", "manual"),
        ("fresh", "fresh"),
        ("task locked", "task_locked"),
        ("dependency failed", "dependency_failed"),
        ("unapproved", "unapproved"),
        ("blocked", "blocked"),
        ("quiet hours", "quiet"),
    ];
    let sentence = summary.strip_prefix("skipped: ").unwrap_or(summary);
    let guard = guards.iter().find(|(start, _)| sentence.starts_with(start));
    guard.unwrap_or_else(|| panic!("no guard says: {summary}")).1
}
