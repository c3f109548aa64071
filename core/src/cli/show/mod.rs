//! `show`: what a plugin produced. Writes nothing, locks nothing.

mod render;

use crate::home::history::{self, Catalog, Document};
use crate::home::mention::Mention;
use crate::home::{Paths, state};
use crate::json::JsString;
use crate::schema::manifest::{Manifest, Temporality};
use crate::schema::output::OutputRecord;
use crate::schema::run_log::PluginLogEntry;

use super::context::{Context, Refused};
use super::fleet::Fleet;
use super::{exit, log, names, text};

/// How many versions are listed.
const VERSIONS: usize = 20;

/// What is shown.
struct Shown {
    plugin: JsString,
    /// The run that was asked for.
    run_id: Option<JsString>,
    /// The last Output, or all of the run.
    outputs: Vec<OutputRecord>,
    /// The kept Outputs of the plugin that are versioned, newest first.
    versions: Vec<OutputRecord>,
}

impl Shown {
    /// Whether there is nothing at all of a plugin, rather than of one of its runs.
    fn is_empty(&self) -> bool {
        self.run_id.is_none() && self.outputs.is_empty() && self.versions.is_empty()
    }
}

/// Shows the last Output of a plugin, or those of one run, and returns the exit code.
pub(super) async fn run<F: Fleet>(
    context: &Context<'_, F>,
    plugin: &JsString,
    run: Option<&JsString>,
    json: bool,
) -> i32 {
    let shown = match run {
        Some(typed) => of_run(context, plugin, typed),
        None => last(context, plugin).await,
    };
    match shown {
        Ok(shown) => {
            let paths = &context.paths;
            context.report(json, || shown.to_value(paths), || shown.to_text(paths, context.now()));
            if shown.is_empty() && ran_by_hand(paths, plugin) {
                context.note("hint: a run by hand keeps no Output; an advance does");
            }
            exit::DONE
        }
        Err(refused) => {
            context.refuse(&refused);
            exit::FAILED
        }
    }
}

async fn last<F: Fleet>(context: &Context<'_, F>, plugin: &JsString) -> Result<Shown, Refused> {
    let (document, unusable) = state::preview(&context.paths, context.now());
    if let Some(error) = unusable {
        return Err(Refused::from(&error));
    }
    let loaded = context.fleet.load(&context.paths.plugins).await;
    let run = document.plugin_runs.get(plugin);
    let manifest = loaded.manifest(plugin);
    if run.is_none() && manifest.is_none() {
        return Err(names::refusal(&[plugin], &loaded));
    }
    let versions = manifest.map(|manifest| versions(&context.paths, plugin, manifest));
    Ok(Shown {
        plugin: plugin.clone(),
        run_id: None,
        outputs: run.and_then(|run| run.last_output.clone()).into_iter().collect(),
        versions: versions.unwrap_or_default(),
    })
}

fn ran_by_hand(paths: &Paths, plugin: &JsString) -> bool {
    let is_its = |id: &JsString| match history::read(paths, id) {
        Ok(Some(Document::Direct(artifact))) => artifact.plugin == *plugin,
        _ => false,
    };
    Catalog::of(paths).direct().any(|(_, id)| is_its(id))
}

/// The newest Outputs of a versioned type that run logs still hold.
fn versions(paths: &Paths, plugin: &JsString, manifest: &Manifest) -> Vec<OutputRecord> {
    let declared = manifest.outputs.values();
    let versioned = declared.filter(|output| output.temporality == Temporality::Versioned);
    let types: Vec<&JsString> = versioned.map(|output| &output.kind).collect();
    if types.is_empty() {
        return Vec::new();
    }
    let catalog = Catalog::of(paths);
    let mentions: Vec<Mention> = types.iter().copied().map(Mention::of).collect();
    let logs =
        catalog.advances().filter_map(|(_, id)| match history::read_about(paths, id, &mentions) {
            Ok(Some(Document::Advance(log))) => Some(log),
            _ => None,
        });
    let entries = logs.filter_map(|log| entry_of(log.plugin_entries, plugin));
    let results = entries.filter_map(|entry| entry.result);
    let outputs = results.flat_map(|result| result.artifacts_produced.into_iter().rev());
    outputs.filter(|output| types.contains(&&output.kind)).take(VERSIONS).collect()
}

fn entry_of(entries: Vec<PluginLogEntry>, plugin: &JsString) -> Option<PluginLogEntry> {
    entries.into_iter().find(|entry| entry.plugin == *plugin)
}

fn of_run<F>(
    context: &Context<'_, F>,
    plugin: &JsString,
    typed: &JsString,
) -> Result<Shown, Refused> {
    let id = log::find(context, typed)?;
    let shown = text::line(&id);
    let read = history::read(&context.paths, &id).map_err(|error| Refused::from(&error))?;
    let log = match read {
        Some(Document::Advance(log)) => log,
        Some(Document::Direct(artifact)) => {
            let run = format!("run {shown} was made by hand, and no result of it is kept");
            let transcript = format!("what it printed is in runs/{shown}.log of the home");
            let own = artifact.plugin == *plugin;
            return Err(if own { Refused::new(run).hint(transcript) } else { Refused::new(run) });
        }
        None => {
            return Err(Refused::new(format!("run {shown} is no longer retained"))
                .hint("the daily log still tells of it: `warpline log` with its id"));
        }
    };
    let known: Vec<JsString> = log.plugin_entries.iter().map(|one| one.plugin.clone()).collect();
    let name = text::line(plugin);
    let Some(entry) = entry_of(log.plugin_entries, plugin) else {
        let refused = Refused::new(format!("run {shown} tells nothing of plugin `{name}`"));
        let list = format!("`warpline log {shown}` shows the plugins of the run");
        return Err(refused.hint_near([plugin], &known, &list));
    };
    let Some(result) = entry.result else {
        let status = entry.status;
        let refused =
            Refused::new(format!("run {shown} holds no result of `{name}`: it was {status}"));
        return Err(refused.hint(format!("`warpline log {shown}` tells why")));
    };
    let (plugin, outputs) = (plugin.clone(), result.artifacts_produced);
    Ok(Shown { plugin, run_id: Some(id), outputs, versions: Vec::new() })
}
