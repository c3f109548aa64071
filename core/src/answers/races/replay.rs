//! Holds the documents of a home against what the logs of all processes allow.
//!
//! A process is the only one that denies, accepts and acknowledges what is its own, so its log alone
//! says how those keys must end. An advance is alone by its lock, so advances are ordered by when
//! they ended. Grants and their revocation overlap: there only what was over before the other began
//! counts, and that no grant falls inside a denial follows from the order of the events. A command
//! that was killed may or may not have had its effect, and both are allowed.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::clock::Instant;
use crate::home::{Paths, acknowledgements, approval, events, state};
use crate::json::{JsString, Value, parse};
use crate::schema::engine_state::{EngineState, RunStatus};
use crate::schema::grant::{Grant, Scopes};

use super::answerer::{ACTS, EVENTS, granting_command};

/// One command as a process logged it.
#[derive(Debug)]
pub(super) struct Operation {
    words: String,
    begin: u128,
    /// When it ended; for a killed one no later than this.
    end: u128,
    /// Exit code and all it said; `None` when it was killed.
    told: Option<(i32, String)>,
}

impl Operation {
    fn is(&self, words: &str) -> bool {
        self.words == words
    }

    /// Whether its effect is not known: it was killed, or gave up waiting for the lock half way.
    pub(super) fn was_killed(&self) -> bool {
        let gave_up = |(_, text): &(i32, String)| text.contains("was held by another process");
        self.told.as_ref().is_none_or(gave_up)
    }

    pub(super) fn was_done(&self, verb: &str) -> bool {
        self.words.starts_with(verb) && self.done().is_some()
    }

    /// What it said, if it was acknowledged.
    fn done(&self) -> Option<&str> {
        self.told.as_ref().filter(|(code, _)| *code == 0).map(|(_, text)| text.as_str())
    }

    fn refused(&self) -> Option<&str> {
        self.told.as_ref().filter(|(code, _)| *code != 0).map(|(_, text)| text.as_str())
    }

    /// Whether a clock of a document was read during this command.
    fn spans(&self, clock: &JsString) -> bool {
        let at =
            clock.as_str().and_then(Instant::parse).map(|at| u128::from(at.ms().unsigned_abs()));
        at.is_some_and(|at| (self.begin / 1_000_000..=self.end / 1_000_000).contains(&at))
    }
}

/// Reads a log; a line that a kill cut short is left out.
pub(super) fn read_log(path: &Path) -> Vec<Operation> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut operations: Vec<Operation> = Vec::new();
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let at = || fields[1].parse().expect("a time");
        if fields[0] == "begin" {
            if let Some(last) = operations.last_mut().filter(|last| last.told.is_none()) {
                last.end = at();
            }
            let words = fields[2].to_owned();
            operations.push(Operation { words, begin: at(), end: u128::MAX, told: None });
        } else if let Some(last) = operations.last_mut() {
            last.end = at();
            last.told = Some((fields[2].parse().expect("a code"), fields[3].to_owned()));
        }
    }
    operations
}

/// Everything in the documents that the logs do not allow.
pub(super) fn violations(home: &Path, logs: &[Vec<Operation>]) -> Vec<String> {
    let paths = Paths::new(home.to_owned());
    let mut found = Vec::new();
    let document = match state::load_for_write(&paths, Instant::now(), None) {
        Ok(loaded) => loaded.state,
        Err(error) => return vec![error.to_string()],
    };
    let advances = advances(logs);
    for (process, log) in logs.iter().enumerate() {
        found.extend(log.iter().filter_map(unexpected));
        found.extend(denial(process, log, &document));
        found.extend(gate(process, log, &document, &advances));
        found.extend(acknowledged(process, log, &paths));
        found.extend(tasks(process, log, &document));
    }
    found.extend(grants(logs, &paths));
    found.extend(granted_under_denial(logs, &paths));
    found.extend(last_run(&document, &advances));
    found.extend(traces(logs, &paths));
    found
}

/// A refusal that no race explains.
fn unexpected(operation: &Operation) -> Option<String> {
    const EXPECTED: [&str; 4] =
        ["no denial is recorded", "was denied at", "another advance is running", "no open task"];
    let text = operation.refused().filter(|_| !operation.was_killed())?;
    let known = EXPECTED.iter().any(|expected| text.contains(expected));
    (!known).then(|| format!("`{}` was refused: {text}", operation.words))
}

