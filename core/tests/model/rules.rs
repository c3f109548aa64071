//! The rules of the contract, in the plainest words there are: whether a plugin is due, and why not.

use std::collections::{BTreeMap, BTreeSet};

use crate::step::Facts;
use crate::world::{Denial, Document, Gate, Grant, Scopes};

pub const MINUTE: i64 = 60_000;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

/// Neither a grant window nor a parked result outlives this.
pub const CEILING: i64 = 23 * HOUR;

/// Why a plugin is not due, with what a plan tells about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    pub code: &'static str,
    pub told: String,
}

fn because(code: &'static str, told: impl Into<String>) -> Option<Reason> {
    Some(Reason { code, told: told.into() })
}

/// What one plugin is judged by.
pub struct Case<'a> {
    pub name: &'a str,
    pub facts: &'a Facts,
    pub document: &'a Document,
    /// Plugins with an open task.
    pub locked: &'a BTreeSet<String>,
    pub profile: Option<&'a str>,
    pub tier: &'static str,
    pub force: bool,
    pub grant: Option<&'a Grant>,
    /// In a plan: what is due before it. Empty in an advance.
    pub due_before: &'a BTreeSet<String>,
    pub now: i64,
}

/// The nine guards, in order. `None` is due.
pub fn why_not(case: &Case<'_>) -> Option<Reason> {
    let Case { name, facts, document, now, .. } = *case;
    let run_at = |name: &str| document.runs.get(name).map(|run| run.at);

    let admitted: &[&str] = match case.profile {
        Some("daily") => &["on_run", "daily"],
        Some("manual") => &["manual"],
        Some("weekly") | None => &["on_run", "daily", "weekly"],
        Some(other) => panic!("no profile {other}"),
    };
    if !admitted.contains(&facts.schedule.as_str()) {
        return because("profile_schedule", facts.schedule.as_str());
    }
    if rank(case.tier) > rank(&facts.min_tier) {
        return because("min_tier", format!("{} {}", case.tier, facts.min_tier));
    }
    if case.profile.is_some() && facts.autonomy == "supervised" {
        return because("headless_supervised", "");
    }
    if facts.autonomy == "manual" {
        return because("manual", "");
    }
    if let Some(last) = run_at(name)
        && !case.force
    {
        let overtaken = facts.deps.iter().any(|dep| run_at(dep).is_some_and(|at| at > last));
        if !overtaken && now - last < facts.ttl_ms {
            return because("fresh", "");
        }
    }
    if case.locked.contains(name) {
        return because("task_locked", "");
    }
    let failed = |dep: &&String| {
        document.runs.get(*dep).is_some_and(|run| run.status == "failed")
            && !case.due_before.contains(*dep)
    };
    let failed: Vec<&str> = facts.deps.iter().filter(failed).map(String::as_str).collect();
    if !failed.is_empty() {
        return because("dependency_failed", failed.join(","));
    }
    let denial = document.denials.get(name);
    if let Some(denial) = denial
        && stands(denial, name, facts, document)
    {
        return because("denied", denial.at.to_string());
    }
    if !facts.effects.is_empty() && !covers(case.grant, name, now) {
        let superseded = denial.map_or(String::new(), |denial| denial.at.to_string());
        return because("unapproved", superseded);
    }
    None
}

fn rank(tier: &str) -> usize {
    let tiers = ["normal", "degraded", "extended", "suspended"];
    tiers.iter().position(|one| *one == tier).expect("a tier")
}

pub fn tier(last_interaction: Option<i64>, now: i64) -> &'static str {
    let idle = last_interaction.map_or(0, |last| now - last);
    match () {
        () if idle >= 14 * DAY => "suspended",
        () if idle >= 7 * DAY => "extended",
        () if idle >= 2 * DAY => "degraded",
        () => "normal",
    }
}

/// Whether a grant lets a plugin with effects run. Only the word itself grants everything.
pub fn covers(grant: Option<&Grant>, name: &str, now: i64) -> bool {
    grant.is_some_and(|grant| {
        now <= grant.expires
            && match &grant.scopes {
                Scopes::Everything => true,
                Scopes::Names(names) => names.contains(name),
            }
    })
}

