//! Arguments in, typed commands out: every refusal happens here, before anything is touched.

mod answers;
mod log;

use clap::ArgMatches;
use clap::error::ErrorKind;

use crate::clock::Instant;
use crate::engine::Isolation;
use crate::json::{JsString, Map};
use crate::schema::manifest::{MAX_RETRIES, RunProfile};

use super::paint::Choice;
use super::plan::Manifests;
use super::refusal::{self, Refusal};
use super::{completions, help, usage};

pub use super::authoring::{Check, Configure, Scaffold};
pub use answers::{Approve, Deny, Ttl};
pub use log::Log;

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// `--home`, not resolved.
    pub home: Option<String>,
    /// `--plugins`, not resolved; may be empty, which the loader refuses.
    pub plugins: Option<String>,
    /// `--color`.
    pub color: Choice,
    /// The verb with its options.
    pub command: Command,
}

/// One verb with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Text for standard output, and nothing else: help, the version, or a script for a shell.
    Help(String),
    /// List the plugins for a script of a shell.
    PluginNames,
    /// Prepare a home.
    Init {
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Show what an advance would do.
    Plan {
        /// `--profile`: which schedules to admit.
        profile: Option<RunProfile>,
        /// `--explain`: the directory name of the one plugin to tell about.
        explain: Option<JsString>,
        /// `--no-run`: no manifest is run.
        manifests: Manifests,
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Run what is due.
    Advance {
        /// `--profile`: which schedules to admit.
        profile: Option<RunProfile>,
        /// `--force`: lift freshness and quiet hours.
        force: bool,
        /// `--dry-run`: run only what declares no side effect, and write nothing.
        dry_run: bool,
        /// `--strict`: exit 1 also where something waits for a human.
        strict: bool,
        /// `--isolate`: a process of its own for every manifest and every attempt.
        isolation: Isolation,
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Run one plugin by hand.
    Run {
        /// The directory name.
        plugin: JsString,
        /// What the handler gets as `action`.
        action: JsString,
        /// `--input`: text by name, the last of several with one name.
        input: Map,
        /// `--retries`: replaces the manifest's number, 0 to [`MAX_RETRIES`].
        retries: Option<u32>,
        /// `--isolate`: a process of its own for every manifest and every attempt.
        isolation: Isolation,
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Ask for a plugin's inputs, or take them.
    Configure(Configure),
    /// Read plugins without running them.
    Check(Check),
    /// Write a new plugin.
    Scaffold(Scaffold),
    /// Accept parked results or grant plugins their effects.
    Approve(Approve),
    /// Say no, list such answers, or take them back.
    Deny(Deny),
    /// Take every grant back.
    Revoke {
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Show what nobody has taken note of.
    Board {
        /// `--all`: however much it is.
        all: bool,
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Show the open tasks.
    Tasks {
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Take note of notices.
    Ack {
        /// The beginning of an id, not empty; `None` means `--all`.
        id: Option<JsString>,
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Put a task off.
    Defer {
        /// The beginning of an id, not empty.
        id: JsString,
        /// For how long, in milliseconds: one of [`DEFERRALS`].
        span_ms: i64,
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Call a task done.
    Done {
        /// The beginning of an id, not empty.
        id: JsString,
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Show how the home stands.
    Status {
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Show the runs of the home.
    Log(Log),
    /// Show the Output of a plugin.
    Show {
        /// The directory name.
        plugin: JsString,
        /// `--run`: the beginning of a run id, not empty.
        run: Option<JsString>,
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Show the work that waits for a model.
    Handoffs {
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Take runs off the record.
    Forget {
        /// Directory names in the order given, each once.
        plugins: Vec<JsString>,
        /// `--json`: the report as JSON.
        json: bool,
    },
}

/// How long a task can be put off, as it is typed and in milliseconds.
pub const DEFERRALS: [(&str, i64); 4] =
    [("1h", 3_600_000), ("4h", 14_400_000), ("1d", 86_400_000), ("1w", 604_800_000)];

/// Reads the arguments that follow the program's name. `now` bounds what `--ttl` may reach.
///
/// # Errors
///
/// A [`Refusal`] holds the whole text for standard error; nothing may be done then.
pub fn parse(arguments: &[String], now: Instant) -> Result<Parsed, Refusal> {
    let words = std::iter::once("warpline").chain(arguments.iter().map(String::as_str));
    let matches = match usage::command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error)
            if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) =>
        {
            let command = Command::Help(error.render().ansi().to_string());
            let color = Choice::in_arguments(arguments);
            return Ok(Parsed { home: None, plugins: None, color, command });
        }
        Err(error) => return Err(refusal::of_parser(&error, arguments)),
    };
    let home = text(&matches, "home");
    if home.as_deref() == Some("") {
        return Err(Refusal::of("", "`--home` needs the path of a directory"));
    }
    let color = color(&matches)?;
    let command = match matches.subcommand() {
        Some((verb, options)) => verb_command(verb, options, now)?,
        None => Command::Help(help::overview()),
    };
    Ok(Parsed { home, plugins: text(&matches, "plugins"), color, command })
}

fn color(matches: &ArgMatches) -> Result<Choice, Refusal> {
    let Some(name) = text(matches, "color") else { return Ok(Choice::default()) };
    Choice::from_name(&name).ok_or_else(|| {
        let known = Choice::ALL.map(|(name, _)| name);
        let message = format!("invalid --color '{name}': expected {}", known.join(", "));
        Refusal::of("", &message).hint_near(&name, known)
    })
}

fn shell(options: &ArgMatches) -> Result<Command, Refusal> {
    let shell = text(options, "shell").unwrap_or_default();
    if shell == completions::NAMES {
        return Ok(Command::PluginNames);
    }
    completions::script(&shell).map(Command::Help).ok_or_else(|| {
        let known = completions::SHELLS;
        let message = format!("invalid SHELL '{shell}': expected {}", known.join(", "));
        Refusal::of("completions", &message).hint_near(&shell, known)
    })
}

fn isolation(options: &ArgMatches) -> Isolation {
    if options.get_flag("isolate") { Isolation::Process } else { Isolation::None }
}

fn verb_command(verb: &str, options: &ArgMatches, now: Instant) -> Result<Command, Refusal> {
    let on = |name: &str| options.get_flag(name);
    Ok(match verb {
        "init" => Command::Init { json: on("json") },
        "plan" => Command::Plan {
            profile: profile(verb, options)?,
            explain: text(options, "explain").map(JsString::from),
            manifests: if on("no-run") { Manifests::ReadOnly } else { Manifests::Run },
            json: on("json"),
        },
        "advance" => Command::Advance {
            profile: profile(verb, options)?,
            force: on("force"),
            dry_run: on("dry-run"),
            strict: on("strict"),
            isolation: isolation(options),
            json: on("json"),
        },
        "run" => Command::Run {
            plugin: text(options, "plugin").unwrap_or_default().into(),
            action: text(options, "action").unwrap_or_default().into(),
            input: inputs(options)?,
            retries: retries(options)?,
            isolation: isolation(options),
            json: on("json"),
        },
        "configure" => Command::Configure(Configure::read(options)),
        "check" => Command::Check(Check::read(options)),
        "scaffold" => Command::Scaffold(Scaffold::read(options)?),
        "approve" => Command::Approve(Approve::read(options, now)?),
        "deny" => Command::Deny(Deny::read(options)),
        "revoke" => Command::Revoke { json: on("json") },
        "board" => Command::Board { all: on("all"), json: on("json") },
        "tasks" => Command::Tasks { json: on("json") },
        "completions" => shell(options)?,
        "ack" if on("all") => Command::Ack { id: None, json: on("json") },
        "ack" => Command::Ack { id: Some(id(verb, options)?), json: on("json") },
        "defer" => {
            Command::Defer { id: id(verb, options)?, span_ms: deferral(options)?, json: on("json") }
        }
        "done" => Command::Done { id: id(verb, options)?, json: on("json") },
        "status" => Command::Status { json: on("json") },
        "log" => Command::Log(log::read(options)?),
        "show" => Command::Show {
            plugin: text(options, "plugin").unwrap_or_default().into(),
            run: log::run_id(verb, "--run", options)?,
            json: on("json"),
        },
        "handoffs" => Command::Handoffs { json: on("json") },
        _ => Command::Forget { plugins: names(options), json: on("json") },
    })
}

pub(super) fn text(options: &ArgMatches, name: &str) -> Option<String> {
    options.get_one::<String>(name).cloned()
}

fn texts<'a>(options: &'a ArgMatches, name: &str) -> impl Iterator<Item = &'a String> {
    options.get_many::<String>(name).into_iter().flatten()
}

pub(super) fn names(options: &ArgMatches) -> Vec<JsString> {
    let mut names: Vec<JsString> = Vec::new();
    for name in texts(options, "plugin") {
        let name = JsString::from(name.as_str());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn id(verb: &str, options: &ArgMatches) -> Result<JsString, Refusal> {
    match text(options, "id") {
        Some(id) if !id.is_empty() => Ok(id.into()),
        _ => Err(Refusal::of(verb, "invalid ID: expected the beginning of an id, and it is empty")),
    }
}

fn deferral(options: &ArgMatches) -> Result<i64, Refusal> {
    let span = text(options, "span").unwrap_or_default();
    let known = DEFERRALS.iter().find(|(name, _)| *name == span);
    known.map(|(_, ms)| *ms).ok_or_else(|| {
        let names = DEFERRALS.map(|(name, _)| name).join(", ");
        Refusal::of("defer", &format!("invalid SPAN: expected {names}"))
    })
}

fn profile(verb: &str, options: &ArgMatches) -> Result<Option<RunProfile>, Refusal> {
    let Some(name) = text(options, "profile") else { return Ok(None) };
    let known: Vec<&str> = RunProfile::ALL.iter().map(|profile| profile.as_str()).collect();
    RunProfile::from_name(&name).map(Some).ok_or_else(|| {
        let message = format!("invalid --profile '{name}': expected {}", known.join(", "));
        Refusal::of(verb, &message).hint_near(&name, known)
    })
}

fn inputs(options: &ArgMatches) -> Result<Map, Refusal> {
    let mut inputs = Map::new();
    for pair in texts(options, "input") {
        match pair.split_once('=') {
            Some((key, value)) if !key.is_empty() => inputs.insert(key, value),
            _ => {
                let message = "invalid --input: expected `key=value` with a key that is not empty";
                return Err(Refusal::of("run", message));
            }
        }
    }
    Ok(inputs)
}

fn retries(options: &ArgMatches) -> Result<Option<u32>, Refusal> {
    let Some(text) = text(options, "retries") else { return Ok(None) };
    digits(&text)
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| *number <= MAX_RETRIES)
        .map(Some)
        .ok_or_else(|| {
            let message = format!("invalid --retries: expected an integer in [0, {MAX_RETRIES}]");
            Refusal::of("run", &message)
        })
}

/// A number written in digits alone; `None` also where it exceeds 64 bits.
fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
