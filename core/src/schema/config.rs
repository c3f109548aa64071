//! The arguments of one invocation: declared defaults, then the config file, then the call.

use std::collections::HashSet;
use std::path::Path;

use crate::json::{JsString, Map, ParseError, Value, parse};

use super::manifest::{InputType, Manifest};
use super::{Issue, PathPart, closed_set, is_prototype_member};

/// What an invocation runs with.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The arguments for the handler: defaults in declaration order, then new keys of the file,
    /// then new keys of the call. No secret is among them.
    pub args: Map,
    /// Name and value of each declared secret, in declaration order.
    pub secrets: Vec<(JsString, JsString)>,
}

/// Why an invocation cannot start. It never holds a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigFault {
    /// The config file or the call is at fault; these win over missing secrets.
    Problems(Vec<ConfigProblem>),
    /// Declared secrets that the environment does not hold, in declaration order.
    MissingSecrets(Vec<JsString>),
}

closed_set! {
    /// What is wrong with the configuration.
    ProblemKind {
        /// The file is not JSON.
        FileNotJson = "file_not_json",
        /// The file holds something other than an object.
        FileNotObject = "file_not_object",
        /// A key of the file is empty or inherited by JavaScript objects.
        InvalidKey = "invalid_key",
        /// The file supplies a declared secret.
        SecretInFile = "secret_in_file",
        /// The call supplies a declared secret.
        SecretInArgs = "secret_in_args",
        /// A required input has no value.
        Missing = "missing",
        /// An input's value has another type than declared.
        WrongType = "wrong_type",
    }
}

/// One fault of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigProblem {
    /// The file is not JSON from this position on.
    FileNotJson(ParseError),
    /// The file holds something other than an object.
    FileNotObject,
    /// This key of the file is empty or inherited by JavaScript objects.
    InvalidKey(JsString),
    /// The file supplies this declared secret.
    SecretInFile(JsString),
    /// The call supplies this declared secret.
    SecretInArgs(JsString),
    /// This required input has no value.
    Missing(JsString, InputType),
    /// This input's value is not of the declared type.
    WrongType(JsString, InputType),
}

impl ConfigProblem {
    /// What is wrong.
    pub fn kind(&self) -> ProblemKind {
        match self {
            Self::FileNotJson(_) => ProblemKind::FileNotJson,
            Self::FileNotObject => ProblemKind::FileNotObject,
            Self::InvalidKey(_) => ProblemKind::InvalidKey,
            Self::SecretInFile(_) => ProblemKind::SecretInFile,
            Self::SecretInArgs(_) => ProblemKind::SecretInArgs,
            Self::Missing(..) => ProblemKind::Missing,
            Self::WrongType(..) => ProblemKind::WrongType,
        }
    }

    /// The key at fault; `None` where the file as a whole is.
    pub fn key(&self) -> Option<&JsString> {
        match self {
            Self::FileNotJson(_) | Self::FileNotObject => None,
            Self::InvalidKey(key) | Self::SecretInFile(key) | Self::SecretInArgs(key) => Some(key),
            Self::Missing(key, _) | Self::WrongType(key, _) => Some(key),
        }
    }

    /// The declared type, where one was not met.
    pub fn expected(&self) -> Option<InputType> {
        match self {
            Self::Missing(_, expected) | Self::WrongType(_, expected) => Some(*expected),
            _ => None,
        }
    }

    fn message(&self, path: &str) -> String {
        match self {
            Self::FileNotJson(error) => format!("{path} is {error}"),
            Self::FileNotObject => format!("{path} must hold an object"),
            Self::InvalidKey(key) => format!("{path} may not hold the key `{key}`"),
            Self::SecretInFile(key) => format!(
                "{path} may not hold the secret `{key}`; set the environment variable `{key}`"
            ),
            Self::SecretInArgs(key) => format!(
                "the secret `{key}` may not be an argument; set the environment variable `{key}`"
            ),
            Self::Missing(key, expected) => {
                format!(
                    "the input `{key}` has no value in {path} or the call, expected {}",
                    an(*expected)
                )
            }
            Self::WrongType(key, expected) => {
                format!(
                    "the input `{key}` (from its default, {path} or the call) must be {}",
                    an(*expected)
                )
            }
        }
    }
}

/// The type with its article.
pub fn an(kind: InputType) -> &'static str {
    match kind {
        InputType::String => "a string",
        InputType::Number => "a number",
        InputType::Boolean => "a boolean",
        InputType::Array => "an array",
        InputType::Object => "an object",
    }
}

impl ConfigFault {
    /// One line that names the file, the keys and the shapes expected.
    pub fn message(&self, path: &Path) -> String {
        let path = path.display().to_string();
        match self {
            Self::Problems(problems) => {
                let lines: Vec<_> = problems.iter().map(|problem| problem.message(&path)).collect();
                lines.join("; ")
            }
            Self::MissingSecrets(names) => {
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                format!("the environment does not hold the declared secrets {}", names.join(", "))
            }
        }
    }
}

