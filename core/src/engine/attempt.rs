//! One attempt: a handler call under its own time budget, and what it came to.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::json::{JsString, Record};
use crate::schema::issue::issues_text;
use crate::schema::redact::{redact, redact_text};
use crate::schema::skill_result::{ErrorCode, Impact, ResultStatus, SkillError, SkillResult};

use super::{AbortReason, Completion, Engine, HostFailure, Request};

/// How a handler call ended.
pub(super) enum Ending {
    /// The handler returned or threw.
    Answered(Completion),
    /// The runtime's own timer fired first.
    TimedOut,
    /// The caller cancelled first.
    Cancelled,
    /// The caller had cancelled before plugin code ran.
    NotStarted,
    /// The host was too busy to run it.
    Unreached,
}

/// How long importing one module of a plugin may take, in milliseconds. Its manifest's timeout is
/// for the handler.
pub(super) const LOAD_LIMIT_MS: f64 = 30_000.0;

/// How long the host may take before it runs the plugin code of a call. Other code on the same
/// thread is not this plugin's fault, so its own time does not run meanwhile.
pub(super) const REACH_LIMIT: Duration = Duration::from_secs(60);

impl Engine {
    /// Lets the host run plugin code once and waits for whatever comes first. The time counts from
    /// the moment the code runs.
    pub(super) async fn attempt(
        &self,
        operation: u64,
        request: Request,
        timeout_ms: f64,
        cancel: &CancellationToken,
    ) -> Ending {
        if cancel.is_cancelled() {
            return Ending::NotStarted;
        }
        let mut call = self.calls.start(operation, request);
        // An abort decides before a result that arrives at the same moment.
        tokio::select! {
            biased;
            () = cancel.cancelled() => return match call.abort(AbortReason::Cancelled) {
                true => Ending::Cancelled,
                false => Ending::NotStarted,
            },
            () = call.begun() => {}
            () = tokio::time::sleep(REACH_LIMIT) => return match call.abort(AbortReason::Timeout) {
                true => Ending::TimedOut,
                false => Ending::Unreached,
            },
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                call.abort(AbortReason::Cancelled);
                Ending::Cancelled
            }
            () = tokio::time::sleep(duration(timeout_ms)) => {
                call.abort(AbortReason::Timeout);
                Ending::TimedOut
            }
            answer = call.answer() => match answer {
                Some(completion) => Ending::Answered(completion),
                None => Ending::Cancelled,
            },
        }
    }
}

/// A number of milliseconds as a duration; more than a year is a year.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn duration(ms: f64) -> Duration {
    const YEAR_MS: f64 = 366.0 * 24.0 * 3_600_000.0;
    Duration::from_millis(ms.clamp(0.0, YEAR_MS) as u64)
}

/// What an ending means as a result, redacted and validated.
pub(super) fn result_of(ending: Ending, plugin: &JsString, secrets: &[JsString]) -> SkillResult {
    match ending {
        Ending::TimedOut => runtime_failure(plugin, ErrorCode::Timeout, "timeout".into()),
        Ending::Cancelled | Ending::NotStarted => {
            runtime_failure(plugin, ErrorCode::DependencyUnavailable, "cancelled".into())
        }
        Ending::Unreached => {
            let seconds = REACH_LIMIT.as_secs();
            let message =
                format!("not called: other code kept the host busy for {seconds} seconds");
            runtime_failure(plugin, ErrorCode::DependencyUnavailable, message.into())
        }
        Ending::Answered(Err(failure)) => {
            let message = redact_text(failure.message(), secrets);
            let code = match failure {
                HostFailure::Threw(_) => ErrorCode::DependencyUnavailable,
                HostFailure::NoJson(_) => ErrorCode::ParseError,
            };
            runtime_failure(plugin, code, message)
        }
        Ending::Answered(Ok(value)) => match SkillResult::parse(&redact(&value, secrets)) {
            Ok(result) => result,
            Err(issues) => {
                let text = format!("the handler's result is not valid: {}", issues_text(&issues));
                let message = redact_text(&text.into(), secrets);
                runtime_failure(plugin, ErrorCode::ParseError, message)
            }
        },
    }
}

/// A failed result that the runtime makes itself; its summary is `<plugin>: <message>`.
pub(super) fn runtime_failure(
    plugin: &JsString,
    code: ErrorCode,
    message: JsString,
) -> SkillResult {
    let summary = plugin.concat(&": ".into()).concat(&message);
    SkillResult {
        status: ResultStatus::Failed,
        phases_completed: Vec::new(),
        phases_failed: vec![plugin.clone()],
        errors: vec![SkillError {
            code,
            message,
            impact: Impact::High,
            source: None,
            retryable: false,
        }],
        data_freshness: Record::new(),
        summary,
        artifacts_produced: Vec::new(),
        reversible: None,
        undo_instruction: None,
        needs_llm: None,
        schema_version: 1.0,
    }
}
