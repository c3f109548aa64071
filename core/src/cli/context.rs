//! What every verb works with: the host's facts, the resolved home, and the two streams.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::clock::Instant;
use crate::engine::PathOverrides;
use crate::error::{Error, Result};
use crate::home::{Environment, Paths};
use crate::json::{JsString, Value};

use super::input::Input;
use super::paint::Choice;
use super::refusal::{error_line, hint_line};
use super::standard;
use super::text;
use super::writer::Writer;

/// What the host of the command line supplies.
#[derive(Clone)]
pub struct Io {
    /// Results go here.
    pub out: Writer,
    /// Everything else goes here.
    pub err: Writer,
    /// Answers come from here.
    pub input: Input,
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
    /// The streams and the clock of this process. From here on descriptor 1 leads to standard error and
    /// descriptor 0 to nothing: results and answers go through copies that plugin code does not have.
    ///
    /// # Errors
    ///
    /// Fails where no copy can be made, because too many files are open.
    pub fn process(package: Package) -> Result<Self> {
        let (out, err, input) = standard::streams()?;
        Ok(Self { out, err, input, clock: Arc::new(Instant::now), package })
    }

    /// The same streams, each with colours where the choice and the environment want them there.
    pub(super) fn coloured(&self, choice: Choice, environment: &Environment) -> Self {
        let colour =
            |writer: &Writer| writer.with_colour(choice.applies(writer.is_terminal(), environment));
        Self { out: colour(&self.out), err: colour(&self.err), ..self.clone() }
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

    /// Hints at the known name that the first of `given` with one nearby was meant to be; where none
    /// has, at `otherwise`.
    #[must_use]
    pub(super) fn hint_near<'a>(
        self,
        given: impl IntoIterator<Item = &'a JsString>,
        known: impl IntoIterator<Item = &'a JsString>,
        otherwise: &str,
    ) -> Self {
        let known: Vec<String> = known.into_iter().map(JsString::to_text).collect();
        let near =
            |name: &JsString| text::nearest(&name.to_text(), known.iter().map(String::as_str));
        match given.into_iter().find_map(near) {
            Some(name) => self.hint(format!("did you mean `{name}`?")),
            None => self.hint(otherwise),
        }
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
        self.io.out.show(&format!("{line}\n"));
    }

    /// Writes a line that is not the result.
    pub(super) fn note(&self, line: &str) {
        self.io.err.show(&format!("{line}\n"));
    }

    /// Writes the result as JSON or as text, in one piece; text may have colours.
    pub(super) fn report(
        &self,
        as_json: bool,
        json: impl FnOnce() -> Value,
        text: impl FnOnce() -> String,
    ) {
        if as_json {
            self.io.out.write(&(json().to_pretty() + "\n"));
        } else {
            self.io.out.show(&text());
        }
    }

    /// Writes `error: ...` and `hint: ...` to standard error.
    pub(super) fn refuse(&self, refused: &Refused) {
        let mut lines = error_line(&text::line_str(&refused.message)) + "\n";
        if let Some(hint) = &refused.hint {
            lines.push_str(&(hint_line(&text::line_str(hint)) + "\n"));
        }
        self.io.err.show(&lines);
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
