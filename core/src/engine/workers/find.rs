//! Which program runs the plugins of a language, and what it is given: looked for without starting
//! anything.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::engine::WorkerCommand;
use crate::home::plugins::Language;
use crate::home::{Environment, resolve, warpline_home};
use crate::json::JsString;
use crate::worker::protocol::VERSION;
use crate::worker::python;

use super::process::Ended;

/// The file of the npm package that is a worker.
const NODE_MAIN: &str = "lib/worker.js";

/// How the workers of a language are started.
#[derive(Debug)]
pub(super) struct Launch {
    language: Language,
    program: PathBuf,
    arguments: Vec<OsString>,
    home: PathBuf,
}

impl Launch {
    /// The host's own command, or what is found for the language.
    ///
    /// # Errors
    ///
    /// A text for a reader: what is missing, where it was looked for, and what to install.
    pub(super) fn find(
        language: Language,
        own: Option<WorkerCommand>,
        environment: &Environment,
        plugins: &Path,
    ) -> Result<Self, String> {
        let home = warpline_home(environment).map_err(|error| error.to_string())?;
        let (program, arguments) = match (own, language) {
            (Some(WorkerCommand { program, arguments }), _) => (program, arguments),
            (None, Language::TypeScript) => {
                let program = program(language, environment)?;
                let package = npm_package(environment, plugins, &home)?;
                (program, vec![package.join(NODE_MAIN).into_os_string()])
            }
            (None, Language::Python) => {
                (program(language, environment)?, vec!["-c".into(), python::START.into()])
            }
        };
        Ok(Self { language, program, arguments, home })
    }

    /// What is started: in the environment and the working directory of the operation.
    pub(super) fn command(&self, environment: &Environment) -> Command {
        let usable = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
        let vars = environment.vars.iter().filter(|(name, _)| usable(name));
        let vars = vars.map(|(name, value)| (name, os_text(value)));
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(vars.filter(|(_, value)| !value.as_encoded_bytes().contains(&0)))
            .env("WARPLINE_HOME", &self.home)
            .current_dir(&environment.cwd);
        command
    }

    pub(super) fn cannot_start(&self, error: &io::Error) -> String {
        let (program, language) = (self.program.display(), self.language);
        format!("cannot start {program}, which runs {language} plugins: {error}")
    }

    /// A worker that is not ours.
    pub(super) fn no_worker(&self, fault: &str) -> String {
        let (program, language) = (self.program.display(), self.language);
        format!("{program}, which was started to run {language} plugins, is no worker: {fault}")
    }

    /// A worker that says why it cannot be one. Nothing of a plugin runs in it yet.
    pub(super) fn unable(&self, text: &JsString) -> String {
        let (program, language) = (self.program.display(), self.language);
        let text: String = text.to_text().chars().filter(|letter| !letter.is_control()).collect();
        format!("{program} cannot run {language} plugins: {text}")
    }

    /// A worker of another version.
    pub(super) fn other_version(&self, version: &str) -> String {
        let version: String =
            version.chars().take(40).filter(|letter| !letter.is_control()).collect();
        let (program, language) = (self.program.display(), self.language);
        format!(
            "{program} runs {language} plugins with warpline {version}, and this is warpline \
             {VERSION}: install {VERSION} there (`{}`), or bring this one up to it",
            install(language, Some(VERSION))
        )
    }

    /// What the end of a process means that never became ready.
    pub(super) fn lacks_package(&self, how: &Ended) -> Option<String> {
        let lacks =
            self.language == Language::Python && matches!(how, Ended::Code(python::NO_PACKAGE));
        lacks.then(|| {
            format!(
                "{} has no module `warpline`, which runs Python plugins: `{}`, or set \
                 WARPLINE_PYTHON to a Python that has it",
                self.program.display(),
                install(self.language, None)
            )
        })
    }
}

fn install(language: Language, version: Option<&str>) -> String {
    let (install, separator) = match language {
        Language::TypeScript => ("npm install warpline", "@"),
        Language::Python => ("python3 -m pip install warpline-runtime", "=="),
    };
    let version = version.map(|version| format!("{separator}{version}")).unwrap_or_default();
    format!("{install}{version}")
}

/// The program that a variable names, or else the usual one on PATH.
fn program(language: Language, environment: &Environment) -> Result<PathBuf, String> {
    let (variable, usual, what) = match language {
        Language::TypeScript => ("WARPLINE_NODE", "node", "Node.js 20.10 or newer"),
        Language::Python => ("WARPLINE_PYTHON", "python3", "Python 3.9 or newer"),
    };
    let named = environment.var(variable).filter(|named| !named.is_empty());
    let wanted = named.as_deref().unwrap_or(usual);
    let found = if wanted.contains('/') {
        Some(resolve(&environment.cwd, Path::new(wanted))).filter(|path| is_program(path))
    } else {
        let path = environment.vars.get("PATH").map(os_text).unwrap_or_default();
        // An empty entry would be the working directory.
        let entries = std::env::split_paths(&path).filter(|entry| !entry.as_os_str().is_empty());
        let mut programs = entries.map(|entry| resolve(&environment.cwd, &entry).join(wanted));
        programs.find(|path| is_program(path))
    };
    found.ok_or_else(|| match named {
        Some(_) => format!(
            "{variable} names no program that can be started: {language} plugins need {what}"
        ),
        None => format!(
            "{language} plugins need {what}, and there is no `{usual}` on PATH: install it, or set \
             {variable} to the program"
        ),
    })
}

fn is_program(path: &Path) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The directory of the npm package.
fn npm_package(environment: &Environment, plugins: &Path, home: &Path) -> Result<PathBuf, String> {
    let holds = |package: &PathBuf| package.join(NODE_MAIN).is_file();
    if let Some(named) = environment.var("WARPLINE_NPM").filter(|named| !named.is_empty()) {
        let package = resolve(&environment.cwd, Path::new(&named));
        let lacks = || {
            format!(
                "WARPLINE_NPM names no directory of the npm package warpline {VERSION}: it has no {NODE_MAIN}"
            )
        };
        return Some(package).filter(holds).ok_or_else(lacks);
    }
    let installed = |directory: &Path| directory.join("node_modules/warpline");
    let starts = [home, plugins, &environment.cwd];
    let above = starts.iter().flat_map(|start| start.ancestors());
    let found = above.map(installed).find(holds);
    found.ok_or_else(|| {
        format!(
            "TypeScript plugins need the npm package `warpline`, and no node_modules at or above {}, {} and \
             {} has it: `{}`, or set WARPLINE_NPM to its directory",
            home.display(),
            plugins.display(),
            environment.cwd.display(),
            install(Language::TypeScript, None)
        )
    })
}

/// A variable as the system has it: bytes that are no UTF-8 are lone surrogates where the host is Python.
fn os_text(value: &JsString) -> OsString {
    let mut bytes = Vec::new();
    for letter in char::decode_utf16(value.units()) {
        let letter = match letter {
            Ok(letter) => letter,
            Err(lone) => match lone.unpaired_surrogate() {
                byte @ 0xDC80..=0xDCFF => {
                    bytes.extend(u8::try_from(byte - 0xDC00));
                    continue;
                }
                _ => char::REPLACEMENT_CHARACTER,
            },
        };
        bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
    OsString::from_vec(bytes)
}
