//! Where a home lies, and where each file lies in it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::json::{JsString, Map, Value};

/// The name of a home below the directory it belongs to.
const HOME_NAME: &str = ".warpline";

/// What a call sees of its process: variables and working directory, taken at that moment.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Environment variables by exact name.
    pub vars: BTreeMap<String, String>,
    /// The working directory, absolute.
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
                Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
            })
            .collect();
        let cwd = std::env::current_dir().map_err(Error::file("read", Path::new(".")))?;
        Ok(Self { vars, cwd })
    }

    /// The environment that a host hands over: `{vars: {name: text}, cwd}`.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] where there is no working directory to count from.
    pub fn from_value(value: &Value) -> Result<Self> {
        let text = |value: &Value| value.as_string().map(JsString::to_text);
        let vars = value.get("vars").and_then(Value::as_object).into_iter().flat_map(Map::iter);
        let vars = vars.filter_map(|(name, value)| Some((name.to_text(), text(value)?))).collect();
        match value.get("cwd").and_then(text).filter(|cwd| !cwd.is_empty()) {
            Some(cwd) => Ok(Self { vars, cwd: PathBuf::from(cwd) }),
            None => {
                let expected = "`{vars, cwd}` with a working directory".to_owned();
                Err(Error::Option { option: "environment", expected })
            }
        }
    }

    /// The variable of this exact name; empty is set.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }
}

/// The home of a call: `WARPLINE_HOME` where it is set and not empty, else the `.warpline` of the
/// nearest directory at or above the working directory that has one, else `<cwd>/.warpline`.
///
/// Looked up anew at each call, never kept.
pub fn warpline_home(environment: &Environment) -> PathBuf {
    if let Some(home) = environment.var("WARPLINE_HOME").filter(|home| !home.is_empty()) {
        return resolve(&environment.cwd, Path::new(home));
    }
    environment
        .cwd
        .ancestors()
        .map(|directory| directory.join(HOME_NAME))
        .find(|home| home.is_dir())
        .unwrap_or_else(|| environment.cwd.join(HOME_NAME))
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
        self.plugins.is_dir() && !self.home.is_dir()
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

    fn beside_state(&self, name: &str) -> PathBuf {
        self.state_file.with_file_name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(cwd: &Path, home: Option<&str>) -> Environment {
        let vars = home.map(|home| ("WARPLINE_HOME".to_owned(), home.to_owned()));
        Environment { vars: vars.into_iter().collect(), cwd: cwd.to_owned() }
    }

    #[test]
    fn a_host_hands_over_texts_and_a_directory_to_count_from() {
        let read = |text: &str| Environment::from_value(&crate::json::parse(text).expect("JSON"));
        let given = read(r#"{"vars":{"A":"1","B":7,"__proto__":"x"},"cwd":"/w"}"#).expect("whole");
        assert_eq!((given.var("A"), given.var("B")), (Some("1"), None));
        assert_eq!((given.var("__proto__"), given.var("toString")), (Some("x"), None));
        assert_eq!(given.cwd, Path::new("/w"));
        for lacking in ["null", r#"{"vars":{}}"#, r#"{"cwd":""}"#, r#"{"cwd":7}"#] {
            assert!(read(lacking).is_err(), "{lacking}");
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
            assert_eq!(warpline_home(&environment(cwd, Some(home))), Path::new(expected));
        }
    }

    #[test]
    fn an_empty_variable_counts_as_absent() {
        let cwd = Path::new("/nowhere/at/all");
        let default = Path::new("/nowhere/at/all/.warpline");
        assert_eq!(warpline_home(&environment(cwd, Some(""))), default);
        assert_eq!(warpline_home(&environment(cwd, None)), default);
    }

    #[test]
    fn the_nearest_ancestor_with_a_home_is_found_and_a_file_of_that_name_is_none() {
        let root = tempfile::tempdir().expect("temporary directory");
        let deep = root.path().join("a/b/c");
        std::fs::create_dir_all(&deep).expect("directories");
        std::fs::create_dir(root.path().join(".warpline")).expect("outer home");
        std::fs::write(deep.join(".warpline"), "").expect("a file is no home");
        let found = |cwd: &Path| warpline_home(&environment(cwd, None));
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
        assert_eq!(paths.runs_dir, Path::new("/h/runs"));
    }
}
