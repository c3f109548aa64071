//! Arguments in, typed commands out: every refusal happens here, before anything is touched.

use clap::ArgMatches;
use clap::error::ErrorKind;

use crate::clock::Instant;
use crate::json::{JsString, Map};
use crate::schema::manifest::{MAX_RETRIES, RunProfile};

use super::usage::{self, Refusal};

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// `--home`, not resolved.
    pub home: Option<String>,
    /// `--plugins`, not resolved; may be empty, which the loader refuses.
    pub plugins: Option<String>,
    /// The verb with its options.
    pub command: Command,
}

/// One verb with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Text for standard output, and nothing else: help, or the version.
    Help(String),
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
        /// `--json`: the report as JSON.
        json: bool,
    },
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
}

/// How long a task can be put off, as it is typed and in milliseconds.
pub const DEFERRALS: [(&str, i64); 4] =
    [("1h", 3_600_000), ("4h", 14_400_000), ("1d", 86_400_000), ("1w", 604_800_000)];

/// Options of `approve`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Approve {
    /// Directory names in the order given, each once; empty means `--all`.
    pub plugins: Vec<JsString>,
    /// `--run`: the run whose parked result was read.
    pub run: Option<JsString>,
    /// `--ttl` in milliseconds, as given.
    pub ttl: Option<Ttl>,
    /// `--long`: the expiry may pass the ceiling.
    pub long: bool,
    /// `--replace`: the scopes are overwritten.
    pub replace: bool,
    /// `--json`: the report as JSON.
    pub json: bool,
}

/// What `deny` is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Deny {
    /// Put a no on record.
    Record {
        /// Directory names in the order given, each once.
        plugins: Vec<JsString>,
        /// `--note`: words to keep with each denial.
        note: Option<JsString>,
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Show the denials on record.
    List {
        /// `--json`: the report as JSON.
        json: bool,
    },
    /// Take denials back.
    Remove {
        /// Directory names in the order given, each once.
        plugins: Vec<JsString>,
        /// `--json`: the report as JSON.
        json: bool,
    },
}

/// A span of time as typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ttl {
    /// Milliseconds, greater than 0.
    pub ms: i64,
}

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
            let command = Command::Help(error.to_string());
            return Ok(Parsed { home: None, plugins: None, command });
        }
        Err(error) => return Err(usage::refusal(&error, arguments)),
    };
    let home = text(&matches, "home");
    if home.as_deref() == Some("") {
        return Err(Refusal::of("", "`--home` needs the path of a directory"));
    }
    let command = match matches.subcommand() {
        Some((verb, options)) => verb_command(verb, options, now)?,
        None => Command::Help(usage::overview()),
    };
    Ok(Parsed { home, plugins: text(&matches, "plugins"), command })
}

fn verb_command(verb: &str, options: &ArgMatches, now: Instant) -> Result<Command, Refusal> {
    let on = |name: &str| options.get_flag(name);
    Ok(match verb {
        "init" => Command::Init { json: on("json") },
        "plan" => Command::Plan {
            profile: profile(verb, options)?,
            explain: text(options, "explain").map(JsString::from),
            json: on("json"),
        },
        "advance" => Command::Advance {
            profile: profile(verb, options)?,
            force: on("force"),
            dry_run: on("dry-run"),
            strict: on("strict"),
            json: on("json"),
        },
        "run" => Command::Run {
            plugin: text(options, "plugin").unwrap_or_default().into(),
            action: text(options, "action").unwrap_or_default().into(),
            input: inputs(options)?,
            retries: retries(options)?,
            json: on("json"),
        },
        "approve" => Command::Approve(Approve {
            plugins: names(options),
            run: text(options, "run").map(JsString::from),
            ttl: ttl(options, now)?,
            long: on("long"),
            replace: on("replace"),
            json: on("json"),
        }),
        "deny" => Command::Deny(deny(options)),
        "revoke" => Command::Revoke { json: on("json") },
        "board" => Command::Board { all: on("all"), json: on("json") },
        "tasks" => Command::Tasks { json: on("json") },
        "ack" if on("all") => Command::Ack { id: None, json: on("json") },
        "ack" => Command::Ack { id: Some(id(verb, options)?), json: on("json") },
        "defer" => {
            Command::Defer { id: id(verb, options)?, span_ms: deferral(options)?, json: on("json") }
        }
        _ => Command::Done { id: id(verb, options)?, json: on("json") },
    })
}

fn deny(options: &ArgMatches) -> Deny {
    let (plugins, json) = (names(options), options.get_flag("json"));
    match () {
        () if options.get_flag("list") => Deny::List { json },
        () if options.get_flag("remove") => Deny::Remove { plugins, json },
        () => Deny::Record { plugins, note: text(options, "note").map(JsString::from), json },
    }
}

fn text(options: &ArgMatches, name: &str) -> Option<String> {
    options.get_one::<String>(name).cloned()
}

fn texts<'a>(options: &'a ArgMatches, name: &str) -> impl Iterator<Item = &'a String> {
    options.get_many::<String>(name).into_iter().flatten()
}

fn names(options: &ArgMatches) -> Vec<JsString> {
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

fn ttl(options: &ArgMatches, now: Instant) -> Result<Option<Ttl>, Refusal> {
    let Some(text) = text(options, "ttl") else { return Ok(None) };
    let refuse = |expected: &str| Refusal::of("approve", &format!("invalid --ttl: {expected}"));
    let ms = span_ms(&text);
    let ms = ms.ok_or_else(|| {
        refuse("expected a whole number above 0 with the unit m, h or d, as in `90m`")
    })?;
    let ms = ms.filter(|ms| now.plus_ms(*ms).is_some());
    ms.map(|ms| Some(Ttl { ms })).ok_or_else(|| refuse("it ends later than any date can tell"))
}

/// Milliseconds of `90m`, `4h`, `2d`; inside, `None` where the number is beyond every date.
fn span_ms(text: &str) -> Option<Option<i64>> {
    let (unit, factor) = [('m', 60_000), ('h', 3_600_000), ('d', 86_400_000)]
        .into_iter()
        .find(|(unit, _)| text.ends_with(*unit))?;
    let number = text.strip_suffix(unit)?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match digits(number) {
        Some(0) => None,
        number => Some(number.and_then(|number| number.checked_mul(factor))),
    }
}

/// A number written in digits alone; `None` also where it exceeds 64 bits.
fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
