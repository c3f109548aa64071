//! The no, and taking it back.

use crate::clock::Instant;
use crate::decide::denial::{self, Denied};
use crate::error::Result;
use crate::home::state::{self, Decision};
use crate::home::{Paths, events};
use crate::json::JsString;
use crate::schema::engine_state::Denial;
use crate::schema::event::{self, BoardEvent, GateReason};

use super::Named;

/// What became of taking denials back.
#[derive(Clone, Debug, PartialEq)]
pub enum Removed {
    /// For some names no denial is recorded; nothing was written.
    Unknown {
        /// Those names, in the order given.
        missing: Vec<JsString>,
        /// The plugins that do have a denial.
        denied: Vec<JsString>,
    },
    /// These denials are gone.
    Removed(Vec<Denial>),
}

/// Records a no to what each of `named` proposes now: an advance does not run it, and asks nobody,
/// until the proposal changes. A parked result of it is discarded.
///
/// A proposal that was denied already keeps the denial it has; where that holds for all of them
/// nothing is written.
///
/// # Errors
///
/// Those of a state document that cannot be used, locked or written; nothing is changed then.
pub fn deny(
    paths: &Paths,
    named: &[Named<'_>],
    note: Option<&JsString>,
    now: Instant,
) -> Result<Vec<(JsString, Denied)>> {
    state::update(paths, now, |document| {
        let answers: Vec<(JsString, Denied)> = named
            .iter()
            .map(|(name, manifest)| {
                ((*name).clone(), denial::deny(document, name, manifest, note, now))
            })
            .collect();
        let traces: Vec<BoardEvent> =
            answers.iter().flat_map(|(name, answer)| traces(now, name, answer)).collect();
        events::append(paths, &traces)?;
        Ok(if traces.is_empty() { Decision::Keep(answers) } else { Decision::Write(answers) })
    })
}

fn traces(now: Instant, name: &JsString, answer: &Denied) -> Vec<BoardEvent> {
    let Denied::Recorded { denial, discarded } = answer else {
        return Vec::new();
    };
    let recorded =
        event::denial_recorded(&events::stamp(now), name, &denial.reason, &denial.fingerprint);
    let discarded = discarded.iter().map(|run_id| {
        event::gate_invalidated(&events::stamp(now), name, run_id, GateReason::Denied)
    });
    [recorded].into_iter().chain(discarded).collect()
}

/// Takes the denials of these plugins back, all or none. The plugins need not exist any more.
///
/// The question is open again afterwards; a parked result that the denial discarded stays gone.
///
/// # Errors
///
/// As for [`deny`].
pub fn remove_denials(paths: &Paths, names: &[JsString], now: Instant) -> Result<Removed> {
    state::update(paths, now, |document| {
        let is_denied = |name: &&JsString| document.denials.contains_key(*name);
        let missing: Vec<JsString> =
            names.iter().filter(|name| !is_denied(name)).cloned().collect();
        if !missing.is_empty() {
            let denied = document.denials.keys().cloned().collect();
            return Ok(Decision::Keep(Removed::Unknown { missing, denied }));
        }
        let removed: Vec<Denial> =
            names.iter().filter_map(|name| document.denials.shift_remove(name)).collect();
        let traces: Vec<BoardEvent> =
            names.iter().map(|name| event::denial_removed(&events::stamp(now), name)).collect();
        events::append(paths, &traces)?;
        let writes = !removed.is_empty();
        let removed = Removed::Removed(removed);
        Ok(if writes { Decision::Write(removed) } else { Decision::Keep(removed) })
    })
}
