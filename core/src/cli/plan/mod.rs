//! `plan`: what an advance would run now, and why the rest would not. Writes nothing, locks nothing.

mod explain;
mod facts;
mod json;
mod model;
mod render;

pub(super) use render::scopes_text;

pub use explain::{Explanation, Guard, explain};
pub use model::{Facts, GrantLine, Held, Plan, Planned, Waiting, build};

use crate::home::{approval, preferences, state};
use crate::json::JsString;
use crate::schema::manifest::RunProfile;

use super::context::Context;
use super::fleet::Fleet;
use super::names;

/// Plans, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(
    context: &Context<'_, F>,
    profile: Option<RunProfile>,
    plugin: Option<&JsString>,
    as_json: bool,
) -> i32 {
    let loaded = context.fleet.load(&context.paths.plugins).await;
    let now = context.now();
    let (state, unusable) = state::preview(&context.paths, now);
    let refused = unusable.into_iter().chain(preferences::read(&context.paths).err());
    let refused = refused.map(|error| format!("an advance would be refused: {error}")).collect();
    let facts = Facts {
        home: context.paths.home.clone(),
        plugins_dir: context.paths.plugins.clone(),
        state,
        refused,
        grant: approval::read(&context.paths),
        profile,
        now,
    };
    if let Some(plugin) = plugin {
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
    let plan = build(&loaded, &facts);
    context.report(as_json, || plan.to_value(), || plan.to_text());
    i32::from(plan.is_incomplete())
}
