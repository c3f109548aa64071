//! Every operation on a file of a home. Each passes one point, where tests have it fail or end the
//! process; a build without `fault-injection` has the operations alone.

use std::ffi::OsStr;
use std::fs::{
    self, DirBuilder, DirEntry, File, Metadata, OpenOptions, Permissions, ReadDir, TryLockError,
};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

#[cfg(feature = "fault-injection")]
use super::faults::{at, write_at};

/// What is done to a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Facts about a path or an open file are read, or a link is followed.
    Look,
    /// A directory is listed.
    List,
    /// A file that exists is opened.
    Open,
    /// A file is opened, and made where there is none.
    Create,
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// A file is cut off.
    Cut,
    /// The permission bits of a file are set.
    Mode,
    /// A file is flushed to the disk.
    Sync,
    /// A directory is flushed to the disk.
    SyncDirectory,
    /// A path is moved.
    Rename,
    /// A link is made.
    Link,
    /// A file or link is removed.
    Remove,
    /// A directory is made.
    MakeDirectory,
    /// A directory is removed with all that is in it.
    RemoveDirectory,
    /// A file is locked.
    Lock,
    /// A file is unlocked.
    Unlock,
}

#[cfg(not(feature = "fault-injection"))]
fn at<T>(_: Operation, _: &Path, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    act()
}

#[cfg(not(feature = "fault-injection"))]
fn write_at(
    path: &Path,
    bytes: &[u8],
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    at(Operation::Write, path, || write(bytes))
}

/// Facts about what lies at a path, of a link those of the link.
pub(super) fn look(path: &Path) -> io::Result<Metadata> {
    at(Operation::Look, path, || fs::symlink_metadata(path))
}

/// Facts about what a path leads to.
pub(super) fn follow(path: &Path) -> io::Result<Metadata> {
    at(Operation::Look, path, || fs::metadata(path))
}

/// Facts about an open file; `path` is where it was opened.
pub(super) fn facts(file: &File, path: &Path) -> io::Result<Metadata> {
    at(Operation::Look, path, || file.metadata())
}

/// Facts about an entry of a directory, of a link those of the link.
pub(super) fn facts_of(entry: &DirEntry) -> io::Result<Metadata> {
    at(Operation::Look, &entry.path(), || entry.metadata())
}

/// The path with every link on it resolved.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    at(Operation::Look, path, || fs::canonicalize(path))
}

/// Whether a path is known to lead to a directory.
pub(super) fn is_directory(path: &Path) -> bool {
    follow(path).is_ok_and(|found| found.is_dir())
}

/// Whether a path is known to lead to a file.
pub(super) fn is_file(path: &Path) -> bool {
    follow(path).is_ok_and(|found| found.is_file())
}

/// The entries of a directory.
pub(super) fn list(path: &Path) -> io::Result<ReadDir> {
    at(Operation::List, path, || fs::read_dir(path))
}

/// Opens a file with options that make none.
pub(super) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    at(Operation::Open, path, || options.open(path))
}

/// What lies at a name of an open directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) is_file: bool,
    pub(super) is_directory: bool,
    pub(super) is_link: bool,
    /// The permission bits.
    pub(super) mode: u32,
}

/// Facts about what lies at a name of an open directory, of a link those of the link.
pub(super) fn look_at(directory: &File, name: &OsStr, path: &Path) -> io::Result<Found> {
    at(Operation::Look, path, || {
        let found = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = FileType::from_raw_mode(found.st_mode);
        // Its width is the system's own.
        #[allow(clippy::useless_conversion)]
        let mode = u32::from(Mode::from_raw_mode(found.st_mode).bits()) & 0o777;
        let is = |wanted: FileType| kind == wanted;
        let (is_file, is_directory) = (is(FileType::RegularFile), is(FileType::Directory));
        Ok(Found { is_file, is_directory, is_link: is(FileType::Symlink), mode })
    })
}

/// How a directory is opened in order to work in it.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a directory by a path that is no link.
pub(super) fn open_directory(path: &Path) -> io::Result<File> {
    at(Operation::Open, path, || Ok(rustix::fs::open(path, DIRECTORY, Mode::empty())?.into()))
}

/// Opens a directory by its name in an open one; a link is refused.
pub(super) fn directory_at(directory: &File, name: &OsStr, path: &Path) -> io::Result<File> {
    at(Operation::Open, path, || {
        Ok(rustix::fs::openat(directory, name, DIRECTORY, Mode::empty())?.into())
    })
}

/// Makes a directory in an open one.
pub(super) fn make_directory_at(
    directory: &File,
    name: &OsStr,
    path: &Path,
    mode: u32,
) -> io::Result<()> {
    at(Operation::MakeDirectory, path, || Ok(rustix::fs::mkdirat(directory, name, bits(mode))?))
}

/// Opens a file of an open directory, and makes it where there is none; a link is refused.
pub(super) fn create_at(
    directory: &File,
    name: &OsStr,
    path: &Path,
    flags: OFlags,
    mode: u32,
) -> io::Result<File> {
    let flags = flags | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    at(Operation::Create, path, || {
        Ok(rustix::fs::openat(directory, name, flags, bits(mode))?.into())
    })
}

