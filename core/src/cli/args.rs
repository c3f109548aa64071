//! Arguments in, typed commands out: every refusal happens here, before anything is touched.

use clap::ArgMatches;

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
#[allow(missing_docs)] // the variants are the verbs, the fields their options, by name
pub enum Command {
    /// Text for standard output, and nothing else.
    Help(String),
    Init,
    Plan {
        profile: Option<RunProfile>,
        explain: Option<JsString>,
        json: bool,
    },
    Advance {
        profile: Option<RunProfile>,
        force: bool,
        dry_run: bool,
        strict: bool,
        json: bool,
    },
    Run {
        plugin: JsString,
        action: JsString,
        input: Map,
        retries: Option<u32>,
        json: bool,
    },
    Approve(Approve),
    Deny(Deny),
    Revoke,
}

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
}

/// What `deny` is asked to do.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the variants are the forms of the verb, the fields their options, by name
pub enum Deny {
    /// Names in the order given, each once.
    Record {
        plugins: Vec<JsString>,
        note: Option<JsString>,
    },
    List {
        json: bool,
    },
    /// Names in the order given, each once.
    Remove {
        plugins: Vec<JsString>,
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
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => {
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
        "init" => Command::Init,
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
        }),
        "deny" => Command::Deny(deny(options)?),
        _ => Command::Revoke,
    })
}

fn deny(options: &ArgMatches) -> Result<Deny, Refusal> {
    let (list, json) = (options.get_flag("list"), options.get_flag("json"));
    if json && !list {
        return Err(Refusal::of("deny", "`--json` goes with `--list`"));
    }
    let plugins = names(options);
    Ok(match () {
        () if list => Deny::List { json },
        () if options.get_flag("remove") => Deny::Remove { plugins },
        () => Deny::Record { plugins, note: text(options, "note").map(JsString::from) },
    })
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
        refuse("expected a whole number greater than 0 followed by m, h or d, as in `90m`")
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
