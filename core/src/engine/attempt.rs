//! One attempt: a handler call under its own time budget, and what it came to.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Instant;
use crate::decide::attempt::error_text;
use crate::json::{JsString, Record};
use crate::schema::issue::issues_text;
use crate::schema::redact::{redact, redact_text, redact_thrown};
use crate::schema::run_artifact::{Attempt, AttemptStatus};
use crate::schema::skill_result::{ErrorCode, Impact, ResultStatus, SkillError, SkillResult};

use super::calls::{Limits, Reached, Waited};
use super::invoke::elapsed;
use super::workers::{Place, Seat};
use super::{
    AbortReason, AttemptRequest, Completion, Engine, HostFailure, Invocation, PluginModule, Request,
};

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
    /// The handler was to be loaded with it, and was not.
    NotLoaded(LoadFault),
}

/// Why a handler did not load.
pub(super) enum LoadFault {
    /// Its module threw, or is none.
    Threw(JsString),
    /// It took too long: its own doing, or that of other code on the thread, which nobody can tell
    /// apart. The plugin is as if it had not been invoked.
    TimedOut,
}

impl LoadFault {
    /// For a reader, without these secrets.
    pub(super) fn message(&self, secrets: &[JsString]) -> JsString {
        match self {
            Self::Threw(message) => redact_thrown(message, secrets),
            Self::TimedOut => {
                let seconds = LOAD_LIMIT_MS / 1000.0;
                format!("the handler did not load within {seconds} seconds").into()
            }
        }
    }
}

/// How long importing one module of a plugin may take, in milliseconds. Its manifest's timeout is
/// for the handler.
pub(super) const LOAD_LIMIT_MS: f64 = 30_000.0;

/// How long the host may take before it runs the plugin code of a call. Other code on the same
/// thread is not this plugin's fault, so its own time does not run meanwhile.
pub(super) const REACH_LIMIT: Duration = Duration::from_secs(60);

impl Engine {
    /// Has plugin code run once and waits for whatever comes first. The time counts from
    /// the moment the code runs.
    pub(super) async fn attempt(
        &self,
        operation: u64,
        seat: &Seat,
        request: Request,
        timeout_ms: f64,
        cancel: &CancellationToken,
    ) -> Ending {
        self.timed_attempt(operation, seat, request, timeout_ms, cancel).await.0
    }

    /// [`Engine::attempt`], and for how long the code ran that began last, or was waited for.
    async fn timed_attempt(
        &self,
        operation: u64,
        seat: &Seat,
        request: Request,
        timeout_ms: f64,
        cancel: &CancellationToken,
    ) -> (Ending, Duration) {
        if cancel.is_cancelled() || !seat.ready(cancel).await {
            return (Ending::NotStarted, Duration::ZERO);
        }
        let loads = matches!(&request, Request::Attempt(attempt) if attempt.load);
        let (loading, running) = (duration(LOAD_LIMIT_MS), duration(timeout_ms));
        let code: &[Duration] = if loads { &[loading, running] } else { &[running] };
        let mut call = self.calls.start(&seat.place, operation, request);
        let limits = Limits { reach: REACH_LIMIT, code };
        let pieces = code.len();
        let waited = call.wait(&limits, cancel).await;
        let seen = call.reached();
        // What it has answered at this very moment is too late.
        let give_up = |reason| {
            let answered = Reached { begun: pieces, ..seen };
            call.abort(reason).unwrap_or(answered)
        };
        let (ending, reached) = match waited {
            Waited::Answered(None) => (Ending::Cancelled, seen),
            Waited::Answered(Some((completion, reached))) => match completion {
                Err(failure) if loads && reached.begun < pieces => {
                    let fault = LoadFault::Threw(failure.message().clone());
                    (Ending::NotLoaded(fault), reached)
                }
                completion => (Ending::Answered(completion), reached),
            },
            Waited::Cancelled => match give_up(AbortReason::Cancelled) {
                reached if reached.begun >= pieces => (Ending::Cancelled, reached),
                reached => (Ending::NotStarted, reached),
            },
            Waited::OutOfTime => match give_up(AbortReason::Timeout) {
                reached if reached.begun == 0 => (Ending::Unreached, reached),
                reached if reached.begun >= pieces => (Ending::TimedOut, reached),
                reached => (Ending::NotLoaded(LoadFault::TimedOut), reached),
            },
        };
        (ending, reached.since.elapsed())
    }

