//! Locks of the operating system: one advance at a time, and one writer of a document at a time.
//!
//! A lock is held on an open file, so it ends with its process, however that ends; what the lock
//! file says only tells a reader who holds it. The file is removed by a clean release. Two engines
//! of one process exclude each other like two processes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::json::{JsString, Map, Value, parse};

use super::place::Place;
use super::{Paths, disk, files, run_id};

/// The bits of a new file: its owner's alone.
const MODE: u32 = 0o600;

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
    /// Takes the run lock for `run_id`, or refuses at once where another advance has it.
    ///
    /// # Errors
    ///
    /// [`Error::RunLocked`] names the holder as far as its file tells; [`Error::File`] where there
    /// can be no lock file.
    pub fn acquire(paths: &Paths, run_id: &str, now: Instant) -> Result<Self> {
        let began = std::time::Instant::now();
        loop {
            if let Some(lock) = Self::take(paths, run_id, now, RUN_WAIT)? {
                return Ok(lock);
            }
            // One that only looks may be kept from looking away again by a busy machine.
            if Self::is_held(paths) || began.elapsed() > STATE_WAIT {
                let path = paths.run_lock();
                return Err(Error::RunLocked { holder: Holder::read(&path).to_string(), path });
            }
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
        let held = hold(&paths.home, &path, wait, &content).map_err(Error::file("lock", &path))?;
        Ok(held.map(|held| Self { held }))
    }

    /// Whether an advance, or a fold, has the lock now. Creates nothing and writes nothing.
    pub(super) fn is_held(paths: &Paths) -> bool {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(files::flags(OFlags::NOFOLLOW | OFlags::NONBLOCK));
        let path = paths.run_lock();
        disk::open(&options, &path).is_ok_and(|file| disk::is_locked(&file, &path))
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

/// The lock around a read-modify-write of the state, the grant, the acknowledgements or a configuration.
/// Released when dropped.
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
        let held = hold(&paths.home, &path, wait, &now.ms().to_string());
        let held = held.map_err(Error::file("lock", &path))?;
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
    /// Where the file lies, by the name that others look for.
    path: PathBuf,
    place: Place,
}

impl Drop for Held {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path).unwrap_or(false) {
            // While the lock is held nobody else uses this file, so it can go without a race.
            let _ = self.place.remove();
        }
        // Closing would do, but for a process that is just being forked and still has the file.
        disk::unlock(&self.file, &self.path);
    }
}

/// Takes the lock at `path` within `wait` and writes who has it.
fn hold(home: &Path, path: &Path, wait: Duration, content: &str) -> io::Result<Option<Held>> {
    let place = Place::of_lock(home, path)?;
    // A link in place of a lock file could make two homes share a lock, or empty a foreign file.
    let Some(file) = wait_for(wait, || try_hold(&place, OFlags::RDWR | OFlags::NONBLOCK))? else {
        return Ok(None);
    };
    let mut held = Held { file, path: path.to_owned(), place };
    disk::cut(&held.file, path, 0)?;
    held.file.rewind()?;
    disk::write_all(&held.file, path, content.as_bytes())?;
    Ok(Some(held))
}

/// Opens and locks the file at a place, where no link may lie; `None` where another holds it.
///
/// A holder removes the file when it lets go. Whoever locked it a moment later then has a lock on a
/// file that nobody else can find, so the lock counts only while the path still leads to it.
pub(super) fn try_hold(place: &Place, flags: OFlags) -> io::Result<Option<File>> {
    // Not for ever: a directory that was renamed never leads to its file again.
    for _ in 0..TRIES_AT_ONCE {
        match lock_open_file(place.create(flags, MODE)?, place.path())? {
            Attempt::Locked(file) => return Ok(Some(file)),
            Attempt::Busy => return Ok(None),
            Attempt::Gone => {}
        }
    }
    Ok(None)
}

/// How often a lock file that its holder removes is opened anew before the next pause.
const TRIES_AT_ONCE: usize = 100;

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
    files::require_regular(&file, path)?;
    Ok(match disk::try_lock(&file, path)? {
        true if is_at(&file, path)? => Attempt::Locked(file),
        true => Attempt::Gone,
        false => Attempt::Busy,
    })
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
    let held = disk::facts(file, path)?;
    match disk::look(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Who holds a run lock, as far as its file tells. The text is outside data: only what has the
/// shape of a run id, a process id and an instant is taken from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The advance.
    pub run_id: Option<JsString>,
    /// The process.
    pub pid: Option<u32>,
    /// Since when.
    pub started_at: Option<Instant>,
}

impl Holder {
    /// Who has the run lock of a home now; `None` where it is free. Creates nothing and writes
    /// nothing.
    pub fn now(paths: &Paths) -> Option<Self> {
        RunLock::is_held(paths).then(|| Self::read(&paths.run_lock()))
    }

    fn read(path: &Path) -> Self {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(files::flags(OFlags::NOFOLLOW | OFlags::NONBLOCK));
        let read = disk::open(&options, path).and_then(|file| {
            files::require_regular(&file, path)?;
            disk::read_to_end(file.take(CONTENT_CAP), path)
        });
        let text = read.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let content = text.and_then(|text| parse(&text).ok()).unwrap_or_default();
        let string = |key| content.get(key).and_then(Value::as_string);
        let run_id = string("run_id").filter(|id| id.as_str().is_some_and(run_id::is_valid));
        let pid = content.get("pid").and_then(Value::as_number);
        let pid = pid.filter(|pid| pid.fract() == 0.0 && (1.0..=f64::from(i32::MAX)).contains(pid));
        // It is a whole number in the range of a process id.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let pid = pid.map(|pid| pid as u32);
        let started_at = string("started_at").and_then(JsString::as_str).and_then(Instant::parse);
        Self { run_id: run_id.cloned(), pid, started_at }
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { run_id, pid, started_at } = self;
        let parts: Vec<String> = [
            run_id.as_ref().map(|run| format!("run {run}")),
            pid.map(|pid| format!("process {pid}")),
            started_at.map(|started| format!("since {}", started.to_iso())),
        ]
        .into_iter()
        .flatten()
        .collect();
        match parts.as_slice() {
            [] => f.write_str("its lock file does not say which"),
            parts => f.write_str(&parts.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests;
