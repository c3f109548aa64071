//! Arguments: defaults, the config file and the call, merged and checked before the handler runs.

use warpline_core::engine::{Invocation, InvokeOptions, Witness};
use warpline_core::json::{Value, parse};
use warpline_core::schema::skill_result::{ErrorCode, ResultStatus};

use crate::support::{Fleet, Requests, text_at};

const CITY: &str = r#""inputs":{"city":{"type":"string"}},"max_retries":3"#;

fn configured(fields: &str, file: &str) -> (Fleet, Requests) {
    let fleet = Fleet::new();
    let seen = fleet.spy("p", fields);
    if !file.is_empty() {
        fleet.put(&fleet.paths.config_dir.join("p.json"), file);
    }
    (fleet, seen)
}

async fn invoke(fleet: &Fleet, args: &str) -> Invocation {
    let args = parse(args).unwrap().as_object().unwrap().clone();
    fleet.invoke("p", InvokeOptions { args, ..InvokeOptions::default() }).await
}

fn args(seen: &Requests) -> Value {
    seen.lock().unwrap().last().expect("it was called").args.clone()
}

/// Cases: T177, T179, T180, T187.
#[tokio::test(start_paused = true)]
async fn the_call_wins_over_the_file_and_the_file_over_the_default() {
    let fields = r#""inputs":{"a":{"type":"number","default":1},"b":{"type":"number","default":1},
        "c":{"type":"number","default":1},"action":{"type":"string"},
        "absent":{"type":"string","required":false}}"#;
    let (fleet, seen) = configured(fields, r#"{"b":2,"c":2,"action":"from-config","of_file":1}"#);
    let run = invoke(&fleet, r#"{"c":3,"action":"from-call","undeclared":true}"#).await;
    assert_eq!(run.result.status, ResultStatus::Success, "an optional input may be absent");
    let expected = r#"{"a":1,"b":2,"c":3,"action":"from-call","of_file":1,"undeclared":true}"#;
    assert_eq!(args(&seen).to_compact(), expected);
}

/// Cases: T176.
#[tokio::test(start_paused = true)]
async fn an_advance_reads_the_file_and_has_no_call() {
    let (fleet, seen) = configured(CITY, r#"{"city":"Bern"}"#);
    fleet.advance().await;
    assert_eq!(args(&seen).to_compact(), r#"{"city":"Bern"}"#);
}

/// Cases: T181, T183, T184, T185, T401, T402.
#[tokio::test(start_paused = true)]
async fn what_is_wrong_is_said_once_with_file_key_and_shape() {
    let days = r#""inputs":{"days":{"type":"number","default":90}},"max_retries":3"#;
    for (fields, file, parts) in [
        (CITY, "", &["city", "string"][..]),
        (CITY, "{", &["p.json"]),
        (CITY, "[\"s3cret\"]", &["p.json"]),
        (CITY, r#"{"toString":"s3cret","city":"x"}"#, &["toString"]),
        (days, r#"{"days":"s3cret"}"#, &["days", "number"]),
        (days, r#"{"days":"90"}"#, &["days", "number"]),
        (days, r#"{"days":null}"#, &["days", "number"]),
    ] {
        let (fleet, _) = configured(fields, file);
        let run = invoke(&fleet, "{}").await;
        assert_eq!(run.result.errors.len(), 1, "{file}");
        let error = &run.result.errors[0];
        assert_eq!((error.code, error.retryable), (ErrorCode::ParseError, false));
        assert_eq!(run.result.phases_failed, ["p"]);
        assert_eq!((run.attempt_count, run.attempts.len()), (1, 1));
        assert_eq!((run.retried, run.cancelled, run.timed_out), (false, false, false));
        let message = error.message.to_text();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        assert!(!message.contains("s3cret"), "no value in {message}");
        assert!(fleet.started().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_config_file_that_cannot_be_read_fails_the_invocation_itself() {
    let (fleet, _) = configured(CITY, "");
    std::fs::create_dir_all(fleet.paths.config_dir.join("p.json")).unwrap();
    let outcome = fleet
        .engine
        .invoke(
            &fleet.environment,
            &"p".into(),
            &InvokeOptions { persist_artifact: true, ..InvokeOptions::default() },
            &Witness::ManualRun,
            1,
            &fleet.cancel,
        )
        .await;
    assert!(outcome.unwrap_err().to_string().contains("p.json"));
    assert!(!fleet.paths.runs_dir.exists(), "no artifact");
}

#[tokio::test(start_paused = true)]
async fn file_and_secrets_go_by_the_directory_and_not_by_the_name_in_the_manifest() {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), "t0ken".into());
    let fields = r#""name":"q","secrets":["TOKEN"],"inputs":{"city":{"type":"string"}}"#;
    let seen = fleet.spy("p", fields);
    fleet.put(&fleet.paths.config_dir.join("p.json"), r#"{"city":"Bern"}"#);
    fleet.put(&fleet.paths.config_dir.join("q.json"), r#"{"city":"Rome","TOKEN":"x"}"#);
    assert_eq!(invoke(&fleet, "{}").await.result.summary, "seen");
    fleet.advance().await;
    for request in seen.lock().unwrap().iter() {
        assert_eq!(request.args.to_compact(), r#"{"city":"Bern"}"#);
        assert_eq!(text_at(&request.context, "caller.plugin"), "p");
        assert_eq!(text_at(&request.context, "secrets.0"), "TOKEN");
    }
    assert_eq!(seen.lock().unwrap().len(), 2);

    fleet.put(&fleet.paths.config_dir.join("p.json"), r#"{"city":"Bern","TOKEN":"x"}"#);
    let message = invoke(&fleet, "{}").await.final_error.unwrap().to_text();
    assert!(message.contains("TOKEN") && message.contains("p.json"), "{message}");
    assert_eq!(seen.lock().unwrap().len(), 2, "it is not called");
}