    /// Has a handler loaded and called in one message to a host that keeps it; for how long the handler ran.
    pub(super) async fn first_attempt(
        &self,
        operation: u64,
        seat: &Seat,
        request: &AttemptRequest,
        timeout_ms: f64,
        cancel: &CancellationToken,
    ) -> (Ending, Duration) {
        let module = &request.plugin;
        let request = Request::Attempt(Box::new(AttemptRequest { load: true, ..request.clone() }));
        let (ending, ran) = self.timed_attempt(operation, seat, request, timeout_ms, cancel).await;
        if matches!(ending, Ending::Answered(_)) {
            self.memory.keep_handler(module);
        }
        (ending, ran)
    }

    /// Whether the host has to load this handler, and would keep it for later attempts.
    pub(super) fn keeps_unloaded(&self, seat: &Seat, module: &PluginModule) -> bool {
        let keeps = matches!(&seat.place, Place::Host(host) if host.keeps_handlers());
        keeps && !self.memory.has_handler(module)
    }

    /// Imports the handler, unless the host has it.
    pub(super) async fn load_handler(
        &self,
        operation: u64,
        seat: &Seat,
        module: &PluginModule,
        request: Request,
        cancel: &CancellationToken,
    ) -> Result<(), LoadFault> {
        let keeps = matches!(&seat.place, Place::Host(host) if host.keeps_handlers());
        if keeps && self.memory.has_handler(module) {
            return Ok(());
        }
        match self.attempt(operation, seat, request, LOAD_LIMIT_MS, cancel).await {
            Ending::Answered(Ok(_)) => {
                if keeps {
                    self.memory.keep_handler(module);
                }
                Ok(())
            }
            Ending::Answered(Err(failure)) => Err(LoadFault::Threw(failure.message().clone())),
            Ending::TimedOut => Err(LoadFault::TimedOut),
            Ending::NotLoaded(fault) => Err(fault),
            // The attempt that follows meets the same obstacle and records it.
            Ending::Cancelled | Ending::NotStarted | Ending::Unreached => Ok(()),
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
        Ending::NotLoaded(fault) => {
            let code = ErrorCode::DependencyUnavailable;
            runtime_failure(plugin, code, fault.message(secrets))
        }
        Ending::Answered(Err(failure)) => {
            let message = redact_thrown(failure.message(), secrets);
            let code = match failure {
                HostFailure::Threw(_) => ErrorCode::DependencyUnavailable,
                HostFailure::NoJson(_) => ErrorCode::ParseError,
            };
            runtime_failure(plugin, code, message)
        }
        Ending::Answered(Ok(value)) => match SkillResult::parse(&match secrets {
            [] => value,
            secrets => redact(&value, secrets),
        }) {
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

/// An invocation that ended before its first attempt: one attempt, no artifact.
pub(super) fn preflight_failure(
    plugin: &JsString,
    run_id: &JsString,
    started: Instant,
    ended: Instant,
    result: SkillResult,
) -> Invocation {
    let elapsed_ms = elapsed(started, ended);
    let error = error_text(AttemptStatus::Failed, &result);
    Invocation {
        plugin: plugin.clone(),
        run_id: run_id.clone(),
        attempts: vec![Attempt {
            attempt: 1,
            started_at: started.to_iso().into(),
            elapsed_ms,
            status: AttemptStatus::Failed.as_str().into(),
            error: error.clone(),
        }],
        result,
        duration_ms: elapsed_ms,
        attempt_count: 1,
        final_error: error,
        retried: false,
        cancelled: false,
        timed_out: false,
        never_called: false,
    }
}
