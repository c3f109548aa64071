//! A process for each manifest that has to be run, and for each attempt.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use warpline_core::engine::{AdvanceOptions, Isolation, PluginState};
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{AGAIN, FINE, Home, is_dead, is_reaped, is_soon, state_of, summary_of};

#[tokio::test]
async fn every_plugin_has_a_process_of_its_own_whatever_it_is_written_in() {
    let home = Home::new();
    // The manifest of one is read as text; those of the others are run.
    home.plugin("typed", "ts", "", &["note {home}/ran", FINE]);
    home.python("one", &["note {home}/ran", FINE]).python("two", &["note {home}/ran", FINE]);
    let result = home.advance_in(Isolation::Process).await;
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert!(home.fleet.started().is_empty(), "nothing ran in the host");
    let ran: HashSet<Pid> = home.noted("ran").into_iter().collect();
    assert_eq!(ran.len(), 3);
    assert_eq!(home.workers().len(), 5);
    assert!(home.workers().into_iter().all(is_reaped));
}

#[tokio::test]
async fn the_first_attempt_runs_where_its_handler_was_loaded_and_each_other_one_in_a_fresh_process()
{
    let home = Home::new();
    let again = format!("once {{home}}/busy {AGAIN}");
    let again_too = format!("once {{home}}/busy-too {AGAIN}");
    let retries = r#""max_retries":2,"retry_delay_ms":1"#;
    let commands = ["load note {home}/loads", "note {home}/ran", &again, &again_too, FINE];
    home.plugin("retries", "ts", retries, &commands);
    let ended = home.invoke_apart("retries").await;
    assert_eq!((ended.attempt_count, ended.result.summary.to_text()), (3, "fine".to_owned()));
    let (loads, ran) = (home.noted("loads"), home.noted("ran"));
    assert_eq!(loads, ran);
    assert_eq!((ran.len(), home.workers().len()), (3, 3));
    assert!(ran.into_iter().all(is_reaped));
}

#[tokio::test]
async fn a_later_attempt_whose_handler_does_not_load_in_time_says_so() {
    let home = Home::new();
    let again = format!("once {{home}}/busy {AGAIN}");
    let retries = r#""max_retries":1,"retry_delay_ms":1"#;
    let slow = ["load then {home}/one note {home}/loads", "load then {home}/two forever"];
    home.plugin("retries", "ts", retries, &[slow[0], slow[1], &again, FINE]);
    let (ended, _) = tokio::join!(home.invoke_apart("retries"), async {
        home.wait_for("loads").await;
        // What is waited for is over at once.
        tokio::time::pause();
    });
    let told = ended.final_error.expect("an error").to_text();
    assert_eq!(told, "the handler did not load within 30 seconds");
    assert_eq!((ended.attempt_count, ended.never_called), (2, false));
    assert!(home.workers().into_iter().all(is_reaped));
}

