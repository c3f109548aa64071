//! The plugins of a root: which there are, and the manifest of each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::home::plugins::{self, Candidate, Language};
use crate::json::{JsString, Map, Record, Value};
use crate::nearest::nearest;
use crate::schema::issue::issues_text;
use crate::schema::manifest::Manifest;

use super::attempt::{LOAD_LIMIT_MS, REACH_LIMIT, duration};
use super::{AbortReason, Engine, PluginModule, Request};

/// How long an import that has begun may still take once the caller has cancelled.
const CANCELLED_TIMEOUT: Duration = Duration::from_millis(250);

/// How many manifests are imported at once.
const IMPORTS_AT_ONCE: usize = 64;

/// A plugin whose manifest was loaded and is valid.
#[derive(Clone, Debug)]
pub struct LoadedPlugin {
    /// The directory name.
    pub name: JsString,
    /// The canonical directory.
    pub directory: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Names in the manifest that mean nothing to this build, as far as it was seen as written: what
    /// has gone through `PluginManifestSchema.parse` in the host has lost them.
    pub unknown_keys: Vec<JsString>,
}

impl LoadedPlugin {
    /// Where its code lies, as its files are now. Looks at every file of the plugin.
    pub(super) fn module(&self) -> PluginModule {
        module(self.name.clone(), self.directory.clone())
    }
}

fn module(name: JsString, directory: PathBuf) -> PluginModule {
    let revision = plugins::revision(&directory);
    PluginModule { name, directory, revision }
}

/// What a plugin root holds, sorted by directory name.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    /// The plugins that loaded, by directory name.
    pub plugins: Record<LoadedPlugin>,
    /// Directory name and reason of those that did not.
    pub failures: Vec<(JsString, String)>,
    /// What an operator should know though nothing failed.
    pub warnings: Vec<String>,
    /// Whether the caller cancelled before everything was loaded.
    pub cut_short: bool,
}

/// What `loadPluginManifests` gives: an unusable root is a fact here, not an error.
#[derive(Clone, Debug, Default)]
pub struct LoadReport {
    /// What the root holds; empty when it cannot be read.
    pub roster: Roster,
    /// The path and errno name of an unreadable root.
    pub root_error: Option<(PathBuf, String)>,
}

impl Engine {
    /// Loads every manifest under a plugin root. Writes nothing, never fails.
    pub async fn load_manifests(self: &Arc<Self>, root: &Path, operation: u64) -> LoadReport {
        match self.roster(root, operation, &CancellationToken::new()).await {
            Ok(roster) => LoadReport { roster, root_error: None },
            Err(Error::PluginRoot { path, code }) => {
                LoadReport { roster: Roster::default(), root_error: Some((path, code)) }
            }
            Err(_) => LoadReport {
                roster: Roster::default(),
                root_error: Some((root.to_owned(), "ENOENT".into())),
            },
        }
    }

    /// Loads every manifest under a plugin root.
    ///
    /// # Errors
    ///
    /// [`Error::PluginRoot`] or [`Error::EmptyPluginRoot`] when the root cannot be read.
    pub(super) async fn roster(
        self: &Arc<Self>,
        root: &Path,
        operation: u64,
        cancel: &CancellationToken,
    ) -> Result<Roster> {
        let mut roster = Roster::default();
        let mut imports: JoinSet<Result<LoadedPlugin, String>> = JoinSet::new();
        let mut names: HashMap<Id, JsString> = HashMap::new();
        let mut loaded: Vec<(JsString, Result<LoadedPlugin, String>)> = Vec::new();
        let found = plugins::roster(root)?;
        roster.failures = found.failures;
        for candidate in found.candidates {
            if let Some(known) = self.known_without_import(&candidate) {
                loaded.push((candidate.name, known));
                continue;
            }
            if imports.len() >= IMPORTS_AT_ONCE
                && let Some(import) = imports.join_next_with_id().await
            {
                loaded.extend(named(&mut names, import));
            }
            let (engine, name, cancel) = (self.clone(), candidate.name.clone(), cancel.clone());
            let import = async move { engine.import_manifest(candidate, operation, &cancel).await };
            let task = imports.spawn(import);
            names.insert(task.id(), name);
        }
        while let Some(import) = imports.join_next_with_id().await {
            loaded.extend(named(&mut names, import));
        }
        loaded.sort_by(|left, right| left.0.cmp(&right.0));
        for (name, outcome) in loaded {
            match outcome {
                Ok(plugin) => _ = roster.plugins.insert(name, plugin),
                Err(reason) => roster.failures.push((name, reason)),
            }
        }
        roster.failures.sort();
        roster.cut_short = cancel.is_cancelled();
        roster.warnings = warnings(&roster);
        Ok(roster)
    }

    /// Loads one plugin by its directory name; the error is what a reader sees.
    pub(super) async fn load_one(
        &self,
        root: &Path,
        plugin: &JsString,
        operation: u64,
        cancel: &CancellationToken,
    ) -> Result<LoadedPlugin, String> {
        let found = plugins::roster(root).map_err(|error| error.to_string())?;
        let candidate = found.candidates.into_iter().find(|found| found.name == *plugin);
        let failure = found.failures.into_iter().find(|(name, _)| name == plugin);
        let loaded = match (candidate, failure) {
            (Some(candidate), _) => match self.known_without_import(&candidate) {
                Some(known) => known,
                None => self.import_manifest(candidate, operation, cancel).await,
            },
            (None, Some((_, reason))) => Err(reason),
            (None, None) => {
                return Err(format!("no plugin named `{plugin}` under {}", root.display()));
            }
        };
        loaded.map_err(|reason| format!("plugin `{plugin}` does not load: {reason}"))
    }

