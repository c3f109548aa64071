//! One invocation: modules, config, secrets, capabilities, attempts, records, in this order.

use std::sync::Arc;
use std::time::Duration;

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
use crate::schema::run_artifact::{Attempt, AttemptStatus};
use crate::schema::skill_result::{ErrorCode, SkillResult};

use super::attempt::{LoadFault, duration, preflight_failure, result_of, runtime_failure};
use super::here::leave_host_thread;
use super::prints::Printing;
use super::workers::{Seat, WorkerSet};
use super::{
    AttemptRequest, Clock, Ending, Engine, HostFailure, LoadedPlugin, Moment, Notice, PluginModule,
    Request, random_sample,
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
    pub clock: Clock,
    pub workers: &'a WorkerSet,
    /// What was seen of the home and of the plugin's files at the moment of the call.
    pub met: Option<(&'a Moment, &'a PluginModule)>,
}

/// Whether a person started the run.
#[derive(Clone, Copy)]
pub(super) struct UserInitiated(pub bool);

impl Engine {
    /// Runs one loaded plugin. Failures of the plugin are results; errors are the runtime's own.
    pub(super) async fn run(&self, job: &Job<'_>) -> Result<Invocation> {
        let plugin = &job.plugin.name;
        let manifest = &job.plugin.manifest;
        let gate = self.parallelism.gate(&job.plugin.directory, manifest.max_parallelism);
        let (_permit, waited) = match gate.clone().try_acquire_owned() {
            Ok(permit) => (Some(permit), false),
            // A cancelled wait goes on: the attempt meets the same cancellation and records it.
            Err(_) => tokio::select! {
                permit = gate.acquire_owned() => (permit.ok(), true),
                () = job.cancel.cancelled() => (None, true),
            },
        };
        let met = job.met.filter(|_| !waited);
        if met.is_none() {
            leave_host_thread().await;
        }
        let started = job.clock.now();
        let refuse = |code, message: JsString| {
            let result = runtime_failure(plugin, code, message);
            Ok(preflight_failure(plugin, job.run_id, started, job.clock.now(), result))
        };
        // A module that prints or throws while it loads may quote a credential like any handler.
        let known = job.environment.values(&manifest.secrets);
        let not_loaded = |fault: &LoadFault| {
            let never_called = matches!(fault, LoadFault::TimedOut);
            let refused: Result<Invocation> =
                refuse(ErrorCode::DependencyUnavailable, fault.message(&known));
            refused.map(|refused| Invocation { never_called, ..refused })
        };
        let seat = match job.workers.seat(job.plugin.language) {
            Ok(seat) => seat,
            Err(text) => return refuse(ErrorCode::DependencyUnavailable, text.into()),
        };
        let module = met.map_or_else(|| job.plugin.module(), |(_, module)| module.clone());
        let variable = |name: &JsString| job.environment.value(name).cloned();
        let invocation = self.next_invocation();
        let transcript = match job.artifact {
            Some(_) => Some(Transcript::open(job.paths, &job.run_id.to_text())?),
            None => None,
        };
        let minds = seat.is_apart() && self.host.minds_prints();
        let prints = transcript.is_some() || !known.is_empty() || minds;
        let printing = self.prints.attach(invocation, known.clone(), transcript);
        let secrets = manifest.secrets.clone();
        let load = Request::LoadHandler { plugin: module.clone(), invocation, secrets, prints };
        let configured = || {
            let file = match met {
                Some((moment, _)) => moment.config(job.paths, plugin)?,
                None => config::read(job.paths, plugin)?.map(Arc::from),
            };
            Ok(resolve(manifest, file.as_deref(), job.args, &variable))
        };
        // Where nobody sees when the first attempt begins, one message has the handler loaded and called.
        let unheard = job.artifact.is_none() && !self.host.hears(job.operation);
        let ahead = (unheard && self.keeps_unloaded(&seat, &module)).then(configured);
        let together = matches!(&ahead, Some(Ok(Ok(_))));
        if !together {
            let loading =
                self.load_handler(job.operation, &seat, &module, load.clone(), job.cancel);
            if let Err(fault) = loading.await {
                return not_loaded(&fault);
            }
        }
        let resolved = match ahead.unwrap_or_else(configured)? {
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
        let names: Vec<JsString> = resolved.secrets.into_iter().map(|(name, _)| name).collect();
        let context =
            capability::context(manifest, plugin, job.run_id, &names, job.dependency_runs);
        let request = AttemptRequest {
            plugin: module,
            load: false,
            attempt: 1,
            invocation,
            manifest: job.plugin.document(),
            args: resolved.args.into(),
            context,
            prints,
        };
        let records = match job.artifact {
            Some(by) => Some(self.open_runs.open(job, invocation, started, by)?),
            None => None,
        };
        let first = if together {
            let (operation, limit) = (job.operation, manifest.timeout_ms);
            let asked = job.clock.now();
            match self.first_attempt(operation, &seat, &request, limit, job.cancel).await {
                (Ending::NotLoaded(fault), _) => return not_loaded(&fault),
                (ending, ran) => Some((ending, before(job.clock.now(), ran).max(asked))),
            }
        } else {
            None
        };
        let given = (&load, &request, first);
        let invocation = self.attempts(job, &seat, started, given, &known, &printing).await;
        // A process of its own ends with the plugin, before anything is said of it.
        drop(seat);
        let warn = |text| self.host.notify(job.operation, Notice::Warning { text });
        if let Err(error) = printing.end() {
            warn(format!("{error}: the transcript is not whole"));
        }
        // The plugin has run: who started it must hear what came of that, and not take it for undone.
        if let Some(records) = records
            && let Err(error) = records.close(&invocation, job.clock.now())
        {
            warn(format!("{error}: the record of this run still says `running`"));
        }
        Ok(invocation)
    }

    async fn attempts(
        &self,
        job: &Job<'_>,
        seat: &Seat,
        started: Instant,
        (load, request, mut first): (&Request, &AttemptRequest, Option<(Ending, Instant)>),
        secrets: &[JsString],
        printing: &Printing<'_>,
    ) -> Invocation {
        let plugin = &job.plugin.name;
        let manifest = &job.plugin.manifest;
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut handler_called = false;
        let mut number = 0;
        loop {
            number += 1;
            self.host.notify(job.operation, Notice::AttemptStart { attempt: number });
            printing.begin_attempt(number);
            let (made, attempt_started) = match first.take() {
                Some((ending, began)) => (Some(ending), began),
                None => (None, job.clock.now()),
            };
            // A fresh process has to load it first, in the time that there is for that.
            let loaded = match number > 1 && seat.must_load(&request.plugin) {
                true => {
                    let module = &request.plugin;
                    self.load_handler(job.operation, seat, module, load.clone(), job.cancel).await
                }
                false => Ok(()),
            };
            let ending = match (made, loaded) {
                (Some(ending), _) => ending,
                (None, Ok(())) => {
                    let request = AttemptRequest { attempt: number, ..request.clone() };
                    let request = Request::Attempt(Box::new(request));
                    let (limit, cancel) = (manifest.timeout_ms, job.cancel);
                    self.attempt(job.operation, seat, request, limit, cancel).await
                }
                (None, Err(fault)) => {
                    Ending::Answered(Err(HostFailure::Threw(fault.message(secrets))))
                }
            };
            handler_called |= !matches!(ending, Ending::NotStarted | Ending::Unreached);
            let timed_out = matches!(ending, Ending::TimedOut);
            let mut cancelled = matches!(ending, Ending::Cancelled | Ending::NotStarted);
            let mut result = result_of(ending, plugin, secrets);
            let now = job.clock.now();
            let status = attempt::classify(&result, cancelled, timed_out);
            let error = attempt::error_text(status, &result);
            attempts.push(Attempt {
                attempt: number,
                started_at: attempt_started.to_iso().into(),
                elapsed_ms: elapsed(attempt_started, now),
                status: status.as_str().into(),
                error: error.clone(),
            });
            if matches!(status, AttemptStatus::Failed | AttemptStatus::Timeout) {
                // A result can fail without an error; then its summary is what there is to tell.
                let message = error.clone().unwrap_or_else(|| result.summary.clone());
                self.host.notify(job.operation, Notice::AttemptFailed { attempt: number, message });
            }
            if attempt::retries(number, job.max_retries, status, &result) {
                leave_host_thread().await;
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
            let now = job.clock.now();
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

    /// Leaves a notice that another attempt follows. A log that cannot be written costs the notice.
    fn note_retry(&self, job: &Job<'_>, number: u32, error: Option<&JsString>) {
        if !job.events {
            return;
        }
        let stamp = events::stamp(job.clock.now());
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

/// The instant that lies so long before another.
fn before(instant: Instant, passed: Duration) -> Instant {
    let ms = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
    instant.plus_ms(-ms).unwrap_or(instant)
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
