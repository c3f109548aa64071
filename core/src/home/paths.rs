//! Where a home lies, and where each file lies in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::json::{JsString, Map, Value};

use super::disk;

/// The name of a home below the directory it belongs to.
const HOME_NAME: &str = ".warpline";

/// What a call sees of its process: variables and working directory, taken at that moment.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Environment variables by exact name. What is not UTF-8 in a value stands there as its host has it,
    /// and so as plugin code does: a secret must be found again.
    pub vars: BTreeMap<String, JsString>,
    /// The working directory, absolute; empty where there is none any more.
    pub cwd: PathBuf,
}

impl Environment {
    /// The environment of this process now.
    ///
    /// A variable whose name is not UTF-8 cannot be asked for and is left out; in a value, what is
    /// not UTF-8 becomes U+FFFD, so that it is still seen to be set.
    ///
    /// # Errors
    ///
    /// [`Error::File`] where the working directory is gone.
    pub fn current() -> Result<Self> {
        let vars = std::env::vars_os()
            .filter_map(|(name, value)| {
                Some((name.into_string().ok()?, value.to_string_lossy().as_ref().into()))
            })
            .collect();
        let cwd = std::env::current_dir().map_err(Error::file("read", Path::new(".")))?;
        Ok(Self { vars, cwd })
    }

    /// The environment that a host hands over: `{vars: {name: text}, cwd}`, `cwd` being `null` where the
    /// working directory is gone.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] where there is no working directory to count from.
    pub fn from_value(value: &Value) -> Result<Self> {
        let text = |value: &Value| value.as_string().map(JsString::to_text);
        let vars = value.get("vars").and_then(Value::as_object).into_iter().flat_map(Map::iter);
        let vars = vars
            .filter_map(|(name, value)| Some((name.to_text(), value.as_string()?.clone())))
            .collect();
        let gone = matches!(value.get("cwd"), Some(Value::Null)).then(String::new);
        match value.get("cwd").and_then(text).filter(|cwd| !cwd.is_empty()).or(gone) {
            Some(cwd) => Ok(Self { vars, cwd: PathBuf::from(cwd) }),
            None => {
                let expected = "`{vars, cwd}` with a working directory".to_owned();
                Err(Error::Option { option: "environment", expected })
            }
        }
    }

    /// The values of those of these variables that are set and not empty: what may not be shown where
    /// they are secrets. Where it differs, a value follows as JSON writes it, and as a program that shows
    /// its objects does, which leaves double quotes alone.
    pub fn values<'a>(&self, names: impl IntoIterator<Item = &'a JsString>) -> Vec<JsString> {
        let values = names.into_iter().filter_map(|name| self.value(name));
        values.filter(|value| !value.is_empty()).flat_map(written_forms).collect()
    }

    /// The variable of this exact name; empty is set.
    pub fn value(&self, name: &JsString) -> Option<&JsString> {
        self.vars.get(name.as_str()?)
    }

    /// The same as text for the engine itself, a path for example.
    pub fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).map(JsString::to_text)
    }
}

/// A secret's value and, where they differ, how JSON writes it, and how a program does that shows its
/// objects: none of these may be shown.
pub fn written_forms(value: &JsString) -> Vec<JsString> {
    let json = Value::from(value).to_compact();
    let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
    let mut forms = vec![value.clone()];
    for form in [JsString::from(json), JsString::from(json.replace("\\\"", "\""))] {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    forms
}

/// The home of a call: `WARPLINE_HOME` where it is set and not empty, else the `.warpline` of the
/// nearest directory at or above the working directory that has one, else `<cwd>/.warpline`.
///
/// Looked up anew at each call, never kept.
///
/// # Errors
///
/// [`Error::Option`] where that depends on a working directory which is gone: a home that is guessed is
/// somebody else's.
pub fn warpline_home(environment: &Environment) -> Result<PathBuf> {
    let named = environment.var("WARPLINE_HOME").filter(|home| !home.is_empty());
    let home = match named {
        Some(home) => resolve(&environment.cwd, Path::new(&home)),
        None => environment
            .cwd
            .ancestors()
            .map(|directory| directory.join(HOME_NAME))
            .find(|home| disk::is_directory(home))
            .unwrap_or_else(|| environment.cwd.join(HOME_NAME)),
    };
    if home.is_absolute() {
        return Ok(home);
    }
    let expected = "named by its absolute path, as the working directory is gone".to_owned();
    Err(Error::Option { option: "home", expected })
}

/// `path` made absolute against `base`, with `.` and `..` taken out by name alone.
pub fn resolve(base: &Path, path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            part => resolved.push(part),
        }
    }
    resolved
}

