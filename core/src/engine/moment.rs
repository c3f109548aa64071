//! What calls share that were all made before anything was looked at for one of them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::home::{Environment, Paths, config, shared};
use crate::json::JsString;

use super::PathOverrides;
use super::loaded::{Memory, Met};

/// One look at the home and at plugins, for however many calls were made before it, by one caller with
/// one environment. A call that has to wait does not go by it: it looks for itself when its turn has come.
pub struct Moment {
    environment: Arc<Environment>,
    seen: Mutex<Seen>,
}

/// What was looked at, which is seldom more than one of each.
#[derive(Default)]
struct Seen {
    /// The files of the home where none of them is moved, none of which others can write.
    paths: Option<Arc<Paths>>,
    plugins: Vec<(PathBuf, Met)>,
    configs: Vec<(PathBuf, Option<Arc<str>>)>,
}

impl Moment {
    /// A moment at which nothing was looked at yet.
    pub fn new(environment: Arc<Environment>) -> Arc<Self> {
        Arc::new(Self { environment, seen: Mutex::default() })
    }

    /// What the caller's process was like.
    pub(super) fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }

    fn with<T>(&self, change: impl FnOnce(&mut Seen) -> T) -> T {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The files of the home, unless others can write what decides over it.
    pub(super) fn paths(&self, moved: &PathOverrides) -> Result<Arc<Paths>> {
        let is_usual = *moved == PathOverrides::default();
        if let Some(paths) = self.with(|seen| seen.paths.clone()).filter(|_| is_usual) {
            return Ok(paths);
        }
        let paths = Arc::new(moved.resolve(&self.environment)?);
        shared::refuse(&paths, &self.environment)?;
        if is_usual {
            self.with(|seen| seen.paths = Some(paths.clone()));
        }
        Ok(paths)
    }

    /// The plugin at `path` where it is remembered and unchanged.
    pub(super) fn plugin(&self, memory: &Memory, path: &Path) -> Option<Met> {
        let known = |seen: &mut Seen| {
            seen.plugins.iter().find(|(known, _)| known == path).map(|(_, met)| met.clone())
        };
        if let Some(met) = self.with(known) {
            return Some(met);
        }
        let met = memory.unchanged(path)?;
        self.with(|seen| seen.plugins.push((path.to_owned(), met.clone())));
        Some(met)
    }

    /// The text of a plugin's configuration, as for [`config::read`].
    pub(super) fn config(&self, paths: &Paths, plugin: &JsString) -> Result<Option<Arc<str>>> {
        let path = config::path(paths, plugin)?;
        let known = |seen: &mut Seen| {
            seen.configs.iter().find(|(known, _)| *known == path).map(|(_, text)| text.clone())
        };
        if let Some(text) = self.with(known) {
            return Ok(text);
        }
        let text: Option<Arc<str>> = config::read(paths, plugin)?.map(Arc::from);
        self.with(|seen| seen.configs.push((path, text.clone())));
        Ok(text)
    }
}
