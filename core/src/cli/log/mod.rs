//! `log`: the runs of a home, one of them, or those to come. Writes nothing, locks nothing.

mod follow;
mod model;
mod render;

use crate::home::history::Catalog;
use crate::home::state;
use crate::json::JsString;

use super::args::Log;
use super::context::{Context, Refused};
use super::exit;
use super::fleet::Fleet;
use super::ids::{Found, Ids};
use super::names;
use super::text;

/// Shows what was asked for, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, options: &Log) -> i32 {
    let shown = match (&options.run, options.follow) {
        (Some(typed), _) => one(context, typed, options.json),
        (None, true) => match known(context, options.plugin.as_ref()).await {
            Ok(()) => {
                return follow::run(context, options.plugin.as_ref(), options.json).await;
            }
            Err(refused) => Err(refused),
        },
        (None, false) => list(context, options).await,
    };
    match shown {
        Ok(()) => exit::DONE,
        Err(refused) => {
            context.refuse(&refused);
            exit::FAILED
        }
    }
}

async fn list<F: Fleet>(context: &Context<'_, F>, options: &Log) -> Result<(), Refused> {
    let plugin = options.plugin.as_ref();
    let recent = model::recent(&context.paths, options.limit, plugin);
    if recent.runs.is_empty() {
        known(context, plugin).await?;
    }
    context.report(
        options.json,
        || render::to_value(&recent.runs),
        || render::list(&recent.runs, plugin, context.now()),
    );
    if let Some(note) = recent.unreadable.note() {
        context.note(&note);
    }
    if recent.more {
        context.note("note: older runs are not shown; `--limit N` shows more");
    }
    Ok(())
}

/// Refuses a plugin that is neither installed nor on record.
async fn known<F: Fleet>(
    context: &Context<'_, F>,
    plugin: Option<&JsString>,
) -> Result<(), Refused> {
    let Some(plugin) = plugin else { return Ok(()) };
    let loaded = context.fleet.load(&context.paths.plugins).await;
    let broken = loaded.failures.iter().any(|(name, _)| name == plugin);
    if loaded.manifest(plugin).is_some() || broken {
        return Ok(());
    }
    let document = state::load_read_only(&context.paths, context.now());
    if document.plugin_runs.contains_key(plugin) {
        return Ok(());
    }
    Err(names::refusal(&[plugin], &loaded))
}

fn one<F>(context: &Context<'_, F>, typed: &JsString, json: bool) -> Result<(), Refused> {
    let paths = &context.paths;
    let id = find(context, typed)?;
    let run = model::one(paths, &id).map_err(|error| Refused::from(&error))?;
    let run = run.ok_or_else(|| nothing(typed))?;
    context.report(
        json,
        || render::to_value(std::slice::from_ref(&run)),
        || run.to_text(context.now()),
    );
    Ok(())
}

/// The run whose id is, or alone begins with, what was typed.
pub(super) fn find<F>(context: &Context<'_, F>, typed: &JsString) -> Result<JsString, Refused> {
    if Catalog::of(&context.paths).ids().any(|id| id == typed) {
        return Ok(typed.clone());
    }
    let ids = model::ids(&context.paths, typed);
    match Ids::of(&ids).find(typed) {
        Found::One(id) => Ok(id.clone()),
        Found::None => Err(nothing(typed)),
        Found::Several(count) => {
            let (typed, runs) = (text::line(typed), text::count(count, "run"));
            Err(Refused::new(format!("`{typed}` is the beginning of {runs}"))
                .hint("type more of the id; `warpline log` shows the ids"))
        }
    }
}

fn nothing(typed: &JsString) -> Refused {
    let typed = text::line(typed);
    Refused::new(format!("no run that is still kept has an id that begins with `{typed}`"))
        .hint("`warpline log` shows the runs; they are kept for 30 days")
}
