//! What a caller may say about an advance or an invocation.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::home::{Environment, Paths, resolve, run_id, warpline_home};
use crate::json::{JsString, Map, Record};
use crate::schema::engine_state::PluginRun;
use crate::schema::manifest::{MAX_RETRIES, Manifest, RunProfile};

/// How many plugins of one level run at once unless the caller says otherwise.
pub const DEFAULT_CONCURRENCY: usize = 16;

/// Files a caller may put elsewhere. Relative paths count from the working directory.
#[derive(Clone, Debug, Default)]
pub struct PathOverrides {
    /// The plugin root; an empty path is refused.
    pub plugins_dir: Option<PathBuf>,
    /// The state file itself, whatever the name of the field says; locks and journal lie beside it.
    pub state_dir: Option<PathBuf>,
    /// The directory of run logs, artifacts and transcripts.
    pub runs_dir: Option<PathBuf>,
    /// The directory above `runs`, which holds the daily files.
    pub logs_dir: Option<PathBuf>,
    /// The file of events.
    pub events_path: Option<PathBuf>,
    /// The file of preferences.
    pub preferences_path: Option<PathBuf>,
    /// The file of the grant.
    pub approval_path: Option<PathBuf>,
}

impl PathOverrides {
    /// The paths of the environment's home with these overrides laid over.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyPluginRoot`] where the plugin root is the empty path.
    pub fn resolve(&self, environment: &Environment) -> Result<Paths> {
        let mut paths = Paths::new(warpline_home(environment));
        if self.plugins_dir.as_ref().is_some_and(|root| root.as_os_str().is_empty()) {
            return Err(Error::EmptyPluginRoot);
        }
        for (slot, path) in [
            (&mut paths.plugins, &self.plugins_dir),
            (&mut paths.state_file, &self.state_dir),
            (&mut paths.runs_dir, &self.runs_dir),
            (&mut paths.logs_dir, &self.logs_dir),
            (&mut paths.events, &self.events_path),
            (&mut paths.preferences, &self.preferences_path),
            (&mut paths.approval, &self.approval_path),
        ] {
            if let Some(path) = path {
                *slot = resolve(&environment.cwd, path);
            }
        }
        Ok(paths)
    }
}

/// Options of one advance.
#[derive(Clone, Debug, Default)]
pub struct AdvanceOptions {
    /// Evaluate and invoke what has no effects, write nothing.
    pub dry_run: bool,
    /// Lift freshness and quiet hours.
    pub force: bool,
    /// Which schedules to admit.
    pub profile: Option<RunProfile>,
    /// Files elsewhere.
    pub paths: PathOverrides,
    /// How many plugins of one level run at once; at least 1, [`DEFAULT_CONCURRENCY`] by default.
    pub concurrency: Option<usize>,
}

/// The caller's answer to the question whether a human said yes. There is no default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// A grant was checked and covers this plugin directory, or `*`.
    Granted {
        /// What was checked.
        scope: JsString,
    },
    /// A person started this run by hand.
    ManualRun,
    /// The manifest declares no side effect.
    NoDeclaredSideEffects,
}

impl Witness {
    /// Refuses a witness that cannot be true of this plugin.
    pub(super) fn check(&self, plugin: &JsString, manifest: &Manifest) -> Result<()> {
        let expected = match self {
            Self::ManualRun => return Ok(()),
            Self::Granted { scope } if scope == plugin || *scope == "*" => return Ok(()),
            Self::NoDeclaredSideEffects if manifest.side_effects.is_empty() => return Ok(()),
            Self::Granted { .. } => format!("one whose scope is `{plugin}` or `*`"),
            Self::NoDeclaredSideEffects => {
                format!("a grant or `manual-run`: the manifest of `{plugin}` declares side effects")
            }
        };
        Err(Error::Option { option: "witness", expected })
    }
}

/// Options of one direct invocation.
#[derive(Clone, Debug, Default)]
pub struct InvokeOptions {
    /// Files elsewhere; an invocation uses the plugin root, the runs directory and the events.
    pub paths: PathOverrides,
    /// Replaces the manifest's number of retries, 0 to [`MAX_RETRIES`].
    pub max_retries: Option<u32>,
    /// Whether a run artifact and a transcript are written.
    pub persist_artifact: bool,
    /// Names artifact, transcript and outputs; a random UUID unless given.
    pub run_id: Option<JsString>,
    /// Whether a person started this.
    pub user_initiated: bool,
    /// What the handler may learn of its dependencies; nothing unless given.
    pub dependency_runs: Record<PluginRun>,
    /// Per-invocation arguments, the strongest tier.
    pub args: Map,
}

impl InvokeOptions {
    /// The run id to use.
    pub(super) fn run_id(&self) -> Result<JsString> {
        if self.max_retries.is_some_and(|retries| retries > MAX_RETRIES) {
            let expected = format!("an integer from 0 to {MAX_RETRIES}");
            return Err(Error::Option { option: "maxRetriesOverride", expected });
        }
        match &self.run_id {
            Some(id) => run_id::check_run_id(&id.to_text()).map(|()| id.clone()),
            None => Ok(uuid::Uuid::new_v4().to_string().into()),
        }
    }
}
