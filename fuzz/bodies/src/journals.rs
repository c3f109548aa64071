//! The journal of a killed pass, and what is made of it.

use std::collections::HashSet;

use warpline_core::clock::Instant;
use warpline_core::decide::crash;
use warpline_core::home::journal;
use warpline_core::json::parse;
use warpline_core::schema::engine_state::EngineState;
use warpline_core::schema::issue::issues_text;

use crate::edited::{assert_hides_values, marked, value};

const OUTCOME: &str = include_str!("../../corpus/journal/sample.json");
const STARTED: &str = r#"{"run_id":"2026-08-20T120000000Z-0a1b2c3d","plugin":"b","started_at":"2026-08-20T12:00:00.000Z"}"#;

pub fn journal(data: &[u8]) {
    let edited = value(data, &[OUTCOME, STARTED]);
    if let Some(value) = edited.as_ref().and_then(marked)
        && let Err(issues) = journal::parse(format!("{}\n", value.to_compact()).as_bytes())
    {
        assert_hides_values(&issues_text(&issues));
    }
    let line = edited.map(|value| format!("{STARTED}\n{}\n", value.to_compact()));
    let bytes = line.as_ref().map_or(data, |line| line.as_bytes());
    let Ok(lines) = journal::parse(bytes) else { return };

    let torn = [bytes, br#"{"run_id":"torn"#].concat();
    if bytes.last().is_none_or(|last| *last == b'\n') {
        assert_eq!(journal::parse(&torn).as_ref(), Ok(&lines), "a torn line says nothing");
    }
    let now = Instant::parse("2026-08-20T12:30:00.000Z").expect("an instant");
    let mut state = EngineState::default();
    let folded = crash::fold(&mut state, &lines.started, &lines.outcomes, now);
    assert!(folded.unfinished.len() <= lines.started.len());
    for line in &lines.started {
        assert!(state.plugin_runs.contains_key(&line.plugin), "every plugin has a record");
    }
    // A journal is of one pass, which the state names from then on.
    let ids = lines.started.iter().map(|line| &line.run_id);
    let ids: HashSet<_> = ids.chain(lines.outcomes.iter().map(|line| &line.run_id)).collect();
    if ids.len() > 1 {
        return;
    }
    let once = state.to_text();
    let again = parse(&once).expect("JSON is written");
    let mut state = EngineState::parse(&again).expect("what is written is read");
    crash::fold(&mut state, &lines.started, &lines.outcomes, now);
    assert_eq!(state.to_text(), once, "folding again changes nothing");
}
