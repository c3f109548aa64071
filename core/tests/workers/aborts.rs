//! Calls that are given up while they run in a worker.

use std::time::{Duration, Instant};

use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{FINE, Home, is_reaped, is_soon, ok, summary_of};

const BRIEF: &str = r#""timeout_ms":300"#;

#[tokio::test]
async fn a_timeout_is_recorded_as_one_and_harms_nobody_where_the_signal_fires() {
    // A worker that the machine lets wait for two seconds is killed like one that is busy.
    for _ in 0..10 {
        let home = Home::new();
        home.plugin("late", "py", BRIEF, &["forever"]);
        home.python("beside", &["until {home}/released", FINE]);
        let (result, _) = tokio::join!(home.advance(), async {
            home.wait_for_end("late").await;
            // Had nobody heard the signal, the process would be gone then.
            tokio::time::sleep(Duration::from_millis(2_500)).await;
            home.release("released");
        });
        assert_eq!(summary_of(&result, "late"), "late: timeout");
        let ended = home.invoke("late").await;
        assert!(ended.timed_out);
        let error = ended.result.errors.first().expect("an error");
        assert_eq!(error.code.as_str(), "timeout");
        if summary_of(&result, "beside") == "fine" {
            return assert_eq!(home.workers().len(), 2, "one for the advance, one for the call");
        }
    }
    panic!("it is killed whenever a call of it is given up");
}

#[tokio::test]
async fn a_worker_that_is_kept_busy_is_killed_two_seconds_after_an_abort() {
    let home = Home::new();
    let busy = ["load until {home}/began", "load busy {home}/busy", "forever"];
    home.plugin("blocks", "py", BRIEF, &busy);
    home.python("beside", &["note {home}/began", "forever"]);
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
    home.plugin("blocks", "py", BRIEF, &["load busy {home}/busy", "forever"]);
    // What comes after it reaches the worker when that is busy, or gone already.
    let busy = home.path("busy");
    home.fleet.plugin("first", "", move |_| {
        let busy = busy.clone();
        async move {
            assert!(is_soon(|| busy.exists()).await);
            ok("it is busy", "")
        }
    });
    home.plugin("waits", "py", r#""dependencies":["first"]"#, &["note {home}/ran", FINE]);
    let result = home.advance().await;
    assert_eq!(summary_of(&result, "blocks"), "blocks: timeout");
    assert_eq!(summary_of(&result, "waits"), "fine");
    let workers = home.workers();
    assert_eq!(workers.len(), 2);
    assert_eq!(home.noted("ran"), workers.get(1..).expect("two"));
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
    home.python("blocks", &["load busy {home}/busy", "note {home}/began", "forever"]);
    let cancel = home.fleet.cancel.clone();
    let (result, since) = tokio::join!(home.advance(), async {
        home.wait_for("began").await;
        cancel.cancel();
        Instant::now()
    });
    assert!(since.elapsed() < Duration::from_secs(60));
    assert_eq!(result.status, AdvanceStatus::Interrupted);
    assert!(home.workers().into_iter().all(is_reaped));
}
