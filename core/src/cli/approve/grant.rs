//! Granting: the grant file is merged, and what the grant now covers is told.

use crate::answers::{self, MergeRequest, Merged};
use crate::cli::args::Approve;
use crate::cli::context::{Context, Refused};
use crate::cli::fleet::Loaded;
use crate::cli::plan::scopes_text;
use crate::cli::{exit, names, text};
use crate::clock::Instant;
use crate::decide::denial::{Standing, standing};
use crate::home::state;
use crate::schema::grant::Scopes;

use super::Named;

/// Grants the named plugins. No denial stands against them.
pub(super) fn named<F>(
    context: &Context<'_, F>,
    options: &Approve,
    named: &[Named<'_>],
) -> Result<i32, Refused> {
    let mut scopes: Vec<_> = named.iter().map(|(name, _)| (*name).clone()).collect();
    scopes.sort();
    let approved = format!(
        "Approved {}: {}",
        text::count(scopes.len(), "plugin"),
        scopes.iter().map(text::line).collect::<Vec<_>>().join(", ")
    );
    let merged = merge(context, options, Scopes::Plugins(scopes))?;
    context.say(&approved);
    let mut named: Vec<&Named<'_>> = named.iter().collect();
    named.sort_by_key(|(name, _)| *name);
    for (name, manifest) in named {
        if manifest.side_effects.is_empty() {
            context.say(&format!(
                "  {} declares no side effects and needs no grant",
                text::line(name)
            ));
        } else {
            context.say(&format!(
                "  {}: {}",
                text::line(name),
                text::effects(&manifest.side_effects)
            ));
        }
    }
    tell(context, &merged);
    Ok(exit::DONE)
}

/// Grants every plugin, and says what that covers first. Denials stand.
pub(super) fn everything<F>(
    context: &Context<'_, F>,
    options: &Approve,
    loaded: &Loaded,
) -> Result<i32, Refused> {
    let document = state::load_read_only(&context.paths, context.now());
    let acting = loaded.manifests.iter().filter(|(_, manifest)| !manifest.side_effects.is_empty());
    let (denied, covered): (Vec<_>, Vec<_>) = acting.partition(|(name, manifest)| {
        matches!(standing(name, manifest, &document), Standing::Live(_))
    });
    let effects = covered.iter().map(|(_, manifest)| manifest.side_effects.len()).sum();
    context.say(&format!(
        "Blanket approval: {} with {}, and every plugin added while it lasts",
        text::count(covered.len(), "plugin"),
        text::count(effects, "declared side effect")
    ));
    for (name, manifest) in covered {
        context.say(&format!("  {}: {}", text::line(name), text::effects(&manifest.side_effects)));
    }
    for (name, _) in denied {
        context.say(&format!(
            "  {} stays denied; `warpline deny --remove {}` takes that back",
            text::line(name),
            text::word(name)
        ));
    }
    if !loaded.failures.is_empty() {
        let broken = names::list(loaded.failures.iter().map(|(name, _)| name));
        context.say(&format!("  not counted because it does not load: {broken}"));
    }
    let merged = merge(context, options, Scopes::All)?;
    tell(context, &merged);
    Ok(exit::DONE)
}

fn merge<F>(
    context: &Context<'_, F>,
    options: &Approve,
    scopes: Scopes,
) -> Result<Merged, Refused> {
    let request = MergeRequest {
        scopes,
        ttl_ms: options.ttl.map(|ttl| ttl.ms),
        replace: options.replace,
        long: options.long,
    };
    answers::merge_grant(&context.paths, &request, context.now())
        .map_err(|error| Refused::from(&error))
}

/// Tells what the grant file now says.
fn tell<F>(context: &Context<'_, F>, merged: &Merged) {
    let (grant, now) = (&merged.grant, context.now());
    let expiry = grant.expires_at.as_str().and_then(Instant::parse);
    let left = expiry.map_or(0, |expiry| expiry.since(now));
    context.say(&format!(
        "Grant: {} — {} remaining, until {}",
        scopes_text(&grant.scopes),
        text::span(left),
        text::line(&grant.expires_at)
    ));
    if merged.capped {
        context.say("  capped at 23 hours from the first approval; `--long` lifts the cap");
    }
    if merged.extended {
        context.say(
            "  this outlasts 23 hours from the first approval; `warpline revoke` ends it early",
        );
    }
}
