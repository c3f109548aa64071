//! Credentials that a plugin repeats reach no file.

use warpline_core::engine::{InvokeOptions, PluginState};

use crate::support::{Fleet, at, failed, ok, result, state_of, summary_of, text_at};

const SECRET: &str = "hunter2-hunter2";
const TOKEN: &str = r#""secrets":["TOKEN"]"#;

fn fleet() -> Fleet {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), SECRET.into());
    fleet
}

/// Everything that is in the home now, manifests included.
fn everything(fleet: &Fleet) -> String {
    let files = fleet.snapshot().into_iter();
    files.map(|(_, bytes)| String::from_utf8(bytes).unwrap()).collect::<Vec<_>>().join("\n")
}

fn leaky(status: &str) -> crate::support::Answer {
    let summary = format!("[needs-llm] with {SECRET} in it");
    let fields = format!(
        r#""undo_instruction":"revert {SECRET}","artifacts_produced":[
            {{"type":"report","body":"body {SECRET}"}}],"data_freshness":{{"x":"{SECRET}"}},
            "needs_llm":{{"task":"use {SECRET}","context_path":"state/{SECRET}"}}"#
    );
    result(status, &summary, &fields)
}

#[tokio::test(start_paused = true)]
async fn a_result_is_redacted_in_every_record_of_an_advance() {
    let fleet = fleet();
    fleet.plugin("p", TOKEN, |_| async { leaky("skipped") });
    let result = fleet.advance().await;
    assert!(!everything(&fleet).contains(SECRET));
    let log = fleet.run_log(&result);
    let entry = at(&log, "plugin_entries.0");
    assert_eq!(text_at(entry, "result_summary"), "[needs-llm] with [redacted] in it");
    assert_eq!(text_at(entry, "undo_instruction"), "revert [redacted]");
    assert_eq!(text_at(entry, "result.needs_llm.task"), "use [redacted]");
    let state = fleet.state();
    assert_eq!(text_at(&state, "plugin_runs.p.last_output.body"), "body [redacted]");
    assert!(!summary_of(&result, "p").contains(SECRET), "nor in what the caller gets");
}

#[tokio::test(start_paused = true)]
async fn a_parked_result_is_redacted() {
    let fleet = fleet();
    fleet.grant(r#""*""#, 4);
    let fields = format!(r#"{TOKEN},"side_effects":["writes_db"],"autonomy_level":"supervised""#);
    fleet.plugin("p", &fields, |_| async { leaky("partial") });
    assert_eq!(state_of(&fleet.advance().await, "p"), PluginState::Gated);
    assert!(!everything(&fleet).contains(SECRET));
    let state = fleet.state();
    let parked = at(&state, "pending_gates.0.plugin_result");
    assert_eq!(text_at(parked, "undo_instruction"), "revert [redacted]");
    assert_eq!(text_at(parked, "artifacts_produced.0.body"), "body [redacted]");
    assert_eq!(text_at(parked, "needs_llm.task"), "use [redacted]");
}

#[tokio::test(start_paused = true)]
async fn what_is_thrown_and_retried_is_redacted_in_artifact_and_events() {
    let fleet = fleet();
    let fields = format!(r#"{TOKEN},"max_retries":1,"retry_delay_ms":0"#);
    fleet.plays(
        "p",
        &fields,
        vec![failed(&format!("busy {SECRET}"), true), Err(format!("broke with {SECRET}"))],
    );
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    assert_eq!(run.final_error.unwrap(), "broke with [redacted]");
    assert_eq!(run.result.summary, "p: broke with [redacted]");
    let all = everything(&fleet);
    assert!(!all.contains(SECRET) && all.contains("attempt 1 failed: busy [redacted]"));
}

#[tokio::test(start_paused = true)]
async fn a_module_that_throws_while_it_loads_is_redacted() {
    let fleet = fleet();
    fleet.spy("p", TOKEN);
    fleet.host.fail_to_load("p", &format!("no access with {SECRET}"));
    let result = fleet.advance().await;
    assert!(summary_of(&result, "p").contains("no access with [redacted]"));
    assert!(!everything(&fleet).contains(SECRET));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_a_secret_does_not_reach_the_message_about_it() {
    let fleet = fleet();
    let fields = format!(r#""data_freshness":{{"{SECRET}":7}}"#);
    fleet.plugin("p", TOKEN, move |_| {
        let answer = ok("x", &fields);
        async { answer }
    });
    let result = fleet.advance().await;
    assert!(summary_of(&result, "p").contains("data_freshness"));
    assert!(!everything(&fleet).contains(SECRET));
}

#[tokio::test(start_paused = true)]
async fn a_transcript_is_redacted_however_the_text_was_cut() {
    let fleet = fleet();
    fleet.plugin("p", TOKEN, |call| async move {
        for part in ["before hunt", "er2-hun", "ter2 after\nnext hunter2-", "hunter2"] {
            call.engine.print(call.request.invocation, &part.into());
        }
        ok("done", "")
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    let text = fleet.text(&fleet.paths.runs_dir.join(format!("{}.log", run.run_id)));
    assert_eq!(text, "=== Attempt 1 ===\nbefore [redacted] after\nnext [redacted]");
}

#[tokio::test(start_paused = true)]
async fn a_secret_of_several_lines_is_redacted_in_a_transcript() {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), "BEGIN\nkey\nEND".into());
    fleet.plugin("p", TOKEN, |call| async move {
        for line in ["a BEGIN\n", "key\n", "END b\n", "c\n"] {
            call.engine.print(call.request.invocation, &line.into());
        }
        ok("done", "")
    });
    let options = InvokeOptions { persist_artifact: true, ..InvokeOptions::default() };
    let run = fleet.invoke("p", options).await;
    let text = fleet.text(&fleet.paths.runs_dir.join(format!("{}.log", run.run_id)));
    assert_eq!(text, "=== Attempt 1 ===\na [redacted] b\nc\n");
}

#[tokio::test(start_paused = true)]
async fn an_inline_body_never_reaches_the_events() {
    let fleet = Fleet::new();
    fleet.plugin("p", "", |_| async {
        ok("made", r#""artifacts_produced":[{"type":"report","body":"sentinel"}]"#)
    });
    fleet.advance().await;
    let text = fleet.text(&fleet.paths.events);
    assert!(text.contains("p: made") && !text.contains("sentinel"));
}
