//! Taking a run off the record: the plugin counts as one that never ran.

use crate::clock::Instant;
use crate::decide::gate;
use crate::error::Result;
use crate::home::state::{self, Decision};
use crate::home::{Paths, events};
use crate::json::JsString;
use crate::schema::engine_state::PluginRun;
use crate::schema::event::{self, BoardEvent};

/// What became of forgetting the runs of some plugins.
#[derive(Clone, Debug, PartialEq)]
pub enum Forgotten {
    /// Of some names no run is on record; nothing was written.
    Unknown {
        /// Those names, in the order given.
        missing: Vec<JsString>,
        /// The plugins that do have a run on record.
        recorded: Vec<JsString>,
    },
    /// Results of these plugins wait for an answer, which the record is a part of; nothing was
    /// written.
    Waiting(Vec<JsString>),
    /// Denials of these plugins are on record, and are bound to its last output; nothing was
    /// written.
    Denied(Vec<JsString>),
    /// These records are gone.
    Removed(Vec<(JsString, PluginRun)>),
}

/// Removes the run records of these plugins, all or none. The plugins need not exist any more.
///
/// What depends on one of them is not held back by a failed run any longer. The pointer to the last
/// output goes with the record; run logs stay.
///
/// # Errors
///
/// Those of a state document that cannot be used, locked or written; nothing is changed then.
pub fn forget_runs(paths: &Paths, names: &[JsString], now: Instant) -> Result<Forgotten> {
    state::update(paths, now, |document| {
        let those = |is: &dyn Fn(&JsString) -> bool| -> Vec<JsString> {
            names.iter().filter(|name| is(name)).cloned().collect()
        };
        let missing = those(&|name| !document.plugin_runs.contains_key(name));
        if !missing.is_empty() {
            let recorded = document.plugin_runs.keys().cloned().collect();
            return Ok(Decision::Keep(Forgotten::Unknown { missing, recorded }));
        }
        let waiting = those(&|name| gate::waiting(document, name).is_some());
        if !waiting.is_empty() {
            return Ok(Decision::Keep(Forgotten::Waiting(waiting)));
        }
        let denied = those(&|name| document.denials.contains_key(name));
        if !denied.is_empty() {
            return Ok(Decision::Keep(Forgotten::Denied(denied)));
        }
        // One pass over the records, however many of them go.
        let gone = names.iter().collect::<std::collections::HashSet<_>>();
        let mut removed = Vec::new();
        document.plugin_runs.retain(|name, run| {
            let stays = !gone.contains(name);
            if !stays {
                removed.push((name.clone(), run.clone()));
            }
            stays
        });
        let traces: Vec<BoardEvent> = removed
            .iter()
            .map(|(name, _)| event::run_record_removed(&events::stamp(now), name))
            .collect();
        events::append(paths, &traces)?;
        let writes = !removed.is_empty();
        let removed = Forgotten::Removed(removed);
        Ok(if writes { Decision::Write(removed) } else { Decision::Keep(removed) })
    })
}
