//! What a caller may say about an advance or an invocation.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::home::{Environment, Paths, resolve, run_id, warpline_home};
use crate::json::{JsString, Map, Record};
use crate::schema::closed_set;
use crate::schema::engine_state::PluginRun;
use crate::schema::manifest::{MAX_RETRIES, Manifest, RunProfile};

use super::Clock;

/// How many plugins of one level run at once unless the caller says otherwise.
pub const DEFAULT_CONCURRENCY: usize = 16;

closed_set! {
    /// Where plugin code runs.
    Isolation {
        /// In the host's process; what is written in another language, in one worker for each.
        None = "none",
        /// Every manifest and every attempt in a process of its own.
        Process = "process",
    }
}

// The macro takes no attribute for a member.
#[allow(clippy::derivable_impls)]
impl Default for Isolation {
    fn default() -> Self {
        Self::None
    }
}

/// Files a caller may put elsewhere. Relative paths count from the working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// An empty path would be the working directory: of `runs_dir`, old files are deleted.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyPluginRoot`] where the plugin root is the empty path, [`Error::Option`] where
    /// another one is, or the home cannot be told.
    pub fn resolve(&self, environment: &Environment) -> Result<Paths> {
        let mut paths = Paths::new(warpline_home(environment)?);
        for (option, slot, path) in [
            ("pluginsDir", &mut paths.plugins, &self.plugins_dir),
            ("stateDir", &mut paths.state_file, &self.state_dir),
            ("runsDir", &mut paths.runs_dir, &self.runs_dir),
            ("logsDir", &mut paths.logs_dir, &self.logs_dir),
            ("eventsPath", &mut paths.events, &self.events_path),
            ("preferencesPath", &mut paths.preferences, &self.preferences_path),
            ("approvalPath", &mut paths.approval, &self.approval_path),
        ] {
            let Some(path) = path else { continue };
            if path.as_os_str().is_empty() {
                return Err(match option {
                    "pluginsDir" => Error::EmptyPluginRoot,
                    _ => Error::Option { option, expected: "a path, not empty text".to_owned() },
                });
            }
            *slot = resolve(&environment.cwd, path);
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
    /// Where plugin code runs.
    pub isolation: Isolation,
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
    /// What every record of this invocation goes by; the engine's own clock unless given.
    pub clock: Option<Clock>,
    /// Where plugin code runs.
    pub isolation: Isolation,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases: T206, T321.
    #[test]
    fn a_path_is_the_homes_unless_it_is_moved() {
        let environment = Environment {
            vars: [("WARPLINE_HOME".to_owned(), "/h".into())].into(),
            cwd: "/w".into(),
        };
        let resolve = |overrides: &PathOverrides| overrides.resolve(&environment).expect("paths");
        assert_eq!(resolve(&PathOverrides::default()), Paths::new("/h".into()));
        let moved = PathOverrides {
            plugins_dir: Some("/elsewhere/plugins".into()),
            runs_dir: Some("/elsewhere/runs".into()),
            logs_dir: Some("logs".into()),
            ..PathOverrides::default()
        };
        let paths = resolve(&moved);
        assert_eq!(paths.plugins, PathBuf::from("/elsewhere/plugins"));
        assert_eq!(paths.runs_dir, PathBuf::from("/elsewhere/runs"));
        assert_eq!(paths.logs_dir, PathBuf::from("/w/logs"));
        assert_eq!(paths.state_file, PathBuf::from("/h/state/engine-state.json"));
    }
}
