//! `init`: a home in which the first advance can run. A second time it changes nothing.

use std::path::Path;

use crate::error::Result;
use crate::home::setup::{self, Outcome};
use crate::json::{JsString, Map, Value};
use crate::schema::manifest::Manifest;

use super::context::{Context, path_text};
use super::fleet::Fleet;
use super::{exit, names, text};

/// Prepares the home, reports, and returns the exit code.
pub(super) async fn run<F: Fleet>(context: &Context<'_, F>, json: bool) -> i32 {
    let mut report = Report::new(context, json);
    match prepare(&mut report).await {
        Ok(code) => code,
        Err(error) => context.fail(&error),
    }
}

async fn prepare<F: Fleet>(report: &mut Report<'_, F>) -> Result<i32> {
    let context = report.context;
    let paths = &context.paths;
    let state = paths.state_file.parent().unwrap_or(&paths.home);
    for directory in [&paths.home, &paths.plugins, &paths.config_dir, state] {
        report.tell(setup::directory(directory)?, directory);
    }
    let file = paths.home.join("package.json");
    report.tell(setup::package_json(&paths.home)?, &file);
    let package = &context.io.package;
    if let Some(directory) = &package.directory {
        let link = paths.home.join("node_modules").join("warpline");
        report.tell(setup::package_link(&paths.home, directory)?, &link);
    }
    let name = package.seed.as_ref().and_then(|seed| Some(seed.file_name()?.to_str()?.to_owned()));
    if let (Some(seed), Some(name)) = (&package.seed, name) {
        let target = paths.plugins.join(&name);
        report.tell(setup::copy_plugin(seed, &target)?, &target);
        let name = JsString::from(name);
        let loaded = context.fleet.load(&paths.plugins).await;
        match loaded.manifest(&name) {
            Some(manifest) => configure(report, name, manifest)?,
            None => {
                context.refuse(&names::refusal(&[&name], &loaded));
                return Ok(exit::FAILED);
            }
        }
    }
    let home = path_text(&paths.home);
    let ready = || format!("{home} is ready; `warpline plan` shows what is due\n");
    context.report(report.json, || report.to_value(), ready);
    Ok(exit::DONE)
}

fn configure<F>(report: &mut Report<'_, F>, plugin: JsString, manifest: &Manifest) -> Result<()> {
    let paths = &report.context.paths;
    let file = paths.config_dir.join(format!("{plugin}.json"));
    report.tell(setup::default_config(paths, &plugin, manifest)?, &file);
    for input in setup::missing_inputs(paths, &plugin, manifest)? {
        let kind = manifest.inputs.get(&input).map_or("value", |input| input.kind.as_str());
        if !report.json {
            report.context.say(&format!(
                "{} needs `{}`, a {kind}, before {} can run",
                path_text(&file),
                text::line(&input),
                text::line(&plugin)
            ));
        }
        report.missing_inputs.push((input, kind.to_owned()));
    }
    report.config = Some(report.relative(&file));
    report.seed = Some(plugin);
    Ok(())
}

/// What was done. As text each step is told at once, as JSON all of them at the end.
struct Report<'a, F> {
    context: &'a Context<'a, F>,
    json: bool,
    created: Vec<String>,
    mended: Vec<String>,
    unchanged: Vec<String>,
    left_alone: Vec<(String, &'static str)>,
    seed: Option<JsString>,
    config: Option<String>,
    missing_inputs: Vec<(JsString, String)>,
}

impl<'a, F> Report<'a, F> {
    fn new(context: &'a Context<'a, F>, json: bool) -> Self {
        Self {
            context,
            json,
            created: Vec::new(),
            mended: Vec::new(),
            unchanged: Vec::new(),
            left_alone: Vec::new(),
            seed: None,
            config: None,
            missing_inputs: Vec::new(),
        }
    }

    fn tell(&mut self, outcome: Outcome, path: &Path) {
        let (relative, shown) = (self.relative(path), path_text(path));
        let done = match outcome {
            Outcome::Created => {
                self.created.push(relative);
                "created"
            }
            Outcome::Mended => {
                self.mended.push(relative);
                "mended"
            }
            Outcome::Kept => return self.unchanged.push(relative),
            Outcome::InTheWay(what) => {
                self.left_alone.push((relative, what));
                return self.context.note(&format!("⚠ {shown} is left as it is: {what}"));
            }
        };
        if !self.json {
            self.context.say(&format!("{done} {shown}"));
        }
    }

    /// A path as seen from the home, which itself is `.`; absolute where it lies elsewhere.
    fn relative(&self, path: &Path) -> String {
        match path.strip_prefix(&self.context.paths.home) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => inside.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }

    /// `{home, created, mended, unchanged, left_alone, seed, config, missing_inputs}`.
    fn to_value(&self) -> Value {
        let pair = |first: (&str, Value), second: (&str, Value)| {
            Value::from(Map::from_iter([first, second]))
        };
        let left = self
            .left_alone
            .iter()
            .map(|(path, what)| pair(("path", path.as_str().into()), ("because", (*what).into())));
        let missing = self
            .missing_inputs
            .iter()
            .map(|(name, kind)| pair(("name", name.into()), ("type", kind.as_str().into())));
        let mut map = Map::new();
        map.insert("home", self.context.paths.home.display().to_string());
        map.insert("created", self.created.clone());
        map.insert("mended", self.mended.clone());
        map.insert("unchanged", self.unchanged.clone());
        map.insert("left_alone", left.collect::<Vec<_>>());
        map.insert("seed", self.seed.clone());
        map.insert("config", self.config.clone());
        map.insert("missing_inputs", missing.collect::<Vec<_>>());
        map.into()
    }
}
