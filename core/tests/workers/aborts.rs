//! Calls that are given up while they run in a worker.

use std::time::{Duration, Instant};

use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{FINE, Home, is_reaped, summary_of};

const BRIEF: &str = r#""timeout_ms":300"#;

#[tokio::test]
async fn a_timeout_is_recorded_as_one_and_harms_nobody_where_the_signal_fires() {
    let home = Home::new();
    home.plugin("late", "py", BRIEF, &["forever"]);
    home.python("beside", &["sleep 3000", FINE]);
    let result = home.advance().await;
    assert_eq!(summary_of(&result, "late"), "late: timeout");
    assert_eq!(summary_of(&result, "beside"), "fine");
    assert_eq!(home.workers().len(), 1);
    let ended = home.invoke("late").await;
    assert!(ended.timed_out);
    let error = ended.result.errors.first().expect("an error");
    assert_eq!(error.code.as_str(), "timeout");
}

#[tokio::test]
async fn a_worker_that_is_kept_busy_is_killed_two_seconds_after_an_abort() {
    let home = Home::new();
    home.plugin("blocks", "py", BRIEF, &["block"]);
    home.python("beside", &["sleep 600000", FINE]);
    home.plugin("after", "py", r#""dependencies":["blocks"]"#, &[FINE]);
    let since = Instant::now();
    let result = home.advance().await;
    let took = since.elapsed();
    assert!((Duration::from_millis(2300)..Duration::from_secs(60)).contains(&took), "{took:?}");
    assert_eq!(summary_of(&result, "blocks"), "blocks: timeout");
    let told = summary_of(&result, "beside");
    assert!(told.contains("was killed: `blocks` kept it busy and did not stop"), "{told}");
    assert!(home.workers().into_iter().all(is_reaped));
}

#[tokio::test]
async fn what_waits_behind_a_busy_worker_runs_in_the_next_one() {
    let home = Home::new();
    home.plugin("blocks", "py", BRIEF, &["block"]);
    // Its second attempt comes when the first process is gone.
    let again = format!("once {{home}}/busy {}", crate::support::AGAIN);
    home.plugin("retries", "py", r#""max_retries":1,"retry_delay_ms":4000"#, &[&again, FINE]);
    let result = home.advance().await;
    assert_eq!(summary_of(&result, "retries"), "fine");
    assert_eq!(home.workers().len(), 2);
}

#[tokio::test]
async fn cancelling_reaches_the_signal_of_a_handler_and_the_advance_ends_at_once() {
    let home = Home::new();
    home.python("waits", &["note {home}/began", "wait", "note {home}/let-go"]);
    let cancel = home.fleet.cancel.clone();
    let (result, _) = tokio::join!(home.advance(), async {
        home.wait_for("began").await;
        cancel.cancel();
    });
    assert_eq!(result.status, AdvanceStatus::Interrupted);
    assert_eq!(summary_of(&result, "waits"), "waits: cancelled");
    assert!(home.workers().into_iter().all(is_reaped));
}

#[tokio::test]
async fn a_cancelled_advance_waits_no_longer_than_the_grace_of_a_busy_worker() {
    let home = Home::new();
    home.python("blocks", &["note {home}/began", "block"]);
    let cancel = home.fleet.cancel.clone();
    let (took, _) = tokio::join!(
        async {
            let result = home.advance().await;
            assert_eq!(result.status, AdvanceStatus::Interrupted);
            Instant::now()
        },
        async {
            home.wait_for("began").await;
            cancel.cancel();
        }
    );
    assert!(took.elapsed() < Duration::from_secs(45));
    assert!(home.workers().into_iter().all(is_reaped));
}
