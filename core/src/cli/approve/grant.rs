//! Granting: the grant file is merged, and what the grant now covers is gathered.

use crate::answers::{self, MergeRequest};
use crate::cli::args::Approve;
use crate::cli::context::{Context, Refused};
use crate::cli::fleet::Loaded;
use crate::decide::denial::{Standing, standing};
use crate::home::state;
use crate::json::JsString;
use crate::schema::grant::Scopes;

use super::Named;
use super::report::{Asked, Granted};

/// Grants the named plugins. No denial stands against them.
pub(super) fn named<F>(
    context: &Context<'_, F>,
    options: &Approve,
    named: &[Named<'_>],
) -> Result<Granted, Refused> {
    let mut named: Vec<&Named<'_>> = named.iter().collect();
    named.sort_by_key(|(name, _)| *name);
    let asked = named.into_iter().map(|(name, manifest)| Asked {
        plugin: (*name).clone(),
        side_effects: manifest.side_effects.clone(),
        denied: false,
    });
    merge(context, options, asked.collect(), Vec::new())
}

/// Grants every plugin. Denials stand.
pub(super) fn everything<F>(
    context: &Context<'_, F>,
    options: &Approve,
    loaded: &Loaded,
) -> Result<Granted, Refused> {
    let document = state::load_read_only(&context.paths, context.now());
    let acting = loaded.manifests.iter().filter(|(_, manifest)| !manifest.side_effects.is_empty());
    let asked = acting.map(|(name, manifest)| Asked {
        plugin: name.clone(),
        side_effects: manifest.side_effects.clone(),
        denied: matches!(standing(name, manifest, &document), Standing::Live(_)),
    });
    merge(context, options, asked.collect(), loaded.failures.clone())
}

fn merge<F>(
    context: &Context<'_, F>,
    options: &Approve,
    plugins: Vec<Asked>,
    failures: Vec<(JsString, String)>,
) -> Result<Granted, Refused> {
    let all = options.plugins.is_empty();
    let request = MergeRequest {
        scopes: if all {
            Scopes::All
        } else {
            Scopes::Plugins(plugins.iter().map(|asked| asked.plugin.clone()).collect())
        },
        ttl_ms: options.ttl.map(|ttl| ttl.ms),
        replace: options.replace,
        long: options.long,
    };
    let now = context.now();
    let merged = answers::merge_grant(&context.paths, &request, now)
        .map_err(|error| Refused::from(&error))?;
    Ok(Granted { merged, all, plugins, failures, now })
}
