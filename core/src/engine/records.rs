//! The artifact of a direct invocation.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::clock::Instant;
use crate::decide::attempt;
use crate::decide::retention::ARTIFACTS_KEPT;
use crate::error::Result;
use crate::home::{Paths, runs};
use crate::json::JsString;
use crate::schema::run_artifact::{ArtifactStatus, RunArtifact};

use super::Invocation;
use super::invoke::{Job, UserInitiated};

/// The artifacts that say `running`, by invocation, for a process that ends under them.
#[derive(Default)]
pub(super) struct OpenRuns {
    open: Mutex<HashMap<u64, (Paths, RunArtifact)>>,
}

/// The artifact of a run, written as it goes.
pub(super) struct Records<'a> {
    runs: &'a OpenRuns,
    invocation: u64,
}

impl OpenRuns {
    fn with<T>(&self, change: impl FnOnce(&mut HashMap<u64, (Paths, RunArtifact)>) -> T) -> T {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes the artifact as `running`: what stays there if the process is killed.
    pub(super) fn open(
        &self,
        job: &Job<'_>,
        invocation: u64,
        started: Instant,
        UserInitiated(user_initiated): UserInitiated,
    ) -> Result<Records<'_>> {
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
        self.with(|open| open.insert(invocation, (job.paths.clone(), artifact)));
        Ok(Records { runs: self, invocation })
    }

    /// Records every open run as failed: the process ends now. Names the plugins.
    pub(super) fn cut(&self, now: Instant) -> Result<Vec<JsString>> {
        let open = self.with(std::mem::take);
        let mut outcome = Ok(());
        let mut running = Vec::new();
        for (paths, mut artifact) in open.into_values() {
            let error = JsString::from("the process exited while this plugin was running");
            artifact.completed_at = Some(now.to_iso().into());
            artifact.status = ArtifactStatus::Failed;
            artifact.summary = artifact.plugin.concat(&": ".into()).concat(&error);
            artifact.final_error = Some(error);
            running.push(artifact.plugin.clone());
            outcome = outcome.and(runs::write_artifact(&paths, &artifact).map(drop));
        }
        outcome.map(|()| running)
    }
}

impl Records<'_> {
    /// Writes how the run ended, and lets go of what is too old.
    pub(super) fn close(self, invocation: &Invocation, now: Instant) -> Result<()> {
        let Some((paths, mut artifact)) = self.take() else {
            // The end of the process has recorded it.
            return Ok(());
        };
        artifact.completed_at = Some(now.to_iso().into());
        artifact.status =
            attempt::run_status(invocation.cancelled, invocation.timed_out, &invocation.result);
        artifact.summary = invocation.result.summary.clone();
        artifact.attempts = invocation.attempts.clone();
        artifact.final_error = invocation.final_error.clone();
        artifact.cancelled = invocation.cancelled;
        artifact.timed_out = invocation.timed_out;
        artifact.retried = invocation.retried;
        runs::write_artifact(&paths, &artifact)?;
        runs::trim_plugin_history(&paths, &artifact.plugin, ARTIFACTS_KEPT);
        Ok(())
    }

    fn take(&self) -> Option<(Paths, RunArtifact)> {
        self.runs.with(|open| open.remove(&self.invocation))
    }
}

impl Drop for Records<'_> {
    fn drop(&mut self) {
        // An invocation that nobody waits for any more leaves its artifact as it is: `running`.
        let _abandoned = self.take();
    }
}
