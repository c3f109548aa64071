//! `plan`: what an advance would run now, and why the rest would not. Writes nothing, locks nothing.

mod explain;
mod facts;
mod json;
mod model;
mod render;

pub(super) use render::{can_be_accepted, prospect_text, scopes_text};

pub use explain::{Explanation, Guard, explain};
pub use model::{Facts, GrantLine, Held, Plan, Planned, Waiting, build};

use crate::clock::Instant;
use crate::home::{Paths, approval, preferences, state};
use crate::json::JsString;
use crate::schema::manifest::RunProfile;

use super::context::Context;
use super::fleet::Fleet;
use super::names;

/// What an advance over these files would run now. Writes nothing, locks nothing.
pub async fn plan<F: Fleet>(
    fleet: &F,
    paths: &Paths,
    profile: Option<RunProfile>,
    now: impl FnOnce() -> Instant + Send,
) -> Plan {
    let loaded = fleet.load(&paths.plugins).await;
    build(&loaded, &facts(paths, profile, now()))
}

fn facts(paths: &Paths, profile: Option<RunProfile>, now: Instant) -> Facts {
    let (state, unusable) = state::preview(paths, now);
    let refused = unusable.into_iter().chain(preferences::read(paths).err());
    let refused = refused.map(|error| format!("an advance would be refused: {error}")).collect();
    Facts {
        home: paths.home.clone(),
        plugins_dir: paths.plugins.clone(),
        state,
        refused,
        grant: approval::read(paths),
        profile,
        now,
    }
}

/// Plans, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(
    context: &Context<'_, F>,
    profile: Option<RunProfile>,
    plugin: Option<&JsString>,
    as_json: bool,
) -> i32 {
    if let Some(plugin) = plugin {
        let loaded = context.fleet.load(&context.paths.plugins).await;
        let facts = facts(&context.paths, profile, context.now());
        for sentence in &facts.refused {
            context.note(&format!("note: {sentence}"));
        }
        return match explain(&loaded, &facts, plugin) {
            Some(explanation) => {
                context.report(as_json, || explanation.to_value(), || explanation.to_text());
                0
            }
            None => {
                context.refuse(&names::refusal(&[plugin], &loaded));
                1
            }
        };
    }
    let plan = plan(context.fleet, &context.paths, profile, || context.now()).await;
    context.report(as_json, || plan.to_value(), || plan.to_text());
    i32::from(plan.is_incomplete())
}
