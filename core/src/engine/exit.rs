//! What is running, for a host whose process is about to end under it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::Instant;
use crate::decide::record;
use crate::error::Result;
use crate::json::JsString;
use crate::schema::engine_state::{PluginRun, RunStatus};
use crate::schema::run_log::EntryStatus;

use super::invoke::elapsed;
use super::pass::{Pass, entry};
use super::{Engine, PluginState};

/// The passes of an engine that have not been recorded yet.
#[derive(Default)]
pub(super) struct Active {
    passes: Mutex<Vec<Arc<Pass>>>,
}

/// Takes its pass off the list when dropped; nothing of a pass that was left unfinished counts any
/// more, so that a plugin which is still being let go of cannot write behind its end.
pub(super) struct Entered<'a> {
    active: &'a Active,
    pass: Arc<Pass>,
}

impl Active {
    fn with<T>(&self, change: impl FnOnce(&mut Vec<Arc<Pass>>) -> T) -> T {
        change(&mut self.passes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn enter(&self, pass: &Arc<Pass>) -> Entered<'_> {
        self.with(|passes| passes.push(pass.clone()));
        Entered { active: self, pass: pass.clone() }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.pass.give_up();
        self.active.with(|passes| passes.retain(|pass| !Arc::ptr_eq(pass, &self.pass)));
    }
}

impl Engine {
    /// Records what is known of every running pass as `interrupted`, and every direct run as failed:
    /// the process ends now. Every process that plugin code runs in is killed.
    ///
    /// For exit hooks: it blocks, starts nothing, and names the plugins that were running, so that
    /// the host can say which of them may have ended the process. A pass that is just being
    /// recorded is waited for.
    ///
    /// # Errors
    ///
    /// The first record that could not be written; the crash journal then tells the next advance.
    pub fn exit(&self) -> Result<Vec<JsString>> {
        self.workers.kill();
        let passes = self.active.with(std::mem::take);
        let mut running = Vec::new();
        let mut outcome = Ok(());
        for pass in passes {
            let Some(_recording) = pass.claim_recording() else {
                continue;
            };
            running.extend(self.cut(&pass));
            outcome = outcome.and(self.record(&pass, true).map(drop));
        }
        let cut = outcome.and(self.prints.end()).and(self.open_runs.cut(self.clock.now()));
        running.extend(cut?);
        Ok(running)
    }

    /// The plugins that the advance of this operation runs now, each with the time it was started.
    pub fn running(&self, operation: u64) -> Vec<(JsString, Instant)> {
        self.active.with(|passes| {
            let own = passes.iter().filter(|pass| pass.facts.operation == operation);
            let running = |pass: &Arc<Pass>| {
                let running = |(name, since): (&JsString, &Instant)| (name.clone(), *since);
                pass.with(|progress| progress.running.iter().map(running).collect::<Vec<_>>())
            };
            own.flat_map(running).collect()
        })
    }

    /// Marks the running plugins of a pass as failed; those with effects get a run record.
    fn cut(&self, pass: &Pass) -> Vec<JsString> {
        let now = self.clock.now();
        pass.with(|progress| {
            let running = std::mem::take(&mut progress.running);
            for (name, started) in &running {
                let summary = JsString::from("the process exited while this plugin was running");
                let elapsed_ms = elapsed(*started, now);
                let entry = entry(name, EntryStatus::Failed, *started, elapsed_ms, summary);
                progress.entries.insert(name.clone(), entry);
                progress.states.insert(name.clone(), PluginState::Failed);
                let plugin = pass.facts.roster.plugins.get(name);
                if plugin.is_some_and(|plugin| !plugin.manifest.side_effects.is_empty()) {
                    let before = progress.state.plugin_runs.get(name);
                    let run = PluginRun {
                        duration_ms: None,
                        ..record::entry(before, RunStatus::Failed, None, now.to_iso().into(), 0.0)
                    };
                    progress.ran.insert(name.clone(), run);
                }
            }
            running.into_keys().collect()
        })
    }
}
