//! The yes: parked results are checked together, then answered one by one; a grant where none waits.

use crate::clock::Instant;
use crate::decide::denial::{Standing, standing};
use crate::decide::gate::{self, Answer};
use crate::decide::grant::{MergeRequest, Merged};
use crate::error::Result;
use crate::home::approval::merge_grant_under;
use crate::home::state::{self, Decision};
use crate::home::{Paths, events};
use crate::json::JsString;
use crate::schema::engine_state::{Denial, EngineState};
use crate::schema::event::{self, BoardEvent, GateReason};
use crate::schema::grant::Scopes;

use super::Named;

/// What became of a yes to the parked results of some plugins.
#[derive(Clone, Debug, PartialEq)]
pub enum Parked {
    /// These denials answer what some of the plugins propose; nothing was written.
    Denied(Vec<Denial>),
    /// A result waits for some of the plugins and none for the others; nothing was written.
    Mixed {
        /// The plugins with a result that waits.
        waiting: Vec<JsString>,
        /// The plugins without one.
        others: Vec<JsString>,
    },
    /// The run that the caller has seen is not the one whose result waits; nothing was written.
    OtherRun {
        /// The plugin.
        plugin: JsString,
        /// The run whose result waits, if one does.
        waiting: Option<JsString>,
        /// When the result of the run that was seen was accepted, if it was.
        applied_at: Option<JsString>,
    },
    /// No result waits for any of them; nothing was written. Each comes with [`Answer::None`] or
    /// [`Answer::AlreadyApplied`].
    NothingWaits(Vec<(JsString, Answer)>),
    /// One answer for each name, in order; those that were recorded stay, whatever the others met.
    Answered(Vec<(JsString, Answer)>),
}

/// How long the grant of a yes lasts, and what it makes of an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The lifetime from now, in milliseconds; `None` keeps a live expiry, or takes the default.
    pub ttl_ms: Option<i64>,
    /// Whether scopes and expiry of a live grant are overwritten.
    pub replace: bool,
    /// Whether the expiry may pass the ceiling.
    pub long: bool,
}

/// What became of a yes.
#[derive(Clone, Debug, PartialEq)]
pub struct Approved {
    /// What became of the parked results.
    pub parked: Parked,
    /// The grant file from now on; given exactly where `parked` is [`Parked::NothingWaits`].
    pub granted: Option<Merged>,
}

