//! The four ways in which a file of a home is touched, and what each survives.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::{Error, Result};

use super::lock;

/// How long an append waits for another writer of the same file.
const APPEND_WAIT: Duration = Duration::from_secs(10);

/// Reads a text file; `None` where there is none.
///
/// Only a regular file is read, so that a pipe or device in its place cannot block the caller. A
/// link that leads nowhere is a fault, not an absent file: a write would be refused later.
///
/// # Errors
///
/// [`Error::File`] for anything but an absent file, text that is not UTF-8 included.
pub fn read_text(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read_bytes(path)? else {
        return Ok(None);
    };
    String::from_utf8(bytes).map(Some).map_err(|_| {
        Error::file("read", path)(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is not UTF-8 text",
        ))
    })
}

/// Reads a file whatever is in it; otherwise like [`read_text`].
pub(super) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    read_start(path, u64::MAX)
}

/// Reads at most the first `limit` bytes of a file; otherwise like [`read_bytes`].
pub(super) fn read_start(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let opened = OpenOptions::new().read(true).custom_flags(flags(OFlags::NONBLOCK)).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link(path) => return Ok(None),
        Err(error) => return Err(Error::file("read", path)(error)),
    };
    let mut bytes = Vec::new();
    require_regular(&file)
        .and_then(|()| file.take(limit).read_to_end(&mut bytes))
        .map_err(Error::file("read", path))?;
    Ok(Some(bytes))
}

/// Replaces a file with `bytes`, creating missing directories.
///
/// The bytes go to a new file in the same directory, are flushed to the disk, and take the place of
/// the old ones in one step: a reader sees either all of the old or all of the new, and so does
/// whoever looks after a crash. Once this has returned, the new bytes survive a power loss. A crash
/// in between can leave a `.tmp` file behind, which nothing reads.
///
/// The file has `mode` (permission bits) from its first byte. Without one it keeps the bits of the
/// file it replaces, or gets those of any newly written file. Where `path` is a link, the file that
/// it leads to is replaced and the link stays.
///
/// # Errors
///
/// [`Error::File`]; the old file is untouched then. A link that leads nowhere, or in a circle, is
/// refused.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<()> {
    prepare(path, bytes, mode)?.commit()
}

/// New content that lies ready on the disk beside the file it will replace. Dropped, it is gone.
pub(super) struct Prepared {
    temporary: tempfile::NamedTempFile,
    target: PathBuf,
}

