//! What becomes due next: fresh plugins, asked again for the instant at which their run expires.

use std::collections::{HashMap, HashSet};

use crate::cli::fleet::Loaded;
use crate::clock::Instant;
use crate::decide::dueness::{Question, ReasonCode, Verdict, evaluate, locked_plugins};
use crate::decide::{freshness, grant};
use crate::json::JsString;

use super::model::{Covered, Facts, Plan};

/// The plugins that only the age of their last run keeps from being due, with the instant at which
/// it does no longer, the earliest first.
///
/// The guards are those of an advance, at that instant: a grant may have ended by then, a deferred
/// task may be back, and a failed dependency may have become due itself.
pub fn upcoming(loaded: &Loaded, facts: &Facts, plan: &Plan) -> Vec<(Instant, JsString)> {
    let live = grant::live(facts.grant.as_deref(), facts.now);
    let covered = Covered::by(live.as_ref());
    let locked = locked_plugins(&facts.state, facts.now);
    let with_tasks: HashSet<&JsString> =
        facts.state.task_aging.iter().map(|task| &task.source_check).collect();
    let mut due_from: HashMap<&JsString, Instant> =
        plan.due.iter().map(|planned| (&planned.plugin, facts.now)).collect();
    let mut found = Vec::new();
    // The list is ordered by level, so a plugin comes behind what it depends on.
    for (planned, held) in &plan.not_due {
        let name = &planned.plugin;
        let last_run = facts.state.plugin_runs.get(name);
        let (ReasonCode::Fresh, Some(manifest), Some(run)) =
            (held.reason, loaded.manifest(name), last_run)
        else {
            continue;
        };
        let Some(at) = freshness::expires_at(run, manifest.ttl_hours) else { continue };
        let due_by_then =
            |dependency: &&JsString| due_from.get(*dependency).is_some_and(|from| *from <= at);
        let due_before = manifest.dependencies.iter().filter(due_by_then).cloned().collect();
        // A task that is put off now may lock the plugin by then.
        let by_then = with_tasks.contains(name).then(|| locked_plugins(&facts.state, at));
        let verdict = evaluate(&Question {
            plugin: name,
            manifest,
            state: &facts.state,
            locked: by_then.as_ref().unwrap_or(&locked),
            profile: facts.profile,
            tier: plan.tier,
            force: false,
            grant: &|| covered.text_for(name),
            due_at_earlier_level: Some(&due_before),
            now: at,
        });
        if verdict == Verdict::Due {
            due_from.insert(name, at);
            found.push((at, name.clone()));
        }
    }
    found.sort();
    found
}