#[tokio::test]
async fn what_a_plugin_leaves_running_ends_with_its_attempt() {
    let home = Home::new();
    home.plugin("leaves", "ts", "", &["leave {home}/left", FINE]);
    home.plugin("later", "ts", r#""dependencies":["leaves"]"#, &["until {home}/released", FINE]);
    let (result, _) = tokio::join!(home.advance_in(Isolation::Process), async {
        let left = home.wait_for("left").await;
        assert!(is_soon(|| is_dead(left)).await);
        home.release("released");
    });
    assert_eq!(result.status, AdvanceStatus::Complete);
}

#[tokio::test]
async fn a_handler_that_ignores_its_signal_is_killed_two_seconds_after_its_timeout() {
    let home = Home::new();
    let brief = r#""timeout_ms":300"#;
    home.plugin("late", "ts", brief, &["load note {home}/late", "forever"]);
    home.plugin("busy", "ts", brief, &["load busy {home}/busy", "forever"]);
    home.plugin("beside", "ts", "", &["until {home}/released", FINE]);
    let (result, _) = tokio::join!(home.advance_in(Isolation::Process), async {
        for file in ["late", "busy"] {
            let process = home.wait_for(file).await;
            assert!(is_soon(|| is_reaped(process)).await, "{file}");
        }
        home.release("released");
    });
    assert_eq!(summary_of(&result, "late"), "late: timeout");
    assert_eq!(summary_of(&result, "busy"), "busy: timeout");
    assert_eq!(summary_of(&result, "beside"), "fine");
    assert!(home.workers().into_iter().all(is_reaped));
}

#[tokio::test]
async fn a_handler_that_hears_its_signal_may_clear_up_and_is_waited_for() {
    let home = Home::new();
    // A busy machine takes as long as it likes: what counts is the quickest one.
    let mut least = Duration::MAX;
    for round in 0..50 {
        let (cleared, fields) = (format!("cleared-{round}"), r#""timeout_ms":200"#);
        let note = format!("note {{home}}/{cleared}");
        home.plugin("late", "ts", fields, &["wait", "sleep 200", &note, "return null"]);
        let (ended, since) = tokio::join!(home.invoke_apart("late"), async {
            // One that was not let clear up in its two seconds leaves no file.
            let limit = Duration::from_secs(5);
            tokio::time::timeout(limit, home.wait_for(&cleared)).await.map(|_| Instant::now())
        });
        assert!(ended.timed_out);
        if let Ok(since) = since {
            // Of the two seconds, 1.8 are left.
            least = least.min(since.elapsed());
        }
        if least < Duration::from_millis(1200) {
            return;
        }
    }
    panic!("{least:?}");
}

#[tokio::test]
async fn cancelling_ends_every_process() {
    let home = Home::new();
    home.plugin("waits", "ts", "", &["note {home}/began", "wait", "return null"]);
    home.plugin("never", "ts", r#""dependencies":["waits"]"#, &[FINE]);
    let cancel = home.fleet.cancel.clone();
    let (result, _) = tokio::join!(home.advance_in(Isolation::Process), async {
        home.wait_for("began").await;
        cancel.cancel();
    });
    assert_eq!(result.status, AdvanceStatus::Interrupted);
    assert_eq!(state_of(&result, "never"), PluginState::Pending);
    assert!(home.workers().into_iter().all(is_reaped));
}

#[tokio::test]
async fn code_that_ends_its_process_harms_nobody_else_and_is_not_called_again() {
    let home = Home::new();
    let retries = r#""max_retries":3,"retry_delay_ms":1"#;
    home.plugin("dies", "ts", retries, &["note {home}/ran", "exit 3"]);
    home.plugin("crashes", "ts", "", &["load crash", FINE]);
    home.plugin("beside", "ts", "", &["until {home}/released", FINE]);
    let (result, _) = tokio::join!(home.advance_in(Isolation::Process), async {
        home.wait_for_end("dies").await;
        home.wait_for_end("crashes").await;
        home.release("released");
    });
    assert!(summary_of(&result, "dies").contains("ended: exit code 3"));
    assert!(summary_of(&result, "crashes").contains("ended: signal SIGABRT"));
    assert_eq!(summary_of(&result, "beside"), "fine");
    assert_eq!(home.noted("ran").len(), 1);
}

#[tokio::test]
async fn no_more_processes_run_at_once_than_plugins_may() {
    let home = Home::new();
    let names = ["a", "b", "c", "d", "e", "f"];
    for name in names {
        // Each holds the only place while it runs.
        home.plugin(name, "ts", "", &["once {home}/taken sleep 0", "sleep 20", FINE]);
        home.file(name, "manifest.ts", "");
        home.python(name, &[FINE]);
        std::fs::remove_file(home.path(&format!("plugins/{name}/manifest.ts"))).expect("removed");
        let manifest = home.fleet.text(&home.path(&format!("plugins/{name}/manifest.py")));
        let commands = format!("place {}\nreturn {manifest}", home.path("place").display());
        home.file(name, "manifest.py", &commands);
    }
    let options = AdvanceOptions {
        isolation: Isolation::Process,
        concurrency: Some(1),
        ..AdvanceOptions::default()
    };
    let result = home.fleet.advance_with(options).await.expect("it returns");
    for name in names {
        assert_eq!(summary_of(&result, name), "fine");
    }
}