/// Where the files of one home lie. Hosts may move single ones; everything follows the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The home itself.
    pub home: PathBuf,
    /// The default plugin root.
    pub plugins: PathBuf,
    /// `engine-state.json`.
    pub state_file: PathBuf,
    /// Run logs, run artifacts and transcripts.
    pub runs_dir: PathBuf,
    /// The directory whose `runs/` holds the daily JSONL files.
    pub logs_dir: PathBuf,
    /// `events.jsonl`.
    pub events: PathBuf,
    /// `acknowledgements.json`.
    pub acknowledgements: PathBuf,
    /// `preferences.json`.
    pub preferences: PathBuf,
    /// The grant file.
    pub approval: PathBuf,
    /// Configuration files of the plugins.
    pub config_dir: PathBuf,
}

impl Paths {
    /// The files of the home at `home`.
    pub fn new(home: PathBuf) -> Self {
        let state = home.join("state");
        Self {
            plugins: home.join("plugins"),
            state_file: state.join("engine-state.json"),
            runs_dir: home.join("runs"),
            logs_dir: home.join("logs"),
            events: state.join("events.jsonl"),
            acknowledgements: state.join("acknowledgements.json"),
            preferences: home.join("preferences.json"),
            approval: home.join(".session-approval"),
            config_dir: home.join("config"),
            home,
        }
    }

    /// Whether there are plugins and no home to keep their records in.
    pub fn lacks_home(&self) -> bool {
        disk::is_directory(&self.plugins) && !disk::is_directory(&self.home)
    }

    /// The lock that one advance at a time holds, beside the state file.
    pub fn run_lock(&self) -> PathBuf {
        self.beside_state(".lock")
    }

    /// The lock around each read-modify-write of a document, beside the state file.
    pub fn state_lock(&self) -> PathBuf {
        self.beside_state(".state.lock")
    }

    /// The journal of the running pass, beside the state file.
    pub fn journal(&self) -> PathBuf {
        self.beside_state("in-flight.jsonl")
    }

    /// What a monitor watches, beside the state file.
    pub fn last_advance(&self) -> PathBuf {
        self.beside_state("last-successful-advance")
    }

    /// The directories in which documents of the home are replaced, each once.
    pub(super) fn directories(&self) -> BTreeSet<PathBuf> {
        let own = [&self.home, &self.runs_dir, &self.config_dir].map(Clone::clone);
        let below = [self.config_dir.join("schemas"), self.home.join("node_modules")];
        let files = [&self.state_file, &self.events, &self.acknowledgements, &self.approval];
        let around = files.into_iter().filter_map(|file| file.parent().map(Path::to_owned));
        own.into_iter().chain(below).chain(around).collect()
    }

    /// What decides who may have a say: whoever can write one of these can run code or give a yes.
    pub(super) fn deciding(&self) -> Vec<PathBuf> {
        let state = self.state_file.parent().unwrap_or(&self.home).to_owned();
        let own = [&self.home, &self.plugins, &self.config_dir, &self.runs_dir, &self.approval];
        let all = own.into_iter().cloned().chain([state]);
        all.filter(|path| !path.as_os_str().is_empty()).collect()
    }

