//! A pass that is killed for real: what the next one makes of what it left.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use warpline_core::engine::PluginState;
use warpline_core::home::state;
use warpline_core::json::{JsString, Value, parse};
use warpline_core::schema::engine_state::RunStatus;

use crate::support::{Fleet, at, list_at, state_of, summary_of, text_at};

/// Set in the process that is to be killed; names its home.
const VICTIM: &str = "WARPLINE_TEST_VICTIM_HOME";

const EFFECTS: &str = r#""dependencies":["quick"],"side_effects":["sends_email"]"#;
const PARKED: &str = r#""dependencies":["quick"],"side_effects":["writes_db"],
    "autonomy_level":"supervised""#;

fn fleet_over(home: &Path) -> Fleet {
    let fleet = Fleet::over(home);
    fleet.spy("quick", "");
    fleet.spy("parked", PARKED);
    fleet.spy("sender", EFFECTS);
    fleet.spy("behind", r#""dependencies":["sender"],"ttl_hours":1"#);
    fleet
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap()
}

#[test]
fn a_killed_pass_is_brought_to_its_end_by_the_next_one() {
    match std::env::var_os(VICTIM) {
        Some(home) => runtime().block_on(be_killed(Path::new(&home))),
        None => runtime().block_on(survive()),
    }
}

/// Runs an advance whose last plugin never lets go of its thread.
async fn be_killed(home: &Path) {
    let fleet = fleet_over(home);
    let marker = home.join("sent");
    fleet.plugin("sender", EFFECTS, move |_| {
        let marker = marker.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            std::fs::write(marker, "").unwrap();
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        }
    });
    fleet.advance().await;
}

fn kill_one(home: &Path) {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["crash::a_killed_pass_is_brought_to_its_end_by_the_next_one", "--exact"])
        .env(VICTIM, home)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..6000 {
        if home.join("sent").exists() {
            break;
        }
        assert!(victim.try_wait().unwrap().is_none(), "the victim ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    std::fs::remove_file(home.join("sent")).expect("its effect fired");
}

async fn survive() {
    let base = Fleet::new();
    base.grant(r#""*""#, 100);
    let home = base.paths.home.clone();
    kill_one(&home);
    let fleet = fleet_over(&home);
    assert!(fleet.paths.run_lock().exists(), "the dead process left its lock file");
    assert!(!fleet.paths.state_file.exists(), "it wrote no state");
    let journal = fleet.text(&fleet.paths.journal());
    let lines: Vec<Value> = journal.lines().map(|line| parse(line).unwrap()).collect();
    let told: Vec<(String, bool)> = lines
        .iter()
        .map(|line| (text_at(line, "plugin"), line.get("started_at").is_some()))
        .collect();
    let expected = [("quick", false), ("parked", true), ("sender", true), ("parked", false)];
    assert_eq!(told, expected.map(|(plugin, start)| (plugin.to_owned(), start)));
    let dead = text_at(&lines[0], "run_id");

    fleet.wait_hours(1).await;
    let before = fleet.snapshot();
    let seen = state::load_read_only(&fleet.paths, fleet.engine.now());
    let sender = &seen.plugin_runs[&JsString::from("sender")];
    assert_eq!(sender.status, RunStatus::Failed);
    assert_eq!(seen.pending_gates.len(), 1);
    assert_eq!(fleet.snapshot(), before, "who only looks folds in memory");

    let result = fleet.advance().await;
    assert!(fleet.started().is_empty(), "no effect fires again");
    assert!(summary_of(&result, "behind").contains("'sender'"), "dependents wait");
    let state = fleet.state();
    assert_eq!(text_at(&state, "plugin_runs.quick.status"), "success");
    assert_eq!(text_at(&state, "plugin_runs.quick.last_run_at"), "2026-08-20T12:00:00.000Z");
    assert_eq!(text_at(&state, "plugin_runs.parked.status"), "gated");
    assert_eq!(text_at(&state, "pending_gates.0.run_id"), dead);
    assert_eq!(text_at(&state, "plugin_runs.sender.status"), "failed");
    assert_eq!(text_at(&state, "plugin_runs.sender.last_run_at"), "2026-08-20T13:00:00.000Z");
    assert!(!fleet.paths.journal().exists());

    assert_eq!(text_at(&fleet.run_log(&result), "resumed_from"), dead);
    let log = parse(&fleet.text(&fleet.paths.runs_dir.join(format!("{dead}.json")))).unwrap();
    assert_eq!(text_at(&log, "status"), "interrupted");
    assert!(at(&log, "completed_at").is_null());
    let entries = list_at(&log, "plugin_entries").iter();
    let entries: Vec<(String, String)> =
        entries.map(|entry| (text_at(entry, "plugin"), text_at(entry, "status"))).collect();
    let expected = [("quick", "completed"), ("parked", "gated"), ("sender", "failed")];
    assert_eq!(entries, expected.map(|(plugin, status)| (plugin.to_owned(), status.to_owned())));

    let notices: Vec<String> = fleet
        .events()
        .iter()
        .filter_map(|event| at(event, "metadata_json").as_string().map(JsString::to_text))
        .collect();
    let expected = format!(r#"{{"event":"run_unfinished","plugin":"sender","run_id":"{dead}"}}"#);
    assert_eq!(notices, [expected]);

    fleet.wait_hours(7).await;
    let later = fleet.advance().await;
    assert_eq!(state_of(&later, "sender"), PluginState::Completed, "its ttl is over");
    assert!(at(&fleet.run_log(&later), "resumed_from").is_null());
}
