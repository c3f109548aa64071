//! The bound on simultaneous calls of one plugin.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// Holds each plugin to its number of simultaneous calls.
#[derive(Default)]
pub(super) struct Parallelism {
    gates: Mutex<HashMap<PathBuf, (usize, Arc<Semaphore>)>>,
}

impl Parallelism {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    /// The gate of the plugin in `directory`: `bound` permits, at least one.
    pub(super) fn gate(&self, directory: &Path, bound: f64) -> Arc<Semaphore> {
        let bound = bound.clamp(1.0, 65_536.0) as usize;
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = gates
            .entry(directory.to_owned())
            .or_insert_with(|| (bound, Arc::new(Semaphore::new(bound))));
        if entry.0 != bound {
            // The manifest was edited: invocations that are open keep the old bound.
            *entry = (bound, Arc::new(Semaphore::new(bound)));
        }
        entry.1.clone()
    }
}
