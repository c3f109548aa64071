//! The steps of a history, as words: what a vector holds, what a failure prints, what both sides read.
//!
//! ```text
//! plugin NAME [ttl=6] [deps=a,b] [effects=E,F] [autonomy=A] [schedule=S] [min_tier=T]
//! remove NAME · break NAME                      its directory is gone · its manifest does not load
//! plays NAME ENDING [out=KIND|path:X] [takes=20]  from now on its handler ends so
//! wait 6h · wait -5m                            the clock moves; units ms, s, m, h, d
//! task ID SEVERITY PLUGIN                       a check of the plugin flagged a task
//! preferences [review_gate] [quiet=22:00-07:00]
//! grant-file *,a 4h                             a grant file that another program wrote
//! advance [OPTIONS] [@15 killed | @15 cancelled | @15 unremoved | @15 COMMAND]   so it goes after 15 ms
//! plan [OPTIONS] · approve … · deny … · revoke · forget … · defer ID SPAN · done ID
//! ```

use std::collections::BTreeSet;

/// What a manifest says, as far as it decides anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub ttl_ms: i64,
    pub deps: Vec<String>,
    pub effects: Vec<String>,
    pub autonomy: String,
    pub schedule: String,
    pub min_tier: String,
}

/// How a handler ends: `success`, `partial`, `failed`, `skipped`, `handoff`, `throws`, `hangs`, or
/// `flaky`, which fails once and then succeeds. With `unreadable` its configuration cannot be read, so
/// that it is not even called.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub ending: String,
    pub output: Option<String>,
    pub takes: i64,
}

impl Default for Script {
    fn default() -> Self {
        Self { ending: "success".into(), output: None, takes: 0 }
    }
}

/// What happens while an advance runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Meanwhile {
    /// The process dies.
    Killed,
    /// The operator interrupts it.
    Cancelled,
    /// The process dies when all but the removal of the journal is done; it held what is known now.
    Unremoved,
    /// Somebody answers.
    Command(Vec<String>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Plugin(String, Facts),
    Remove(String),
    Break(String),
    Plays(String, Script),
    Wait(i64),
    Task {
        id: String,
        severity: String,
        plugin: String,
    },
    Preferences {
        review_gate: bool,
        quiet: Option<(i64, i64)>,
    },
    GrantFile {
        scopes: Vec<String>,
        lasts: i64,
    },
    Advance {
        options: BTreeSet<String>,
        meanwhile: Option<(i64, Meanwhile)>,
    },
    /// Any other command, to the word.
    Command(Vec<String>),
}

impl Step {
    pub fn parse(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let word = |at: usize| words.get(at).copied().unwrap_or_else(|| panic!("short: {line}"));
        match word(0) {
            "plugin" => Self::Plugin(word(1).into(), facts(&words[2..])),
            "remove" => Self::Remove(word(1).into()),
            "break" => Self::Break(word(1).into()),
            "plays" => {
                let option = |key| option(&words[3..], key);
                let takes = option("takes").map_or(0, |ms| ms.parse().expect("milliseconds"));
                let output = option("out").map(str::to_owned);
                Self::Plays(word(1).into(), Script { ending: word(2).into(), output, takes })
            }
            "wait" => Self::Wait(span(word(1))),
            "task" => {
                Self::Task { id: word(1).into(), severity: word(2).into(), plugin: word(3).into() }
            }
            "preferences" => Self::Preferences {
                review_gate: words.contains(&"review_gate"),
                quiet: option(&words[1..], "quiet").map(|window| {
                    let (start, end) = window.split_once('-').expect("a window");
                    (minute(start), minute(end))
                }),
            },
            "grant-file" => Self::GrantFile { scopes: list(word(1)), lasts: span(word(2)) },
            "advance" => {
                let at = words.iter().position(|word| word.starts_with('@'));
                let options = words[1..at.unwrap_or(words.len())].iter();
                let meanwhile = at.map(|at| {
                    let ms = words[at][1..].parse().expect("milliseconds");
                    let what = match word(at + 1) {
                        "killed" => Meanwhile::Killed,
                        "cancelled" => Meanwhile::Cancelled,
                        "unremoved" => Meanwhile::Unremoved,
                        _ => Meanwhile::Command(owned(&words[at + 1..])),
                    };
                    (ms, what)
                });
                Self::Advance { options: options.map(|word| (*word).into()).collect(), meanwhile }
            }
            _ => Self::Command(owned(&words)),
        }
    }
}

fn facts(words: &[&str]) -> Facts {
    let or = |key, default: &str| option(words, key).unwrap_or(default).to_owned();
    Facts {
        ttl_ms: hours(&or("ttl", "6")),
        deps: list(&or("deps", "")),
        effects: list(&or("effects", "")),
        autonomy: or("autonomy", "autonomous"),
        schedule: or("schedule", "on_run"),
        min_tier: or("min_tier", "normal"),
    }
}

fn option<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn minute(clock: &str) -> i64 {
    let (hour, minute) = clock.split_once(':').expect("a clock");
    hour.parse::<i64>().expect("hours") * 60 + minute.parse::<i64>().expect("minutes")
}

/// Milliseconds of hours with at most two decimals, without a rounding of its own.
fn hours(text: &str) -> i64 {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let hundredths: i64 = format!("{rest:0<2}").parse().expect("two decimals");
    (whole.parse::<i64>().expect("hours") * 100 + hundredths) * 36_000
}

/// Milliseconds of `90m`, `-5m`, `1ms`.
pub fn span(text: &str) -> i64 {
    let units = [
        ("ms", 1),
        ("s", 1000),
        ("m", 60_000),
        ("h", 3_600_000),
        ("d", 86_400_000),
        ("w", 604_800_000),
    ];
    let (number, unit) = units
        .into_iter()
        .find_map(|(unit, ms)| Some((text.strip_suffix(unit)?.parse::<i64>().ok()?, ms)))
        .unwrap_or_else(|| panic!("no span: {text}"));
    number * unit
}
