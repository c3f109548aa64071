//! The JSON that crosses the border to a host: the same for every language.
//!
//! Requests and notices go out as objects whose `kind` names the variant; options come in as the
//! objects that callers write, under their documented names. A name nobody knows is refused, so that
//! a misspelt `dryrun` cannot run for real.

use std::path::PathBuf;

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::json::{JsString, Map, Record, Value};
use crate::schema::engine_state::PluginRun;
use crate::schema::issue::issues_text;
use crate::schema::manifest::{MAX_RETRIES, RunProfile};

use super::{
    AdvanceOptions, AttemptRequest, Clock, InvokeOptions, Isolation, Notice, PathOverrides,
    PluginModule, Request, Witness,
};

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    members.into_iter().collect::<Map>().into()
}

impl PluginModule {
    /// `{name, directory, revision}`.
    pub fn to_value(&self) -> Value {
        object([
            ("name", (&self.name).into()),
            ("directory", self.directory.display().to_string().into()),
            ("revision", self.revision.as_str().into()),
        ])
    }
}

impl Request {
    /// The JSON text of [`Request::to_value`], of an attempt without a copy of what it holds.
    pub fn to_text(&self, operation: u64) -> String {
        let Self::Attempt(request) = self else { return self.to_value(operation).to_compact() };
        let AttemptRequest { attempt, invocation, prints, .. } = &**request;
        let (plugin, manifest) = (request.plugin.to_value().to_compact(), request.manifest.text());
        let (args, context) = (request.args.to_compact(), request.context.to_compact());
        let head = format!(
            r#"{{"kind":"attempt","operation":{operation},"plugin":{plugin},"attempt":{attempt}"#
        );
        let body = format!(r#""invocation":{invocation},"manifest":{manifest},"args":{args}"#);
        let load = if request.load { r#","load":true"# } else { "" };
        format!(r#"{head},{body},"context":{context},"prints":{prints}{load}}}"#)
    }

    /// `{kind: "manifests", operation, plugins, invocation, prints}`,
    /// `{kind: "handler", operation, plugin, invocation, secrets, prints}` or
    /// `{kind: "attempt", operation, plugin, attempt, invocation, manifest, args, context, prints, load?}`.
    pub fn to_value(&self, operation: u64) -> Value {
        let operation = counter(operation);
        match self {
            Self::LoadManifests { plugins, invocation, prints } => object([
                ("kind", "manifests".into()),
                ("operation", operation),
                ("plugins", plugins.iter().map(PluginModule::to_value).collect::<Vec<_>>().into()),
                ("invocation", counter(*invocation)),
                ("prints", (*prints).into()),
            ]),
            Self::LoadHandler { plugin, invocation, secrets, prints } => object([
                ("kind", "handler".into()),
                ("operation", operation),
                ("plugin", plugin.to_value()),
                ("invocation", counter(*invocation)),
                ("secrets", secrets.iter().map(Value::from).collect::<Vec<_>>().into()),
                ("prints", (*prints).into()),
            ]),
            Self::Attempt(request) => {
                let mut attempt: Map = [
                    ("kind", Value::from("attempt")),
                    ("operation", operation),
                    ("plugin", request.plugin.to_value()),
                    ("attempt", request.attempt.into()),
                    ("invocation", counter(request.invocation)),
                    ("manifest", (*request.manifest).clone()),
                    ("args", request.args.clone()),
                    ("context", request.context.clone()),
                    ("prints", request.prints.into()),
                ]
                .into_iter()
                .collect();
                attempt.insert_some("load", request.load.then_some(true));
                attempt.into()
            }
        }
    }
}

/// Counters stay far below 2^53, where a double stops being exact.
#[allow(clippy::cast_precision_loss)]
fn counter(number: u64) -> Value {
    Value::Number(number as f64)
}

impl Notice {
    /// `{kind: "plugin_start", plugin}`, `{kind: "plugin_end", plugin, state, elapsed_ms, reason?}`,
    /// `{kind: "run_failure", text}`, `{kind: "attempt_start", attempt}`,
    /// `{kind: "attempt_failed", attempt, message}`, `{kind: "warning", text}`, `{kind: "stray", text}` or
    /// `{kind: "fault", plugin, text}`.
    pub fn to_value(&self) -> Value {
        match self {
            Self::PluginStart { plugin } => {
                object([("kind", "plugin_start".into()), ("plugin", plugin.into())])
            }
            Self::PluginEnd { plugin, state, elapsed_ms, reason } => {
                let mut notice: Map = [
                    ("kind", Value::from("plugin_end")),
                    ("plugin", plugin.into()),
                    ("state", (*state).into()),
                    ("elapsed_ms", (*elapsed_ms).into()),
                ]
                .into_iter()
                .collect();
                notice.insert_some("reason", reason.clone());
                notice.into()
            }
            Self::RunFailure { text } => {
                object([("kind", "run_failure".into()), ("text", text.into())])
            }
            Self::AttemptStart { attempt } => {
                object([("kind", "attempt_start".into()), ("attempt", (*attempt).into())])
            }
            Self::AttemptFailed { attempt, message } => object([
                ("kind", "attempt_failed".into()),
                ("attempt", (*attempt).into()),
                ("message", message.into()),
            ]),
            Self::Warning { text } => {
                object([("kind", "warning".into()), ("text", text.as_str().into())])
            }
            Self::Stray { text } => {
                object([("kind", "stray".into()), ("text", text.as_str().into())])
            }
            Self::Fault { plugin, text } => {
                object([("kind", "fault".into()), ("plugin", plugin.into()), ("text", text.into())])
            }
        }
    }
}

/// Reads the members of an options object one by one and refuses what is left over.
struct Members {
    members: Map,
}

impl Members {
    fn of(value: &Value, option: &'static str) -> Result<Self> {
        match value {
            Value::Null => Ok(Self { members: Map::new() }),
            Value::Object(members) => Ok(Self { members: (**members).clone() }),
            _ => Err(Error::Option { option, expected: "an object".into() }),
        }
    }

    /// The member, `None` where it is absent or null.
    fn take<T>(
        &mut self,
        option: &'static str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.members.remove(&option.into()) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(&value) {
                Some(read) => Ok(Some(read)),
                None => Err(Error::Option { option, expected: expected.into() }),
            },
        }
    }

    fn flag(&mut self, option: &'static str) -> Result<bool> {
        Ok(self.take(option, "true or false", Value::as_bool)?.unwrap_or(false))
    }

    fn path(&mut self, option: &'static str) -> Result<Option<PathBuf>> {
        let text = |value: &Value| value.as_string()?.as_str().map(PathBuf::from);
        self.take(option, "a path, as text", text)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn integer(&mut self, option: &'static str, least: u32, most: u32) -> Result<Option<u32>> {
        let expected = match most {
            u32::MAX => format!("an integer of at least {least}"),
            _ => format!("an integer from {least} to {most}"),
        };
        self.take(option, &expected, |value| {
            let number = value.as_number().filter(|number| number.fract() == 0.0)?;
            let fits = (f64::from(least)..=f64::from(most)).contains(&number);
            fits.then_some(number as u32)
        })
    }

    fn isolation(&mut self) -> Result<Isolation> {
        let read = |value: &Value| Isolation::from_name(value.as_string()?.as_str()?);
        Ok(self.take("isolation", "`none` or `process`", read)?.unwrap_or_default())
    }

    fn paths(&mut self) -> Result<PathOverrides> {
        Ok(PathOverrides {
            plugins_dir: self.path("pluginsDir")?,
            state_dir: self.path("stateDir")?,
            runs_dir: self.path("runsDir")?,
            logs_dir: self.path("logsDir")?,
            events_path: self.path("eventsPath")?,
            preferences_path: self.path("preferencesPath")?,
            approval_path: self.path("approvalPath")?,
        })
    }

    fn end(self) -> Result<()> {
        match self.members.keys().next() {
            None => Ok(()),
            Some(name) => Err(Error::UnknownOption { name: name.to_text() }),
        }
    }
}

impl AdvanceOptions {
    /// Reads `{dryRun, force, profile, pluginsDir, stateDir, runsDir, logsDir, eventsPath,
    /// preferencesPath, approvalPath, concurrency, isolation}`, each optional.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] or [`Error::UnknownOption`], naming the option and its shape.
    pub fn from_value(value: &Value) -> Result<Self> {
        let mut members = Members::of(value, "options")?;
        let profile = |value: &Value| RunProfile::from_name(value.as_string()?.as_str()?);
        let options = Self {
            dry_run: members.flag("dryRun")?,
            force: members.flag("force")?,
            profile: members.take("profile", "one of `daily`, `weekly`, `manual`", profile)?,
            paths: members.paths()?,
            concurrency: members
                .integer("concurrency", 1, u32::MAX)?
                .and_then(|count| usize::try_from(count).ok()),
            isolation: members.isolation()?,
        };
        members.end()?;
        Ok(options)
    }
}

impl InvokeOptions {
    /// Reads `{pluginsDir, runsDir, eventsPath, maxRetriesOverride, persistArtifact, runId,
    /// userInitiated, dependencyRuns, isolation}`, each optional, and the arguments.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] or [`Error::UnknownOption`], naming the option and its shape.
    pub fn from_value(args: &Value, value: &Value) -> Result<Self> {
        let mut members = Members::of(value, "options")?;
        let options = Self {
            paths: PathOverrides {
                plugins_dir: members.path("pluginsDir")?,
                runs_dir: members.path("runsDir")?,
                events_path: members.path("eventsPath")?,
                ..PathOverrides::default()
            },
            max_retries: members.integer("maxRetriesOverride", 0, MAX_RETRIES)?,
            persist_artifact: members.flag("persistArtifact")?,
            run_id: members.take("runId", "a run id, as text", |id| id.as_string().cloned())?,
            user_initiated: members.flag("userInitiated")?,
            dependency_runs: match members.members.remove(&"dependencyRuns".into()) {
                Some(runs) => dependency_runs(&runs)?,
                None => Record::new(),
            },
            args: Members::of(args, "args")?.members,
            clock: None,
            isolation: members.isolation()?,
        };
        members.end()?;
        Ok(options)
    }

    /// The same on a clock that stands at `now`; null and nothing leave it as it was.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for what is no instant.
    pub fn standing_at(self, now: Option<&Value>) -> Result<Self> {
        let read = |value: &Value| Instant::parse(value.as_string()?.as_str()?);
        match now {
            None | Some(Value::Null) => Ok(self),
            Some(value) => match read(value) {
                Some(at) => Ok(Self { clock: Some(Clock::Still(at)), ..self }),
                None => Err(Error::Option {
                    option: "now",
                    expected: "an instant such as `2026-03-01T08:00:00Z`".into(),
                }),
            },
        }
    }
}

/// Reads a record of plugin runs, as `plugin_runs` of the state document has them.
fn dependency_runs(value: &Value) -> Result<Record<PluginRun>> {
    let option = "dependencyRuns";
    let runs = Members::of(value, option)?.members;
    let read = |(name, run): (JsString, Value)| match PluginRun::parse(&run) {
        Ok(run) => Ok((name, run)),
        Err(issues) => {
            let expected = format!("a record of plugin runs; `{name}`: {}", issues_text(&issues));
            Err(Error::Option { option, expected })
        }
    };
    runs.into_iter().map(read).collect()
}

impl Witness {
    /// Reads `{granted: true, scope}` or `{granted: false, reason}`.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for anything else, nothing included: the question cannot be skipped.
    pub fn from_value(value: &Value) -> Result<Self> {
        let granted = value.get("granted").and_then(Value::as_bool);
        let text = |key| value.get(key).and_then(Value::as_string);
        let witness = match (granted, text("scope"), text("reason").and_then(JsString::as_str)) {
            (Some(true), Some(scope), None) => Some(Self::Granted { scope: scope.clone() }),
            (Some(false), None, Some("manual-run")) => Some(Self::ManualRun),
            (Some(false), None, Some("no-declared-side-effects")) => {
                Some(Self::NoDeclaredSideEffects)
            }
            _ => None,
        };
        witness.ok_or_else(|| Error::Option {
            option: "witness",
            expected: "`{granted: true, scope}` or `{granted: false, reason}` with reason \
                       `manual-run` or `no-declared-side-effects`"
                .into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn advance(text: &str) -> Result<AdvanceOptions> {
        AdvanceOptions::from_value(&parse(text).expect("JSON"))
    }

    #[test]
    fn a_misspelt_or_misshapen_option_is_refused_by_name() {
        for (text, name) in [
            (r#"{"dryrun":true}"#, "dryrun"),
            (r#"{"dryRun":"yes"}"#, "dryRun"),
            (r#"{"profile":"hourly"}"#, "profile"),
            (r#"{"concurrency":0}"#, "concurrency"),
            (r#"{"concurrency":1.5}"#, "concurrency"),
            (r#"{"pluginsDir":7}"#, "pluginsDir"),
            (r#"{"isolation":"thread"}"#, "isolation"),
            (r#"{"isolation":true}"#, "isolation"),
            (r#"[]"#, "options"),
        ] {
            let error = advance(text).expect_err(text).to_string();
            assert!(error.contains(name), "{error}");
        }
        let options = advance(r#"{"dryRun":true,"concurrency":3,"profile":null}"#).expect("valid");
        assert!(options.dry_run);
        assert_eq!(options.concurrency, Some(3));
        assert_eq!(options.isolation, Isolation::None);
        let options = advance(r#"{"isolation":"process"}"#).expect("valid");
        assert_eq!(options.isolation, Isolation::Process);
    }

    #[test]
    fn a_witness_answers_the_question_or_is_refused() {
        let witness = |text| Witness::from_value(&parse(text).expect("JSON"));
        assert_eq!(
            witness(r#"{"granted":true,"scope":"p"}"#).expect("valid"),
            Witness::Granted { scope: "p".into() }
        );
        assert_eq!(
            witness(r#"{"granted":false,"reason":"manual-run"}"#).expect("valid"),
            Witness::ManualRun
        );
        for bad in [
            "null",
            "true",
            "{}",
            r#"{"granted":true}"#,
            r#"{"granted":false,"scope":"p"}"#,
            r#"{"granted":"true","scope":"p"}"#,
            r#"{"granted":false,"reason":"because"}"#,
        ] {
            assert!(witness(bad).is_err(), "{bad}");
        }
    }
}
