//! The plugins of a root: which there are, and the manifest of each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::home::plugins::{self, Candidate, Language};
use crate::home::{Environment, shared};
use crate::json::{JsString, Record, Value};
use crate::nearest::nearest;
use crate::schema::manifest::Manifest;
use crate::schema::manifest_source;
use crate::schema::redact::redact_thrown;

use super::attempt::{LOAD_LIMIT_MS, REACH_LIMIT, duration};
use super::calls::{Limits, Waited};
use super::here::leave_host_thread;
use super::known::{all_known, known_without_import, validated};
use super::loaded::Met;
use super::workers::{Seat, WorkerSet};
use super::{
    AbortReason, Clock, DEFAULT_CONCURRENCY, Document, Engine, Isolation, Moment, PluginModule,
    Request,
};

/// How long an import that has begun may still take once the caller has cancelled.
const CANCELLED_TIMEOUT: Duration = Duration::from_millis(250);

/// How many manifests are imported at once.
const IMPORTS_AT_ONCE: usize = 64;

/// What is said of a manifest that is not one literal where none may run.
const NOT_READ: &str = "the manifest is not one valid literal, and none was to be run";

/// A plugin whose manifest was loaded and is valid.
#[derive(Clone, Debug)]
pub struct LoadedPlugin {
    /// The directory name.
    pub name: JsString,
    /// The canonical directory.
    pub directory: PathBuf,
    /// What it is written in.
    pub language: Language,
    /// Its manifest.
    pub manifest: Manifest,
    /// Whether the manifest was read as it is written, and its module was not run.
    pub literal: bool,
    /// Names in the manifest that mean nothing to this build, as far as it was seen as written: what
    /// has gone through `PluginManifestSchema.parse` in the host has lost them.
    pub unknown_keys: Vec<JsString>,
    /// Its manifest as its handler is given it, once that was called for.
    pub(super) document: OnceLock<Document>,
}

impl LoadedPlugin {
    /// Where its code lies, as its files are now. Looks at every file of the plugin.
    pub(super) fn module(&self) -> PluginModule {
        module(self.name.clone(), self.directory.clone())
    }

    /// Its manifest as its handler is given it.
    pub(super) fn document(&self) -> Document {
        self.document.get_or_init(|| self.manifest.to_value().into()).clone()
    }
}

fn module(name: JsString, directory: PathBuf) -> PluginModule {
    let revision = plugins::revision(&directory);
    PluginModule { name, directory, revision }
}

/// A plugin that was looked for, and where its code lies as its files were at that moment.
pub(super) type Found = (Arc<LoadedPlugin>, Option<Arc<PluginModule>>);

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

impl LoadReport {
    fn refused(root: &Path, error: Error) -> Self {
        let told = match error {
            Error::PluginRoot { path, code } => (path, code),
            Error::SharedHome { path, .. } => (path, "EPERM".into()),
            _ => (root.to_owned(), "ENOENT".into()),
        };
        Self { roster: Roster::default(), root_error: Some(told) }
    }
}

impl Engine {
    /// Loads every manifest under a plugin root. Writes nothing, never fails.
    pub async fn load_manifests(
        self: &Arc<Self>,
        root: &Path,
        environment: &Environment,
        isolation: Isolation,
        operation: u64,
    ) -> LoadReport {
        let bound = DEFAULT_CONCURRENCY;
        let given = Arc::new(environment.clone());
        let workers = WorkerSet::open(self, &given, root, isolation, bound, operation);
        let never = CancellationToken::new();
        match workers.around(self.roster(root, environment, &never, &workers)).await {
            Ok(roster) => LoadReport { roster, root_error: None },
            Err(error) => LoadReport::refused(root, error),
        }
    }

    /// Reads every manifest under a plugin root that is one literal, and runs none: the others are
    /// failures. Writes nothing, never fails.
    pub async fn read_manifests(&self, root: &Path) -> LoadReport {
        let found = match plugins::roster(root) {
            Ok(found) => found,
            Err(error) => return LoadReport::refused(root, error),
        };
        let mut roster = Roster { failures: found.failures, ..Roster::default() };
        let known = all_known(&found.candidates).await;
        for (Candidate { name, .. }, known) in found.candidates.into_iter().zip(known) {
            match known.unwrap_or_else(|| Err(NOT_READ.to_owned())) {
                Ok(plugin) => _ = roster.plugins.insert(name, plugin),
                Err(reason) => roster.failures.push((name, reason)),
            }
        }
        roster.failures.sort();
        roster.warnings = warnings(&roster);
        LoadReport { roster, root_error: None }
    }

