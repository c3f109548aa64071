//! Locks of the operating system: one advance at a time, and one writer of a document at a time.
//!
//! A lock is held on an open file, so it ends with its process, however that ends; what the lock
//! file says only tells a reader who holds it. The file is removed by a clean release. Two engines
//! of one process exclude each other like two processes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::json::{JsString, Map, Value, parse};

use super::{Paths, files, run_id};

/// How long a writer waits for another one before it gives up.
const STATE_WAIT: Duration = Duration::from_secs(10);

/// How long an advance waits for a holder that only looks, or folds a journal, for a moment.
const RUN_WAIT: Duration = Duration::from_millis(40);

/// Pauses between two tries: the first, what each adds, and the longest.
const PAUSE_MS: (u64, u64, u64) = (10, 3, 25);

/// More of a lock file than this is not read.
const CONTENT_CAP: u64 = 4096;

/// The lock that keeps a second advance off a home. Released when dropped.
#[derive(Debug)]
pub struct RunLock {
    held: Held,
}

impl RunLock {
    /// Takes the run lock for `run_id`, or refuses at once.
    ///
    /// # Errors
    ///
    /// [`Error::RunLocked`] names the holder as far as its file tells; [`Error::File`] where there
    /// can be no lock file.
    pub fn acquire(paths: &Paths, run_id: &str, now: Instant) -> Result<Self> {
        let path = paths.run_lock();
        match Self::take(paths, run_id, now, RUN_WAIT)? {
            Some(lock) => Ok(lock),
            None => Err(Error::RunLocked { holder: holder(&path), path }),
        }
    }

    /// Takes the run lock, or answers `None` where another holds it.
    pub(super) fn try_acquire(paths: &Paths, run_id: &str, now: Instant) -> Result<Option<Self>> {
        Self::take(paths, run_id, now, Duration::ZERO)
    }

    fn take(paths: &Paths, run_id: &str, now: Instant, wait: Duration) -> Result<Option<Self>> {
        let path = paths.run_lock();
        let mut content = Map::new();
        content.insert("run_id", run_id);
        content.insert("pid", std::process::id());
        content.insert("started_at", now.to_iso());
        let content = Value::from(content).to_compact();
        let held = hold(&path, wait, &content).map_err(Error::file("lock", &path))?;
        Ok(held.map(|held| Self { held }))
    }

    /// Whether an advance, or a fold, has the lock now. Creates nothing and writes nothing.
    pub(super) fn is_held(paths: &Paths) -> bool {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(files::flags(OFlags::NOFOLLOW | OFlags::NONBLOCK));
        let Ok(file) = options.open(paths.run_lock()) else {
            return false;
        };
        let held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let _ = file.unlock();
        held
    }

    /// Gives the lock back.
    pub fn release(self) {
        drop(self);
    }

    /// Whether the lock file of this home is the one this lock holds.
    pub(super) fn covers(&self, paths: &Paths) -> bool {
        self.held.path == paths.run_lock()
    }
}

/// The lock around a read-modify-write of the state, the grant or the acknowledgements. Released
/// when dropped.
#[derive(Debug)]
pub struct StateLock {
    _held: Held,
}

impl StateLock {
    /// Takes the state lock, waiting up to 10 s. Blocks the calling thread meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::StateLockTimeout`] where another kept it; [`Error::File`] where there can be no
    /// lock file.
    pub fn acquire(paths: &Paths, now: Instant) -> Result<Self> {
        Self::acquire_within(paths, now, STATE_WAIT)
    }

    fn acquire_within(paths: &Paths, now: Instant, wait: Duration) -> Result<Self> {
        let path = state_lock(paths);
        let held = hold(&path, wait, &now.ms().to_string()).map_err(Error::file("lock", &path))?;
        match held {
            Some(held) => Ok(Self { _held: held }),
            None => Err(Error::StateLockTimeout { path, seconds: wait.as_secs() }),
        }
    }

    /// Gives the lock back.
    pub fn release(self) {
        drop(self);
    }
}

#[cfg(not(test))]
fn state_lock(paths: &Paths) -> PathBuf {
    paths.state_lock()
}

