//! What is left of workers when nobody needs them any more: nothing.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use warpline_core::engine::{AdvanceOptions, Isolation};

use crate::support::{FINE, Home, example, is_dead, is_reaped, is_soon, summary_of};

#[tokio::test]
async fn nothing_runs_any_more_once_an_operation_has_returned() {
    let home = Home::new();
    home.python("leaves", &["leave {home}/left", FINE]);
    home.python("fails", &["leave {home}/left-too", "exit 1"]);
    home.invoke("leaves").await;
    home.invoke("fails").await;
    home.advance().await;
    let loaded = home.fleet.engine.load_manifests(
        &home.fleet.paths.plugins,
        &home.fleet.environment,
        Default::default(),
        1,
    );
    loaded.await;
    assert!(home.workers().into_iter().all(is_reaped));
    let left: Vec<Pid> = home.noted("left").into_iter().chain(home.noted("left-too")).collect();
    assert!(left.len() >= 2);
    assert!(left.into_iter().all(is_dead));
}

/// What of an advance still ran when its run log was there.
async fn outlives_the_record(isolation: Isolation) -> Vec<Pid> {
    let home = Home::new();
    let commands = ["load leave {home}/left", "load busy {home}/busy", "forever"];
    home.plugin("blocks", "py", r#""timeout_ms":300"#, &commands);
    let runs = home.path("runs");
    let watched = async {
        let since = Instant::now();
        while std::fs::read_dir(&runs).map_or(0, Iterator::count) == 0 {
            assert!(since.elapsed() < Duration::from_secs(60), "no run log comes");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let of_plugin = home.workers().into_iter().chain(home.noted("left"));
        of_plugin.filter(|process| !is_dead(*process)).collect()
    };
    let (result, outlived) = tokio::join!(home.advance_in(isolation), watched);
    assert_eq!(summary_of(&result, "blocks"), "blocks: timeout");
    assert_eq!(home.noted("left").len(), 1);
    outlived
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_plugin_acts_any_more_once_its_advance_is_recorded() {
    assert_eq!(outlives_the_record(Isolation::None).await, []);
    assert_eq!(outlives_the_record(Isolation::Process).await, []);
}

#[tokio::test]
async fn an_operation_that_nobody_waits_for_takes_its_processes_with_it() {
    let home = Home::new();
    home.python("works", &["note {home}/began", "leave {home}/left", "forever"]);
    {
        let advance = home.advance();
        tokio::pin!(advance);
        tokio::select! {
            _ = &mut advance => panic!("it does not end"),
            _ = home.wait_for("left") => {}
        }
    }
    let process = home.wait_for("began").await;
    assert!(is_soon(|| is_reaped(process)).await);
    let left = home.wait_for("left").await;
    assert!(is_soon(|| is_dead(left)).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_process_kills_what_runs_and_records_it_as_running() {
    let home = Arc::new(Home::new());
    home.python("works", &["note {home}/began", "leave {home}/left", "forever"]);
    let own = home.clone();
    let advance =
        tokio::spawn(async move { own.fleet.advance_with(AdvanceOptions::default()).await });
    let left = home.wait_for("left").await;
    let running = home.fleet.engine.exit().expect("recorded");
    assert_eq!(running, ["works"]);
    let process = home.wait_for("began").await;
    assert!(is_soon(|| is_reaped(process) && is_dead(left)).await);
    let log = std::fs::read_dir(home.path("runs")).expect("runs").next().expect("a log");
    let log = std::fs::read_to_string(log.expect("an entry").path()).expect("a run log");
    assert!(log.contains("the process exited while this plugin was running"), "{log}");
    advance.abort();
}

#[tokio::test]
async fn a_worker_ends_with_the_process_of_its_engine_however_that_ends() {
    let home = Home::new();
    home.python("works", &["note {home}/began", "leave {home}/left", "forever"]);
    let vars = home.fleet.environment.vars.iter();
    let mut engine = Command::new(example("host"))
        .envs(vars.map(|(name, value)| (name, value.to_text())))
        .current_dir(home.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    let left = home.wait_for("left").await;
    let process = home.wait_for("began").await;
    kill_process(Pid::from_child(&engine), Signal::KILL).expect("it runs");
    engine.wait().expect("reaped");
    assert!(is_soon(|| is_dead(process) && is_dead(left)).await);
}
