//! What each guard looks at, in words, whatever it answers.

use crate::cli::text;
use crate::decide::denial::{Standing, standing};
use crate::decide::dueness::ReasonCode;
use crate::decide::{grant, tier};
use crate::json::{JsString, number_text};
use crate::schema::engine_state::{PluginRun, RunStatus};
use crate::schema::manifest::Manifest;

use super::model::Facts;
use super::render::time_left;

/// The facts that `guard` decides about `plugin` on.
pub(super) fn of(
    guard: ReasonCode,
    facts: &Facts,
    plugin: &JsString,
    manifest: &Manifest,
) -> String {
    let profile = || match facts.profile {
        Some(profile) => format!("profile {profile}"),
        None => "no profile".to_owned(),
    };
    match guard {
        ReasonCode::ProfileSchedule => format!("schedule {}, {}", manifest.schedule, profile()),
        ReasonCode::MinTier => {
            let tier = tier::tier(facts.state.last_interaction_at.as_ref(), facts.now);
            format!("tier {tier}, runs down to {}", manifest.min_tier)
        }
        ReasonCode::HeadlessSupervised => format!("{}, {}", manifest.autonomy_level, profile()),
        ReasonCode::Manual => manifest.autonomy_level.to_string(),
        ReasonCode::Fresh => {
            let ttl = number_text(manifest.ttl_hours);
            format!("{}, ttl {ttl}h", last_run(facts.state.plugin_runs.get(plugin), facts))
        }
        ReasonCode::TaskLocked => {
            let tasks = facts.state.task_aging.iter().filter(|task| task.source_check == *plugin);
            text::count(tasks.count(), "task") + " of this plugin on record"
        }
        ReasonCode::DependencyFailed => dependencies(facts, manifest),
        ReasonCode::Denied => match standing(plugin, manifest, &facts.state) {
            Standing::None => "no denial on record".to_owned(),
            Standing::Live(denial) => denied(&denial.denied_at, facts),
            Standing::Superseded(denial) => {
                denied(&denial.denied_at, facts) + ", for another proposal"
            }
        },
        ReasonCode::Unapproved => {
            let effects = text::effects(&manifest.side_effects);
            let live = grant::live(facts.grant.as_deref(), facts.now);
            let covers = grant::is_approved(facts.grant.as_deref(), plugin, facts.now);
            match live.filter(|_| covers) {
                None => format!("declared side effects: {effects}; no grant covers them"),
                Some(grant) => {
                    let left = time_left(&grant, facts.now).unwrap_or_default();
                    format!(
                        "declared side effects: {effects}; granted, {} remaining",
                        text::span(left)
                    )
                }
            }
        }
    }
}

/// Facts are told in JSON too, where no local time may stand.
fn denied(at: &JsString, facts: &Facts) -> String {
    format!(
        "denied {}",
        text::ago(at, facts.now).unwrap_or_else(|| "at an unknown time".to_owned())
    )
}

fn last_run(run: Option<&PluginRun>, facts: &Facts) -> String {
    match run {
        None => "never ran".to_owned(),
        Some(run) => match text::ago(&run.last_run_at, facts.now) {
            Some(ago) if run.status == RunStatus::Failed => format!("last run {ago}, failed"),
            Some(ago) => format!("last run {ago}"),
            None => "last run at a time that cannot be read".to_owned(),
        },
    }
}

fn dependencies(facts: &Facts, manifest: &Manifest) -> String {
    if manifest.dependencies.is_empty() {
        return "no dependencies".to_owned();
    }
    let told = manifest.dependencies.iter().map(|name| {
        let run = facts.state.plugin_runs.get(name);
        let status = run.map_or("never ran", |run| run.status.as_str());
        format!("{} {status}", text::line(name))
    });
    told.collect::<Vec<_>>().join(", ")
}