#[cfg(test)]
use tests::state_lock;
#[cfg(test)]
pub(crate) use tests::{HESITATES, NO_STATE_LOCK};

/// A locked file. Dropping it removes the file, then unlocks it.
#[derive(Debug)]
struct Held {
    file: File,
    path: PathBuf,
}

impl Drop for Held {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path).unwrap_or(false) {
            // While the lock is held nobody else uses this file, so it can go without a race.
            let _ = fs::remove_file(&self.path);
        }
        // Closing would do, but for a process that is just being forked and still has the file.
        let _ = self.file.unlock();
    }
}

/// Takes the lock at `path` within `wait` and writes who has it.
fn hold(path: &Path, wait: Duration, content: &str) -> io::Result<Option<Held>> {
    if let Some(directory) = path.parent() {
        files::create_directories(directory)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // A link in place of a lock file could make two homes share a lock, or empty a foreign file.
    options.custom_flags(files::flags(OFlags::NOFOLLOW | OFlags::NONBLOCK));
    let Some(file) = wait_for(wait, || try_hold(path, &options))? else {
        return Ok(None);
    };
    let mut held = Held { file, path: path.to_owned() };
    held.file.set_len(0)?;
    held.file.rewind()?;
    held.file.write_all(content.as_bytes())?;
    Ok(Some(held))
}

/// Opens and locks the file at `path`; `None` where another holds it.
///
/// A holder removes the file when it lets go. Whoever locked it a moment later then has a lock on a
/// file that nobody else can find, so the lock counts only while the path still leads to it.
pub(super) fn try_hold(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
    loop {
        match lock_open_file(options.open(path)?, path)? {
            Attempt::Locked(file) => return Ok(Some(file)),
            Attempt::Busy => return Ok(None),
            Attempt::Gone => {}
        }
    }
}

/// What came of locking a file that was opened a moment ago.
#[derive(Debug)]
enum Attempt {
    /// It is locked, and the path leads to it.
    Locked(File),
    /// Another holds it.
    Busy,
    /// Its holder removed it in between.
    Gone,
}

fn lock_open_file(file: File, path: &Path) -> io::Result<Attempt> {
    files::require_regular(&file)?;
    match file.try_lock() {
        Ok(()) if is_at(&file, path)? => Ok(Attempt::Locked(file)),
        Ok(()) => Ok(Attempt::Gone),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Tries until `attempt` has an answer or `wait` is over. The first try is at once.
pub(super) fn wait_for<T>(
    wait: Duration,
    mut attempt: impl FnMut() -> io::Result<Option<T>>,
) -> io::Result<Option<T>> {
    let start = std::time::Instant::now();
    let (mut pause, step, longest) = PAUSE_MS;
    loop {
        if let Some(answer) = attempt()? {
            return Ok(Some(answer));
        }
        let left = wait.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        std::thread::sleep(left.min(Duration::from_millis(pause)));
        pause = longest.min(pause + step);
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Who holds a run lock, as far as its file tells. The text is outside data: only what has the
/// shape of a run id, a process id and an instant is repeated.
fn holder(path: &Path) -> String {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(files::flags(OFlags::NOFOLLOW | OFlags::NONBLOCK));
    let mut text = String::new();
    let read = options.open(path).and_then(|file| {
        files::require_regular(&file)?;
        file.take(CONTENT_CAP).read_to_string(&mut text)
    });
    let content = read.ok().and_then(|_| parse(&text).ok()).unwrap_or_default();
    let run = content.get("run_id").and_then(Value::as_string).and_then(JsString::as_str);
    let pid = content.get("pid").and_then(Value::as_number);
    let started = content.get("started_at").and_then(Value::as_string).and_then(JsString::as_str);
    let parts: Vec<String> = [
        run.filter(|run| run_id::is_valid(run)).map(|run| format!("run {run}")),
        pid.filter(|pid| pid.fract() == 0.0 && (1.0..=f64::from(i32::MAX)).contains(pid))
            .map(|pid| format!("process {pid}")),
        started.and_then(Instant::parse).map(|started| format!("since {}", started.to_iso())),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() { "its lock file does not say which".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests;
