//! One invocation: modules, config, secrets, capabilities, attempts, records, in this order.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::clock::Instant;
use crate::decide::{attempt, capability, retry};
use crate::error::Result;
use crate::home::runs::Transcript;
use crate::home::{Environment, Paths, config, events};
use crate::json::{JsString, Map, Record, Value};
use crate::schema::config::{ConfigFault, resolve};
use crate::schema::engine_state::PluginRun;
use crate::schema::event;
use crate::schema::redact::redact_text;
use crate::schema::run_artifact::{Attempt, AttemptStatus};
use crate::schema::skill_result::{ErrorCode, SkillResult};

use super::attempt::{LOAD_LIMIT_MS, duration, result_of, runtime_failure};
use super::prints::Printing;
use super::{
    AttemptRequest, Ending, Engine, InvokeOptions, LoadedPlugin, Notice, PluginModule, Request,
    Witness, random_sample,
};

/// What an invocation came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The directory name.
    pub plugin: JsString,
    /// Names artifact, transcript and outputs.
    pub run_id: JsString,
    /// The last attempt's result, redacted, validated and stamped.
    pub result: SkillResult,
    /// Wall time over all attempts and waits, in milliseconds.
    pub duration_ms: f64,
    /// Number of attempts, at least 1.
    pub attempt_count: u32,
    /// One entry per attempt.
    pub attempts: Vec<Attempt>,
    /// The first error's message of the last attempt; `None` for success and delegated.
    pub final_error: Option<JsString>,
    /// Whether there was more than one attempt.
    pub retried: bool,
    /// Whether the caller ended it.
    pub cancelled: bool,
    /// Whether the runtime's timer ended it.
    pub timed_out: bool,
    /// Whether an attempt was made that never came to calling the handler, and none that did: the
    /// plugin is as if it had not been invoked.
    pub never_called: bool,
}

/// Everything one invocation needs to know.
pub(super) struct Job<'a> {
    pub plugin: &'a LoadedPlugin,
    pub paths: &'a Paths,
    pub environment: &'a Environment,
    pub run_id: &'a JsString,
    pub args: &'a Map,
    pub max_retries: u32,
    pub dependency_runs: &'a Record<PluginRun>,
    /// Whether a run artifact and a transcript are written, and who started the run.
    pub artifact: Option<UserInitiated>,
    /// Whether attempt notices reach the event log.
    pub events: bool,
    pub operation: u64,
    pub cancel: &'a CancellationToken,
}

/// Why a handler did not load.
enum LoadFault {
    /// Its module threw, or is none.
    Threw(JsString),
    /// It took too long: its own doing, or that of other code on the thread, which nobody can tell
    /// apart. The plugin is as if it had not been invoked.
    TimedOut,
}

/// Whether a person started the run.
#[derive(Clone, Copy)]
pub(super) struct UserInitiated(pub bool);

impl Engine {
    /// Invokes one plugin directly: no dueness, no denial, no state.
    ///
    /// # Errors
    ///
    /// What cannot be turned into a failed result: an option or witness that is not usable, a config
    /// file that exists and cannot be read, an artifact that cannot be written.
    pub async fn invoke(
        self: &Arc<Self>,
        environment: &Environment,
        plugin: &JsString,
        options: &InvokeOptions,
        witness: &Witness,
        operation: u64,
        cancel: &CancellationToken,
    ) -> Result<Invocation> {
        let run_id = options.run_id()?;
        let paths = options.paths.resolve(environment)?;
        let started = self.clock.now();
        let loaded = match self.load_one(&paths.plugins, plugin, operation, cancel).await {
            Ok(loaded) => loaded,
            Err(message) => {
                let code = ErrorCode::DependencyUnavailable;
                let result = runtime_failure(plugin, code, message.into());
                return Ok(self.preflight_failure(plugin, &run_id, started, result));
            }
        };
        witness.check(plugin, &loaded.manifest)?;
        let job = Job {
            plugin: &loaded,
            paths: &paths,
            environment,
            run_id: &run_id,
            args: &options.args,
            max_retries: options.max_retries.unwrap_or(loaded.manifest.max_retries),
            dependency_runs: &options.dependency_runs,
            artifact: options.persist_artifact.then_some(UserInitiated(options.user_initiated)),
            events: true,
            operation,
            cancel,
        };
        self.run(&job).await
    }