fn denial(process: usize, log: &[Operation], document: &EngineState) -> Option<String> {
    let plugin = format!("sup-{process}");
    let (deny, remove) = (format!("deny {plugin}"), format!("deny --remove {plugin}"));
    // The commands whose denial may be on record; `None` for no denial.
    let mut possible: Vec<Option<&Operation>> = vec![None];
    for operation in log {
        let before = possible.clone();
        match (operation.is(&deny), operation.is(&remove)) {
            (true, _) => match operation.done() {
                Some(text) if text.contains("already denied") => possible.retain(Option::is_some),
                Some(_) => possible = vec![Some(operation)],
                None if operation.was_killed() => possible.push(Some(operation)),
                None => {}
            },
            (_, true) => match operation.done() {
                Some(_) => possible = vec![None],
                None if operation.was_killed() => possible.push(None),
                None => possible.retain(Option::is_none),
            },
            _ => {}
        }
        if possible.is_empty() {
            return Some(format!(
                "{plugin}: `{}` met another denial than the one that was acknowledged: {before:?}",
                operation.words
            ));
        }
    }
    let on_record = document.denials.get(&JsString::from(plugin.as_str()));
    let allowed = possible.iter().any(|one| match (one, on_record) {
        (Some(operation), Some(denial)) => operation.spans(&denial.denied_at),
        (None, None) => true,
        _ => false,
    });
    (!allowed).then(|| {
        format!("{plugin}: {on_record:?} is on record, but {possible:?} is what was acknowledged")
    })
}

fn acknowledged(process: usize, log: &[Operation], paths: &Paths) -> Vec<String> {
    let answers = acknowledgements::read(paths).0;
    let mut found = Vec::new();
    for number in 0..EVENTS {
        let event = format!("event-{process}-{number}");
        let words = format!("ack {event}");
        let mut possible: Vec<Option<String>> = vec![None];
        for (at, operation) in log.iter().enumerate().filter(|(_, one)| one.is(&words)) {
            if operation.done().is_some() {
                possible.clear();
            }
            if operation.done().is_some() || operation.was_killed() {
                possible.push(Some(at.to_string()));
            }
        }
        let there = answers.get(&JsString::from(event.as_str()));
        let there = there.map(|answer| answer.acknowledged_at.to_text());
        if !possible.contains(&there) {
            found.push(format!(
                "{event}: {there:?} is on record, but {possible:?} was acknowledged"
            ));
        }
    }
    found
}

fn tasks(process: usize, log: &[Operation], document: &EngineState) -> Vec<String> {
    let mut found = Vec::new();
    let (later, done) = (format!("later-{process}"), format!("done-{process}"));
    let all = |words: String| log.iter().filter(move |one| one.words == words);
    let mut possible: Vec<Option<&Operation>> = vec![None];
    for operation in all(format!("defer {later}")) {
        if operation.done().is_some() {
            possible.clear();
        }
        if operation.done().is_some() || operation.was_killed() {
            possible.push(Some(operation));
        }
    }
    let deferral = document.deferrals.iter().find(|one| one.task_id == *later.as_str());
    let allowed = possible.iter().any(|one| match (one, deferral) {
        (Some(operation), Some(deferral)) => operation.spans(&deferral.deferred_at),
        (None, None) => true,
        _ => false,
    });
    if !allowed {
        found
            .push(format!("{later}: {deferral:?} is on record, but {possible:?} was acknowledged"));
    }
    let finished = || all(format!("done {done}"));
    let completed = document.completed_tasks.iter().filter(|one| one.task_id == *done.as_str());
    let open = document.task_aging.iter().any(|one| one.task_id == *done.as_str());
    let count = completed.count();
    let must = finished().any(|one| one.done().is_some());
    let may = must || finished().any(Operation::was_killed);
    if count > usize::from(may) || count < usize::from(must) || open != (count == 0) {
        found.push(format!("{done}: it is on record as done {count} times, open: {open}"));
    }
    found
}

/// An advance that told what it did, or that was killed.
struct Advance<'a> {
    operation: &'a Operation,
    /// Its run and the plugins it parked; `None` when it was killed.
    report: Option<(JsString, Vec<JsString>)>,
}

/// All advances in the order in which they ended.
fn advances(logs: &[Vec<Operation>]) -> Vec<Advance<'_>> {
    let all = logs.iter().flatten().filter(|one| one.words.starts_with("advance"));
    let mut advances: Vec<Advance<'_>> = all
        .filter(|one| one.was_killed() || one.done().is_some())
        .map(|operation| {
            let report = operation.done().map(|text| {
                let report = parse(text).expect("a report");
                let run_id = report.get("run_id").and_then(Value::as_string).expect("run_id");
                let gated = report.get("gated_plugins").and_then(Value::as_array).expect("gates");
                let gated = gated.iter().filter_map(Value::as_string).cloned().collect();
                (run_id.clone(), gated)
            });
            Advance { operation, report }
        })
        .collect();
    advances.sort_by_key(|advance| advance.operation.end);
    advances
}

