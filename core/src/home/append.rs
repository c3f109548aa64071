//! Appending to files of a home: whole lines, one writer at a time.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;

use crate::error::{Error, Result};

use super::files::{PRIVATE, prepared};
use super::place::Place;
use super::{disk, lock};

/// How long an append waits for another writer of the same file.
const APPEND_WAIT: Duration = Duration::from_secs(10);

/// Adds whole lines to the end of a file, creating it and missing directories.
///
/// All of `lines` goes to the file in one write while other appends wait, so lines never mix. Where
/// an earlier writer died inside a line, the first new line does not continue that one. When the disk
/// is full, what was written of `lines` is taken back. A crash of the process after this has
/// returned loses nothing; a power loss may lose the last lines, or leave the last one torn.
///
/// # Errors
///
/// [`Error::File`]; the file is as it was.
pub(super) fn append(home: &Path, path: &Path, lines: &str) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    Appender::open(home, path)?.append(lines)
}

/// Adds text to the end of a file as it is, line ends or not; otherwise like [`append`].
pub(super) fn append_text(home: &Path, path: &Path, text: &str) -> Result<()> {
    let mut appender = Appender::open(home, path)?;
    appender.write(text.as_bytes()).map_err(Error::file("write", appender.place.path()))
}

/// A file opened for appending, with every other appender kept out until this is dropped.
pub(super) struct Appender {
    /// The file, locked.
    file: File,
    /// Where it lies, links resolved.
    place: Place,
    /// Bytes in the file.
    len: u64,
    /// What tells this file from every other one on the machine.
    identity: (u64, u64),
    /// Whether the last line is known to have its end.
    is_whole: bool,
}

impl Appender {
    /// Opens a file, creating it where it is missing, and waits for other appenders to finish.
    pub(super) fn open(home: &Path, path: &Path) -> Result<Self> {
        Self::open_target(home, path).map_err(Error::file("write", path))
    }

    fn open_target(home: &Path, path: &Path) -> io::Result<Self> {
        let place = Place::of(home, path)?;
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NONBLOCK;
        // Taking the file's own lock keeps appends whole and makes them wait for a trim.
        let held = lock::wait_for(APPEND_WAIT, || lock::try_hold(&place, flags))?;
        let file = held.ok_or_else(|| {
            io::Error::new(io::ErrorKind::TimedOut, "another process keeps it locked")
        })?;
        let found = disk::facts(&file, place.path())?;
        let identity = (found.dev(), found.ino());
        Ok(Self { file, place, len: found.len(), identity, is_whole: false })
    }

    /// Bytes in the file.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// What tells this file from every other one on the machine.
    pub(super) fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Whether a path leads to this file, and nobody else has changed its length.
    pub(super) fn is_still_at(&self, path: &Path) -> bool {
        disk::follow(path).is_ok_and(|found| {
            (found.dev(), found.ino()) == self.identity && found.len() == self.len
        })
    }

    /// Like [`Appender::append`], and the lines survive a power loss once this has returned: those of a
    /// new file, and where `flush` says so, then with all that was appended before. What an earlier writer
    /// left of a line goes: readers of such a file take every line that has an end at its word.
    pub(super) fn append_whole(&mut self, lines: &str, flush: bool) -> Result<()> {
        let created = self.len == 0;
        if !self.is_whole {
            self.cut_torn_line().map_err(Error::file("write", self.place.path()))?;
        }
        self.append(lines)?;
        let synced = match (created, flush) {
            (false, false) => Ok(()),
            (false, true) => disk::sync(&self.file, self.place.path()),
            (true, _) => {
                disk::sync(&self.file, self.place.path()).and_then(|()| self.place.sync_directory())
            }
        };
        synced.map_err(Error::file("write", self.place.path()))
    }

    /// Adds whole lines; a last line without its end gets one.
    pub(super) fn append(&mut self, lines: &str) -> Result<()> {
        self.append_lines(lines).map_err(Error::file("write", self.place.path()))
    }

    fn append_lines(&mut self, lines: &str) -> io::Result<()> {
        let mut whole = String::with_capacity(lines.len() + 2);
        if self.ends_inside_a_line()? {
            whole.push('\n');
        }
        whole.push_str(lines);
        if !lines.ends_with('\n') {
            whole.push('\n');
        }
        self.write(whole.as_bytes())?;
        self.is_whole = true;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = disk::write_all(&self.file, self.place.path(), bytes) {
            // Half of a line helps nobody; the lock guarantees that what is cut is ours. Where even that
            // fails, the next append begins a line of its own.
            let _ = disk::cut(&self.file, self.place.path(), self.len);
            return Err(error);
        }
        // Nothing that could fail comes after the writing: what is written must not be called refused.
        self.len += bytes.len() as u64;
        self.is_whole = false;
        Ok(())
    }

    fn cut_torn_line(&mut self) -> io::Result<()> {
        if self.ends_inside_a_line()? {
            let mut file = &self.file;
            io::Seek::rewind(&mut file)?;
            let bytes = disk::read_to_end(file, self.place.path())?;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            disk::cut(&self.file, self.place.path(), whole as u64)?;
            self.len = whole as u64;
        }
        Ok(())
    }

    fn ends_inside_a_line(&self) -> io::Result<bool> {
        if self.is_whole {
            return Ok(false);
        }
        let Some(last) = self.len.checked_sub(1) else {
            return Ok(false);
        };
        let mut byte = [0];
        disk::read_exact_at(&self.file, self.place.path(), &mut byte, last)?;
        Ok(byte != *b"\n")
    }

    /// Everything in the file.
    pub(super) fn read(&self) -> Result<Vec<u8>> {
        let mut file = &self.file;
        io::Seek::rewind(&mut file)
            .and_then(|()| disk::read_to_end(file, self.place.path()))
            .map_err(Error::file("read", self.place.path()))
    }

    /// Replaces the file; appenders that waited go on in the new one.
    pub(super) fn replace(self, bytes: &[u8]) -> Result<()> {
        let failed = Error::file("write", self.place.path());
        let target = self.place.beside(self.place.file_name());
        let prepared = target.and_then(|target| prepared(target, bytes, None, PRIVATE));
        prepared.map_err(failed)?.commit()
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // Closing would do, but for a process that is just being forked and still has the file.
        disk::unlock(&self.file, self.place.path());
    }
}