    /// Runs one loaded plugin. Failures of the plugin are results; errors are the runtime's own.
    pub(super) async fn run(&self, job: &Job<'_>) -> Result<Invocation> {
        let plugin = &job.plugin.name;
        let manifest = &job.plugin.manifest;
        let gate = self.parallelism.gate(&job.plugin.directory, manifest.max_parallelism);
        // A cancelled wait goes on: the attempt meets the same cancellation and records it.
        let _permit = tokio::select! {
            permit = gate.acquire_owned() => permit.ok(),
            () = job.cancel.cancelled() => None,
        };
        let started = self.clock.now();
        let refuse = |code, message: JsString| {
            let result = runtime_failure(plugin, code, message);
            Ok(self.preflight_failure(plugin, job.run_id, started, result))
        };
        let module = job.plugin.module();
        let variable = |name: &JsString| job.environment.var(name.as_str()?).map(ToOwned::to_owned);
        // A module that prints or throws while it loads may quote a credential like any handler.
        let known: Vec<JsString> =
            manifest.secrets.iter().filter_map(variable).map(JsString::from).collect();
        let invocation = self.next_invocation();
        let printing = match job.artifact {
            Some(_) => {
                let transcript = Transcript::open(job.paths, &job.run_id.to_text())?;
                Some(self.prints.attach(invocation, transcript, known.clone()))
            }
            None => None,
        };
        if let Err(fault) = self.load_handler(job, &module, invocation).await {
            let (message, never_called) = match fault {
                LoadFault::Threw(message) => (redact_text(&message, &known), false),
                LoadFault::TimedOut => {
                    let seconds = LOAD_LIMIT_MS / 1000.0;
                    let message = format!("the handler did not load within {seconds} seconds");
                    (message.into(), true)
                }
            };
            let refused: Result<Invocation> = refuse(ErrorCode::DependencyUnavailable, message);
            return refused.map(|refused| Invocation { never_called, ..refused });
        }
        let file = config::read(job.paths, plugin)?;
        let resolved = match resolve(manifest, file.as_deref(), job.args, &variable) {
            Ok(resolved) => resolved,
            Err(fault) => {
                let code = match fault {
                    ConfigFault::Problems(_) => ErrorCode::ParseError,
                    ConfigFault::MissingSecrets(_) => ErrorCode::AuthFailure,
                };
                let path = config::path(job.paths, plugin)?;
                return refuse(code, fault.message(&path).into());
            }
        };
        let (names, secrets): (Vec<JsString>, Vec<JsString>) = resolved.secrets.into_iter().unzip();
        let context =
            capability::context(manifest, plugin, job.run_id, &names, job.dependency_runs);
        let request = AttemptRequest {
            plugin: module,
            attempt: 1,
            invocation,
            manifest: manifest.to_value(),
            args: resolved.args.into(),
            context,
            capture: job.artifact.is_some(),
        };
        let records = match job.artifact {
            Some(by) => Some(self.open_runs.open(job, invocation, started, by)?),
            None => None,
        };
        let invocation = self.attempts(job, started, &request, &secrets).await;
        if let Some(Err(error)) = printing.map(Printing::end) {
            let text = format!("{error}: the transcript is not whole");
            self.host.notify(job.operation, Notice::Warning { text });
        }
        if let Some(records) = records {
            records.close(&invocation, self.clock.now())?;
        }
        Ok(invocation)
    }

    async fn attempts(
        &self,
        job: &Job<'_>,
        started: Instant,
        request: &AttemptRequest,
        secrets: &[JsString],
    ) -> Invocation {
        let plugin = &job.plugin.name;
        let manifest = &job.plugin.manifest;
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut handler_called = false;
        let mut number = 0;
        loop {
            number += 1;
            self.host.notify(job.operation, Notice::AttemptStart { attempt: number });
            self.prints.begin_attempt(request.invocation, number);
            let attempt_started = self.clock.now();
            let mut request = request.clone();
            request.attempt = number;
            let request = Request::Attempt(Box::new(request));
            let ending =
                self.attempt(job.operation, request, manifest.timeout_ms, job.cancel).await;
            handler_called |= !matches!(ending, Ending::NotStarted | Ending::Unreached);
            let timed_out = matches!(ending, Ending::TimedOut);
            let mut cancelled = matches!(ending, Ending::Cancelled | Ending::NotStarted);
            let mut result = result_of(ending, plugin, secrets);
            let now = self.clock.now();
            let status = attempt::classify(&result, cancelled, timed_out);
            let error = attempt::error_text(status, &result);
            attempts.push(Attempt {
                attempt: number,
                started_at: attempt_started.to_iso().into(),
                elapsed_ms: elapsed(attempt_started, now),
                status,
                error: error.clone(),
            });
            if let (Some(message), AttemptStatus::Failed) = (&error, status) {
                let message = message.clone();
                self.host.notify(job.operation, Notice::AttemptFailed { attempt: number, message });
            }
            if attempt::retries(number, job.max_retries, status, &result) {
                self.note_retry(job, number, error.as_ref());
                let wait = retry::delay_ms(manifest.retry_delay_ms, number, random_sample());
                tokio::select! {
                    biased;
                    () = job.cancel.cancelled() => {
                        cancelled = true;
                        result = result_of(Ending::Cancelled, plugin, secrets);
                    }
                    () = tokio::time::sleep(duration(wait)) => continue,
                }
            }
            let now = self.clock.now();
            stamp(&mut result, job.run_id, now);
            let ended = if cancelled { AttemptStatus::Cancelled } else { status };
            return Invocation {
                plugin: plugin.clone(),
                run_id: job.run_id.clone(),
                final_error: attempt::error_text(ended, &result),
                result,
                duration_ms: elapsed(started, now),
                attempt_count: number,
                retried: number > 1,
                attempts,
                cancelled,
                timed_out,
                never_called: !handler_called,
            };
        }
    }

