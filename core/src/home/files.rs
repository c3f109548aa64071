//! The four ways in which a file of a home is touched, and what each survives.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use uuid::Uuid;

use crate::error::{Error, Result};

use super::disk;
use super::leftovers::{FILE_END, FILE_MARK};
use super::place::Place;

pub(super) use super::append::{Appender, append, append_text};

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
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags(OFlags::NONBLOCK));
    let file = match disk::open(&options, path) {
        Ok(file) => file,
        Err(error)
            if error.kind() == io::ErrorKind::NotFound && matches!(is_link(path), Ok(false)) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(Error::file("read", path)(error)),
    };
    let bytes = regular(&file, path)
        .and_then(|found| disk::read_sized(file.take(limit), path, found.len().min(limit)))
        .map_err(Error::file("read", path))?;
    Ok(Some(bytes))
}

/// The bits of a file that is made in a home: its owner's alone.
pub(super) const PRIVATE: u32 = 0o600;

/// The bits of a file that a host or a plugin asks for: as the umask has it.
const COMMON: u32 = 0o666;

/// Replaces a file with `bytes`, creating missing directories.
///
/// The bytes go to a new file in the same directory, are flushed to the disk, and take the place of
/// the old ones in one step: a reader sees either all of the old or all of the new, and so does
/// whoever looks after a crash. Once this has returned, the new bytes survive a power loss. A crash
/// in between can leave a `.tmp` file behind, which nothing reads.
///
/// The file has `mode` (permission bits) from its first byte. Without one it keeps the bits of the
/// file it replaces, or gets those of any newly written file. Where `path` is a link, the file that
/// it leads to is replaced and the link stays, as long as that file lies below the directory of `path`.
///
/// # Errors
///
/// [`Error::File`]; the old file is untouched then. A link that leads nowhere, in a circle, or out of
/// its directory is refused.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<()> {
    let prepared = Place::own(path).and_then(|place| prepared(place, bytes, mode, COMMON));
    prepared.map_err(Error::file("write", path))?.commit()
}

/// Like [`write_atomic`] for a file of a home: a link may lead anywhere in the home and nowhere else, and a
/// new file is its owner's alone. A path that is not below the home has its own directory for a home.
pub(super) fn replace(home: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    prepare(home, path, bytes, None)?.commit()
}

/// New content that lies ready on the disk beside the file it will replace. Dropped, it is gone.
pub(super) struct Prepared {
    /// The new content; `None` when it has been moved away.
    temporary: Option<Place>,
    target: Place,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if let Some(place) = self.temporary.take() {
            // What cannot be removed now is swept away later.
            let _ = place.remove();
        }
    }
}

/// Does all of [`replace`] but the last step, so that little is left that could fail.
pub(super) fn prepare(
    home: &Path,
    path: &Path,
    bytes: &[u8],
    mode: Option<u32>,
) -> Result<Prepared> {
    let prepared = Place::of(home, path).and_then(|place| prepared(place, bytes, mode, PRIVATE));
    prepared.map_err(Error::file("write", path))
}

impl Prepared {
    /// Puts the new content in place.
    pub(super) fn commit(mut self) -> Result<()> {
        let failed = Error::file("write", self.target.path());
        let Some(place) = &self.temporary else { return Ok(()) };
        if let Err(error) = place.rename(&self.target) {
            return Err(failed(error));
        }
        self.temporary = None;
        self.target.sync_directory().map_err(failed)
    }
}

pub(super) fn prepared(
    target: Place,
    bytes: &[u8],
    mode: Option<u32>,
    fresh: u32,
) -> io::Result<Prepared> {
    let existing = match target.look() {
        Ok(found) if !found.is_file => return Err(not_regular(found.is_directory)),
        Ok(found) => Some(found.mode),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let exact = mode.or(existing);
    let mut name = OsString::from(".");
    name.push(target.file_name());
    let mark: String = Uuid::new_v4().simple().to_string().chars().take(FILE_MARK).collect();
    name.push(format!(".{mark}{FILE_END}"));
    let place = target.beside(&name)?;
    let file = place.create(OFlags::WRONLY | OFlags::EXCL, exact.unwrap_or(fresh))?;
    let path = place.path().to_owned();
    let prepared = Prepared { temporary: Some(place), target };
    if let Some(mode) = exact {
        // The umask may have taken bits away that were asked for.
        disk::set_mode(&file, &path, mode)?;
    }
    disk::write_all(&file, &path, bytes)?;
    disk::sync(&file, &path)?;
    Ok(prepared)
}

/// Removes a file of a home; `false` where there was none. Of a link, the link itself is removed, and
/// nothing behind a link that leads out of the home.
///
/// Once this has returned, the file stays gone after a power loss.
///
/// # Errors
///
/// [`Error::File`]; the file is still there.
pub(super) fn remove(home: &Path, path: &Path) -> Result<bool> {
    let failed = Error::file("remove", path);
    let removed = Place::existing(home, path).and_then(|place| place.remove().map(|()| place));
    match removed {
        Ok(place) => place.sync_directory().map(|()| true).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

/// Whether anything lies at this path, a link that leads nowhere included.
///
/// What cannot be looked at counts as there: a journal or a grant that is taken for absent is one that
/// is forgotten. Whoever goes on to read or remove it meets the error.
pub(super) fn is_there(path: &Path) -> bool {
    !disk::look(path).is_err_and(|error| {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    })
}

/// Creates a directory and its parents, flushed to the disk; the umask may take bits of the mode away.
pub(super) fn create_directories(directory: &Path, mode: u32) -> io::Result<()> {
    if disk::is_directory(directory) {
        return Ok(());
    }
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !disk::is_directory(path))
        .collect();
    for path in missing.into_iter().rev() {
        match disk::make_directory(path, mode) {
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && disk::is_directory(path) => {}
            made => made?,
        }
        disk::sync_directory(directory_of(path))?;
    }
    Ok(())
}

/// Refuses what is not a regular file: reading a pipe or device may never end.
pub(super) fn require_regular(file: &File, path: &Path) -> io::Result<()> {
    regular(file, path).map(drop)
}

/// Facts about a regular file.
fn regular(file: &File, path: &Path) -> io::Result<Metadata> {
    let found = disk::facts(file, path)?;
    if found.is_file() { Ok(found) } else { Err(not_regular(found.is_dir())) }
}

fn not_regular(is_directory: bool) -> io::Error {
    if is_directory {
        io::Error::from(io::ErrorKind::IsADirectory)
    } else {
        io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
    }
}

/// Whether a link lies at a path; what cannot be told is an error, since a guess could replace it.
fn is_link(path: &Path) -> io::Result<bool> {
    match disk::look(path) {
        Ok(found) => Ok(found.is_symlink()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The directory that a path lies in.
pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Flags for `open` beside those that the standard library sets, close-on-exec being one.
pub(super) fn flags(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
