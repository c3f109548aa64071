//! Secrets: names in the manifest, values in the environment, and nowhere else.

use warpline_core::engine::{Invocation, InvokeOptions};
use warpline_core::json::parse;
use warpline_core::schema::skill_result::ErrorCode;

use crate::support::{Fleet, keys, text_at};

const TOKEN: &str = r#""secrets":["TOKEN"],"max_retries":3,"inputs":{
    "TOKEN":{"type":"string","default":"your-token"},"city":{"type":"string"}}"#;

fn with_token(value: &str) -> Fleet {
    let mut fleet = Fleet::new();
    fleet.environment.vars.insert("TOKEN".into(), value.into());
    fleet
}

async fn invoke(fleet: &Fleet, args: &str) -> Invocation {
    let args = parse(args).unwrap().as_object().unwrap().clone();
    fleet.invoke("p", InvokeOptions { args, ..InvokeOptions::default() }).await
}

fn assert_refused(run: &Invocation, code: ErrorCode, name: &str) {
    assert_eq!(run.result.errors.len(), 1);
    assert_eq!(run.result.errors[0].code, code);
    assert!(!run.result.errors[0].retryable);
    assert_eq!(run.result.phases_failed, ["p"]);
    assert_eq!((run.attempt_count, run.attempts.len(), run.retried), (1, 1, false));
    assert!(!run.cancelled && !run.timed_out);
    let message = run.final_error.as_ref().unwrap().to_text();
    assert!(message.contains(name), "{message}");
    assert!(!message.contains("hunter2"), "no value in {message}");
}

/// Cases: T070, T159, T161.
#[tokio::test(start_paused = true)]
async fn a_secret_comes_from_the_environment_and_stays_out_of_the_arguments() {
    let fleet = with_token("hunter2");
    let seen = fleet.spy("p", TOKEN);
    let run = invoke(&fleet, r#"{"city":"Bern"}"#).await;
    assert_eq!(run.result.summary, "seen");
    let seen = seen.lock().unwrap();
    assert_eq!(keys(&seen[0].args), ["city"], "neither the value nor the placeholder");
    assert_eq!(text_at(&seen[0].context, "secrets.0"), "TOKEN", "the name, never the value");
    assert!(!seen[0].context.to_compact().contains("hunter2"));
}

/// Cases: T071, T073, T075.
#[tokio::test(start_paused = true)]
async fn a_missing_or_empty_secret_fails_once_by_name() {
    for fleet in [Fleet::new(), with_token("")] {
        fleet.spy("p", TOKEN);
        let run = invoke(&fleet, r#"{"city":"Bern"}"#).await;
        assert_refused(&run, ErrorCode::AuthFailure, "TOKEN");
        assert!(run.final_error.unwrap().to_text().contains("secrets"));
        assert!(fleet.started().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn every_missing_secret_is_named_in_one_error() {
    let fleet = with_token("hunter2");
    fleet.spy("p", r#""secrets":["ONE","TOKEN","toString"]"#);
    let run = invoke(&fleet, "{}").await;
    assert_refused(&run, ErrorCode::AuthFailure, "ONE");
    let message = run.final_error.unwrap().to_text();
    assert!(message.contains("toString") && !message.contains("TOKEN"), "{message}");
}

/// Cases: T074.
#[tokio::test(start_paused = true)]
async fn no_declared_secret_means_none_to_miss() {
    for fields in ["", r#""secrets":[]"#] {
        let fleet = Fleet::new();
        fleet.spy("p", fields);
        assert_eq!(invoke(&fleet, "{}").await.result.summary, "seen");
    }
}

/// Cases: T160, T161.
#[tokio::test(start_paused = true)]
async fn a_secret_in_the_config_file_or_the_call_is_refused() {
    let fleet = with_token("good");
    fleet.spy("p", TOKEN);
    let run = invoke(&fleet, r#"{"city":"Bern","TOKEN":"hunter2"}"#).await;
    assert_refused(&run, ErrorCode::ParseError, "TOKEN");
    fleet.put(&fleet.paths.config_dir.join("p.json"), r#"{"city":"Bern","TOKEN":"hunter2"}"#);
    assert_refused(&invoke(&fleet, "{}").await, ErrorCode::ParseError, "p.json");
    assert!(fleet.started().is_empty());
}