/// Resolves the arguments and secrets of one invocation.
///
/// `file` is the text of the plugin's config file, `None` where there is none. `env` answers with
/// a variable of the environment; one that is empty counts as absent.
///
/// # Errors
///
/// See [`ConfigFault`]; all problems are collected.
pub fn resolve(
    manifest: &Manifest,
    file: Option<&str>,
    args: &Map,
    env: &dyn Fn(&JsString) -> Option<JsString>,
) -> Result<Resolved, ConfigFault> {
    let file = match file {
        Some(text) => read_file(text).map_err(ConfigFault::Problems)?,
        None => Map::new(),
    };
    let secrets: HashSet<&JsString> = manifest.secrets.iter().collect();
    let in_file = file.keys().filter(|key| secrets.contains(key));
    let in_args = args.keys().filter(|key| secrets.contains(key));
    let mut problems: Vec<_> = in_file.cloned().map(ConfigProblem::SecretInFile).collect();
    problems.extend(in_args.cloned().map(ConfigProblem::SecretInArgs));

    // A secret that is also declared as an input takes part in none of this.
    let inputs = || manifest.inputs.iter().filter(|(name, _)| !secrets.contains(name));
    let defaults = inputs().filter_map(|(name, input)| Some((name, input.default.as_ref()?)));
    let supplied = file.iter().chain(args.iter()).filter(|(name, _)| !secrets.contains(name));
    let merged: Map =
        defaults.chain(supplied).map(|(name, value)| (name.clone(), value.clone())).collect();

    problems.extend(inputs().filter_map(|(name, input)| {
        match merged.get_js(name) {
            None => input.required.then(|| ConfigProblem::Missing(name.clone(), input.kind)),
            Some(value) => (!has_type(value, input.kind))
                .then(|| ConfigProblem::WrongType(name.clone(), input.kind)),
        }
    }));
    if !problems.is_empty() {
        return Err(ConfigFault::Problems(problems));
    }
    Ok(Resolved { args: merged, secrets: read_secrets(manifest, env)? })
}

/// Reads a config file, or says what is wrong with it as a whole.
fn read_file(text: &str) -> Result<Map, Vec<ConfigProblem>> {
    let value = parse(text).map_err(|error| vec![ConfigProblem::FileNotJson(error)])?;
    let Value::Object(object) = value else {
        return Err(vec![ConfigProblem::FileNotObject]);
    };
    let invalid: Vec<_> = invalid_keys(&object).cloned().map(ConfigProblem::InvalidKey).collect();
    if invalid.is_empty() { Ok(object.into_map()) } else { Err(invalid) }
}

fn invalid_keys(map: &Map) -> impl Iterator<Item = &JsString> {
    map.keys().filter(|key| key.is_empty() || is_prototype_member(key))
}

/// Whether a value is of a declared type.
pub(crate) fn has_type(value: &Value, kind: InputType) -> bool {
    match kind {
        InputType::String => matches!(value, Value::String(_)),
        InputType::Number => matches!(value, Value::Number(_)),
        InputType::Boolean => matches!(value, Value::Bool(_)),
        InputType::Array => matches!(value, Value::Array(_)),
        InputType::Object => matches!(value, Value::Object(_)),
    }
}

fn read_secrets(
    manifest: &Manifest,
    env: &dyn Fn(&JsString) -> Option<JsString>,
) -> Result<Vec<(JsString, JsString)>, ConfigFault> {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for name in &manifest.secrets {
        match env(name).filter(|value| !value.is_empty()) {
            Some(value) => found.push((name.clone(), value)),
            None => missing.push(name.clone()),
        }
    }
    if missing.is_empty() { Ok(found) } else { Err(ConfigFault::MissingSecrets(missing)) }
}