/// Says yes to `named`: accepts the results that wait, as [`apply`] does, or grants them all their
/// declared effects where no result waits for any.
///
/// Denials, parked results and the grant are decided and written under one lock, so no denial can
/// come in between. Accepting a result leaves the grant file alone.
///
/// # Errors
///
/// Those of [`apply`] and [`merge_grant`](super::merge_grant); nothing is changed then.
pub fn approve(
    paths: &Paths,
    named: &[Named<'_>],
    run_id: Option<&JsString>,
    terms: &Terms,
    now: Instant,
) -> Result<Approved> {
    state::update_with(paths, now, |lock, document| {
        let (parked, writes) = answer(paths, document, named, run_id, now)?;
        let granted = match &parked {
            Parked::NothingWaits(_) => {
                let Terms { ttl_ms, replace, long } = *terms;
                let names = named.iter().map(|(name, _)| (*name).clone()).collect();
                let request = MergeRequest { scopes: Scopes::of(names), ttl_ms, replace, long };
                Some(merge_grant_under(lock, paths, &request, now)?)
            }
            _ => None,
        };
        let approved = Approved { parked, granted };
        Ok(if writes { Decision::Write(approved) } else { Decision::Keep(approved) })
    })
}

/// Accepts the parked results of `named`: each becomes the plugin's last run, as it was when the
/// run ended. No handler is called, and no grant is read or written.
///
/// With `run_id`, only the result of that run is accepted: the one the person has seen, and not one
/// that has taken its place since.
///
/// # Errors
///
/// Those of a state document that cannot be used, locked or written; nothing is changed then.
pub fn apply(
    paths: &Paths,
    named: &[Named<'_>],
    run_id: Option<&JsString>,
    now: Instant,
) -> Result<Parked> {
    state::update(paths, now, |document| {
        let (parked, writes) = answer(paths, document, named, run_id, now)?;
        Ok(if writes { Decision::Write(parked) } else { Decision::Keep(parked) })
    })
}

/// Answers in the document and traces it in the events; whether the document is to be written.
fn answer(
    paths: &Paths,
    document: &mut EngineState,
    named: &[Named<'_>],
    run_id: Option<&JsString>,
    now: Instant,
) -> Result<(Parked, bool)> {
    if let Some(refused) = refusal(document, named, run_id) {
        return Ok((refused, false));
    }
    let mut answers = Vec::new();
    for (name, manifest) in named {
        answers.push(((*name).clone(), gate::answer(document, name, manifest, now)));
    }
    // The trace comes first: there is no yes without one.
    let traces: Vec<BoardEvent> =
        answers.iter().filter_map(|(name, answer)| trace(now, name, answer)).collect();
    events::append(paths, &traces)?;
    let writes = answers.iter().any(|(_, answer)| answer.writes());
    let waited = answers
        .iter()
        .any(|(_, answer)| !matches!(answer, Answer::None | Answer::AlreadyApplied { .. }));
    let parked = if waited { Parked::Answered(answers) } else { Parked::NothingWaits(answers) };
    Ok((parked, writes))
}

/// Why nothing may be written.
fn refusal(
    document: &EngineState,
    named: &[Named<'_>],
    run_id: Option<&JsString>,
) -> Option<Parked> {
    let denials: Vec<Denial> = named
        .iter()
        .filter_map(|(name, manifest)| match standing(name, manifest, document) {
            Standing::Live(denial) => Some(denial.clone()),
            Standing::None | Standing::Superseded(_) => None,
        })
        .collect();
    if !denials.is_empty() {
        return Some(Parked::Denied(denials));
    }
    if let Some(run_id) = run_id
        && let Some(other) = named.iter().find_map(|(name, _)| other_run(document, name, run_id))
    {
        return Some(other);
    }
    let (waiting, others): (Vec<&Named<'_>>, Vec<&Named<'_>>) =
        named.iter().partition(|(name, _)| gate::waiting(document, name).is_some());
    if waiting.is_empty() || others.is_empty() {
        return None;
    }
    let names = |some: Vec<&Named<'_>>| some.into_iter().map(|(name, _)| (*name).clone()).collect();
    Some(Parked::Mixed { waiting: names(waiting), others: names(others) })
}

fn other_run(document: &EngineState, plugin: &JsString, run_id: &JsString) -> Option<Parked> {
    let waiting = gate::waiting(document, plugin).map(|gate| gate.run_id.clone());
    if waiting.as_ref() == Some(run_id) {
        return None;
    }
    let same = gate::newest(document, plugin).filter(|gate| gate.run_id == *run_id);
    let applied_at = same.and_then(|gate| gate.applied_at.clone());
    Some(Parked::OtherRun { plugin: plugin.clone(), waiting, applied_at })
}

/// The event that an answer leaves behind.
fn trace(now: Instant, name: &JsString, answer: &Answer) -> Option<BoardEvent> {
    let stamp = &events::stamp(now);
    match answer {
        Answer::Applied { run_id, .. } => Some(event::gate_applied(stamp, name, run_id)),
        Answer::Expired { run_id } => Some(event::gate_expired(stamp, name, run_id)),
        Answer::DependencyMoved { run_id, .. } => {
            Some(event::gate_invalidated(stamp, name, run_id, GateReason::DependencyMoved))
        }
        Answer::None
        | Answer::AlreadyApplied { .. }
        | Answer::Denied { .. }
        | Answer::Unusable { .. } => None,
    }
}
