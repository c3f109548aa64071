//! The artifact of a direct invocation.

use crate::clock::Instant;
use crate::decide::attempt;
use crate::decide::retention::ARTIFACTS_KEPT;
use crate::error::Result;
use crate::home::runs;
use crate::json::JsString;
use crate::schema::run_artifact::{ArtifactStatus, RunArtifact};

use super::Invocation;
use super::invoke::Job;

/// The artifact of a run, written as it goes.
pub(super) struct Records {
    artifact: RunArtifact,
}

impl Records {
    /// Writes the artifact as `running`, so that a killed run tells the truth.
    pub(super) fn open(job: &Job<'_>, started: Instant, user_initiated: bool) -> Result<Self> {
        let artifact = RunArtifact {
            run_id: job.run_id.clone(),
            plugin: job.plugin.name.clone(),
            started_at: started.to_iso().into(),
            completed_at: None,
            status: ArtifactStatus::Running,
            summary: JsString::new(),
            user_initiated,
            attempts: Vec::new(),
            final_error: None,
            cancelled: false,
            timed_out: false,
            retried: false,
        };
        runs::write_artifact(job.paths, &artifact)?;
        Ok(Self { artifact })
    }

    /// Writes how the run ended, and lets go of what is too old.
    pub(super) fn close(
        mut self,
        job: &Job<'_>,
        invocation: &Invocation,
        now: Instant,
    ) -> Result<()> {
        let artifact = &mut self.artifact;
        artifact.completed_at = Some(now.to_iso().into());
        artifact.status =
            attempt::run_status(invocation.cancelled, invocation.timed_out, &invocation.result);
        artifact.summary = invocation.result.summary.clone();
        artifact.attempts = invocation.attempts.clone();
        artifact.final_error = invocation.final_error.clone();
        artifact.cancelled = invocation.cancelled;
        artifact.timed_out = invocation.timed_out;
        artifact.retried = invocation.retried;
        runs::write_artifact(job.paths, artifact)?;
        runs::trim_plugin_history(job.paths, &artifact.plugin, ARTIFACTS_KEPT);
        Ok(())
    }
}
