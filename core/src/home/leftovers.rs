//! What broken writes left behind: new content that never took its place. Nothing reads it.

use std::fs::{DirEntry, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::clock::Instant;

use super::place::Place;
use super::{Paths, disk};

/// How old a leftover is before it goes, in milliseconds: no write lasts this long.
const AGE_MS: i64 = 24 * 60 * 60 * 1000;

/// Random characters in the name of a file that is being written.
pub(super) const FILE_MARK: usize = 12;

/// The end of the name of a file that is being written.
pub(super) const FILE_END: &str = ".tmp";

/// The beginning of the name of a directory in which something is being made.
pub(super) const DIRECTORY_START: &str = ".warpline-";

/// Random characters in the name of a directory in which something is being made.
pub(super) const DIRECTORY_MARK: usize = 6;

/// What is made in such a directory: nothing else is ever in one.
const MADE: [&str; 2] = ["plugin", "warpline"];

/// Removes what writes left in the directories of a home that were broken off more than a day ago; the
/// number that is gone.
///
/// Goes by name and time, and leaves a directory that holds anything which is never made in one. What
/// cannot be listed or removed stays and does not count.
pub fn sweep(paths: &Paths, now: Instant) -> usize {
    paths
        .directories()
        .into_iter()
        .map(|directory| sweep_directory(&paths.home, &directory, now))
        .sum()
}

fn sweep_directory(home: &Path, directory: &Path, now: Instant) -> usize {
    let entries = disk::list(directory).into_iter().flatten().filter_map(Result::ok);
    let gone = entries.filter(|entry| {
        let name = entry.file_name();
        let Some(kind) = name.to_str().and_then(kind_of) else { return false };
        // Of a link, the link itself is looked at: it is none of ours.
        let Ok(found) = disk::facts_of(entry) else { return false };
        // Nothing goes behind a link that leads out of the home.
        let Ok(place) = Place::existing(home, &entry.path()) else { return false };
        is_old(&found, now)
            && match kind {
                Kind::File => found.is_file() && place.remove().is_ok(),
                Kind::Directory => {
                    found.is_dir()
                        && holds_only_what_is_made(place.path())
                        && disk::remove_directory(place.path()).is_ok()
                }
            }
    });
    gone.count()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
}

/// What the name says that this is; `None` for what no write of ours names so.
fn kind_of(name: &str) -> Option<Kind> {
    let is_mark = |mark: &str, len| {
        mark.len() == len && mark.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if name.strip_prefix(DIRECTORY_START).is_some_and(|mark| is_mark(mark, DIRECTORY_MARK)) {
        return Some(Kind::Directory);
    }
    let (target, mark) = name.strip_prefix('.')?.strip_suffix(FILE_END)?.rsplit_once('.')?;
    (!target.is_empty() && is_mark(mark, FILE_MARK)).then_some(Kind::File)
}

/// A name like `.warpline-backup` has the shape of ours, and may be somebody else's.
fn holds_only_what_is_made(directory: &Path) -> bool {
    let is_made = |entry: io::Result<DirEntry>| {
        entry.is_ok_and(|entry| MADE.iter().any(|name| entry.file_name() == *name))
    };
    disk::list(directory).is_ok_and(|mut entries| entries.all(is_made))
}

fn is_old(found: &Metadata, now: Instant) -> bool {
    let written = found.mtime().saturating_mul(1000);
    now.ms().saturating_sub(written) > AGE_MS
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::home::runs::tests::{at, home, set_time};

    #[test]
    fn only_old_things_with_the_name_of_a_broken_write_go() {
        let (root, paths) = home();
        let now = at("2026-08-20T12:00:00.000Z");
        let make = |relative: &str, time: &str| {
            let path = paths.home.join(relative);
            fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            fs::write(&path, "half").expect("a file");
            set_time(&path, at(time));
        };
        let (old, new) = ("2026-08-19T11:59:00.000Z", "2026-08-19T12:01:00.000Z");
        make("state/.engine-state.json.0aB1c2D3e4F5.tmp", old);
        make("runs/.r.json.0aB1c2D3e4F5.tmp", old);
        make("config/schemas/.p.json.0aB1c2D3e4F5.tmp", old);
        let kept = [
            ("state/.engine-state.json.1aB1c2D3e4F5.tmp", new),
            ("state/engine-state.json.0aB1c2D3e4F5.tmp", old),
            ("state/.engine-state.json.0aB1c2D3e4F.tmp", old),
            ("state/.0aB1c2D3e4F5.tmp", old),
            ("state/.mine.tmp", old),
            ("plugins/p/.h.ts.0aB1c2D3e4F5.tmp", old),
            (".warpline-0aB1c2", old),
        ];
        for (name, time) in kept {
            make(name, time);
        }
        for (name, inside, time) in [
            (".warpline-1aB1c2", "plugin", old),
            (".warpline-backup", "notes", old),
            ("node_modules/.warpline-1aB1c2", "plugin", new),
        ] {
            make(&format!("{name}/{inside}/manifest.ts"), time);
            let directory = fs::File::open(paths.home.join(name)).expect("a directory");
            let since = std::time::Duration::from_millis(at(time).ms().unsigned_abs());
            directory.set_modified(std::time::SystemTime::UNIX_EPOCH + since).expect("a time");
        }
        let outside = root.path().join("outside");
        fs::create_dir(&outside).expect("a directory");
        std::os::unix::fs::symlink(&outside, paths.home.join(".warpline-2aB1c2")).expect("a link");
        assert_eq!(sweep(&paths, now), 4);
        assert!(kept.iter().all(|(name, _)| paths.home.join(name).exists()));
        assert!(!paths.home.join(".warpline-1aB1c2").exists());
        assert!(paths.home.join(".warpline-backup/notes/manifest.ts").exists());
        assert!(paths.home.join("node_modules/.warpline-1aB1c2/plugin").exists());
        assert!(outside.exists());
        assert_eq!(sweep(&paths, now), 0);
    }
}
