//! What is due of a process, at times that a test does not wait for.

use std::path::Path;

use std::sync::OnceLock;

use tokio::sync::watch;

use super::*;
use crate::engine::WorkerCommand;
use crate::home::Environment;
use crate::home::plugins::Language;

#[test]
fn a_process_that_does_not_say_that_it_is_ready_is_killed_after_half_a_minute() {
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
    let worker = worker.map_err(|fault| fault.text).expect("started");
    let since = Instant::now();
    let due = worker.due(since + Duration::from_secs(29));
    assert!(!due.kill);
    let next = due.next.expect("a limit");
    assert!((29..31).contains(&next.duration_since(since).as_secs()));
    assert!(worker.due(since + Duration::from_secs(31)).kill);
    let text = worker.with(|state| state.killed.clone()).expect("a reason");
    assert!(text.ends_with("it did not say within 30 seconds that it was ready"), "{text}");
    // Another process would do no better: no call waits for that long once more.
    assert!(worker.with(|state| state.hopeless.is_some()));
    worker.kill();
}