/// Checks the value of a config file by itself, as the `plugin-config` schema does.
///
/// # Errors
///
/// Every key that no config file may hold, or that it is no object.
pub fn check_file_value(value: &Value) -> Result<Value, Vec<Issue>> {
    let Some(map) = value.as_object() else {
        return Err(vec![Issue { path: Vec::new(), expected: "an object".into() }]);
    };
    let issues: Vec<_> = invalid_keys(map)
        .map(|key| Issue {
            path: vec![PathPart::Key(key.clone())],
            expected: "a key that is not empty and that JavaScript objects do not inherit".into(),
        })
        .collect();
    if issues.is_empty() { Ok(value.clone()) } else { Err(issues) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(rest: &str) -> Manifest {
        let text = format!(
            r#"{{"name":"p","version":"1","description":"","autonomy_level":"autonomous","ttl_hours":1,{rest}}}"#
        );
        Manifest::parse(&parse(&text).expect("json")).expect("manifest")
    }

    fn args(text: &str) -> Map {
        parse(text).expect("json").as_object().expect("object").clone()
    }

    fn run(
        manifest: &Manifest,
        file: Option<&str>,
        call: &str,
        env: &[(&str, &str)],
    ) -> Result<Resolved, ConfigFault> {
        resolve(manifest, file, &args(call), &|name| {
            let found = env.iter().find(|(variable, _)| *name == **variable);
            found.map(|(_, value)| (*value).into())
        })
    }

    #[test]
    fn secrets_are_refused_in_file_and_call_first_and_by_name_alone() {
        let manifest = manifest(
            r#""secrets":["K","L"],"inputs":{"n":{"type":"number"},"K":{"type":"string","default":"your-token"}}"#,
        );
        let file = r#"{"n":"hunter2","L":"hunter2","K":"hunter2"}"#;
        let fault = run(&manifest, Some(file), r#"{"K":"hunter2"}"#, &[]).expect_err("refused");
        let message = fault.message(Path::new("/h/config/p.json"));
        assert!(!message.contains("hunter2"), "{message}");
        assert!(message.contains("/h/config/p.json") && message.contains("must be a number"));
        let ConfigFault::Problems(problems) = fault else { panic!("problems win") };
        let key = JsString::from;
        assert_eq!(
            problems,
            [
                ConfigProblem::SecretInFile(key("L")),
                ConfigProblem::SecretInFile(key("K")),
                ConfigProblem::SecretInArgs(key("K")),
                ConfigProblem::WrongType(key("n"), InputType::Number),
            ]
        );
    }

    #[test]
    fn a_secret_that_is_also_an_input_comes_from_the_environment_alone() {
        let manifest = manifest(
            r#""secrets":["K"],"inputs":{"K":{"type":"string","default":"your-token"},"a":{"type":"string"}}"#,
        );
        let resolved = run(&manifest, None, r#"{"a":"x"}"#, &[("K", "s3cr3t")]).expect("resolved");
        assert_eq!(Value::from(resolved.args).to_compact(), r#"{"a":"x"}"#);
        assert_eq!(resolved.secrets, [("K".into(), "s3cr3t".into())]);
    }

    #[test]
    fn a_secret_that_is_absent_or_empty_is_named_with_its_field() {
        let manifest = manifest(r#""secrets":["toString","B","C"]"#);
        let env = [("B", ""), ("C", "c")];
        let fault = run(&manifest, None, "{}", &env).expect_err("two are missing");
        assert_eq!(fault, ConfigFault::MissingSecrets(vec!["toString".into(), "B".into()]));
        let message = fault.message(Path::new("/h/config/p.json"));
        assert!(message.contains("`toString`, `B`") && message.contains("secrets"), "{message}");
    }

    /// Cases: T398.
    #[test]
    fn an_absent_file_and_an_empty_object_configure_nothing() {
        for file in [None, Some("{}")] {
            let resolved = run(&manifest(r#""inputs":{}"#), file, "{}", &[]).expect("resolved");
            assert_eq!(resolved, Resolved { args: Map::new(), secrets: Vec::new() });
        }
    }

    #[test]
    fn null_is_a_value_of_no_type() {
        let manifest = manifest(r#""inputs":{"a":{"type":"object","required":false}}"#);
        let fault = run(&manifest, Some(r#"{"a":null}"#), "{}", &[]).expect_err("refused");
        let problem = ConfigProblem::WrongType("a".into(), InputType::Object);
        assert_eq!(fault, ConfigFault::Problems(vec![problem]));
    }

    /// Cases: T403.
    #[test]
    fn faults_of_the_file_stand_alone_and_show_nothing_of_it() {
        let manifest = manifest(r#""inputs":{"a":{"type":"string"}}"#);
        for (file, shown) in [
            ("{\"token\":hunter2}", "/f is not valid JSON at line 1, column 10"),
            ("\"hunter2\"", "/f must hold an object"),
            (
                r#"{"":"hunter2","__proto__":"hunter2","a":1}"#,
                "/f may not hold the key ``; /f may not hold the key `__proto__`",
            ),
        ] {
            let fault = run(&manifest, Some(file), "{}", &[]).expect_err(file);
            assert_eq!(fault.message(Path::new("/f")), shown);
        }
    }

    /// Cases: T399.
    #[test]
    fn a_config_value_alone_is_checked_for_its_keys() {
        let good = parse(r#"{"prototype":1}"#).expect("json");
        assert_eq!(check_file_value(&good), Ok(good.clone()));
        let bad = parse(r#"{"":1,"b":2,"valueOf":3}"#).expect("json");
        let paths: Vec<_> =
            check_file_value(&bad).expect_err("two keys").iter().map(Issue::path_text).collect();
        assert_eq!(paths, ["", "valueOf"]);
        assert!(check_file_value(&Value::Null).is_err());
    }
}