/// What a denial answers: the plugin with its effects, in any order, and its last Output.
pub fn proposal(
    name: &str,
    facts: &Facts,
    document: &Document,
) -> (BTreeSet<String>, Option<String>) {
    let output = document.runs.get(name).and_then(|run| run.output.clone());
    (facts.effects.iter().cloned().collect(), output)
}

/// Whether a denial still answers what is proposed.
pub fn stands(denial: &Denial, name: &str, facts: &Facts, document: &Document) -> bool {
    denial.proposal == proposal(name, facts, document)
}

/// A grant after a yes to `scopes`: added to a live window, or a new window.
pub fn merge(
    old: Option<&Grant>,
    scopes: &Scopes,
    ttl: Option<i64>,
    replace: bool,
    long: bool,
    now: i64,
) -> Grant {
    let asked = now + ttl.unwrap_or(4 * HOUR);
    let live = old.filter(|grant| now <= grant.expires);
    let Some(live) = live else {
        let expires = if long { asked } else { asked.min(now + CEILING) };
        return Grant { granted: now, first: now, expires, scopes: scopes.clone() };
    };
    // What is held already is never shortened, unless the operator replaces it.
    let wanted = match (replace, ttl) {
        (true, _) => asked,
        (false, None) => live.expires,
        (false, Some(_)) => asked.max(live.expires),
    };
    let ceiling = (live.first + CEILING).max(live.expires);
    let expires = if long { wanted } else { wanted.min(ceiling) };
    let scopes = match (&live.scopes, scopes) {
        _ if replace => scopes.clone(),
        (Scopes::Names(old), Scopes::Names(new)) => {
            Scopes::Names(old.union(new).cloned().collect())
        }
        _ => Scopes::Everything,
    };
    Grant { granted: now, first: live.first, expires, scopes }
}

/// Why a parked result cannot be accepted any more.
pub fn spoiled(gate: &Gate, facts: &Facts, document: &Document, now: i64) -> bool {
    let moved = |dep: &String| document.runs.get(dep).is_some_and(|run| run.at > gate.started);
    let expired = now - gate.completed > facts.ttl_ms.min(CEILING);
    facts.deps.iter().any(moved) || expired
}

/// Whether a pass keeps a gate that was there before: an accepted one ages from its acceptance.
pub fn kept(gate: &Gate, now: i64) -> bool {
    now - gate.applied.unwrap_or(gate.completed) < CEILING
}

/// The plugins by level, and those that a cycle keeps from having one.
pub fn levels(roster: &BTreeMap<&String, &Facts>) -> (Vec<Vec<String>>, BTreeSet<String>) {
    let mut placed: BTreeSet<&String> = BTreeSet::new();
    let mut levels = Vec::new();
    loop {
        let waits = |dep: &String| roster.contains_key(dep) && !placed.contains(dep);
        let ready =
            |name: &&&String| !placed.contains(**name) && !roster[**name].deps.iter().any(waits);
        let level: Vec<&String> = roster.keys().filter(ready).copied().collect();
        if level.is_empty() {
            break;
        }
        levels.push(level.iter().map(|name| (*name).clone()).collect());
        placed.extend(level);
    }
    let rest = roster.keys().filter(|name| !placed.contains(**name));
    (levels, rest.map(|name| (*name).clone()).collect())
}

/// The local minute of the day, five and a half hours east of Greenwich as the tests' zone is.
pub fn local_minute(now: i64) -> i64 {
    (now + 330 * MINUTE).rem_euclid(DAY) / MINUTE
}

pub fn is_quiet(window: Option<(i64, i64)>, minute: i64) -> bool {
    match window {
        None => false,
        Some((start, end)) if start == end => false,
        Some((start, end)) if start < end => start <= minute && minute < end,
        Some((start, end)) => start <= minute || minute < end,
    }
}