    /// Loads every manifest under a plugin root.
    ///
    /// # Errors
    ///
    /// [`Error::PluginRoot`] or [`Error::EmptyPluginRoot`] when the root cannot be read.
    pub(super) async fn roster(
        self: &Arc<Self>,
        root: &Path,
        environment: &Environment,
        cancel: &CancellationToken,
        workers: &WorkerSet,
    ) -> Result<Roster> {
        let mut roster = Roster::default();
        let mut imports: JoinSet<Result<LoadedPlugin, String>> = JoinSet::new();
        let mut names: HashMap<Id, JsString> = HashMap::new();
        let mut loaded: Vec<(JsString, Result<LoadedPlugin, String>)> = Vec::new();
        shared::refuse_root(root, environment)?;
        let found = plugins::roster(root)?;
        roster.failures = found.failures;
        let known = all_known(&found.candidates).await;
        for (candidate, known) in found.candidates.into_iter().zip(known) {
            let seat = match workers.seat(candidate.language) {
                Ok(seat) => seat,
                Err(reason) => {
                    loaded.push((candidate.name, Err(reason)));
                    continue;
                }
            };
            if let Some(known) = known {
                loaded.push((candidate.name, known));
                continue;
            }
            if imports.len() >= IMPORTS_AT_ONCE
                && let Some(import) = imports.join_next_with_id().await
            {
                loaded.extend(named(&mut names, import));
            }
            let (engine, name, cancel) = (self.clone(), candidate.name.clone(), cancel.clone());
            let known = secrets_in_source(&candidate, environment);
            let operation = workers.operation();
            let import = async move {
                engine.import_manifest(candidate, &seat, known, operation, &cancel).await
            };
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
        moment: &Moment,
        cancel: &CancellationToken,
        workers: &WorkerSet,
    ) -> Result<Found, String> {
        let path = root.join(plugin.to_text());
        if let Some(met) = moment.plugin(&self.memory, &path) {
            return Ok((met.plugin, Some(met.module)));
        }
        leave_host_thread().await;
        let environment = &**moment.environment();
        let (candidate, failure) = match plugins::find(root, plugin) {
            Some(found) => (Some(found), None),
            None => {
                let found = plugins::roster(root).map_err(|error| error.to_string())?;
                let candidate = found.candidates.into_iter().find(|found| found.name == *plugin);
                (candidate, found.failures.into_iter().find(|(name, _)| name == plugin))
            }
        };
        let loaded = match (candidate, failure) {
            (Some(candidate), _) => match workers.seat(candidate.language) {
                Err(reason) => Err(reason),
                Ok(seat) => match self.remembered(&path, &candidate) {
                    Some(known) => known.map(|met| (met.plugin, Some(met.module))),
                    None => {
                        let known = secrets_in_source(&candidate, environment);
                        let operation = workers.operation();
                        let import =
                            self.import_manifest(candidate, &seat, known, operation, cancel);
                        // Its files may have changed while it ran.
                        import.await.map(|plugin| (Arc::new(plugin), None))
                    }
                },
            },
            (None, Some((_, reason))) => Err(reason),
            (None, None) => {
                return Err(format!("no plugin named `{plugin}` under {}", root.display()));
            }
        };
        loaded.map_err(|reason| format!("plugin `{plugin}` does not load: {reason}"))
    }

    /// What can be said of one plugin without running its code. By the system's clock, as its files are.
    fn remembered(&self, path: &Path, candidate: &Candidate) -> Option<Result<Met, String>> {
        let now = Clock::System.now();
        self.memory.plugin(path, candidate, now, || known_without_import(candidate))
    }

    /// Runs a manifest's module. `known` are secrets that neither its prints nor its failure may show.
    async fn import_manifest(
        &self,
        candidate: Candidate,
        seat: &Seat,
        known: Vec<JsString>,
        operation: u64,
        cancel: &CancellationToken,
    ) -> Result<LoadedPlugin, String> {
        let name = candidate.name.clone();
        let still_loading =
            || "the manifest was still loading when the run was cancelled".to_owned();
        if !seat.ready(cancel).await {
            return Err(still_loading());
        }
        let module = module(name.clone(), candidate.directory.clone());
        let invocation = self.next_invocation();
        let prints = !known.is_empty() || seat.is_apart() && self.host.minds_prints();
        let _printing = self.prints.attach(invocation, known.clone(), None);
        let request = Request::LoadManifests { plugins: vec![module], invocation, prints };
        let mut call = self.calls.start(&seat.place, operation, request);
        let cancelled = async {
            cancel.cancelled().await;
            tokio::time::sleep(CANCELLED_TIMEOUT).await;
        };
        // Other code on the same thread is not this module's fault: its time runs when it does.
        let limits = Limits { reach: REACH_LIMIT, code: &[duration(LOAD_LIMIT_MS)] };
        let never = CancellationToken::new();
        let waited = tokio::select! {
            waited = call.wait(&limits, &never) => waited,
            () = cancelled => Waited::Cancelled,
        };
        let answer = match waited {
            Waited::Answered(answer) => answer.map(|(completion, _)| completion),
            Waited::Cancelled => {
                call.abort(AbortReason::Cancelled);
                return Err(still_loading());
            }
            Waited::OutOfTime => {
                call.abort(AbortReason::Timeout);
                let seconds = LOAD_LIMIT_MS / 1000.0;
                return Err(format!("the manifest did not load within {seconds} seconds"));
            }
        };
        let exported = match answer {
            Some(Ok(answer)) => exported_manifest(&answer, &name),
            Some(Err(failure)) => Err(failure.message().clone()),
            None => Err("the plugin host gave no answer".into()),
        };
        let exported = exported.map_err(|text| redact_thrown(&text, &known).to_text())?;
        validated(candidate, &exported, false)
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
fn exported_manifest(answer: &Value, name: &JsString) -> Result<Value, JsString> {
    let row = answer
        .as_array()
        .unwrap_or_default()
        .iter()
        .find(|row| row.get("plugin").and_then(Value::as_string) == Some(name));
    let row = row.ok_or("the plugin host gave no answer for this plugin")?;
    match (row.get("manifest"), row.get("error").and_then(Value::as_string)) {
        (_, Some(error)) => Err(error.clone()),
        (Some(manifest), None) => Ok(manifest.clone()),
        (None, None) => Err("the module does not export `manifest`".into()),
    }
}

/// The values of the secrets that the text of a manifest declares: what is known of them while the
/// module runs, and all there is to know of one that throws.
fn secrets_in_source(candidate: &Candidate, environment: &Environment) -> Vec<JsString> {
    let source = plugins::module_bytes(&candidate.manifest).ok().flatten().unwrap_or_default();
    environment.values(&manifest_source::secrets(&String::from_utf8_lossy(&source)))
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
