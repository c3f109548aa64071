//! What the state document says of a run that produced nothing, and what its dependents make of it.

use std::fs;
use std::sync::{Arc, Mutex};

use warpline_core::engine::{AdvanceOptions, AdvanceResult, Clock, PluginState};
use warpline_core::json::Value;
use warpline_core::schema::engine_state::RunStatus;

use crate::support::{Home, NOW, at, done, name};

const NEXT_DAY: &str = "2026-08-21T12:00:00.000Z";

/// A home with a producer, `prod`, and a consumer of its output.
fn home(directory: &tempfile::TempDir) -> Home {
    let home = Home::at(directory.path().to_owned());
    home.plugin("prod", "");
    home.plugin("consumer", r#""dependencies":["prod"]"#);
    home
}

/// Advances; `prod` answers `produced`. Returns what the consumer was told of it, too.
async fn advance(home: &Home, time: &str, produced: Value) -> (AdvanceResult, Option<String>) {
    let told = Arc::new(Mutex::new(None));
    let kept = told.clone();
    let clock = Clock::starting_at(at(time));
    let pass = home.advance(clock, AdvanceOptions::default(), move |attempt| {
        let (produced, told) = (produced.clone(), told.clone());
        async move {
            if attempt.plugin.name == "prod" {
                return produced;
            }
            let run = attempt.context.get("dependencies").and_then(|all| all.get("prod"));
            *told.lock().expect("no poison") = run.map(Value::to_compact);
            done("consumer.md")
        }
    });
    let pass = pass.await.expect("it returns");
    let told = kept.lock().expect("no poison").take();
    (pass, told)
}

#[tokio::test(start_paused = true)]
async fn a_handoff_is_a_skipped_run_that_keeps_the_output_of_the_one_before() {
    let directory = tempfile::tempdir().expect("a directory");
    let home = home(&directory);
    advance(&home, NOW, done("a.md")).await;
    let output = home.state().plugin_runs[&name("prod")].last_output.clone();
    let mut handoff = done("b.md");
    let map = handoff.as_object_mut().expect("an object");
    map.insert("status", "skipped");
    map.insert("summary", "[needs-llm] look at it. Context: /x");
    map.insert("artifacts_produced", Vec::<Value>::new());
    let (_, told) = advance(&home, NEXT_DAY, handoff).await;
    let state = home.state();
    let run = &state.plugin_runs[&name("prod")];
    assert_eq!((run.status, &run.last_output), (RunStatus::Skipped, &output));
    let told = told.expect("the consumer ran");
    assert!(told.contains(r#""run":"skipped""#) && told.contains(r#""path":"a.md""#), "{told}");
}

#[tokio::test(start_paused = true)]
async fn an_invocation_that_cannot_be_carried_out_is_a_failed_run_that_holds_its_dependents_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let home = home(&directory);
    advance(&home, NOW, done("a.md")).await;
    let output = home.state().plugin_runs[&name("prod")].last_output.clone();
    assert!(output.is_some());
    fs::create_dir_all(home.paths.config_dir.join("prod.json")).expect("a directory in its place");
    let (pass, told) = advance(&home, NEXT_DAY, done("b.md")).await;
    let state = home.state();
    let run = &state.plugin_runs[&name("prod")];
    assert_eq!((run.status, &run.last_output), (RunStatus::Failed, &output));
    assert_eq!(told, None, "the consumer did not run");
    assert_eq!(pass.plugin_states[&name("consumer")], PluginState::Skipped);
    let entry = pass.plugin_entries.iter().find(|entry| entry.plugin == "consumer");
    let summary = entry.expect("an entry").result_summary.to_text();
    assert!(summary.contains("'prod'"), "{summary}");
}
