//! `run`.

use warpline_core::engine::Invocation;
use warpline_core::error::Error;
use warpline_core::json::{JsString, Record};
use warpline_core::schema::skill_result::{
    ErrorCode, Impact, NeedsLlm, ResultStatus, SkillError, SkillResult,
};

use crate::support::{Home, Ran, assert_refused};

pub fn ended(status: ResultStatus) -> Invocation {
    let failed = status == ResultStatus::Failed;
    let errors = vec![SkillError {
        code: ErrorCode::Timeout,
        message: "the other side\nwent away".into(),
        impact: Impact::Medium,
        source: None,
        retryable: false,
    }];
    Invocation {
        plugin: "p".into(),
        run_id: "run-1".into(),
        result: SkillResult {
            status,
            phases_completed: Vec::new(),
            phases_failed: Vec::new(),
            errors: if failed { errors } else { Vec::new() },
            data_freshness: Record::new(),
            summary: "two \u{1b}[1mthings".into(),
            artifacts_produced: Vec::new(),
            reversible: None,
            undo_instruction: None,
            needs_llm: None,
            schema_version: 1.0,
        },
        duration_ms: 12.0,
        attempt_count: 1,
        attempts: Vec::new(),
        final_error: failed.then(|| JsString::from("the other side\nwent away")),
        retried: false,
        cancelled: false,
        timed_out: false,
        never_called: false,
    }
}

fn run(home: &Home, line: &str, answer: Invocation) -> Ran {
    *home.fleet.invoke.lock().expect("no poison") = Some(Ok(answer));
    home.run(line)
}

fn plain() -> Home {
    Home::new().plugin("p", "")
}

/// Cases: T417.
#[test]
fn success_is_told_in_one_line_and_the_summary() {
    let ran = run(&plain(), "run p refresh", ended(ResultStatus::Success));
    let expected = "p refresh succeeded: 12 ms, 1 attempt (run run-1)\n  two \\u{1b}[1mthings\n";
    assert_eq!(ran, Ran { code: 0, out: expected.into(), err: String::new() });
}

/// Cases: T411.
#[test]
fn json_has_the_documented_keys_in_order() {
    let ran = run(&plain(), "run p refresh --json", ended(ResultStatus::Success));
    assert_eq!(
        ran.json().to_compact(),
        r#"{"ok":true,"duration_ms":12,"attempt_count":1,"cancelled":false,"timed_out":false}"#
    );
    let ran = run(&plain(), "run p refresh --json", ended(ResultStatus::Failed));
    assert_eq!(
        ran.json().to_compact(),
        concat!(
            r#"{"ok":false,"error":"the other side\nwent away","duration_ms":12,"#,
            r#""attempt_count":1,"cancelled":false,"timed_out":false}"#
        )
    );
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
}

/// Cases: T418.
#[test]
fn the_exit_code_follows_the_results_status() {
    for (status, code, told) in [
        (ResultStatus::Success, 0, "succeeded"),
        (ResultStatus::Partial, 0, "succeeded in part"),
        (ResultStatus::Skipped, 0, "skipped its work"),
        (ResultStatus::Failed, 1, "failed: 12 ms"),
    ] {
        let ran = run(&plain(), "run p refresh", ended(status));
        assert_eq!(ran.code, code, "{status}");
        assert!(ran.out.contains(told), "{}", ran.out);
    }
    let failed = run(&plain(), "run p refresh", ended(ResultStatus::Failed));
    assert!(failed.out.contains("\n  the other side\\u{a}went away\n"), "{}", failed.out);
}

/// Cases: T419.
#[test]
fn timeouts_interruptions_and_handoffs_read_differently() {
    let timed_out = Invocation { timed_out: true, ..ended(ResultStatus::Failed) };
    let ran = run(&plain(), "run p refresh", timed_out);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("timed out"), "{}", ran.out);
    let cancelled = Invocation { cancelled: true, ..ended(ResultStatus::Failed) };
    let ran = run(&plain(), "run p refresh", cancelled);
    assert_eq!(ran.code, 130);
    assert!(ran.out.contains("was interrupted"), "{}", ran.out);
    let mut handed = ended(ResultStatus::Skipped);
    handed.result.needs_llm = Some(NeedsLlm { task: "t".into(), context_path: "c".into() });
    assert!(run(&plain(), "run p refresh", handed).out.contains("handed its work to a model"));
}

#[test]
fn the_yes_of_a_person_reaches_the_engine() {
    let home = plain();
    let line = "run p refresh --input limit=5 --input action=other --retries=3";
    let ran = run(&home, line, ended(ResultStatus::Success));
    assert!(ran.err.contains("`--input action=...` is ignored"), "{}", ran.err);
    let expected = r#"invoke p ManualRun {"limit":"5","action":"refresh"} Some(3) true true"#;
    assert_eq!(home.fleet.asked(), [expected]);
}

#[test]
fn a_plugin_that_is_to_run_apart_is_loaded_apart_as_well() {
    let home = plain();
    run(&home, "run p refresh --isolate", ended(ResultStatus::Success));
    let asked = home.fleet.asked();
    assert_eq!(asked.first().map(String::as_str), Some("load apart"), "{asked:?}");
    assert!(asked.last().expect("asked").starts_with("invoke apart p "), "{asked:?}");
}

#[test]
fn declared_effects_are_told_before_the_handler_runs() {
    let home = Home::new().plugin("p", r#""side_effects":["sends_email","writes_db"]"#);
    *home.fleet.invoke.lock().expect("no poison") =
        Some(Err(Error::Host { message: "gone".into() }));
    let ran = home.run("run p refresh");
    let expected =
        "p declares side effects: sends_email, writes_db\nerror: the plugin host failed: gone\n";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (1, "", expected));
}

/// Cases: T413.
#[test]
fn an_unknown_plugin_fails_with_a_hint() {
    let home = Home::new().plugin("render-issue", "");
    let ran = run(&home, "run render-isue x --json", ended(ResultStatus::Failed));
    assert_eq!(ran.code, 1);
    assert_eq!(ran.err, "hint: did you mean `render-issue`?\n");
    assert_eq!(ran.json().get("ok").expect("ok").to_compact(), "false");
}

/// Cases: T414, T415.
#[test]
fn usage_errors_invoke_nothing() {
    let home = plain();
    for (line, told) in [
        ("run", "missing <PLUGIN> <ACTION>"),
        ("run p", "missing <ACTION>"),
        ("run p a --retries=11", "[0, 10]"),
        ("run p a --retries=-1", "[0, 10]"),
        ("run p a --retries=abc", "[0, 10]"),
        ("run p a --bogus", "`--bogus`"),
        ("run p a --input x", "--input"),
    ] {
        assert_refused(&home.run(line), &[told, "Usage: warpline run"]);
    }
    assert!(home.fleet.asked().is_empty());
}
