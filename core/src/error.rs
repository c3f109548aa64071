//! The error catalogue: every error a caller can meet, its stable code and what the reader sees.
//!
//! A message tells file, key and expected shape in half a line and never quotes a value; the way out
//! is in [`Error::hint`].

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::json::ParseError;
use crate::schema::{Issue, issue::issues_text};

/// The result of an operation that can meet an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An operation was refused or could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The plugin root cannot be used.
    #[error("cannot read plugin root {path}: {code}", path = path.display())]
    PluginRoot {
        /// The resolved path.
        path: PathBuf,
        /// The errno name: ENOENT, ENOTDIR, EACCES.
        code: String,
    },
    /// The plugin root was given as an empty string.
    #[error("the plugin root was given as an empty string")]
    EmptyPluginRoot,
    /// A document of the home is not JSON.
    #[error("{path} is {source}", path = path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Where the text stops being JSON.
        source: ParseError,
    },
    /// A document of the home has the wrong shape.
    #[error("{path} is not valid: {issues}", path = path.display(), issues = issues_text(issues))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong, path by path.
        issues: Vec<Issue>,
    },
    /// `engine-state.json` was written by a newer build.
    #[error(
        "{path} has schema_version {found}, and this build predates it: the newest it reads is {known}",
        path = path.display()
    )]
    NewerState {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: f64,
        /// The newest version this build knows.
        known: u32,
    },
    /// The operating system refused to read or write a file.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was tried: "read", "write", "lock", "remove", "create".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// An advance ended, but what came of it could not all be written.
    #[error("run {run_id} ended, but its record is incomplete: {source}")]
    NotRecorded {
        /// The run.
        run_id: String,
        /// What could not be written.
        source: Box<Error>,
    },
    /// Another advance is running on this home.
    #[error("another advance is running on this home: {holder} ({path})", path = path.display())]
    RunLocked {
        /// The lock file.
        path: PathBuf,
        /// Run id, process id and start of the holder, as far as its lock file tells.
        holder: String,
    },
    /// Another process kept the state lock for too long.
    #[error("{path} was held by another process for {seconds} seconds", path = path.display())]
    StateLockTimeout {
        /// The lock file.
        path: PathBuf,
        /// How long was waited.
        seconds: u64,
    },
    /// Others than the owner of a home can write it.
    #[error("{}", shared_home(path, *mode, *owner))]
    SharedHome {
        /// The directory or file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// Its owner, where that is neither this user nor root.
        owner: Option<u32>,
    },
    /// An option of a call is not usable.
    #[error("option `{option}` must be {expected}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// The shape that would be right.
        expected: String,
    },
    /// An option of a call has a name that nobody knows.
    #[error("there is no option `{name}`")]
    UnknownOption {
        /// The name.
        name: String,
    },
    /// The host went away or answered something that is no answer.
    #[error("the plugin host failed: {message}")]
    Host {
        /// What happened.
        message: String,
    },
}

impl Error {
    /// Every code there is.
    pub const CODES: [&str; 10] = [
        "ERR_WARPLINE_PLUGIN_ROOT",
        "ERR_WARPLINE_NOT_JSON",
        "ERR_WARPLINE_INVALID",
        "ERR_WARPLINE_NEWER_STATE",
        "ERR_WARPLINE_FILE",
        "ERR_WARPLINE_LOCKED",
        "ERR_WARPLINE_STATE_LOCK",
        "ERR_WARPLINE_SHARED_HOME",
        "ERR_WARPLINE_OPTION",
        "ERR_WARPLINE_HOST",
    ];

