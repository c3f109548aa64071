//! Outputs: stamped with their run, kept as the plugin's last, handed to dependents.

use warpline_core::engine::{InvokeOptions, PluginState};
use warpline_core::json::Value;
use warpline_core::schema::engine_state::PluginRun;
use warpline_core::schema::run_log::AdvanceStatus;

use crate::support::{
    Fleet, Requests, at, failed, keys, list_at, ok, result, state_of, summary_of, text_at,
};

const ON_PROD: &str = r#""dependencies":["prod"]"#;

fn body(text: &str) -> String {
    format!(r#""artifacts_produced":[{{"type":"report","body":{text:?}}}]"#)
}

/// What the last call of a spy could read of a dependency.
fn read_of(requests: &Requests, dependency: &str) -> Value {
    let requests = requests.lock().unwrap();
    let request = requests.last().expect("it was called");
    at(&request.context, &format!("dependencies.{dependency}")).clone()
}

/// Cases: T198.
#[tokio::test(start_paused = true)]
async fn dependents_read_what_each_dependency_produced_in_the_same_pass() {
    let fleet = Fleet::new();
    let outputs = r#""outputs":{"brief":{"type":"report"}}"#;
    for name in ["one", "two"] {
        fleet.plugin(name, outputs, move |_| async move { ok("made", &body(name)) });
    }
    let seen = fleet.spy("reader", r#""dependencies":["one","two"]"#);
    fleet.advance().await;
    for name in ["one", "two"] {
        let read = read_of(&seen, name);
        assert_eq!(text_at(&read, "output.body"), name);
        assert_eq!(text_at(&read, "run"), "success");
    }
}

/// Cases: T044, T199, T219.
#[tokio::test(start_paused = true)]
async fn a_dependency_that_produced_nothing_reads_as_null() {
    let fleet = Fleet::new();
    fleet.plugin("prod", "", |_| async { ok("nothing", r#""artifacts_produced":[]"#) });
    let seen = fleet.spy("reader", ON_PROD);
    assert_eq!(fleet.advance().await.status, AdvanceStatus::Complete);
    let expected = r#"{"output":null,"run":"success"}"#;
    assert_eq!(read_of(&seen, "prod").to_compact(), expected);
    let state = fleet.state();
    assert_eq!(keys(at(&state, "plugin_runs.prod")), ["last_run_at", "status", "duration_ms"]);
}

/// Cases: T218.
#[tokio::test(start_paused = true)]
async fn an_output_carries_the_run_that_made_it_whatever_the_plugin_claims() {
    let fleet = Fleet::new();
    fleet.plugin("prod", "", |_| async {
        ok("made", r#""artifacts_produced":["first.md",
            {"type":"brief","path":"n.md","format":"text","run_id":"forged","produced_at":"never"}]"#)
    });
    let result = fleet.advance().await;
    let state = fleet.state();
    let output = at(&state, "plugin_runs.prod.last_output");
    let expected = format!(
        r#"{{"type":"brief","format":"text","run_id":"{}","produced_at":"2026-08-20T12:00:00.000Z","path":"n.md"}}"#,
        result.run_id
    );
    assert_eq!(output.to_compact(), expected, "the last of the run");
    let log = fleet.run_log(&result);
    let first = at(&log, "plugin_entries.0.result.artifacts_produced.0");
    assert_eq!(text_at(first, "type"), "artifact");
    assert_eq!(text_at(first, "run_id"), result.run_id.to_text());
}

/// Cases: T291, T292, T293, T515.
#[tokio::test(start_paused = true)]
async fn a_run_that_produced_nothing_keeps_the_earlier_output() {
    for (answer, status) in [
        (Err("it broke".into()), "failed"),
        (failed("no", false), "failed"),
        (ok("none", r#""artifacts_produced":[]"#), "success"),
        (result("skipped", "[needs-llm] read it", ""), "skipped"),
        (result("partial", "half", ""), "partial"),
    ] {
        let fleet = Fleet::new();
        fleet.plays("prod", "", vec![ok("made", &body("kept")), answer]);
        let seen = fleet.spy("reader", r#""dependencies":["prod"],"ttl_hours":1"#);
        fleet.advance().await;
        let before = at(&fleet.state(), "plugin_runs.prod.last_output").to_compact();
        fleet.wait_hours(7).await;
        fleet.advance().await;
        let state = fleet.state();
        assert_eq!(text_at(&state, "plugin_runs.prod.status"), status);
        assert_eq!(at(&state, "plugin_runs.prod.last_output").to_compact(), before);
        let run_again = if status == "failed" { "success" } else { status };
        assert_eq!(text_at(&read_of(&seen, "prod"), "run"), run_again, "a failed one is not read");
        assert_eq!(text_at(&read_of(&seen, "prod"), "output.body"), "kept");

        // Whoever reads what is recorded now has the earlier one, of a failed run as well.
        let run = PluginRun::parse(at(&state, "plugin_runs.prod")).unwrap();
        let dependency_runs = [("prod".into(), run)].into_iter().collect();
        fleet.invoke("reader", InvokeOptions { dependency_runs, ..Default::default() }).await;
        assert_eq!(text_at(&read_of(&seen, "prod"), "run"), status);
        assert_eq!(at(&read_of(&seen, "prod"), "output").to_compact(), before);
    }
}

/// Cases: T517.
#[tokio::test(start_paused = true)]
async fn an_invocation_that_throws_is_a_failed_run_with_the_earlier_output() {
    let fleet = Fleet::new();
    fleet.plugin("prod", "", |_| async { ok("made", &body("kept")) });
    fleet.spy("consumer", ON_PROD);
    fleet.advance().await;
    std::fs::create_dir_all(fleet.paths.config_dir.join("prod.json")).unwrap();
    fleet.wait_hours(7).await;
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "prod"), PluginState::Failed);
    assert!(summary_of(&result, "prod").contains("prod.json"), "it names the file");
    assert!(summary_of(&result, "consumer").contains("'prod'"));
    let state = fleet.state();
    assert_eq!(text_at(&state, "plugin_runs.prod.status"), "failed");
    assert_eq!(text_at(&state, "plugin_runs.prod.last_output.body"), "kept");
    assert_eq!(text_at(&state, "plugin_runs.prod.last_run_at"), "2026-08-20T19:00:00.000Z");
}

#[tokio::test(start_paused = true)]
async fn an_inline_body_is_bounded_in_bytes_after_redaction() {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("PIN".into(), "77".into());
    fleet.environment.vars.insert("KEY".into(), "k".repeat(30).as_str().into());
    let fits = "日".repeat(5461) + "a";
    let grows = "x".repeat(16_382) + "77";
    let shrinks = "x".repeat(16_374) + &"k".repeat(30);
    fleet.plays(
        "p",
        r#""secrets":["PIN","KEY"],"ttl_hours":1"#,
        vec![ok("shrinks", &body(&shrinks)), ok("fits", &body(&fits)), ok("grows", &body(&grows))],
    );
    for _ in ["shrinks", "fits"] {
        assert_eq!(state_of(&fleet.advance().await, "p"), PluginState::Completed);
        fleet.wait_hours(2).await;
    }
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "p"), PluginState::Failed);
    assert!(summary_of(&result, "p").contains("artifacts_produced"));
    let state = fleet.state();
    assert_eq!(text_at(&state, "plugin_runs.p.last_output.body"), fits, "the state is readable");
}

/// Cases: T029.
#[tokio::test(start_paused = true)]
async fn a_result_with_one_bad_output_is_refused_whole() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |_| async {
        ok("both", r#""artifacts_produced":["a.md",{"type":"x","path":"b.md","body":"c"}]"#)
    });
    let result = fleet.advance().await;
    assert_eq!(state_of(&result, "p"), PluginState::Failed);
    let log = fleet.run_log(&result);
    assert!(list_at(&log, "plugin_entries.0.result.artifacts_produced").is_empty());
    assert_eq!(text_at(&log, "plugin_entries.0.result.errors.0.code"), "parse_error");
}

#[tokio::test(start_paused = true)]
async fn a_direct_run_and_an_advance_take_the_same_result_the_same_way() {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), "hunter2".into());
    let fields = r#""secrets":["TOKEN"],"inputs":{"n":{"type":"number","default":3}},
        "max_retries":1,"retry_delay_ms":0"#;
    fleet.plugin("p", fields, |call| async move {
        if call.request.attempt == 1 {
            return failed("busy with hunter2", true);
        }
        let n = at(&call.request.args, "n").to_compact();
        let made = r#""artifacts_produced":["a.md",{"type":"t","body":"hunter2","run_id":"forged"}],
            "reversible":true,"undo_instruction":"undo hunter2","unknown":1"#;
        result("partial", &format!("{n} of hunter2"), made)
    });
    let result = fleet.advance().await;
    let log = fleet.run_log(&result);
    let advanced = at(&log, "plugin_entries.0.result").clone();
    let run_id = Some(result.run_id);
    let run = fleet.invoke("p", InvokeOptions { run_id, ..InvokeOptions::default() }).await;
    assert_eq!(run.result.to_value().to_pretty(), advanced.to_pretty());
    assert_eq!(text_at(&advanced, "summary"), "3 of [redacted]");
    assert!(run.retried && at(&log, "plugin_entries.0.retried").as_bool().unwrap());
}
