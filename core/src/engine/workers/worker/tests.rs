//! What is due of a process, at times that a test does not wait for.

use std::path::Path;

use std::sync::OnceLock;

use tokio::sync::watch;

use super::*;
use crate::engine::WorkerCommand;
use crate::home::Environment;
use crate::home::plugins::Language;

/// A process that never says anything, and the slot it was started for.
fn silent() -> (Arc<Slot>, Arc<Worker>) {
    let environment = Environment {
        cwd: "/".into(),
        vars: [("PATH".into(), "/usr/bin:/bin".into())].into_iter().collect(),
    };
    let command = WorkerCommand { program: "/bin/sleep".into(), arguments: vec!["600".into()] };
    let launch = Launch::find(Language::Python, Some(command), &environment, Path::new("/"));
    let launch = Arc::new(launch.expect("given"));
    let operation = Arc::new(Operation {
        engine: std::sync::Weak::new(),
        number: 1,
        environment: Arc::new(environment),
        concurrency: 1,
        room: OnceLock::new(),
        processes: Mutex::default(),
        count: watch::Sender::new(0),
    });
    let slot = Slot::new(&operation, launch.clone(), false);
    let worker = Worker::start(&operation, &slot, &launch, false, &mut None);
    (slot, worker.map_err(|fault| fault.text).expect("started"))
}

#[test]
fn a_process_that_does_not_say_that_it_is_ready_is_killed_after_half_a_minute() {
    let before = Instant::now();
    let (_slot, worker) = silent();
    let started = before..=Instant::now();
    let due = worker.due(before + Duration::from_secs(29));
    assert!(!due.kill);
    let next = due.next.expect("a limit");
    assert!(started.contains(&(next - Duration::from_secs(30))));
    assert!(worker.due(next).kill);
    let text = worker.with(|state| state.killed.clone()).expect("a reason");
    assert!(text.ends_with("it did not say within 30 seconds that it was ready"), "{text}");
    // Another process would do no better: no call waits for that long once more.
    assert!(worker.with(|state| state.hopeless.is_some()));
    worker.kill();
}

#[test]
fn an_end_that_is_heard_of_late_is_still_its_own() {
    let (slot, worker) = silent();
    worker.closed();
    assert!(!worker.due(Instant::now()).kill, "one that ends closes its output a little earlier");
    assert!(worker.due(Instant::now() + CLOSED_GRACE).kill);
    worker.gone(&Ended::Code(crate::worker::python::NO_PACKAGE));
    let told = slot.given_up().expect("another one would do no better");
    assert!(told.contains("has no module `warpline`"), "{told}");
    worker.kill();
}