    /// The stable code, the same in every language.
    pub fn code(&self) -> &'static str {
        match self {
            Self::PluginRoot { .. } | Self::EmptyPluginRoot => "ERR_WARPLINE_PLUGIN_ROOT",
            Self::NotJson { .. } => "ERR_WARPLINE_NOT_JSON",
            Self::Invalid { .. } => "ERR_WARPLINE_INVALID",
            Self::NewerState { .. } => "ERR_WARPLINE_NEWER_STATE",
            Self::File { .. } => "ERR_WARPLINE_FILE",
            Self::NotRecorded { source, .. } => source.code(),
            Self::RunLocked { .. } => "ERR_WARPLINE_LOCKED",
            Self::StateLockTimeout { .. } => "ERR_WARPLINE_STATE_LOCK",
            Self::SharedHome { .. } => "ERR_WARPLINE_SHARED_HOME",
            Self::Option { .. } | Self::UnknownOption { .. } => "ERR_WARPLINE_OPTION",
            Self::Host { .. } => "ERR_WARPLINE_HOST",
        }
    }

    /// What the reader can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::PluginRoot { code, .. } => root_hint(code),
            Self::EmptyPluginRoot => ROOT_MISSING,
            Self::NotJson { .. } | Self::Invalid { .. } => {
                Some("mend the file by hand; nothing was written")
            }
            Self::NewerState { .. } => Some("upgrade warpline; nothing was written"),
            Self::NotRecorded { .. } => Some(
                "mend what it names; the next advance takes over what plugins did from the journal",
            ),
            Self::RunLocked { .. } => Some("wait for it to end, or stop that process"),
            Self::StateLockTimeout { .. } => Some("try again; nothing was written"),
            Self::SharedHome { .. } => Some(
                "or set WARPLINE_ALLOW_SHARED_HOME=1, if all who can write there may decide what runs; nothing was written",
            ),
            Self::File { source, .. } => file_hint(source.kind()),
            Self::Option { .. } | Self::UnknownOption { .. } | Self::Host { .. } => None,
        }
    }

    /// A [`Error::File`] for use with `map_err`.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { action, path, source }
    }
}

fn shared_home(path: &Path, mode: u32, owner: Option<u32>) -> String {
    let (shown, typed) = (path.display(), typed(&path.display().to_string()));
    match owner {
        Some(owner) => format!(
            "{shown} belongs to user {owner}, who is another one (mode {mode:04o}); run `chown \"$(id -u)\" {typed}`"
        ),
        None => {
            format!("{shown} can be written by others (mode {mode:04o}); run `chmod go-w {typed}`")
        }
    }
}

/// A text as a shell takes it for one word.
pub(crate) fn typed(word: &str) -> String {
    let is_plain = |part: char| part.is_ascii_alphanumeric() || "/._-+:@%,=".contains(part);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

const ROOT_MISSING: Option<&str> = Some("create the directory, or name another one with --plugins");

/// What can be done about a plugin root that cannot be read, by the name of the system's error.
fn root_hint(code: &str) -> Option<&'static str> {
    match code {
        "EACCES" | "EPERM" => file_hint(ErrorKind::PermissionDenied),
        "ENOTDIR" => file_hint(ErrorKind::NotADirectory),
        "ENOENT" => ROOT_MISSING,
        _ => None,
    }
}

/// What can be done about a refusal of the operating system.
fn file_hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::PermissionDenied => Some("check its owner and permissions"),
        ErrorKind::ReadOnlyFilesystem => Some("the file system is mounted read-only"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("free some space"),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
            Some("something else lies in its place; move it away")
        }
        ErrorKind::InvalidData => Some("mend the file by hand; nothing was written"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_codes_is_what_errors_have() {
        let source = include_str!("error.rs");
        let body = source.split("pub fn code").nth(1).expect("the function");
        let body = body.split("pub fn").next().expect("its body");
        let mut codes: Vec<&str> =
            body.split('"').filter(|text| text.starts_with("ERR_WARPLINE_")).collect();
        codes.dedup();
        assert_eq!(codes, Error::CODES);
    }

    #[test]
    fn a_plugin_root_that_is_there_is_not_to_be_created() {
        for (code, hint) in [
            ("ENOENT", ROOT_MISSING),
            ("EACCES", Some("check its owner and permissions")),
            ("ENOTDIR", Some("something else lies in its place; move it away")),
            ("EIO", None),
        ] {
            let error = Error::PluginRoot { path: "/x".into(), code: code.to_owned() };
            assert_eq!(error.hint(), hint, "{code}");
        }
    }

    #[test]
    fn a_refusal_of_the_system_says_what_can_be_done_where_something_can() {
        for (number, hint) in [
            (13, Some("check its owner and permissions")),
            (28, Some("free some space")),
            (21, Some("something else lies in its place; move it away")),
            (5, None),
        ] {
            let error =
                Error::file("write", Path::new("/x"))(std::io::Error::from_raw_os_error(number));
            assert_eq!(error.hint(), hint, "errno {number}");
        }
    }
}
