//! What a grant covers: of the named plugins, or of all, which is told before it is given.

use crate::answers::{self, MergeRequest, Merged};
use crate::cli::args::Approve;
use crate::cli::context::{Context, Refused};
use crate::cli::fleet::Loaded;
use crate::clock::Instant;
use crate::decide::denial::{Standing, standing};
use crate::home::state;
use crate::schema::grant::Scopes;

use super::Named;
use super::report::{Asked, Coverage, Granted};

/// The grant that the named plugins were given. No denial stands against them.
pub(super) fn named(named: &[Named<'_>], merged: Merged, now: Instant) -> Granted {
    let mut named: Vec<&Named<'_>> = named.iter().collect();
    named.sort_by_key(|(name, _)| *name);
    let asked = named.into_iter().map(|(name, manifest)| Asked {
        plugin: (*name).clone(),
        side_effects: manifest.side_effects.clone(),
        denied: false,
    });
    let coverage = Coverage { all: false, plugins: asked.collect(), failures: Vec::new() };
    Granted { merged, coverage, now }
}

/// Grants every plugin, after a reader was told how much that is. Denials stand.
pub(super) fn everything<F>(
    context: &Context<'_, F>,
    options: &Approve,
    loaded: &Loaded,
) -> Result<Granted, Refused> {
    let now = context.now();
    let document = state::load_read_only(&context.paths, now);
    let acting = loaded.manifests.iter().filter(|(_, manifest)| !manifest.side_effects.is_empty());
    let asked = acting.map(|(name, manifest)| Asked {
        plugin: name.clone(),
        side_effects: manifest.side_effects.clone(),
        denied: matches!(standing(name, manifest, &document), Standing::Live(_)),
    });
    let failures = loaded.failures.clone();
    let coverage = Coverage { all: true, plugins: asked.collect(), failures };
    if !options.json {
        context.io.out.write(&coverage.to_text());
    }
    let request = MergeRequest {
        scopes: Scopes::All,
        ttl_ms: options.ttl.map(|ttl| ttl.ms),
        replace: options.replace,
        long: options.long,
    };
    let merged = answers::merge_grant(&context.paths, &request, now);
    let merged = merged.map_err(|error| Refused::from(&error))?;
    Ok(Granted { merged, coverage, now })
}
