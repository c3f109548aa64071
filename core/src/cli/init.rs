//! `init`: a home in which the first advance can run. A second time it changes nothing.

use std::path::Path;

use crate::error::Result;
use crate::home::setup::{self, Outcome};
use crate::json::JsString;
use crate::schema::manifest::Manifest;

use super::context::{Context, path_text};
use super::fleet::Fleet;
use super::{names, text};

/// Prepares the home, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>) -> i32 {
    match prepare(context).await {
        Ok(code) => code,
        Err(error) => context.fail(&error),
    }
}

async fn prepare<F: Fleet>(context: &Context<'_, F>) -> Result<i32> {
    let paths = &context.paths;
    let state = paths.state_file.parent().unwrap_or(&paths.home);
    for directory in [&paths.home, &paths.plugins, &paths.config_dir, state] {
        let outcome = setup::directory(directory)?;
        tell(context, outcome, directory);
    }
    let file = paths.home.join("package.json");
    tell(context, setup::package_json(&paths.home)?, &file);
    let package = &context.io.package;
    if let Some(directory) = &package.directory {
        let link = paths.home.join("node_modules").join("warpline");
        tell(context, setup::package_link(&paths.home, directory)?, &link);
    }
    let name = package.seed.as_ref().and_then(|seed| Some(seed.file_name()?.to_str()?.to_owned()));
    if let (Some(seed), Some(name)) = (&package.seed, name) {
        let target = paths.plugins.join(&name);
        tell(context, setup::copy_plugin(seed, &target)?, &target);
        let name = JsString::from(name);
        let loaded = context.fleet.load(&paths.plugins).await;
        match loaded.manifest(&name) {
            Some(manifest) => configure(context, &name, manifest)?,
            None => {
                context.refuse(&names::refusal(&[&name], &loaded));
                return Ok(1);
            }
        }
    }
    context.say(&format!("{} is ready; `warpline plan` shows what is due", path_text(&paths.home)));
    Ok(0)
}

fn configure<F>(context: &Context<'_, F>, plugin: &JsString, manifest: &Manifest) -> Result<()> {
    let file = context.paths.config_dir.join(format!("{plugin}.json"));
    tell(context, setup::default_config(&context.paths, plugin, manifest)?, &file);
    let missing = setup::missing_inputs(&context.paths, plugin, manifest)?;
    for input in &missing {
        let kind = manifest.inputs.get(input).map_or("value", |input| input.kind.as_str());
        context.say(&format!(
            "{} needs `{}`, a {kind}, before {} can run",
            path_text(&file),
            text::line(input),
            text::line(plugin)
        ));
    }
    Ok(())
}

fn tell<F>(context: &Context<'_, F>, outcome: Outcome, path: &Path) {
    let path = path_text(path);
    match outcome {
        Outcome::Created => context.say(&format!("created {path}")),
        Outcome::Mended => context.say(&format!("mended {path}")),
        Outcome::Kept => {}
        Outcome::InTheWay(what) => context.note(&format!("⚠ {path} is left as it is: {what}")),
    }
}
