//! `events.jsonl`: appended to by everything, trimmed to the newest, read leniently.

use std::collections::BTreeMap;
use std::sync::Mutex;

use uuid::Uuid;

use crate::clock::Instant;
use crate::error::Result;
use crate::json::parse;
use crate::schema::event::{BoardEvent, Stamp};

use super::Paths;
use super::files::{self, Appender};

/// How many lines a trim leaves.
const KEPT: usize = 20_000;

/// How many more lines there may be before a trim.
const SLACK: usize = 2_000;

/// How many files' line counts are remembered.
const COUNTS_KEPT: usize = 64;

/// Size and lines of a file by its identity, so that an append need not read all of it. Whoever finds
/// it locked does without: in a process that was forked meanwhile it stays locked for ever.
static COUNTS: Mutex<BTreeMap<(u64, u64), (u64, usize)>> = Mutex::new(BTreeMap::new());

/// A fresh event id, and `now` as the file has it.
pub fn stamp(now: Instant) -> Stamp {
    Stamp { event_id: Uuid::new_v4().to_string().into(), timestamp: now.to_iso().into() }
}

/// Appends events in one write. Past 22,000 lines, the file keeps its newest 20,000.
///
/// # Errors
///
/// [`Error::File`](crate::error::Error::File).
pub fn append(paths: &Paths, events: &[BoardEvent]) -> Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let text: String = events.iter().map(|event| event.to_line() + "\n").collect();
    let mut file = Appender::open(&paths.home, &paths.events)?;
    let identity = file.identity();
    let known = Mutex::try_lock(&COUNTS).ok().and_then(|mut counts| counts.remove(&identity));
    let known = known.filter(|(len, _)| *len == file.len()).map(|(_, lines)| lines);
    let before = match known {
        Some(lines) => lines,
        None => count(&file.read()?),
    };
    file.append(&text)?;
    let lines = before + events.len();
    if lines > KEPT + SLACK {
        // The events are written; what cannot be cut down now is by a later append.
        let _ = keep_newest(file, KEPT);
        return Ok(());
    }
    if let Ok(mut counts) = Mutex::try_lock(&COUNTS) {
        if counts.len() >= COUNTS_KEPT {
            counts.clear();
        }
        counts.insert(identity, (file.len(), lines));
    }
    Ok(())
}

/// Cuts the file down to its newest `cap` lines once it has more than `cap + slack`. Appends wait
/// meanwhile, so none is lost.
///
/// # Errors
///
/// [`Error::File`](crate::error::Error::File); the file is as it was.
pub fn trim(paths: &Paths, cap: usize, slack: usize) -> Result<()> {
    if !files::is_there(&paths.events) {
        return Ok(());
    }
    let file = Appender::open(&paths.home, &paths.events)?;
    if count(&file.read()?) > cap + slack { keep_newest(file, cap) } else { Ok(()) }
}

fn keep_newest(file: Appender, cap: usize) -> Result<()> {
    let bytes = file.read()?;
    let surplus = count(&bytes).saturating_sub(cap);
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let start = match surplus.checked_sub(1) {
        Some(last) => ends.map(|(at, _)| at + 1).nth(last).unwrap_or(0),
        None => 0,
    };
    file.replace(bytes.get(start..).unwrap_or_default())
}

/// Lines, a last one without its end included.
fn count(bytes: &[u8]) -> usize {
    let whole = bytes.iter().filter(|byte| **byte == b'\n').count();
    whole + usize::from(bytes.last().is_some_and(|last| *last != b'\n'))
}

/// Every event that can be read, in the order of the file. Never fails: what cannot be read is
/// skipped and stays where it is.
pub fn read(paths: &Paths) -> Vec<BoardEvent> {
    load(paths).unwrap_or_default()
}

/// Like [`read`], and tells a file that cannot be read from one without events.
///
/// # Errors
///
/// [`Error::File`](crate::error::Error::File).
pub fn load(paths: &Paths) -> Result<Vec<BoardEvent>> {
    let bytes = files::read_bytes(&paths.events)?.unwrap_or_default();
    let events = bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| std::str::from_utf8(line).ok())
        .filter_map(|line| BoardEvent::parse(&parse(line).ok()?).ok());
    Ok(events.collect())
}

#[cfg(test)]
mod tests;
