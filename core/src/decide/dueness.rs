//! Whether an advance runs a plugin: nine guards in order, the first that applies decides.

use std::collections::HashSet;

use crate::clock::Instant;
use crate::json::{JsString, Map, Value};
use crate::schema::closed_set;
use crate::schema::engine_state::{Denial, EngineState, RunStatus};
use crate::schema::manifest::{AutonomyLevel, Manifest, RunProfile, Schedule, SideEffect, Tier};

use super::denial::{Standing, standing};
use super::freshness::{Freshness, freshness};
use super::{grant, tier};

closed_set! {
    /// Why a plugin is not due, in the order the guards are asked.
    ReasonCode {
        /// The profile does not admit the schedule.
        ProfileSchedule = "profile_schedule",
        /// The operator is too inattentive for the plugin.
        MinTier = "min_tier",
        /// A supervised plugin in an advance that nobody watches.
        HeadlessSupervised = "headless_supervised",
        /// A human starts each run.
        Manual = "manual",
        /// The last run still counts.
        Fresh = "fresh",
        /// A task of the plugin is open.
        TaskLocked = "task_locked",
        /// The last run of a dependency failed.
        DependencyFailed = "dependency_failed",
        /// A human said no to this proposal.
        Denied = "denied",
        /// No live grant covers the declared effects.
        Unapproved = "unapproved",
    }
}

/// What is asked about one plugin.
pub struct Question<'a> {
    /// The directory name, under which everything is looked up.
    pub plugin: &'a JsString,
    /// Its manifest.
    pub manifest: &'a Manifest,
    /// The document as the pass has it now.
    pub state: &'a EngineState,
    /// The plugins that an open task locks; see [`locked_plugins`].
    pub locked: &'a HashSet<JsString>,
    /// The profile of the advance.
    pub profile: Option<RunProfile>,
    /// The tier of the advance.
    pub tier: Tier,
    /// Whether freshness is not asked.
    pub force: bool,
    /// Gives the text of the grant file; called only where the verdict hangs on it.
    pub grant: &'a dyn Fn() -> Option<String>,
    /// In a preview, the plugins that an earlier level found due: their failed runs do not count,
    /// since an advance would have run them again by then.
    pub due_at_earlier_level: Option<&'a HashSet<JsString>>,
    /// The instant of the question.
    pub now: Instant,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// An advance runs the plugin.
    Due,
    /// It does not.
    NotDue(Reason),
}

/// A denial that the proposal has outgrown.
#[derive(Clone, Debug, PartialEq)]
pub struct SupersededDenial {
    /// When it was given, ISO 8601.
    pub denied_at: JsString,
    /// Why, in the words of who denied.
    pub denial_reason: JsString,
}

/// Why a plugin is not due, with the facts.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// [`ReasonCode::ProfileSchedule`]
    ProfileSchedule {
        /// The profile of the advance.
        profile: Option<RunProfile>,
        /// The schedule of the plugin.
        schedule: Schedule,
    },
    /// [`ReasonCode::MinTier`]
    MinTier {
        /// The tier of the advance.
        current: Tier,
        /// The last tier in which the plugin runs.
        min_tier: Tier,
    },
    /// [`ReasonCode::HeadlessSupervised`]
    HeadlessSupervised,
    /// [`ReasonCode::Manual`]
    Manual,
    /// [`ReasonCode::Fresh`]
    Fresh {
        /// Hours that a run of the plugin counts.
        ttl_hours: f64,
    },
    /// [`ReasonCode::TaskLocked`]
    TaskLocked,
    /// [`ReasonCode::DependencyFailed`]
    DependencyFailed {
        /// Those that failed, in manifest order.
        dependencies: Vec<JsString>,
    },
    /// [`ReasonCode::Denied`]
    Denied {
        /// When, ISO 8601.
        denied_at: JsString,
        /// Why, in the words of who denied.
        denial_reason: JsString,
    },
    /// [`ReasonCode::Unapproved`]
    Unapproved {
        /// The declared effects, in manifest order.
        side_effects: Vec<SideEffect>,
        /// The no that does not hold any more.
        superseded_denial: Option<SupersededDenial>,
    },
}

/// Whether a profile considers a schedule. Without one every schedule but `manual` is considered.
pub fn admits(profile: Option<RunProfile>, schedule: Schedule) -> bool {
    match profile {
        None => schedule != Schedule::Manual,
        Some(RunProfile::Daily) => matches!(schedule, Schedule::OnRun | Schedule::Daily),
        Some(RunProfile::Weekly) => schedule != Schedule::Manual,
        Some(RunProfile::Manual) => schedule == Schedule::Manual,
    }
}

/// The plugins that an open task locks: one that is neither completed nor put off.
///
/// Computed once for all questions about a document.
pub fn locked_plugins(state: &EngineState, now: Instant) -> HashSet<JsString> {
    let mut settled = tier::completed(state);
    settled.extend(tier::deferred(state, now));
    let open = state.task_aging.iter().filter(|task| !settled.contains(&task.task_id));
    open.map(|task| task.source_check.clone()).collect()
}

/// Asks the guards in order. Nothing is written, and the grant is read last, if at all.
pub fn evaluate(question: &Question<'_>) -> Verdict {
    match first_reason(question) {
        Some(reason) => Verdict::NotDue(reason),
        None => Verdict::Due,
    }
}

