//! The options of `approve` and `deny`: a human's yes and no.

use clap::ArgMatches;

use crate::clock::Instant;
use crate::json::JsString;

use super::super::refusal::Refusal;
use super::{digits, names, text};

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

impl Approve {
    pub(super) fn read(options: &ArgMatches, now: Instant) -> Result<Self, Refusal> {
        let on = |name: &str| options.get_flag(name);
        Ok(Self {
            plugins: names(options),
            run: text(options, "run").map(JsString::from),
            ttl: ttl(options, now)?,
            long: on("long"),
            replace: on("replace"),
            json: on("json"),
        })
    }
}

impl Deny {
    pub(super) fn read(options: &ArgMatches) -> Self {
        let (plugins, json) = (names(options), options.get_flag("json"));
        match () {
            () if options.get_flag("list") => Self::List { json },
            () if options.get_flag("remove") => Self::Remove { plugins, json },
            () => Self::Record { plugins, note: text(options, "note").map(JsString::from), json },
        }
    }
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
