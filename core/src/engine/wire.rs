//! The JSON that crosses the border to a host: the same for every language.
//!
//! Requests and notices go out as objects whose `kind` names the variant; options come in as the
//! objects that callers write, under their documented names. A name nobody knows is refused, so that
//! a misspelt `dryrun` cannot run for real.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::json::{JsString, Map, Record, Value};
use crate::schema::engine_state::PluginRun;
use crate::schema::issue::issues_text;
use crate::schema::manifest::{MAX_RETRIES, RunProfile};

use super::{AdvanceOptions, InvokeOptions, Notice, PathOverrides, PluginModule, Request, Witness};

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
    /// `{kind: "manifests", operation, plugins}`, `{kind: "handler", operation, plugin,
    /// invocation, capture}` or
    /// `{kind: "attempt", operation, plugin, attempt, invocation, manifest, args, context, capture}`.
    pub fn to_value(&self, operation: u64) -> Value {
        let operation = counter(operation);
        match self {
            Self::LoadManifests { plugins } => object([
                ("kind", "manifests".into()),
                ("operation", operation),
                ("plugins", plugins.iter().map(PluginModule::to_value).collect::<Vec<_>>().into()),
            ]),
            Self::LoadHandler { plugin, invocation, capture } => object([
                ("kind", "handler".into()),
                ("operation", operation),
                ("plugin", plugin.to_value()),
                ("invocation", counter(*invocation)),
                ("capture", (*capture).into()),
            ]),
            Self::Attempt(request) => object([
                ("kind", "attempt".into()),
                ("operation", operation),
                ("plugin", request.plugin.to_value()),
                ("attempt", request.attempt.into()),
                ("invocation", counter(request.invocation)),
                ("manifest", request.manifest.clone()),
                ("args", request.args.clone()),
                ("context", request.context.clone()),
                ("capture", request.capture.into()),
            ]),
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
    /// `{kind: "attempt_failed", attempt, message}` or `{kind: "warning", text}`.
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
    /// preferencesPath, approvalPath, concurrency}`, each optional.
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
        };
        members.end()?;
        Ok(options)
    }
}

impl InvokeOptions {
    /// Reads `{pluginsDir, runsDir, eventsPath, maxRetriesOverride, persistArtifact, runId,
    /// userInitiated, dependencyRuns}`, each optional, and the arguments.
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
        };
        members.end()?;
        Ok(options)
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
            (r#"[]"#, "options"),
        ] {
            let error = advance(text).expect_err(text).to_string();
            assert!(error.contains(name), "{error}");
        }
        let options = advance(r#"{"dryRun":true,"concurrency":3,"profile":null}"#).expect("valid");
        assert!(options.dry_run);
        assert_eq!(options.concurrency, Some(3));
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
