//! `init`: a home in which the first advance can run. A second time it changes nothing.

use std::path::Path;

use crate::error::Result;
use crate::home::config::{Stored, path, read, schema_path};
use crate::home::setup::{self, Outcome};
use crate::json::{JsString, Map, Value, parse};
use crate::schema::manifest::{InputType, Manifest};
use crate::schema::settings;

use super::configure::report::missing_line;
use super::configure::{Stop, ask};
use super::context::{Context, path_text};
use super::fleet::Fleet;
use super::preparation::Preparation;
use super::{exit, names};

/// Prepares the home, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, json: bool) -> i32 {
    let done = Preparation::new(context, json);
    let mut report = Report { done, seed: None, config: None, missing_inputs: Vec::new() };
    match prepare(&mut report).await {
        Ok(code) => code,
        Err(stop) => stop.tell(context),
    }
}

async fn prepare<F: Fleet>(report: &mut Report<'_, F>) -> Result<i32, Stop> {
    let context = report.done.context;
    let (paths, package) = (&context.paths, &context.io.package);
    report.done.home()?;
    let name = package.seed.as_ref().and_then(|seed| Some(seed.file_name()?.to_str()?.to_owned()));
    if let (Some(seed), Some(name)) = (&package.seed, name) {
        let target = paths.plugins.join(&name);
        report.done.tell(copy(seed, &target)?, &target);
        let name = JsString::from(name);
        let loaded = context.fleet.load(&paths.plugins).await;
        match loaded.manifest(&name) {
            Some(manifest) => configure(report, name, manifest).await?,
            None => {
                context.refuse(&names::refusal(&[&name], &loaded));
                return Ok(exit::FAILED);
            }
        }
    }
    let home = path_text(&paths.home);
    let ready = || format!("{home} is ready; `warpline plan` shows what is due\n");
    context.report(report.done.json, || report.to_value(), ready);
    Ok(exit::DONE)
}

fn copy(seed: &Path, target: &Path) -> Result<Outcome> {
    // The seed is not even looked at where its place is taken.
    if setup::is_taken(target) {
        return Ok(Outcome::Kept);
    }
    setup::new_plugin(target, &setup::plugin_files(seed)?)
}

/// Writes the seed's configuration where there is none: what a person at a terminal answers, else the
/// defaults.
async fn configure<F>(
    report: &mut Report<'_, F>,
    plugin: JsString,
    manifest: &Manifest,
) -> Result<(), Stop> {
    let context = report.done.context;
    let (path, text) = (path(&context.paths, &plugin)?, read(&context.paths, &plugin)?);
    let values = if let Some(text) = text {
        report.done.tell(Outcome::Kept, &path);
        // One that cannot be read is told of by whatever needs it.
        parse(&text).ok().and_then(|file| file.as_object().cloned()).unwrap_or_default()
    } else {
        let none = Map::new();
        let chosen = if context.io.input.is_terminal() && !report.done.json {
            ask::walk(context, manifest, &none).await?
        } else {
            let default = |(name, input)| Some((name, settings::proposal(name, input, &none)?));
            let defaults = settings::askable(manifest).filter_map(default);
            defaults.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let values = settings::arranged(manifest, &chosen, &none);
        let stored = Stored::read(&context.paths, &plugin)?;
        stored.replace(&context.paths, context.now(), values.clone())?;
        report.done.tell(Outcome::Created, &path);
        values
    };
    let schema = schema_path(&context.paths, &plugin)?;
    let text = settings::json_schema_text(manifest);
    report.done.tell(setup::missing_file(&context.paths.home, &schema, &text)?, &schema);
    for (input, kind) in settings::missing(manifest, &values) {
        if !report.done.json {
            context.say(&missing_line(&path, &plugin, input, kind));
        }
        report.missing_inputs.push((input.clone(), kind));
    }
    report.config = Some(report.done.relative(&path));
    report.seed = Some(plugin);
    Ok(())
}

/// What was done, and for which plugin.
struct Report<'a, F> {
    done: Preparation<'a, F>,
    seed: Option<JsString>,
    config: Option<String>,
    missing_inputs: Vec<(JsString, InputType)>,
}

impl<F> Report<'_, F> {
    /// `{home, created, mended, unchanged, left_alone, seed, config, missing_inputs}`.
    fn to_value(&self) -> Value {
        let missing = self.missing_inputs.iter().map(|(name, kind)| {
            Value::from(Map::from_iter([("name", Value::from(name)), ("type", (*kind).into())]))
        });
        let mut map = self.done.to_map();
        map.insert("seed", self.seed.clone());
        map.insert("config", self.config.clone());
        map.insert("missing_inputs", missing.collect::<Vec<_>>());
        map.into()
    }
}
