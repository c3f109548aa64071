//! `plan`: what an advance would run now, and why the rest would not. Writes nothing, locks nothing.

mod explain;
mod facts;
mod json;
mod model;
mod render;
mod upcoming;

pub(super) use render::{can_be_accepted, grant_line, prospect_text, scopes_text};

pub use explain::{Explanation, Guard, explain};
pub use model::{Facts, GrantLine, Held, Plan, Planned, Waiting, build};
pub use upcoming::upcoming;

use crate::clock::Instant;
use crate::decide::quiet::is_quiet;
use crate::home::{Paths, approval, preferences, state};
use crate::json::JsString;
use crate::schema::manifest::RunProfile;
use crate::schema::preferences::Preferences;

use super::context::{Context, path_text};
use super::fleet::{Fleet, Loaded};
use super::names;

/// What may be done to know a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manifests {
    /// One that is no literal is run.
    Run,
    /// One that is no literal is a plugin that does not load.
    ReadOnly,
}

async fn load<F: Fleet>(fleet: &F, paths: &Paths, manifests: Manifests) -> Loaded {
    match manifests {
        Manifests::Run => fleet.load(&paths.plugins).await,
        Manifests::ReadOnly => fleet.read(&paths.plugins).await,
    }
}

/// What an advance over these files would run now. Writes nothing, locks nothing.
pub async fn plan<F: Fleet>(
    fleet: &F,
    paths: &Paths,
    profile: Option<RunProfile>,
    manifests: Manifests,
    now: impl FnOnce() -> Instant + Send,
) -> Plan {
    let loaded = load(fleet, paths, manifests).await;
    build(&loaded, &facts(paths, profile, now()))
}

/// What an advance over these files would go by.
pub(super) fn facts(paths: &Paths, profile: Option<RunProfile>, now: Instant) -> Facts {
    let (state, unusable) = state::preview(paths, now);
    let (preferences, misread) = match preferences::read(paths) {
        Ok(preferences) => (preferences, None),
        Err(error) => (Preferences::default(), Some(error)),
    };
    let refused = unusable.into_iter().chain(misread);
    let refused = refused.map(|error| format!("an advance would be refused: {error}"));
    let quiet = preferences.quiet_hours;
    let quiet = quiet.filter(|_| is_quiet(quiet, now.local_minute())).map(|window| {
        format!("quiet hours from {window} by preferences.json: an advance without `--force` runs nothing now")
    });
    let grant = approval::is_unusable(paths).then(|| {
        let path = path_text(&paths.approval);
        format!("{path} is no grant that can be read, so nothing is granted; the next approval replaces it")
    });
    Facts {
        home: paths.home.clone(),
        plugins_dir: paths.plugins.clone(),
        state,
        refused: refused.chain(quiet).chain(grant).collect(),
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
    manifests: Manifests,
    as_json: bool,
) -> i32 {
    if let Some(plugin) = plugin {
        let loaded = load(context.fleet, &context.paths, manifests).await;
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
    let plan = plan(context.fleet, &context.paths, profile, manifests, || context.now()).await;
    context.report(as_json, || plan.to_value(), || plan.to_text());
    i32::from(plan.is_incomplete())
}
