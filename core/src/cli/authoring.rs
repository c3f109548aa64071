//! The verbs of whoever writes or sets up plugins: their grammar, and what a command line asks of them.

use clap::{Arg, ArgMatches, Command};

use crate::home::plugins::Language;
use crate::json::JsString;

use super::args::{names, text};
use super::refusal::Refusal;
use super::scaffold::{language_name, language_of};
use super::usage::{flag, json, plugin, value};

/// Options of `configure`.
#[derive(Clone, Debug, PartialEq)]
pub struct Configure {
    /// The directory name.
    pub plugin: JsString,
    /// `--from`: the inputs as JSON text, or `-` for standard input.
    pub from: Option<String>,
    /// `--schema`: print what the file may hold, and write nothing.
    pub schema: bool,
    /// `--json`: the report as JSON.
    pub json: bool,
}

/// Options of `scaffold`.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaffold {
    /// The name of the new plugin, as typed.
    pub plugin: String,
    /// `--from`: the example to begin with.
    pub from: Option<String>,
    /// `--lang`: what to write it in.
    pub language: Option<Language>,
    /// `--json`: the report as JSON.
    pub json: bool,
}

/// Options of `check`.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Directory names in the order given, each once; empty means every plugin.
    pub plugins: Vec<JsString>,
    /// `--json`: the report as JSON.
    pub json: bool,
}

impl Configure {
    pub(super) fn read(options: &ArgMatches) -> Self {
        Self {
            plugin: text(options, "plugin").unwrap_or_default().into(),
            from: text(options, "from"),
            schema: options.get_flag("schema"),
            json: options.get_flag("json"),
        }
    }
}

impl Scaffold {
    pub(super) fn read(options: &ArgMatches) -> Result<Self, Refusal> {
        Ok(Self {
            plugin: text(options, "plugin").unwrap_or_default(),
            from: text(options, "from"),
            language: text(options, "lang").map(|name| language(&name)).transpose()?,
            json: options.get_flag("json"),
        })
    }
}

impl Check {
    pub(super) fn read(options: &ArgMatches) -> Self {
        Self { plugins: names(options), json: options.get_flag("json") }
    }
}

fn language(name: &str) -> Result<Language, Refusal> {
    language_of(name).ok_or_else(|| {
        let known: Vec<&str> = Language::ALL.iter().copied().map(language_name).collect();
        let message = format!("invalid --lang '{name}': expected {}", known.join(", "));
        Refusal::of("scaffold", &message).hint_near(name, known)
    })
}

/// The grammar of these verbs.
pub(super) fn grammar() -> [Command; 3] {
    [configure(), scaffold(), check()]
}

fn configure() -> Command {
    Command::new("configure")
        .about("Set the inputs of a plugin")
        .override_usage(
            "warpline configure [--json] <PLUGIN>\n       \
             warpline configure --from JSON [--json] <PLUGIN>\n       \
             warpline configure --schema <PLUGIN>",
        )
        .args([
            plugin("Its directory name"),
            value("from", "JSON", "The inputs as one JSON object; `-` reads it from standard input")
                .allow_hyphen_values(true),
            flag("schema", "Print the JSON Schema of the configuration, for editors; writes nothing")
                .conflicts_with("from"),
            json(),
        ])
        .after_help(
            "Asks for each declared input on a terminal: an empty line keeps the value shown. \
             Declared secrets are never asked for and never written; they are environment variables.\n\
             Exit codes: 0 done; 1 refused, and nothing was written; 130 interrupted.",
        )
}

fn scaffold() -> Command {
    Command::new("scaffold")
        .about("Write a new plugin that runs, to be changed into what is wanted")
        .args([
            plugin("Its name: a-z, 0-9 and `-`, with a letter in front"),
            value("from", "EXAMPLE", "Begin with an example of the package, under the new name"),
            value("lang", "LANG", "`ts` or `python` (default: what the command itself runs on)"),
            json(),
        ])
        .after_help(
            "Writes manifest, handler and a test, all or nothing, and never over a directory that \
             is there. Creates what the home lacks, as `warpline init` does.\n\
             Exit codes: 0 written; 1 refused.",
        )
}

fn check() -> Command {
    Command::new("check")
        .about("Read plugins without running them, and say what is wrong with them")
        .args([
            Arg::new("plugin").value_name("PLUGIN").num_args(1..).help("Directory names (default: all)"),
            json(),
        ])
        .after_help(
            "Reads manifest, source and configuration. Runs no code of a plugin and writes nothing.\n\
             Exit codes: 0 no error, though perhaps warnings; 1 an error, or refused.",
        )
}
