//! What a home needs before plugins can live in it, and the report of what was done about it.

use std::path::Path;

use crate::error::Result;
use crate::home::setup::{self, Outcome};
use crate::json::{Map, Value};

use super::context::{Context, path_text};
use super::paint;

/// What was done. As text each step is told at once, as JSON all of them at the end.
pub(super) struct Preparation<'a, F> {
    pub(super) context: &'a Context<'a, F>,
    pub(super) json: bool,
    created: Vec<String>,
    mended: Vec<String>,
    unchanged: Vec<String>,
    left_alone: Vec<(String, &'static str)>,
}

impl<'a, F> Preparation<'a, F> {
    pub(super) fn new(context: &'a Context<'a, F>, json: bool) -> Self {
        let (created, mended, unchanged) = (Vec::new(), Vec::new(), Vec::new());
        Self { context, json, created, mended, unchanged, left_alone: Vec::new() }
    }

    /// Creates the directories of the home, its package.json and its link to the package, where they
    /// are missing.
    pub(super) fn home(&mut self) -> Result<()> {
        let paths = &self.context.paths;
        let state = paths.state_file.parent().unwrap_or(&paths.home);
        for directory in [&paths.home, &paths.plugins, &paths.config_dir, state] {
            self.tell(setup::directory(&paths.home, directory)?, directory);
        }
        let file = paths.home.join("package.json");
        self.tell(setup::package_json(&paths.home)?, &file);
        if let Some(directory) = &self.context.io.package.directory {
            let link = paths.home.join("node_modules").join("warpline");
            self.tell(setup::package_link(&paths.home, directory)?, &link);
        }
        Ok(())
    }

    /// Tells what became of one thing.
    pub(super) fn tell(&mut self, outcome: Outcome, path: &Path) {
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
                return self
                    .context
                    .note(&format!("{} {shown} is left as it is: {what}", paint::waits("⚠")));
            }
        };
        if !self.json {
            self.context.say(&format!("{} {shown}", paint::ok(done)));
        }
    }

    /// A path as seen from the home, which itself is `.`; absolute where it lies elsewhere.
    pub(super) fn relative(&self, path: &Path) -> String {
        match path.strip_prefix(&self.context.paths.home) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => inside.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }

    /// `{home, created, mended, unchanged, left_alone}`.
    pub(super) fn to_map(&self) -> Map {
        let left = self.left_alone.iter().map(|(path, what)| {
            let path = Value::from(path.as_str());
            Value::from(Map::from_iter([("path", path), ("because", (*what).into())]))
        });
        Map::from_iter([
            ("home", Value::from(self.context.paths.home.display().to_string())),
            ("created", self.created.clone().into()),
            ("mended", self.mended.clone().into()),
            ("unchanged", self.unchanged.clone().into()),
            ("left_alone", left.collect::<Vec<_>>().into()),
        ])
    }
}
