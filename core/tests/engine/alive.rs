//! `last-successful-advance`: the sign of life of a home, for a monitor.

use std::fs;
use std::time::SystemTime;

use warpline_core::clock::Instant;
use warpline_core::engine::{AdvanceOptions, Notice};
use warpline_core::json::{Value, parse};

use crate::support::{Fleet, START, ok};

fn sign(fleet: &Fleet) -> Option<Value> {
    let text = fs::read_to_string(fleet.paths.last_advance()).ok()?;
    Some(parse(&text).expect("JSON"))
}

/// The document of a pass that began and ended at the start of the test.
fn expected(run_id: &str, rest: &str) -> Value {
    parse(&format!(r#"{{"run_id":"{run_id}","completed_at":"{START}",{rest}}}"#)).expect("JSON")
}

#[tokio::test(start_paused = true)]
async fn every_pass_that_returns_replaces_it() {
    let fleet = Fleet::new();
    fleet.spy("good", "");
    fleet.plugin("bad", "", |_| async { Err("no".to_owned()) });
    fleet.file("broken", "throw 1\n");
    fleet.spy("asks", r#""autonomy_level":"supervised""#);
    fleet.put(&fleet.paths.runs_dir.join("old.json"), "{}");
    let old = fs::File::options().write(true).open(fleet.paths.runs_dir.join("old.json"));
    old.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let first = fleet.advance().await;
    let told = r#""status":"partial","skipped_reason":null,"gated":1,"pending_gates":1,"failed":2,"pruned":1"#;
    let document = sign(&fleet).expect("it is there");
    assert_eq!(document, expected(&first.run_id.to_text(), told));
    let keys: Vec<String> =
        document.as_object().unwrap().iter().map(|(key, _)| key.to_text()).collect();
    let order = [
        "run_id",
        "completed_at",
        "status",
        "skipped_reason",
        "gated",
        "pending_gates",
        "failed",
        "pruned",
    ];
    assert_eq!(keys, order);

    let second = fleet.advance().await;
    let told = r#""status":"partial","skipped_reason":null,"gated":0,"pending_gates":1,"failed":1,"pruned":0"#;
    assert_eq!(sign(&fleet), Some(expected(&second.run_id.to_text(), told)));
    fleet.approve("asks").await;
    fleet.advance().await;
    assert_eq!(sign(&fleet).unwrap().get("pending_gates"), Some(&Value::Number(0.0)));
}

#[tokio::test(start_paused = true)]
async fn a_pass_in_quiet_hours_replaces_it_and_says_why_nothing_ran() {
    let fleet = Fleet::new();
    fleet.spy("asks", r#""autonomy_level":"supervised""#);
    fleet.advance().await;
    let minute = Instant::parse(START).unwrap().local_minute();
    let clock = |minute: u32| format!("{:02}:{:02}", minute % 1440 / 60, minute % 60);
    let (start, end) = (clock(minute), clock(minute + 1));
    let quiet = format!(r#"{{"quiet_hours":{{"start":{start:?},"end":{end:?}}}}}"#);
    fleet.put(&fleet.paths.preferences, &quiet);
    let result = fleet.advance().await;
    let told = r#""status":"complete","skipped_reason":"quiet_hours","gated":0,"pending_gates":1,"failed":0,"pruned":0"#;
    assert_eq!(sign(&fleet), Some(expected(&result.run_id.to_text(), told)));
}

#[tokio::test(start_paused = true)]
async fn it_lies_beside_the_state_file_and_tells_of_an_empty_root() {
    let fleet = Fleet::new();
    let mut options = AdvanceOptions::default();
    options.paths.state_dir = Some(fleet.paths.home.join("elsewhere/state.json"));
    fleet.advance_with(options).await.expect("it returns");
    let text = fs::read_to_string(fleet.paths.home.join("elsewhere/last-successful-advance"));
    let document = parse(&text.expect("it is there")).unwrap();
    assert_eq!(document.get("status"), Some(&Value::from("failed")));
    assert!(!fleet.paths.last_advance().exists());
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_pass_returns_and_says_in_it_that_it_was_cut_short() {
    let fleet = Fleet::new();
    let cancel = fleet.cancel.clone();
    fleet.plugin("stops", "", move |_| {
        cancel.cancel();
        async { ok("done", "") }
    });
    let result = fleet.advance().await;
    let told = r#""status":"interrupted","skipped_reason":null,"gated":0,"pending_gates":0,"failed":1,"pruned":0"#;
    assert_eq!(sign(&fleet), Some(expected(&result.run_id.to_text(), told)));
}

#[tokio::test(start_paused = true)]
async fn dry_runs_refusals_and_a_process_that_ends_leave_it_alone() {
    let fleet = Fleet::new();
    fleet.spy("good", "");
    let dry = AdvanceOptions { dry_run: true, ..AdvanceOptions::default() };
    fleet.advance_with(dry).await.unwrap();
    let engine = fleet.engine.clone();
    fleet.plugin("exits", "", move |_| {
        engine.exit().expect("the pass is recorded");
        async { ok("done", "") }
    });
    fleet.put(&fleet.paths.preferences, "{");
    assert!(fleet.advance_with(AdvanceOptions::default()).await.is_err());
    fs::remove_file(&fleet.paths.preferences).unwrap();
    assert!(fleet.advance_with(AdvanceOptions::default()).await.is_err(), "nothing returns");
    assert!(fleet.paths.state_file.exists(), "what is known of the pass is on record");
    assert_eq!(sign(&fleet), None);
}

#[tokio::test(start_paused = true)]
async fn where_it_cannot_be_written_the_pass_stands_and_a_warning_says_so() {
    let fleet = Fleet::new();
    fleet.spy("good", "");
    fs::create_dir_all(fleet.paths.last_advance()).unwrap();
    let result = fleet.advance().await;
    assert!(result.run_log_path.is_some());
    let notices = fleet.host.notices.lock().unwrap();
    let path = fleet.paths.last_advance().display().to_string();
    let told = |notice: &Notice| matches!(notice, Notice::Warning { text } if text.contains(&path));
    assert_eq!(notices.iter().filter(|notice| told(notice)).count(), 1);
}