/// Whether `run_id` may be the last of the runs that `counts`: the last acknowledged one, or one
/// that was killed later.
fn may_be_last(
    run_id: &JsString,
    advances: &[Advance<'_>],
    counts: impl Fn(&Advance<'_>) -> bool,
) -> bool {
    let mut acknowledged = advances.iter().filter(|one| one.report.is_some());
    if acknowledged.any(|one| one.report.as_ref().is_some_and(|(id, _)| id == run_id)) {
        let last = advances.iter().rev().find(|one| one.report.is_some() && counts(one));
        return last.and_then(|one| one.report.as_ref()).is_some_and(|(id, _)| id == run_id);
    }
    let killed = |one: &&Advance<'_>| one.report.is_none();
    let started = crate::home::run_id::started_at(run_id).map(|at| at.to_iso().into());
    advances
        .iter()
        .filter(killed)
        .any(|one| started.as_ref().is_some_and(|at| one.operation.spans(at)))
}

fn last_run(document: &EngineState, advances: &[Advance<'_>]) -> Option<String> {
    let allowed = match &document.last_run_id {
        None => !advances.iter().any(|one| one.report.is_some()),
        Some(run_id) => may_be_last(run_id, advances, |_| true),
    };
    (!allowed).then(|| {
        format!("{:?} is the last run on record, and was not the last", document.last_run_id)
    })
}

fn gate(
    process: usize,
    log: &[Operation],
    document: &EngineState,
    advances: &[Advance<'_>],
) -> Vec<String> {
    let plugin = JsString::from(format!("sup-{process}"));
    let (deny, approve) = (format!("deny {plugin}"), format!("approve {plugin}"));
    let answered = |words: &str, sentence: &str, run_id: &JsString| {
        let sentence = format!("{sentence} run {run_id}");
        log.iter()
            .rfind(|one| one.is(words) && one.done().is_some_and(|text| text.contains(&sentence)))
    };
    let killed = |words: &str| log.iter().any(|one| one.is(words) && one.was_killed());
    let parks =
        |one: &Advance<'_>| one.report.as_ref().is_some_and(|(_, gated)| gated.contains(&plugin));
    let gates: Vec<_> =
        document.pending_gates.iter().filter(|gate| gate.plugin == plugin).collect();
    let mut found = Vec::new();
    let Some(gate) = gates.last() else {
        let last = advances.iter().rev().find(|one| parks(one));
        let discarded = |(run_id, _): &(JsString, Vec<JsString>)| {
            answered(&deny, "discarded:", run_id).is_some()
        };
        // A killed advance may have parked a result after the last one that told of one.
        let excused = killed(&deny)
            || (advances.iter().any(|one| one.report.is_none())
                && log.iter().any(|one| {
                    one.is(&deny) && one.done().is_some_and(|text| text.contains("discarded:"))
                }));
        if let Some(report) = last.and_then(|one| one.report.as_ref())
            && !discarded(report)
            && !excused
        {
            found.push(format!("{plugin}: the result of run {} is gone unanswered", report.0));
        }
        return found;
    };
    let run_id = &gate.run_id;
    if gates.len() > 1 {
        found.push(format!("{plugin} has {} gates", gates.len()));
    }
    if !may_be_last(run_id, advances, parks) {
        found.push(format!("{plugin}: the result of run {run_id} is not its last"));
    }
    if answered(&deny, "discarded:", run_id).is_some() {
        found.push(format!("{plugin}: the result of run {run_id} was discarded and is back"));
    }
    let allowed = match (&gate.applied_at, answered(&approve, "the parked result of", run_id)) {
        (Some(at), Some(operation)) => operation.spans(at),
        (Some(_), None) => killed(&approve),
        (None, accepted) => accepted.is_none(),
    };
    if !allowed {
        found.push(format!(
            "{plugin}: run {run_id} is accepted at {:?}, against its log",
            gate.applied_at
        ));
    }
    let status = if gate.applied_at.is_some() { RunStatus::Success } else { RunStatus::Gated };
    let run = document.plugin_runs.get(&plugin);
    if !run.is_some_and(|run| {
        run.status == status && gate.run_completed_at.as_ref() == Some(&run.last_run_at)
    }) {
        found.push(format!("{plugin}: its last run {run:?} does not fit its gate"));
    }
    found
}

fn grants(logs: &[Vec<Operation>], paths: &Paths) -> Vec<String> {
    let all = || logs.iter().flatten();
    let revokes: Vec<&Operation> = all().filter(|one| one.is("revoke")).collect();
    let grant = approval::read(paths).as_deref().and_then(Grant::parse_lenient);
    let scopes = match grant.map(|grant| grant.scopes) {
        Some(Scopes::Plugins(names)) => names,
        Some(Scopes::All) => return vec!["everything is granted".into()],
        None => Vec::new(),
    };
    let mut names: Vec<String> = Vec::new();
    for process in 0..logs.len() {
        names.push(format!("sup-{process}"));
        names.extend((0..ACTS).map(|number| format!("act-{process}-{number}")));
    }
    let mut found = Vec::new();
    for name in &names {
        let words = format!("approve {name}");
        let granted =
            |one: &Operation| one.done().is_some_and(|text| text.contains("Approved 1 plugin"));
        let given: Vec<&Operation> =
            all().filter(|one| one.is(&words) && (granted(one) || one.was_killed())).collect();
        let must = given
            .iter()
            .any(|one| granted(one) && revokes.iter().all(|revoke| revoke.end < one.begin));
        let may = given.iter().any(|one| {
            !revokes.iter().any(|revoke| revoke.done().is_some() && one.end < revoke.begin)
        });
        let there = scopes.contains(&JsString::from(name.as_str()));
        if there && !may {
            found.push(format!(
                "{name} is granted, and nobody granted it since the last revocation"
            ));
        }
        if !there && must {
            found.push(format!("{name} was granted and never revoked, and its grant is lost"));
        }
    }
    found
}

/// The grants of a plugin that were given while a denial of it stood, told from the order of events.
fn granted_under_denial(logs: &[Vec<Operation>], paths: &Paths) -> Vec<String> {
    let mut denied: HashSet<JsString> = HashSet::new();
    let mut last_expiry = None;
    let mut found = Vec::new();
    for event in events::read(paths) {
        let metadata = event.metadata_json.as_ref().and_then(JsString::as_str);
        let Some(metadata) = metadata.and_then(|text| parse(text).ok()) else { continue };
        let text = |key: &str| metadata.get(key).and_then(Value::as_string);
        let (kind, plugin) = (text("event").and_then(JsString::as_str), text("plugin"));
        match (kind, plugin) {
            (Some("denial_recorded"), Some(plugin)) => {
                // One that was killed may have left its trace and no denial.
                let words = format!("deny {plugin}");
                let uncertain = |one: &Operation| {
                    one.is(&words) && one.was_killed() && one.spans(&event.timestamp)
                };
                if !logs.iter().flatten().any(uncertain) {
                    denied.insert(plugin.clone());
                }
            }
            (Some("denial_removed"), Some(plugin)) => {
                denied.remove(plugin);
            }
            (Some("grant_merged"), _) => {
                let expiry = text("expires_at").cloned();
                // A later grant of another plugin keeps the expiry.
                if expiry == last_expiry {
                    continue;
                }
                let instant = |text: &JsString| text.as_str().and_then(Instant::parse);
                let lifetime = expiry.as_ref().and_then(instant).zip(instant(&event.timestamp));
                let command = lifetime.and_then(|(end, start)| granting_command(end.since(start)));
                last_expiry = expiry;
                let Some(operation) = command.and_then(|at| logs.first()?.get(at)) else {
                    continue;
                };
                let plugin = operation.words.split(' ').nth(1).map(JsString::from);
                if plugin.is_some_and(|plugin| denied.contains(&plugin)) {
                    found.push(format!("`{}` granted what was denied", operation.words));
                }
            }
            _ => {}
        }
    }
    found
}

/// Every acknowledged answer has its event, and no event is without an answer.
fn traces(logs: &[Vec<Operation>], paths: &Paths) -> Vec<String> {
    let metadata: Vec<String> = events::read(paths)
        .into_iter()
        .filter_map(|event| event.metadata_json.map(|text| text.to_text()))
        .collect();
    let kinds: [(&str, &[&str], &str); 5] = [
        ("grant_merged", &["approve"], "Approved 1 plugin"),
        ("grant_revoked", &["revoke"], "The grant is revoked"),
        ("gate_applied", &["approve"], "recorded the parked result"),
        ("denial_recorded", &["deny sup", "deny both"], ": denied;"),
        ("denial_removed", &["deny --remove"], "is taken back"),
    ];
    let mut found = Vec::new();
    for (event, words, sentence) in kinds {
        let begins = |one: &&Operation| words.iter().any(|word| one.words.starts_with(word));
        let all = || logs.iter().flatten().filter(begins);
        let done =
            all().filter(|one| one.done().is_some_and(|text| text.contains(sentence))).count();
        let killed = all().filter(|one| one.was_killed()).count();
        let named = format!("{{\"event\":\"{event}\"");
        let told = metadata.iter().filter(|text| text.starts_with(&named)).count();
        if !(done..=done + killed).contains(&told) {
            found.push(format!(
                "{done} commands did what {told} events `{event}` tell, {killed} were killed"
            ));
        }
    }
    found
}
