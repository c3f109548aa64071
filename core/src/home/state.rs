//! `engine-state.json`: read before a write, read for looking, and changed under its lock.

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::json::JsString;
use crate::schema::engine_state::{
    self, ENGINE_STATE_MAX_SCHEMA_VERSION, EngineState, PendingGate, StateFault,
};
use crate::schema::event::{self, GateReason};
use crate::schema::run_log::AdvanceStatus;

use super::lock::{RunLock, StateLock};
use super::{Paths, events, files, fold, journal, runs};

/// The state as an advance or a verb that goes on to write finds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The document.
    pub state: EngineState,
    /// The last run, where it was interrupted.
    pub resumed_from: Option<JsString>,
    /// Whether a killed pass was brought to its end on the way.
    pub folded: bool,
}

/// Whether a changed document is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<T> {
    /// Write it.
    Write(T),
    /// Leave the file alone, whatever was changed in memory.
    Keep(T),
}

/// Reads the state for somebody who goes on to write it.
///
/// A document that cannot be used is refused, since the next write would destroy it. The journal of
/// a killed pass is folded in first ([`RunLock`] given by an advance, which holds it; a verb gives
/// none, and leaves the journal of a running pass alone). Gates without both clocks are taken out
/// of the file, with one notice each.
///
/// # Errors
///
/// [`Error::File`], [`Error::NotJson`], [`Error::Invalid`], [`Error::NewerState`]: the document, or
/// the journal, cannot be used, and is untouched.
pub fn load_for_write(paths: &Paths, now: Instant, run_lock: Option<&RunLock>) -> Result<Loaded> {
    let folded = fold::settle(paths, now, run_lock)?;
    let mut state = read(paths)?;
    if !state.take_stub_gates().is_empty() {
        state = change(paths, now, |_, state| Ok(Decision::Keep(state.clone())))?;
    }
    let interrupted =
        |run_id: &&JsString| runs::status_of(paths, run_id) == Some(AdvanceStatus::Interrupted);
    let resumed_from = state.last_run_id.as_ref().filter(interrupted).cloned();
    Ok(Loaded { state, resumed_from, folded })
}

/// Reads the state for somebody who only looks: never fails and writes nothing.
///
/// A document that cannot be used counts as empty. Gates without both clocks are left out, and the
/// journal of a killed pass is folded in, in memory.
pub fn load_read_only(paths: &Paths, now: Instant) -> EngineState {
    preview(paths, now).0
}

/// Like [`load_read_only`], and says why the document could not be used where it could not.
pub fn preview(paths: &Paths, now: Instant) -> (EngineState, Option<Error>) {
    let (mut state, fault) = match read(paths) {
        Ok(state) => (state, None),
        Err(fault) => (EngineState::default(), Some(fault)),
    };
    state.take_stub_gates();
    if files::is_there(&paths.journal())
        && !RunLock::is_held(paths)
        && let Ok(lines) = journal::read(paths)
    {
        fold::lay_over(&mut state, &lines, now);
    }
    (state, fault)
}

/// Changes the state under its lock: a fresh read, the change, and the write where it is wanted.
///
/// Whatever others wrote before is seen by `change`, and nobody writes in between. It must not take
/// the state lock again. Gates without both clocks are gone from the file before it looks, with one
/// notice each.
///
/// # Errors
///
/// Those of [`load_for_write`], [`Error::StateLockTimeout`], and what `change` refuses with;
/// nothing of the change is written then.
pub fn update<T>(
    paths: &Paths,
    now: Instant,
    change: impl FnOnce(&mut EngineState) -> Result<Decision<T>>,
) -> Result<T> {
    update_with(paths, now, |_, state| change(state))
}

/// Like [`update`], and lends `change` the lock, for another document that goes by the same lock.
pub(crate) fn update_with<T>(
    paths: &Paths,
    now: Instant,
    change: impl FnOnce(&StateLock, &mut EngineState) -> Result<Decision<T>>,
) -> Result<T> {
    fold::settle(paths, now, None)?;
    self::change(paths, now, change)
}

fn change<T>(
    paths: &Paths,
    now: Instant,
    change: impl FnOnce(&StateLock, &mut EngineState) -> Result<Decision<T>>,
) -> Result<T> {
    let lock = StateLock::acquire(paths, now)?;
    let mut state = read(paths)?;
    let stubs = state.take_stub_gates();
    if !stubs.is_empty() {
        // On their own, because the change may keep the document or be refused. A notice too many
        // is harmless, a gate that is gone without one is not.
        announce(paths, &stubs, now)?;
        write(paths, &state)?;
    }
    match change(&lock, &mut state)? {
        Decision::Keep(answer) => Ok(answer),
        Decision::Write(answer) => {
            write(paths, &state)?;
            Ok(answer)
        }
    }
}

fn announce(paths: &Paths, stubs: &[PendingGate], now: Instant) -> Result<()> {
    let notices: Vec<_> = stubs
        .iter()
        .map(|gate| {
            event::gate_invalidated(
                &events::stamp(now),
                &gate.plugin,
                &gate.run_id,
                GateReason::Stub,
            )
        })
        .collect();
    events::append(paths, &notices)
}

/// The document as it lies there, unusable gates included; defaults where there is none.
pub(super) fn read(paths: &Paths) -> Result<EngineState> {
    let path = &paths.state_file;
    let Some(text) = files::read_text(path)? else {
        return Ok(EngineState::default());
    };
    engine_state::parse_text(&text).map_err(|fault| match fault {
        StateFault::NotJson(source) => Error::NotJson { path: path.clone(), source },
        StateFault::Invalid(issues) => Error::Invalid { path: path.clone(), issues },
        StateFault::Newer { found } => {
            Error::NewerState { path: path.clone(), found, known: ENGINE_STATE_MAX_SCHEMA_VERSION }
        }
    })
}

/// Writes the document. The caller holds the state lock.
pub(super) fn write(paths: &Paths, state: &EngineState) -> Result<()> {
    files::replace(&paths.home, &paths.state_file, state.to_text().as_bytes())
}

#[cfg(test)]
mod tests;
