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
    let _lock = StateLock::acquire(paths, now)?;
    let merged = grant::merge(read(paths).as_deref(), request, now).map_err(refused)?;
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

/// Deletes the grant file; `false` where there was none.
///
/// # Errors
///
/// [`Error::File`], [`Error::StateLockTimeout`].
pub fn revoke_grant(paths: &Paths, now: Instant) -> Result<bool> {
    if !files::is_there(&paths.approval) {
        return Ok(false);
    }
    let _lock = StateLock::acquire(paths, now)?;
    let removed = files::remove(&paths.approval)?;
    if removed {
        events::append(paths, &[event::grant_revoked(&events::stamp(now))])?;
    }
    Ok(removed)
}

fn write(paths: &Paths, grant: &Grant, now: Instant) -> Result<()> {
    let trace: BoardEvent =
        event::grant_merged(&events::stamp(now), &grant.scopes, &grant.expires_at);
    events::append(paths, &[trace])?;
    files::write_atomic(&paths.approval, grant.to_value().to_pretty().as_bytes(), Some(MODE))
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
