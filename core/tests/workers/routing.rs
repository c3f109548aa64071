//! Which plugin runs where, and how many processes that takes.

use warpline_core::engine::PluginState;
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{FINE, Home, ok, state_of, summary_of};

#[tokio::test]
async fn each_plugin_runs_in_its_language_and_those_of_the_other_one_share_a_process() {
    let home = Home::new();
    home.fleet.plugin("typed", "", async |_| ok("in the host", ""));
    home.python("one", &[FINE]).python("two", &[FINE]);
    home.plugin("after", "py", r#""dependencies":["typed","one"]"#, &[FINE]);
    let result = home.advance().await;
    assert_eq!(result.status, AdvanceStatus::Complete);
    assert_eq!(summary_of(&result, "typed"), "in the host");
    for name in ["one", "two", "after"] {
        assert_eq!(summary_of(&result, name), "fine");
    }
    assert_eq!(home.workers().len(), 1);
    home.advance().await;
    assert_eq!(home.workers().len(), 2, "each advance has its own");
}

#[tokio::test]
async fn no_process_is_started_where_nothing_of_the_other_language_is_there() {
    let home = Home::new();
    home.fleet.plugin("typed", "", async |_| ok("in the host", ""));
    assert_eq!(home.advance().await.status, AdvanceStatus::Complete);
    assert!(home.workers().is_empty());
}

#[tokio::test]
async fn a_plugin_that_is_called_directly_runs_in_a_worker_as_well() {
    let home = Home::new();
    home.python("one", &[FINE]).python("two", &["throw it broke"]);
    assert_eq!(home.invoke("one").await.result.summary, "fine");
    let thrown = home.invoke("two").await;
    assert_eq!(thrown.final_error, Some("it broke".into()));
    assert_eq!(thrown.attempt_count, 1);
    assert_eq!(home.workers().len(), 2);
}

#[tokio::test]
async fn what_a_manifest_or_a_module_throws_is_the_reason_why_it_does_not_load() {
    let home = Home::new();
    home.python("good", &[FINE]).python("module", &["load throw no module", FINE]);
    home.python("manifest", &[FINE]).file("manifest", "manifest.py", "throw no manifest");
    let result = home.advance().await;
    assert_eq!(state_of(&result, "good"), PluginState::Completed);
    assert_eq!(summary_of(&result, "manifest"), "no manifest");
    assert_eq!(summary_of(&result, "module"), "module: no module");
}

#[tokio::test]
async fn a_worker_sees_the_variables_and_the_directory_of_the_call() {
    let mut home = Home::new();
    home.set("COLOUR", "blue");
    home.python("colour", &["variable COLOUR"]).python("home", &["variable WARPLINE_HOME"]);
    assert_eq!(home.invoke("colour").await.final_error, Some("blue".into()));
    let told = home.invoke("home").await.final_error.expect("an error").to_text();
    assert_eq!(told, home.fleet.paths.home.display().to_string());
    home.python("other", &["variable CARGO"]);
    assert_eq!(home.invoke("other").await.final_error, Some("".into()), "not ours");
}

#[tokio::test]
async fn warnings_and_the_places_of_throws_reach_the_host() {
    let home = Home::new();
    home.python("tells", &["warn the directory was put back", "fault Oops\\n  at line 3", FINE]);
    home.invoke("tells").await;
    assert_eq!(home.fleet.warnings(), ["the directory was put back"]);
    assert_eq!(home.faults(), [("tells".to_owned(), "Oops\\n  at line 3".to_owned())]);
}