/// Moves a name of an open directory onto another in one step; `path` is where that one lies.
pub(super) fn rename_at(directory: &File, from: &OsStr, to: &OsStr, path: &Path) -> io::Result<()> {
    at(Operation::Rename, path, || Ok(rustix::fs::renameat(directory, from, directory, to)?))
}

/// Removes a file of an open directory; of a link, the link itself.
pub(super) fn remove_at(directory: &File, name: &OsStr, path: &Path) -> io::Result<()> {
    at(Operation::Remove, path, || Ok(rustix::fs::unlinkat(directory, name, AtFlags::empty())?))
}

fn bits(mode: u32) -> Mode {
    Mode::from_bits_truncate(mode as rustix::fs::RawMode)
}

/// Reads all that is left of a source, the file at `path` or a part of it.
pub(super) fn read_to_end(source: impl Read, path: &Path) -> io::Result<Vec<u8>> {
    read_sized(source, path, 0)
}

/// What is set aside at once for a file that says how long it is; a longer one grows as it is read.
const ROOM_AT_ONCE: u64 = 1024 * 1024;

/// [`read_to_end`] of a source that is expected to have so many bytes.
pub(super) fn read_sized(mut source: impl Read, path: &Path, len: u64) -> io::Result<Vec<u8>> {
    at(Operation::Read, path, || {
        // One more than there are, so that the end is found without making room for more.
        let room = usize::try_from(len.min(ROOM_AT_ONCE)).unwrap_or(0).saturating_add(1);
        let mut bytes = Vec::with_capacity(if len == 0 { 0 } else { room });
        source.read_to_end(&mut bytes)?;
        Ok(bytes)
    })
}

/// Fills a buffer from a place of a file.
pub(super) fn read_exact_at(
    file: &File,
    path: &Path,
    bytes: &mut [u8],
    from: u64,
) -> io::Result<()> {
    at(Operation::Read, path, || file.read_exact_at(bytes, from))
}

/// Reads from a place of a file what one reading gives.
pub(super) fn read_at(file: &File, path: &Path, bytes: &mut [u8], from: u64) -> io::Result<usize> {
    at(Operation::Read, path, || file.read_at(bytes, from))
}

/// Writes all of some bytes; on failure, a part of them may be written.
pub(super) fn write_all(mut file: &File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_at(path, bytes, |bytes| file.write_all(bytes))
}

/// Cuts a file off.
pub(super) fn cut(file: &File, path: &Path, len: u64) -> io::Result<()> {
    at(Operation::Cut, path, || file.set_len(len))
}

/// Sets the permission bits of a file.
pub(super) fn set_mode(file: &File, path: &Path, mode: u32) -> io::Result<()> {
    at(Operation::Mode, path, || file.set_permissions(Permissions::from_mode(mode)))
}

/// Flushes a file to the disk.
pub(super) fn sync(file: &File, path: &Path) -> io::Result<()> {
    at(Operation::Sync, path, || file.sync_all())
}

/// Flushes the names in a directory to the disk.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    at(Operation::SyncDirectory, directory, || flush(&File::open(directory)?))
}

/// Flushes the names in an open directory to the disk.
pub(super) fn sync_open_directory(directory: &File, path: &Path) -> io::Result<()> {
    at(Operation::SyncDirectory, path, || flush(directory))
}

fn flush(directory: &File) -> io::Result<()> {
    match directory.sync_all() {
        // Some file systems have nothing to flush for a directory and say so.
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
        synced => synced,
    }
}

/// Moves a path onto another in one step.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    at(Operation::Rename, to, || fs::rename(from, to))
}

/// Makes a link at `path` that leads to `target`.
pub(super) fn link(target: &Path, path: &Path) -> io::Result<()> {
    at(Operation::Link, path, || std::os::unix::fs::symlink(target, path))
}

/// Makes one directory; the umask may take bits of the mode away.
pub(super) fn make_directory(path: &Path, mode: u32) -> io::Result<()> {
    at(Operation::MakeDirectory, path, || DirBuilder::new().mode(mode).create(path))
}

/// Removes a directory and all that is in it.
pub(super) fn remove_directory(path: &Path) -> io::Result<()> {
    at(Operation::RemoveDirectory, path, || fs::remove_dir_all(path))
}

/// Locks an open file for this process alone; `false` where another has it.
pub(super) fn try_lock(file: &File, path: &Path) -> io::Result<bool> {
    at(Operation::Lock, path, || match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    })
}

/// Whether another has an open file locked.
pub(super) fn is_locked(file: &File, path: &Path) -> bool {
    let tried = at(Operation::Lock, path, || {
        let busy = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let _ = file.unlock();
        Ok(busy)
    });
    tried.unwrap_or(false)
}

/// Unlocks an open file; what cannot be unlocked now is, when it is closed.
pub(super) fn unlock(file: &File, path: &Path) {
    let _ = at(Operation::Unlock, path, || file.unlock());
}
