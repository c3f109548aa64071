//! The engine as the verbs see it.

use std::collections::HashSet;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::clock::Instant;
use crate::engine::{
    AdvanceOptions, AdvanceResult, Engine, Invocation, InvokeOptions, Isolation, LoadReport,
    Roster, Witness,
};
use crate::error::Result;
use crate::home::Environment;
use crate::json::JsString;
use crate::schema::manifest::Manifest;

/// What a plugin root holds, by directory name.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The plugins that loaded, sorted.
    pub manifests: Vec<(JsString, Manifest)>,
    /// Those of them whose manifest was read as it is written: its module was not run.
    pub literal: HashSet<JsString>,
    /// Directory name and reason of those that did not, sorted.
    pub failures: Vec<(JsString, String)>,
    /// The path and errno name of an unreadable root.
    pub root_error: Option<(PathBuf, String)>,
    /// What an operator should know though nothing failed.
    pub warnings: Vec<String>,
}

impl Loaded {
    /// The manifest of a plugin that loaded.
    pub fn manifest(&self, plugin: &JsString) -> Option<&Manifest> {
        let at = self.manifests.binary_search_by(|(name, _)| name.cmp(plugin)).ok()?;
        self.manifests.get(at).map(|(_, manifest)| manifest)
    }
}

/// Loads plugins and runs them.
pub trait Fleet: Sync {
    /// Loads every manifest under a plugin root; the empty path counts as unreadable. What has to be run
    /// for that runs where `isolation` says.
    fn load_in(&self, root: &Path, isolation: Isolation) -> impl Future<Output = Loaded> + Send;

    /// Reads the manifests that are one literal, and runs none: the others are failures.
    fn read(&self, root: &Path) -> impl Future<Output = Loaded> + Send;

    /// Loads them for a reader, who runs no plugin.
    fn load(&self, root: &Path) -> impl Future<Output = Loaded> + Send {
        self.load_in(root, Isolation::None)
    }

    /// Runs every due plugin once.
    fn advance(
        &self,
        environment: &Environment,
        options: &AdvanceOptions,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Result<AdvanceResult>> + Send;

    /// The plugins that an advance of this caller is running now, each with the time it was started.
    fn running(&self) -> Vec<(JsString, Instant)>;

    /// Runs one plugin.
    fn invoke(
        &self,
        environment: &Environment,
        plugin: &JsString,
        options: &InvokeOptions,
        witness: &Witness,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Result<Invocation>> + Send;
}

/// The engine of a host, with the number that its host knows this command by.
pub struct EngineFleet {
    /// The engine.
    pub engine: Arc<Engine>,
    /// What the command sees of its process.
    pub environment: Environment,
    /// The operation of the host.
    pub operation: u64,
}

impl Fleet for EngineFleet {
    async fn load_in(&self, root: &Path, isolation: Isolation) -> Loaded {
        let environment = &self.environment;
        self.engine.load_manifests(root, environment, isolation, self.operation).await.into()
    }

    async fn read(&self, root: &Path) -> Loaded {
        self.engine.read_manifests(root).await.into()
    }

    async fn advance(
        &self,
        environment: &Environment,
        options: &AdvanceOptions,
        cancel: &CancellationToken,
    ) -> Result<AdvanceResult> {
        self.engine.advance(environment, options, self.operation, cancel).await
    }

    fn running(&self) -> Vec<(JsString, Instant)> {
        self.engine.running(self.operation)
    }

    async fn invoke(
        &self,
        environment: &Environment,
        plugin: &JsString,
        options: &InvokeOptions,
        witness: &Witness,
        cancel: &CancellationToken,
    ) -> Result<Invocation> {
        self.engine.invoke(environment, plugin, options, witness, self.operation, cancel).await
    }
}

impl From<LoadReport> for Loaded {
    fn from(report: LoadReport) -> Self {
        let LoadReport { roster, root_error } = report;
        let written = roster.plugins.iter().filter(|(_, plugin)| plugin.literal);
        let literal = written.map(|(name, _)| name.clone()).collect();
        let manifests =
            roster.plugins.into_iter().map(|(name, plugin)| (name, plugin.manifest)).collect();
        let Roster { failures, warnings, .. } = roster;
        Self { manifests, literal, failures, root_error, warnings }
    }
}
