//! The engine as the verbs see it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::engine::{
    AdvanceOptions, AdvanceResult, Engine, Invocation, InvokeOptions, LoadReport, Witness,
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
    /// Loads every manifest under a plugin root; the empty path counts as unreadable.
    fn load(&self, root: &Path) -> impl Future<Output = Loaded> + Send;

    /// Runs every due plugin once.
    fn advance(
        &self,
        environment: &Environment,
        options: &AdvanceOptions,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Result<AdvanceResult>> + Send;

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
    /// The operation of the host.
    pub operation: u64,
}

impl Fleet for EngineFleet {
    async fn load(&self, root: &Path) -> Loaded {
        self.engine.load_manifests(root, self.operation).await.into()
    }

    async fn advance(
        &self,
        environment: &Environment,
        options: &AdvanceOptions,
        cancel: &CancellationToken,
    ) -> Result<AdvanceResult> {
        self.engine.advance(environment, options, self.operation, cancel).await
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
        let manifests =
            roster.plugins.into_iter().map(|(name, plugin)| (name, plugin.manifest)).collect();
        Self { manifests, failures: roster.failures, root_error, warnings: roster.warnings }
    }
}
