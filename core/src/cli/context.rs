//! What every verb works with: the host's facts, the resolved home, and the two streams.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::clock::Instant;
use crate::engine::PathOverrides;
use crate::error::Error;
use crate::home::{Environment, Paths};
use crate::json::Value;

use super::text;
use super::writer::Writer;

/// What the host of the command line supplies.
#[derive(Clone)]
pub struct Io {
    /// Results go here.
    pub out: Writer,
    /// Everything else goes here.
    pub err: Writer,
    /// Gives the present instant.
    pub clock: Arc<dyn Fn() -> Instant + Send + Sync>,
    /// Where the running package lies.
    pub package: Package,
}

/// Facts about the running package.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// The package directory that `<home>/node_modules/warpline` is to lead to; `None` where the
    /// host has no such package.
    pub directory: Option<PathBuf>,
    /// The directory of the plugin that `init` installs; its name is the plugin's.
    pub seed: Option<PathBuf>,
}

impl Io {
    /// The streams and the clock of this process.
    pub fn process(package: Package) -> Self {
        let clock = Arc::new(Instant::now);
        Self { out: Writer::stdout(), err: Writer::stderr(), clock, package }
    }
}

/// Why a verb is refused: one line, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// One lower-case sentence without full stop.
    pub message: String,
    /// What the reader can do.
    pub hint: Option<String>,
}

impl Refused {
    /// A refusal without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// Says what was left undone behind the message.
    #[must_use]
    pub fn leaving(mut self, undone: &str) -> Self {
        self.message.push_str(": ");
        self.message.push_str(undone);
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<&Error> for Refused {
    fn from(error: &Error) -> Self {
        Self { message: error.to_string(), hint: error.hint().map(str::to_owned) }
    }
}

/// One call of one verb.
pub(super) struct Context<'a, F> {
    pub io: &'a Io,
    pub fleet: &'a F,
    /// The environment with `--home` laid over it.
    pub environment: Environment,
    /// The files of the home; `plugins` is the resolved plugin root, or empty where it was given so.
    pub paths: Paths,
    pub cancel: CancellationToken,
}

impl<F> Context<'_, F> {
    pub(super) fn now(&self) -> Instant {
        (self.io.clock)()
    }

    /// Where the engine finds the plugins; the rest follows from the environment.
    pub(super) fn overrides(&self) -> PathOverrides {
        PathOverrides { plugins_dir: Some(self.paths.plugins.clone()), ..PathOverrides::default() }
    }

    /// Writes a line of the result.
    pub(super) fn say(&self, line: &str) {
        self.io.out.write(&format!("{line}\n"));
    }

    /// Writes a line that is not the result.
    pub(super) fn note(&self, line: &str) {
        self.io.err.write(&format!("{line}\n"));
    }

    /// Writes the result as JSON or as text, in one piece.
    pub(super) fn report(
        &self,
        as_json: bool,
        json: impl FnOnce() -> Value,
        text: impl FnOnce() -> String,
    ) {
        let report = if as_json { json().to_pretty() + "\n" } else { text() };
        self.io.out.write(&report);
    }

    /// Writes `error: ...` and `hint: ...` to standard error.
    pub(super) fn refuse(&self, refused: &Refused) {
        let mut lines = format!("error: {}\n", text::line_str(&refused.message));
        if let Some(hint) = &refused.hint {
            lines.push_str(&format!("hint: {}\n", text::line_str(hint)));
        }
        self.io.err.write(&lines);
    }

    /// Reports an error and returns exit code 1.
    pub(super) fn fail(&self, error: &Error) -> i32 {
        self.refuse(&error.into());
        1
    }
}

/// A path as a line shows it.
pub(super) fn path_text(path: &Path) -> String {
    text::line_str(&path.display().to_string())
}