fn first_reason(question: &Question<'_>) -> Option<Reason> {
    let Question { plugin, manifest, state, profile, now, .. } = *question;
    if !admits(profile, manifest.schedule) {
        return Some(Reason::ProfileSchedule { profile, schedule: manifest.schedule });
    }
    if !tier::is_eligible(question.tier, manifest.min_tier) {
        return Some(Reason::MinTier { current: question.tier, min_tier: manifest.min_tier });
    }
    if profile.is_some() && manifest.autonomy_level == AutonomyLevel::Supervised {
        return Some(Reason::HeadlessSupervised);
    }
    if manifest.autonomy_level == AutonomyLevel::Manual {
        return Some(Reason::Manual);
    }
    let (ttl_hours, dependencies) = (manifest.ttl_hours, &manifest.dependencies);
    let last = freshness(plugin, ttl_hours, dependencies, &state.plugin_runs, question.force, now);
    if last.is_fresh() {
        return Some(Reason::Fresh { ttl_hours });
    }
    if question.locked.contains(plugin) {
        return Some(Reason::TaskLocked);
    }
    let failed = failed_dependencies(question);
    if !failed.is_empty() {
        return Some(Reason::DependencyFailed { dependencies: failed });
    }
    let superseded = match standing(plugin, manifest, state) {
        Standing::None => None,
        Standing::Live(Denial { denied_at, reason, .. }) => {
            let (denied_at, denial_reason) = (denied_at.clone(), reason.clone());
            return Some(Reason::Denied { denied_at, denial_reason });
        }
        Standing::Superseded(denial) => Some(denial),
    };
    if manifest.side_effects.is_empty()
        || grant::is_approved((question.grant)().as_deref(), plugin, now)
    {
        return None;
    }
    Some(Reason::Unapproved {
        side_effects: manifest.side_effects.clone(),
        superseded_denial: superseded.map(|denial| SupersededDenial {
            denied_at: denial.denied_at.clone(),
            denial_reason: denial.reason.clone(),
        }),
    })
}

fn failed_dependencies(question: &Question<'_>) -> Vec<JsString> {
    let failed = |name: &&JsString| {
        let run = question.state.plugin_runs.get(*name);
        run.is_some_and(|run| run.status == RunStatus::Failed)
            && !question.due_at_earlier_level.is_some_and(|due| due.contains(*name))
    };
    question.manifest.dependencies.iter().filter(failed).cloned().collect()
}

impl Reason {
    /// The guard that applied.
    pub fn code(&self) -> ReasonCode {
        match self {
            Self::ProfileSchedule { .. } => ReasonCode::ProfileSchedule,
            Self::MinTier { .. } => ReasonCode::MinTier,
            Self::HeadlessSupervised => ReasonCode::HeadlessSupervised,
            Self::Manual => ReasonCode::Manual,
            Self::Fresh { .. } => ReasonCode::Fresh,
            Self::TaskLocked => ReasonCode::TaskLocked,
            Self::DependencyFailed { .. } => ReasonCode::DependencyFailed,
            Self::Denied { .. } => ReasonCode::Denied,
            Self::Unapproved { .. } => ReasonCode::Unapproved,
        }
    }

    /// The reason for a reader, in one line as far as the facts are.
    pub fn detail(&self) -> String {
        match self {
            Self::ProfileSchedule { profile: Some(profile), schedule } => {
                format!("schedule '{schedule}': outside of profile '{profile}'")
            }
            Self::ProfileSchedule { profile: None, schedule } => {
                format!("schedule '{schedule}': waits for profile '{schedule}'")
            }
            Self::MinTier { current, min_tier } => {
                format!("attention tier '{current}' — runs up to tier '{min_tier}'")
            }
            Self::HeadlessSupervised => {
                "supervised — not started under a profile, where nobody watches".into()
            }
            Self::Manual => "manual — started by hand only".into(),
            Self::Fresh { ttl_hours } => {
                format!("fresh — {}", Freshness::WithinTtl.describe(*ttl_hours))
            }
            Self::TaskLocked => "task locked — active on board".into(),
            Self::DependencyFailed { dependencies } => {
                let quoted: Vec<_> = dependencies.iter().map(|name| format!("'{name}'")).collect();
                format!("dependency failed — the last run of {} failed", quoted.join(", "))
            }
            Self::Denied { denied_at, denial_reason } => {
                format!("denied {denied_at}: {denial_reason}")
            }
            Self::Unapproved { side_effects, superseded_denial } => {
                let effects: Vec<_> = side_effects.iter().map(|effect| effect.as_str()).collect();
                let effects = effects.join(", ");
                let mut text = format!("unapproved — side effects [{effects}] are not granted");
                if let Some(denial) = superseded_denial {
                    let denied_at = &denial.denied_at;
                    text += &format!("; denied {denied_at}, but the proposal has changed since");
                }
                text
            }
        }
    }

    /// The facts under their documented keys; an empty object where the code says it all.
    pub fn data(&self) -> Value {
        let mut data = Map::new();
        match self {
            Self::ProfileSchedule { profile, schedule } => {
                data.insert("profile", *profile);
                data.insert("schedule", *schedule);
            }
            Self::MinTier { current, min_tier } => {
                data.insert("current", *current);
                data.insert("min_tier", *min_tier);
            }
            Self::HeadlessSupervised | Self::Manual | Self::Fresh { .. } | Self::TaskLocked => {}
            Self::DependencyFailed { dependencies } => {
                data.insert("dependencies", dependencies.clone());
            }
            Self::Denied { denied_at, denial_reason } => {
                data.insert("denied_at", denied_at);
                data.insert("denial_reason", denial_reason);
            }
            Self::Unapproved { superseded_denial, .. } => {
                let denial = superseded_denial.as_ref().map(|denial| {
                    let mut facts = Map::new();
                    facts.insert("denied_at", &denial.denied_at);
                    facts.insert("denial_reason", &denial.denial_reason);
                    facts
                });
                data.insert("superseded_denial", denial);
            }
        }
        data.into()
    }
}

#[cfg(test)]
mod tests;
