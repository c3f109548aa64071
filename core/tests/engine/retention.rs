//! What is deleted, by whom, and what stays.

use std::time::{Duration, SystemTime};

use warpline_core::clock::Instant;
use warpline_core::engine::InvokeOptions;
use warpline_core::home::runs;
use warpline_core::json::JsString;

use crate::support::{Fleet, START, ok, text_at};

/// Writes a file as if it had been written `days` before the start.
fn put_old(fleet: &Fleet, name: &str, text: &str, days: u64) {
    let path = fleet.paths.home.join(name);
    fleet.put(&path, text);
    let start = u64::try_from(Instant::parse(START).unwrap().ms()).unwrap();
    let written = SystemTime::UNIX_EPOCH + Duration::from_millis(start - days * 86_400_000);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
}

/// Cases: T324, T470.
#[tokio::test(start_paused = true)]
async fn an_advance_deletes_run_logs_and_day_files_of_more_than_thirty_days() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    let files = [
        ("runs/old.json", 31, false),
        ("runs/old.log", 31, true),
        ("runs/young.json", 29, true),
        ("logs/runs/2026-07-20.jsonl", 31, false),
        ("logs/runs/2026-08-01.jsonl", 19, true),
        ("logs/runs/2026-08-20.jsonl", 0, true),
    ];
    for (name, days, _) in files {
        put_old(&fleet, name, "not even JSON", days);
    }
    fleet.advance().await;
    for (name, _, stays) in files {
        assert_eq!(fleet.paths.home.join(name).exists(), stays, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_advance_deletes_nothing() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    put_old(&fleet, "runs/old.json", "{}", 31);
    fleet.put(&fleet.paths.state_file, "{");
    assert!(fleet.advance_with(Default::default()).await.is_err());
    assert!(fleet.paths.runs_dir.join("old.json").exists());
}

/// Cases: T221.
#[tokio::test(start_paused = true)]
async fn a_pointer_outlives_the_run_log_that_it_names() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |_| async { ok("made", r#""artifacts_produced":["a.md"]"#) });
    let result = fleet.advance().await;
    let run_id = text_at(&fleet.state(), "plugin_runs.p.last_output.run_id");
    let retained = || runs::is_retained(&fleet.paths, &JsString::from(run_id.as_str()));
    assert!(retained());
    std::fs::remove_file(result.run_log_path.unwrap()).unwrap();
    assert!(!retained());
    fleet.advance().await;
    assert_eq!(text_at(&fleet.state(), "plugin_runs.p.last_output.run_id"), run_id);
}

/// Cases: T317.
#[tokio::test(start_paused = true)]
async fn a_direct_run_keeps_the_twenty_newest_of_its_plugin() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |call| async move {
        call.print(&"x\n".into());
        ok("done", "")
    });
    fleet.spy("other", "");
    let invoke = async |plugin: &str, id: String| {
        let run_id = Some(id.as_str().into());
        let options = InvokeOptions { persist_artifact: true, run_id, ..Default::default() };
        fleet.invoke(plugin, options).await;
        tokio::time::advance(Duration::from_secs(1)).await;
    };
    invoke("other", "other".into()).await;
    let advanced = fleet.advance().await;
    for index in 0..22 {
        invoke("p", format!("r{index:02}")).await;
    }
    let there = |name: String| fleet.paths.runs_dir.join(name).exists();
    for index in 0..22 {
        let kept = index >= 2;
        assert_eq!(there(format!("r{index:02}.json")), kept, "{index}");
        assert_eq!(there(format!("r{index:02}.log")), kept, "{index}");
    }
    assert!(there("other.json".into()), "of another plugin");
    assert!(there(format!("{}.json", advanced.run_id)), "of an advance");
}

#[tokio::test(start_paused = true)]
async fn an_event_past_the_slack_leaves_the_newest_twenty_thousand() {
    // A pass over one plugin appends three lines: the start, the plugin, the end.
    for (before, after) in [(21_997, 22_000), (21_998, 20_000)] {
        let fleet = Fleet::new();
        fleet.spy("p", "");
        let lines: String = (0..before).map(|index| format!("line {index}\n")).collect();
        fleet.put(&fleet.paths.events, &lines);
        let result = fleet.advance().await;
        let text = fleet.text(&fleet.paths.events);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), after);
        assert_eq!(lines[0], format!("line {}", before + 3 - after), "the oldest go");
        assert!(lines[after - 1].contains(&format!("Run {} complete", result.run_id)));
    }
}

#[tokio::test(start_paused = true)]
async fn an_advance_trims_no_history() {
    let fleet = Fleet::new();
    fleet.spy("p", "");
    for index in 0..25 {
        let text = format!(r#"{{"run_id":"r{index}","plugin":"p","started_at":"2026-08-19"}}"#);
        fleet.put(&fleet.paths.runs_dir.join(format!("r{index}.json")), &text);
    }
    fleet.advance().await;
    assert_eq!(std::fs::read_dir(&fleet.paths.runs_dir).unwrap().count(), 26);
}
