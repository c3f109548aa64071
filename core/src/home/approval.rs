//! `.session-approval`: the grant file. Its writers belong to a human's command, never to a pass.

use crate::clock::Instant;
use crate::decide::grant::{self, GrantFault, MergeRequest, Merged};
use crate::error::{Error, Result};
use crate::json::JsString;
use crate::schema::event::{self, BoardEvent};
use crate::schema::grant::{Grant, Scopes};

use super::lock::StateLock;
use super::{Paths, events, files};

/// Only the owner may read a grant.
const MODE: u32 = 0o600;

/// The text of the grant file; `None` where there is none or it cannot be read. Never fails: a
/// grant that cannot be read grants nothing.
pub fn read(paths: &Paths) -> Option<String> {
    files::read_text(&paths.approval).ok().flatten()
}

/// Whether there is a grant file that is no grant. It grants nothing, and a reader should know why.
pub fn is_unusable(paths: &Paths) -> bool {
    let grant = read(paths).and_then(|text| Grant::parse_lenient(&text));
    let ends = grant.and_then(|grant| Instant::parse(grant.expires_at.as_str()?));
    ends.is_none() && files::is_there(&paths.approval)
}

/// Whether a live grant covers the plugin directory `plugin` at `now`. Never fails: whatever cannot
/// be read, or is over, is a no.
pub fn is_approved(paths: &Paths, plugin: &JsString, now: Instant) -> bool {
    grant::is_approved(read(paths).as_deref(), plugin, now)
}

/// Merges a yes into the grant file, so that overlapping approvals both count.
///
/// The trace of it goes to the events first: there is no grant without one.
///
/// # Errors
///
/// [`Error::Option`] for a lifetime that cannot be granted, [`Error::File`],
/// [`Error::StateLockTimeout`]; the file is as it was.
pub fn merge_grant(paths: &Paths, request: &MergeRequest, now: Instant) -> Result<Merged> {
    merge_grant_under(&StateLock::acquire(paths, now)?, paths, request, now)
}

/// Like [`merge_grant`], for a caller who has the state lock of this home, because the yes depends
/// on what the state says.
pub(crate) fn merge_grant_under(
    _lock: &StateLock,
    paths: &Paths,
    request: &MergeRequest,
    now: Instant,
) -> Result<Merged> {
    // One that cannot be read now may be a yes that somebody gave: it is not written over.
    let before = files::read_bytes(&paths.approval)?.and_then(|text| String::from_utf8(text).ok());
    let merged = grant::merge(before.as_deref(), request, now).map_err(refused)?;
    write(paths, &merged.grant, now)?;
    Ok(merged)
}

/// Writes a grant of exactly this reach and lifetime over whatever was there: what an embedding
/// program grants in advance. Lasts four hours unless told otherwise; no ceiling applies.
///
/// # Errors
///
/// As for [`merge_grant`].
pub fn write_grant(
    paths: &Paths,
    scopes: Scopes,
    ttl_ms: Option<i64>,
    now: Instant,
) -> Result<Grant> {
    let grant = grant::pre_grant(scopes, ttl_ms, now).map_err(refused)?;
    let _lock = StateLock::acquire(paths, now)?;
    write(paths, &grant, now)?;
    Ok(grant)
}

/// What became of a grant that was taken back.
#[derive(Debug)]
pub struct Revoked {
    /// Whether there was a grant file.
    pub removed: bool,
    /// What went wrong beside the removal: no lock was to be had, or the trace could not be written.
    pub fault: Option<Error>,
}

/// Deletes the grant file.
///
/// Taking authority away must not hang on anything else: where the lock cannot be had (a full disk,
/// a writer that hangs) or the trace cannot be written, the file goes all the same.
///
/// # Errors
///
/// [`Error::File`] where the file itself cannot be removed.
pub fn revoke_grant(paths: &Paths, now: Instant) -> Result<Revoked> {
    if !files::is_there(&paths.approval) {
        return Ok(Revoked { removed: false, fault: None });
    }
    let lock = StateLock::acquire(paths, now);
    let removed = files::remove(&paths.home, &paths.approval);
    // It may be gone though the directory could not be flushed.
    let gone = removed.as_ref().map_or_else(|_| !files::is_there(&paths.approval), |gone| *gone);
    let told = match gone {
        true => events::append(paths, &[event::grant_revoked(&events::stamp(now))]),
        false => Ok(()),
    };
    Ok(Revoked { removed: removed?, fault: lock.map(drop).and(told).err() })
}

fn write(paths: &Paths, grant: &Grant, now: Instant) -> Result<()> {
    let trace: BoardEvent =
        event::grant_merged(&events::stamp(now), &grant.scopes, &grant.expires_at);
    // The new file lies ready before the trace of it is written: the trace must not tell of a grant
    // that could not be given.
    let grant = grant.to_value().to_pretty();
    let prepared = files::prepare(&paths.home, &paths.approval, grant.as_bytes(), Some(MODE))?;
    events::append(paths, &[trace])?;
    prepared.commit()
}

fn refused(fault: GrantFault) -> Error {
    let expected = match fault {
        GrantFault::NotPositive => "longer than zero",
        GrantFault::TooLong => "a lifetime that ends within the dates there are",
    };
    Error::Option { option: "ttl", expected: expected.to_owned() }
}

#[cfg(test)]
mod tests;
