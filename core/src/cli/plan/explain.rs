//! Every guard's answer for one plugin.
//!
//! The evaluator stops at the first guard that holds a plugin back. Each guard that did is then
//! taken out of the way (the schedule admitted, the run forced, the denial lifted) and the same
//! evaluator asked again, so that an explanation can never disagree with an advance.

use std::collections::HashSet;
use std::fmt::Write;

use crate::cli::fleet::Loaded;
use crate::cli::{paint, text};
use crate::decide::dueness::{Question, ReasonCode, Verdict, evaluate, locked_plugins};
use crate::decide::tier;
use crate::json::{JsString, Map, Value};
use crate::schema::engine_state::RunStatus;
use crate::schema::manifest::{AutonomyLevel, Manifest, RunProfile, Schedule, Tier};

use super::model::{Facts, Held, build};
use super::render::held_text;

/// What each guard says about a plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The directory name.
    pub plugin: JsString,
    /// Its level; `None` on or behind a cycle, where no guard is asked.
    pub level: Option<usize>,
    /// Why no guard is asked.
    pub failure: Option<String>,
    /// The guards in the order an advance asks them.
    pub guards: Vec<Guard>,
    now: crate::clock::Instant,
}

/// One guard's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The guard.
    pub code: ReasonCode,
    /// What it looked at.
    pub facts: String,
    /// How it holds the plugin back, if it does.
    pub held: Option<Held>,
}

/// Asks every guard about one plugin; `None` when it is not among the loaded ones.
pub fn explain(loaded: &Loaded, facts: &Facts, plugin: &JsString) -> Option<Explanation> {
    let manifest = loaded.manifest(plugin)?;
    let plan = build(loaded, facts);
    let everyone = plan.due.iter().chain(plan.not_due.iter().map(|(planned, _)| planned));
    let level = everyone.clone().find(|other| other.plugin == *plugin).map(|own| own.level);
    let failure = plan.failures.iter().find(|(name, _)| name == plugin);
    let due_before: HashSet<JsString> = plan
        .due
        .iter()
        .filter(|other| level.is_some_and(|level| other.level < level))
        .map(|other| other.plugin.clone())
        .collect();
    let guards = match level {
        Some(_) => ask_all(facts, plugin, manifest, &due_before),
        None => Vec::new(),
    };
    Some(Explanation {
        plugin: plugin.clone(),
        level,
        failure: failure.map(|(_, error)| error.clone()),
        guards,
        now: facts.now,
    })
}

fn ask_all(
    facts: &Facts,
    plugin: &JsString,
    manifest: &Manifest,
    due_before: &HashSet<JsString>,
) -> Vec<Guard> {
    let declared = manifest;
    let mut manifest = manifest.clone();
    let mut state = facts.state.clone();
    let mut locked = locked_plugins(&state, facts.now);
    let mut force = false;
    let last_run_at = state.plugin_runs.get(plugin).map(|run| run.last_run_at.clone());
    let tier = tier::tier(state.last_interaction_at.as_ref(), facts.now);
    let mut holds: Vec<(ReasonCode, Held)> = Vec::new();
    let last_run = facts.state.plugin_runs.get(plugin);
    let last_run_failed = last_run.is_some_and(|run| run.status == RunStatus::Failed);
    // One question more than there are guards, in case the last one holds.
    for _ in 0..=ReasonCode::ALL.len() {
        let verdict = evaluate(&Question {
            plugin,
            manifest: &manifest,
            state: &state,
            locked: &locked,
            profile: facts.profile,
            tier,
            force,
            grant: &|| facts.grant.clone(),
            due_at_earlier_level: Some(due_before),
            now: facts.now,
        });
        let Verdict::NotDue(reason) = verdict else { break };
        let code = reason.code();
        match code {
            ReasonCode::ProfileSchedule => manifest.schedule = admitted(facts.profile),
            ReasonCode::MinTier => manifest.min_tier = Tier::Suspended,
            ReasonCode::HeadlessSupervised | ReasonCode::Manual => {
                manifest.autonomy_level = AutonomyLevel::Autonomous;
            }
            ReasonCode::Fresh => force = true,
            ReasonCode::TaskLocked => locked.clear(),
            ReasonCode::DependencyFailed => manifest.dependencies.clear(),
            ReasonCode::Denied => state.denials.clear(),
            ReasonCode::Unapproved => manifest.side_effects.clear(),
        }
        let (detail, data) = (reason.detail(), reason.data());
        let last_run_at = last_run_at.clone();
        holds.push((code, Held { reason: code, detail, data, last_run_at, last_run_failed }));
    }
    let held = |code: ReasonCode| {
        holds.iter().find(|(other, _)| *other == code).map(|(_, held)| held.clone())
    };
    let guard = |code: &ReasonCode| Guard {
        code: *code,
        facts: super::facts::of(*code, facts, plugin, declared),
        held: held(*code),
    };
    ReasonCode::ALL.iter().map(guard).collect()
}

/// A schedule that the profile admits.
fn admitted(profile: Option<RunProfile>) -> Schedule {
    match profile {
        Some(RunProfile::Manual) => Schedule::Manual,
        None | Some(RunProfile::Daily | RunProfile::Weekly) => Schedule::OnRun,
    }
}

impl Explanation {
    /// Whether an advance would run the plugin.
    pub fn is_due(&self) -> bool {
        self.level.is_some() && self.first().is_none()
    }

    fn first(&self) -> Option<&Held> {
        self.guards.iter().find_map(|guard| guard.held.as_ref())
    }

    /// `{plugin, level, due, failure, guards: [{guard, holds, detail, data, facts}]}`.
    pub fn to_value(&self) -> Value {
        let guards = self.guards.iter().map(|Guard { code, facts, held }| {
            let mut map = Map::new();
            map.insert("guard", *code);
            map.insert("holds", held.is_some());
            map.insert("detail", held.as_ref().map(|held| held.detail.clone()));
            map.insert("data", held.as_ref().map(|held| held.data.clone()));
            map.insert("facts", facts.as_str());
            Value::from(map)
        });
        let guards: Vec<Value> = guards.collect();
        let mut map = Map::new();
        map.insert("plugin", &self.plugin);
        map.insert("level", self.level.map(super::json::number));
        map.insert("due", self.is_due());
        map.insert("failure", self.failure.clone());
        map.insert("guards", guards);
        map.into()
    }

    /// One line for the plugin and one for each guard, with its verdict and what it decided on.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let name = text::line(&self.plugin);
        // Writing to a string cannot fail.
        _ = match (self.level, self.first(), &self.failure) {
            (Some(level), None, _) => writeln!(out, "{name} (level {level}): due"),
            (Some(level), Some(held), _) => {
                writeln!(out, "{name} (level {level}): not due, {} decides", held.reason)
            }
            (None, _, failure) => {
                let failure = failure.as_deref().unwrap_or("it cannot be placed");
                writeln!(out, "{name}: cannot be considered: {}", text::line_str(failure))
            }
        };
        for Guard { code, facts, held } in &self.guards {
            let answer = match held {
                Some(held) => format!("{} {}", paint::waits("✗"), held_text(held, self.now)),
                None => format!("{} {facts}", paint::ok("✓")),
            };
            _ = writeln!(out, "  {code:<20}{answer}");
        }
        out
    }
}