    /// Imports the handler.
    async fn load_handler(
        &self,
        job: &Job<'_>,
        module: &PluginModule,
        invocation: u64,
    ) -> Result<(), LoadFault> {
        let (plugin, capture) = (module.clone(), job.artifact.is_some());
        let request = Request::LoadHandler { plugin, invocation, capture };
        match self.attempt(job.operation, request, LOAD_LIMIT_MS, job.cancel).await {
            Ending::Answered(Ok(_)) => Ok(()),
            Ending::Answered(Err(failure)) => Err(LoadFault::Threw(failure.message().clone())),
            Ending::TimedOut => Err(LoadFault::TimedOut),
            // The attempt that follows meets the same obstacle and records it.
            Ending::Cancelled | Ending::NotStarted | Ending::Unreached => Ok(()),
        }
    }

    /// An invocation that ended before its first attempt: one attempt, no artifact.
    fn preflight_failure(
        &self,
        plugin: &JsString,
        run_id: &JsString,
        started: Instant,
        result: SkillResult,
    ) -> Invocation {
        let elapsed_ms = elapsed(started, self.clock.now());
        let error = attempt::error_text(AttemptStatus::Failed, &result);
        Invocation {
            plugin: plugin.clone(),
            run_id: run_id.clone(),
            attempts: vec![Attempt {
                attempt: 1,
                started_at: started.to_iso().into(),
                elapsed_ms,
                status: AttemptStatus::Failed,
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

    /// Leaves a notice that another attempt follows. A log that cannot be written costs the notice.
    fn note_retry(&self, job: &Job<'_>, number: u32, error: Option<&JsString>) {
        if !job.events {
            return;
        }
        let stamp = events::stamp(self.clock.now());
        let plugin = &job.plugin.name;
        let text = error.cloned().unwrap_or_default();
        let notice = event::attempt_failed(&stamp, plugin, number, &text, Some(job.run_id));
        if let Err(error) = events::append(job.paths, &[notice]) {
            let text = format!("{error}: the retry notice of `{plugin}` is lost");
            self.host.notify(job.operation, Notice::Warning { text });
        }
    }
}

/// Stamps provenance on every output, so that none passes for the work of another run.
fn stamp(result: &mut SkillResult, run_id: &JsString, now: Instant) {
    for output in &mut result.artifacts_produced {
        output.run_id = Some(run_id.clone());
        output.produced_at = Some(now.to_iso().into());
    }
}

/// Whole milliseconds between two instants, never negative.
#[allow(clippy::cast_precision_loss)]
pub(super) fn elapsed(from: Instant, to: Instant) -> f64 {
    to.since(from).max(0) as f64
}

impl Invocation {
    /// `{plugin, result, duration_ms, attempt_count, attempts, final_error, retried, cancelled,
    /// timed_out}`, as `invokePlugin` gives it.
    pub fn to_value(&self) -> Value {
        let attempts: Vec<Value> = self.attempts.iter().map(Attempt::to_value).collect();
        [
            ("plugin", Value::from(&self.plugin)),
            ("result", self.result.to_value()),
            ("duration_ms", self.duration_ms.into()),
            ("attempt_count", self.attempt_count.into()),
            ("attempts", attempts.into()),
            ("final_error", self.final_error.clone().into()),
            ("retried", self.retried.into()),
            ("cancelled", self.cancelled.into()),
            ("timed_out", self.timed_out.into()),
        ]
        .into_iter()
        .collect::<Map>()
        .into()
    }
}
