//! The options of `log`.

use clap::ArgMatches;

use crate::json::JsString;

use super::super::refusal::Refusal;
use super::{digits, text};

/// Options of `log`.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// The beginning of a run id, not empty: only this run.
    pub run: Option<JsString>,
    /// `--plugin`: only what became of this one.
    pub plugin: Option<JsString>,
    /// `--limit`: how many runs, 1 to 1000.
    pub limit: usize,
    /// `--follow`: wait for new ones.
    pub follow: bool,
    /// `--json`: the report as JSON.
    pub json: bool,
}

/// How many runs `log` shows at most.
const LOG_LIMIT: i64 = 1000;

/// How many it shows unless it is told.
const LOG_DEFAULT: usize = 20;

/// Reads them.
pub(super) fn read(options: &ArgMatches) -> Result<Log, Refusal> {
    Ok(Log {
        run: run_id("log", "RUN", options)?,
        plugin: text(options, "plugin").map(JsString::from),
        limit: limit(options)?,
        follow: options.get_flag("follow"),
        json: options.get_flag("json"),
    })
}

/// A run id or its beginning, where `name` gives one.
pub(super) fn run_id(
    verb: &str,
    name: &str,
    options: &ArgMatches,
) -> Result<Option<JsString>, Refusal> {
    match text(options, "run") {
        Some(id) if id.is_empty() => {
            let message = format!("invalid {name}: expected the beginning of a run id");
            Err(Refusal::of(verb, &message))
        }
        id => Ok(id.map(JsString::from)),
    }
}

fn limit(options: &ArgMatches) -> Result<usize, Refusal> {
    let Some(text) = text(options, "limit") else { return Ok(LOG_DEFAULT) };
    let number = digits(&text).filter(|number| (1..=LOG_LIMIT).contains(number));
    number.and_then(|number| usize::try_from(number).ok()).ok_or_else(|| {
        let message = format!("invalid --limit: expected an integer in [1, {LOG_LIMIT}]");
        Refusal::of("log", &message)
    })
}