    fn beside_state(&self, name: &str) -> PathBuf {
        self.state_file.with_file_name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(cwd: &Path, home: Option<&str>) -> Environment {
        let vars = home.map(|home| ("WARPLINE_HOME".to_owned(), home.into()));
        Environment { vars: vars.into_iter().collect(), cwd: cwd.to_owned() }
    }

    #[test]
    fn a_host_hands_over_texts_and_a_directory_to_count_from() {
        let read = |text: &str| Environment::from_value(&crate::json::parse(text).expect("JSON"));
        let given = read(r#"{"vars":{"A":"1","B":7,"__proto__":"x"},"cwd":"/w"}"#).expect("whole");
        assert_eq!((given.var("A"), given.var("B")), (Some("1".into()), None));
        assert_eq!((given.var("__proto__"), given.var("toString")), (Some("x".into()), None));
        assert_eq!(given.cwd, Path::new("/w"));
        for lacking in ["null", r#"{"vars":{}}"#, r#"{"cwd":""}"#, r#"{"cwd":7}"#] {
            assert!(read(lacking).is_err(), "{lacking}");
        }
    }

    #[test]
    fn a_secret_is_known_as_it_is_and_as_it_is_written() {
        let mut environment = environment(Path::new("/w"), None);
        let values: [(&str, &str, &[&str]); 4] = [
            ("A", "plain", &["plain"]),
            ("B", "a\nb", &["a\nb", "a\\nb"]),
            ("C", "q\"\\", &["q\"\\", "q\\\"\\\\", "q\"\\\\"]),
            ("D", "", &[]),
        ];
        for (name, value, forms) in values {
            environment.vars.insert(name.to_owned(), value.into());
            let forms: Vec<JsString> = forms.iter().map(|form| JsString::from(*form)).collect();
            assert_eq!(environment.values([&name.into()]), forms, "{name}");
        }
    }

    #[test]
    fn the_variable_wins_and_is_made_absolute() {
        let cwd = Path::new("/nowhere/at/all");
        for (home, expected) in [
            ("/h", "/h"),
            ("h", "/nowhere/at/all/h"),
            ("../h/./x/..", "/nowhere/at/h"),
            ("/h//x/", "/h/x"),
            ("../../../../../h", "/h"),
        ] {
            assert_eq!(
                warpline_home(&environment(cwd, Some(home))).expect("a home"),
                Path::new(expected)
            );
        }
    }

    #[test]
    fn without_a_working_directory_a_home_has_to_be_named_whole() {
        let gone = Environment::from_value(&crate::json::parse(r#"{"cwd":null}"#).expect("JSON"));
        assert_eq!(gone.expect("whole").cwd, Path::new(""));
        let home = |home: Option<&str>| warpline_home(&environment(Path::new(""), home));
        assert_eq!(home(Some("/h")).expect("a home"), Path::new("/h"));
        for other in [None, Some(""), Some("h"), Some("../h")] {
            let error = home(other).expect_err("a guess").to_string();
            assert!(error.contains("working directory is gone"), "{error}");
        }
    }

    #[test]
    fn an_empty_variable_counts_as_absent() {
        let cwd = Path::new("/nowhere/at/all");
        let default = Path::new("/nowhere/at/all/.warpline");
        assert_eq!(warpline_home(&environment(cwd, Some(""))).expect("a home"), default);
        assert_eq!(warpline_home(&environment(cwd, None)).expect("a home"), default);
    }

    #[test]
    fn the_nearest_ancestor_with_a_home_is_found_and_a_file_of_that_name_is_none() {
        let root = tempfile::tempdir().expect("temporary directory");
        let deep = root.path().join("a/b/c");
        std::fs::create_dir_all(&deep).expect("directories");
        std::fs::create_dir(root.path().join(".warpline")).expect("outer home");
        std::fs::write(deep.join(".warpline"), "").expect("a file is no home");
        let found = |cwd: &Path| warpline_home(&environment(cwd, None)).expect("a home");
        assert_eq!(found(&deep), root.path().join(".warpline"));
        std::fs::create_dir(root.path().join("a/b/.warpline")).expect("inner home");
        assert_eq!(found(&deep), root.path().join("a/b/.warpline"));
        assert_eq!(found(&root.path().join("a/b")), root.path().join("a/b/.warpline"));
        assert_eq!(found(&root.path().join("a")), root.path().join(".warpline"));
    }

    #[test]
    fn locks_and_journal_follow_the_state_file() {
        let mut paths = Paths::new("/h".into());
        assert_eq!(paths.run_lock(), Path::new("/h/state/.lock"));
        paths.state_file = "/elsewhere/s.json".into();
        assert_eq!(paths.run_lock(), Path::new("/elsewhere/.lock"));
        assert_eq!(paths.state_lock(), Path::new("/elsewhere/.state.lock"));
        assert_eq!(paths.journal(), Path::new("/elsewhere/in-flight.jsonl"));
        assert_eq!(paths.last_advance(), Path::new("/elsewhere/last-successful-advance"));
        assert_eq!(paths.runs_dir, Path::new("/h/runs"));
        assert_eq!(paths.plugins, Path::new("/h/plugins"));
    }

    #[test]
    fn the_environment_of_this_process_has_its_variables_and_its_directory() {
        let current = Environment::current().expect("there is a directory");
        assert_eq!(current.cwd, std::env::current_dir().expect("there is one"));
        let path = std::env::var("PATH").expect("cargo sets it");
        assert_eq!(current.var("PATH"), Some(path.as_str().into()));
    }
}
