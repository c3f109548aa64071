//! What the engine does by itself, timed: `speed state <home>` lays one run over the state document of a
//! home, `speed verdicts <plugins>` asks the guards about each plugin of a fleet. Prints milliseconds.

use std::hint::black_box;
use std::io::{Error, Result, Write};
use std::path::PathBuf;
use std::time::Instant as Stopwatch;

use warpline_core::clock::Instant;
use warpline_core::decide::dueness::{Question, Verdict, evaluate, locked_plugins};
use warpline_core::decide::merge::{Pass, lay_over};
use warpline_core::home::Paths;
use warpline_core::home::state::{self, Decision};
use warpline_core::json::{JsString, Record, parse};
use warpline_core::schema::engine_state::{EngineState, PluginRun};
use warpline_core::schema::manifest::{Manifest, Tier};

const RUN: &str =
    r#"{"last_run_at":"2026-08-20T11:00:00.000Z","status":"success","duration_ms":3}"#;

const MANIFEST: &str = r#"{"name":"p","version":"1.0.0","description":"","autonomy_level":"autonomous","ttl_hours":2,"dependencies":["p0"]}"#;

fn run() -> Result<PluginRun> {
    let value = parse(RUN).map_err(|fault| Error::other(fault.to_string()))?;
    PluginRun::parse(&value).map_err(|_| Error::other("the run is no run"))
}

fn now() -> Result<Instant> {
    Instant::parse("2026-08-20T12:00:00.000Z").ok_or_else(|| Error::other("no instant"))
}

/// The one write of an advance: locked read, validation, merge, write, flush.
fn update(home: &str) -> Result<f64> {
    let paths = Paths::new(PathBuf::from(home));
    let now = now()?;
    let stamp = JsString::from(now.to_iso());
    let mut plugin_runs = Record::new();
    plugin_runs.insert("p0000".into(), run()?);
    let pass = Pass {
        run_id: "00000000-0000-4000-8000-000000000000".into(),
        last_run_at: stamp.clone(),
        started_at: stamp,
        plugin_runs,
        parked: Vec::new(),
        tier: Tier::Normal,
        now,
    };
    let start = Stopwatch::now();
    let laid = state::update(&paths, now, |fresh| {
        lay_over(fresh, &pass);
        Ok(Decision::Write(()))
    });
    let spent = start.elapsed();
    laid.map_err(|error| Error::other(error.to_string()))?;
    Ok(spent.as_secs_f64() * 1000.0)
}

/// One verdict for each of so many plugins: half of them fresh, half of them due.
fn verdicts(count: usize) -> Result<f64> {
    let value = parse(MANIFEST).map_err(|fault| Error::other(fault.to_string()))?;
    let manifest = Manifest::parse(&value).map_err(|_| Error::other("the manifest is none"))?;
    let names: Vec<JsString> = (0..count).map(|index| format!("p{index}").into()).collect();
    let mut state = EngineState::default();
    for name in names.iter().step_by(2) {
        state.plugin_runs.insert(name.clone(), run()?);
    }
    let (now, mut due) = (now()?, 0);
    let locked = locked_plugins(&state, now);
    let start = Stopwatch::now();
    for plugin in &names {
        let question = Question {
            plugin,
            manifest: &manifest,
            state: &state,
            locked: &locked,
            profile: None,
            tier: Tier::Normal,
            force: false,
            grant: &|| None,
            due_at_earlier_level: None,
            now,
        };
        due += usize::from(matches!(evaluate(black_box(&question)), Verdict::Due));
    }
    let spent = start.elapsed();
    if due != count / 2 {
        return Err(Error::other(format!("{due} of {count} are due")));
    }
    Ok(spent.as_secs_f64() * 1000.0)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let spent = match words.as_slice() {
        ["state", home] => update(home)?,
        ["verdicts", count] => verdicts(count.parse().map_err(Error::other)?)?,
        _ => return Err(Error::other("state <home> or verdicts <plugins>")),
    };
    writeln!(std::io::stdout(), "{spent}")
}