    /// What can be said of a plugin without running its code: that this host cannot, or what its
    /// manifest's one literal says.
    fn known_without_import(&self, candidate: &Candidate) -> Option<Result<LoadedPlugin, String>> {
        let (host, runs, found) = (self.host.name(), self.host.language(), candidate.language);
        if found != runs {
            return Some(Err(format!(
                "this {host} host runs {runs} plugins; a {found} plugin needs a {found} host"
            )));
        }
        if found == Language::TypeScript { from_literal(candidate) } else { None }
    }

    async fn import_manifest(
        &self,
        candidate: Candidate,
        operation: u64,
        cancel: &CancellationToken,
    ) -> Result<LoadedPlugin, String> {
        let name = candidate.name.clone();
        let module = module(name.clone(), candidate.directory.clone());
        let request = Request::LoadManifests { plugins: vec![module] };
        let mut call = self.calls.start(operation, request);
        let cancelled = async {
            cancel.cancelled().await;
            tokio::time::sleep(CANCELLED_TIMEOUT).await;
        };
        let answered = async {
            // Other code on the same thread is not this module's fault: its time runs when it does.
            tokio::select! {
                () = call.begun() => {}
                () = tokio::time::sleep(REACH_LIMIT) => return None,
            }
            tokio::select! {
                answer = call.answer() => Some(answer),
                () = tokio::time::sleep(duration(LOAD_LIMIT_MS)) => None,
            }
        };
        let answer = tokio::select! {
            answer = answered => answer,
            () = cancelled => {
                call.abort(AbortReason::Cancelled);
                return Err("the manifest was still loading when the run was cancelled".into());
            }
        };
        let Some(answer) = answer else {
            call.abort(AbortReason::Timeout);
            let seconds = LOAD_LIMIT_MS / 1000.0;
            return Err(format!("the manifest did not load within {seconds} seconds"));
        };
        let exported = match answer {
            Some(Ok(answer)) => exported_manifest(&answer, &name)?,
            Some(Err(failure)) => return Err(failure.message().to_text()),
            None => return Err("the plugin host gave no answer".into()),
        };
        validated(candidate, &exported)
    }
}

type Import = Result<(Id, Result<LoadedPlugin, String>), JoinError>;

/// The outcome of an import with its plugin's name; a host that panicked is a load failure.
fn named(
    names: &mut HashMap<Id, JsString>,
    import: Import,
) -> Option<(JsString, Result<LoadedPlugin, String>)> {
    let (id, outcome) = import.unwrap_or_else(|error| {
        (error.id(), Err("the plugin host failed while it loaded the manifest".into()))
    });
    names.remove(&id).map(|name| (name, outcome))
}

/// The part of a host's answer that speaks of this plugin.
fn exported_manifest(answer: &Value, name: &JsString) -> Result<Value, String> {
    let row = answer
        .as_array()
        .unwrap_or_default()
        .iter()
        .find(|row| row.get("plugin").and_then(Value::as_string) == Some(name));
    let row = row.ok_or("the plugin host gave no answer for this plugin")?;
    match (row.get("manifest"), row.get("error").and_then(Value::as_string)) {
        (_, Some(error)) => Err(error.to_text()),
        (Some(manifest), None) => Ok(manifest.clone()),
        (None, None) => Err("the module does not export `manifest`".into()),
    }
}

fn validated(candidate: Candidate, manifest: &Value) -> Result<LoadedPlugin, String> {
    let Candidate { name, directory, .. } = candidate;
    let names = manifest.as_object().into_iter().flat_map(Map::keys);
    let unknown = |key: &&JsString| !Manifest::KEYS.iter().any(|known| *key == known);
    let unknown_keys = names.filter(unknown).cloned().collect();
    match Manifest::parse(manifest) {
        Ok(manifest) => Ok(LoadedPlugin { name, directory, manifest, unknown_keys }),
        Err(issues) => Err(format!("the manifest is not valid: {}", issues_text(&issues))),
    }
}

/// The manifest of a module that is one literal, read without running it.
#[cfg(feature = "typescript")]
fn from_literal(candidate: &Candidate) -> Option<Result<LoadedPlugin, String>> {
    use crate::typescript::{LiteralManifest, literal_manifest, source_text};

    let source = plugins::module_bytes(&candidate.manifest).ok()??;
    match literal_manifest(&source_text(&source))? {
        LiteralManifest::Bare(manifest) => Some(validated(candidate.clone(), &manifest)),
        // A value that the schema refuses makes the module throw: the host reports what it throws.
        LiteralManifest::Parsed(manifest) => validated(candidate.clone(), &manifest).ok().map(Ok),
    }
}

#[cfg(not(feature = "typescript"))]
fn from_literal(_: &Candidate) -> Option<Result<LoadedPlugin, String>> {
    None
}

fn warnings(roster: &Roster) -> Vec<String> {
    let mut warnings = Vec::new();
    for (directory, plugin) in &roster.plugins {
        let name = &plugin.manifest.name;
        if name != directory {
            warnings.push(format!(
                "plugin directory `{directory}` holds a manifest named `{name}`: records use the directory name"
            ));
        }
        for key in &plugin.unknown_keys {
            let meant = nearest(&key.to_text(), Manifest::KEYS);
            let meant =
                meant.map(|known| format!(" (did you mean `{known}`?)")).unwrap_or_default();
            warnings.push(format!(
                "the manifest of `{directory}` has a key `{key}` that means nothing{meant}"
            ));
        }
        for dependency in &plugin.manifest.dependencies {
            if !roster.plugins.contains_key(dependency) {
                warnings.push(format!(
                    "plugin `{directory}` depends on `{dependency}`, and no such plugin is loaded"
                ));
            }
        }
    }
    warnings
}