/// Does all of [`write_atomic`] but the last step, so that little is left that could fail.
pub(super) fn prepare(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<Prepared> {
    let target = resolve_link(path).map_err(Error::file("write", path))?;
    prepared(target, bytes, mode).map_err(Error::file("write", path))
}

impl Prepared {
    /// Puts the new content in place.
    pub(super) fn commit(self) -> Result<()> {
        let Self { temporary, target } = self;
        let placed = temporary.persist(&target).map_err(|refused| refused.error);
        placed
            .and_then(|_| sync_directory(directory_of(&target)))
            .map_err(Error::file("write", &target))
    }
}

fn prepared(target: PathBuf, bytes: &[u8], mode: Option<u32>) -> io::Result<Prepared> {
    let existing = match fs::symlink_metadata(&target) {
        Ok(found) if !found.is_file() => return Err(not_regular(&found)),
        Ok(found) => Some(found.mode() & 0o777),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let directory = directory_of(&target);
    create_directories(directory)?;
    let exact = mode.or(existing);
    let name = target.file_name().unwrap_or(OsStr::new("file"));
    let mut prefix = OsStr::new(".").to_owned();
    prefix.push(name);
    prefix.push(".");
    let mut temporary = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".tmp")
        .rand_bytes(12)
        .permissions(Permissions::from_mode(exact.unwrap_or(0o666)))
        .tempfile_in(directory)?;
    if let Some(mode) = exact {
        // The umask may have taken bits away that were asked for.
        temporary.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    Ok(Prepared { temporary, target })
}

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
pub fn append(path: &Path, lines: &str) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    Appender::open(path)?.append(lines)
}

/// Adds text to the end of a file as it is, line ends or not; otherwise like [`append`].
pub(super) fn append_text(path: &Path, text: &str) -> Result<()> {
    let mut appender = Appender::open(path)?;
    appender.write(text.as_bytes()).map_err(Error::file("write", &appender.path))
}

/// Like [`append`], and the lines survive a power loss once this has returned.
pub(super) fn append_synced(path: &Path, lines: &str) -> Result<()> {
    let mut appender = Appender::open(path)?;
    let created = appender.len == 0;
    appender.append(lines)?;
    let synced = appender.file.sync_all();
    let synced = if created {
        synced.and_then(|()| sync_directory(directory_of(&appender.path)))
    } else {
        synced
    };
    synced.map_err(Error::file("write", path))
}

/// A file opened for appending, with every other appender kept out until this is dropped.
pub(super) struct Appender {
    /// The file, locked.
    file: File,
    /// The file's own path, links resolved.
    path: PathBuf,
    /// Bytes in the file.
    len: u64,
}

impl Appender {
    /// Opens a file, creating it where it is missing, and waits for other appenders to finish.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = Error::file("write", path);
        match Self::open_target(path) {
            Ok(appender) => Ok(appender),
            Err(error) => Err(failed(error)),
        }
    }

    fn open_target(path: &Path) -> io::Result<Self> {
        let target = resolve_link(path)?;
        create_directories(directory_of(&target))?;
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        options.custom_flags(flags(OFlags::NONBLOCK | OFlags::NOFOLLOW));
        // Taking the file's own lock keeps appends whole and makes them wait for a trim.
        let held = lock::wait_for(APPEND_WAIT, || lock::try_hold(&target, &options))?;
        let file = held.ok_or_else(|| {
            io::Error::new(io::ErrorKind::TimedOut, "another process keeps it locked")
        })?;
        let len = file.metadata()?.len();
        Ok(Self { file, path: target, len })
    }

    /// Bytes in the file.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// What tells this file from every other one on the machine.
    pub(super) fn identity(&self) -> Result<(u64, u64)> {
        let found = self.file.metadata().map_err(Error::file("read", &self.path))?;
        Ok((found.dev(), found.ino()))
    }

    /// Adds whole lines; a last line without its end gets one.
    pub(super) fn append(&mut self, lines: &str) -> Result<()> {
        self.append_lines(lines).map_err(Error::file("write", &self.path))
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
        self.write(whole.as_bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(bytes) {
            // Half of a line helps nobody; the lock guarantees that what is cut is ours.
            self.file.set_len(self.len)?;
            return Err(error);
        }
        self.len = self.file.metadata()?.len();
        Ok(())
    }

    fn ends_inside_a_line(&self) -> io::Result<bool> {
        let Some(last) = self.len.checked_sub(1) else {
            return Ok(false);
        };
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, last)?;
        Ok(byte != *b"\n")
    }

    /// Everything in the file.
    pub(super) fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut file = &self.file;
        io::Seek::rewind(&mut file)
            .and_then(|()| file.read_to_end(&mut bytes))
            .map_err(Error::file("read", &self.path))?;
        Ok(bytes)
    }

    /// Replaces the file; appenders that waited go on in the new one.
    pub(super) fn replace(self, bytes: &[u8]) -> Result<()> {
        write_atomic(&self.path, bytes, None)
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // Closing would do, but for a process that is just being forked and still has the file.
        let _ = self.file.unlock();
    }
}

/// Removes a file; `false` where there was none. Of a link, the link itself is removed.
///
/// Once this has returned, the file stays gone after a power loss.
///
/// # Errors
///
/// [`Error::File`]; the file is still there.
pub fn remove(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::file("remove", path)(error)),
    }
    sync_directory(directory_of(path)).map_err(Error::file("remove", path))?;
    Ok(true)
}

/// Whether anything lies at this path, a link that leads nowhere included.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Creates a directory and its parents, flushed to the disk.
pub(super) fn create_directories(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.is_dir())
        .collect();
    fs::create_dir_all(directory)?;
    missing.into_iter().try_for_each(|path| sync_directory(directory_of(path)))
}

/// Refuses what is not a regular file: reading a pipe or device may never end.
pub(super) fn require_regular(file: &File) -> io::Result<()> {
    let found = file.metadata()?;
    if found.is_file() { Ok(()) } else { Err(not_regular(&found)) }
}

fn not_regular(found: &fs::Metadata) -> io::Error {
    if found.is_dir() {
        io::Error::from(io::ErrorKind::IsADirectory)
    } else {
        io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
    }
}

/// The file that a write to `path` must replace: `path` itself, or where its link leads.
fn resolve_link(path: &Path) -> io::Result<PathBuf> {
    if is_link(path) { fs::canonicalize(path) } else { Ok(path.to_owned()) }
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn sync_directory(directory: &Path) -> io::Result<()> {
    match File::open(directory)?.sync_all() {
        // Some file systems have nothing to flush for a directory and say so.
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
        synced => synced,
    }
}

/// Flags for `open` beside those that the standard library sets, close-on-exec being one.
pub(super) fn flags(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
