//! What the files of a plugin looked like, so that a later look at each of them tells whether any has changed.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::disk;

/// The most that is worth looking at one by one.
const MOST: usize = 64;

/// Facts about what lies at a path, every one of which changes with it or may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    device: u64,
    inode: u64,
    mode: u32,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Facts {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            mode: found.mode(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// The directories and files below one directory.
///
/// A file that is written changes its own facts, one that comes, goes or is renamed those of its directory.
/// So names need not be listed again.
#[derive(Debug)]
pub struct Footprint {
    directory: PathBuf,
    seen: Vec<Seen>,
}

/// What was found at a path, or behind the link there; nothing where it could not be looked at.
#[derive(Debug)]
struct Seen {
    path: PathBuf,
    behind_link: bool,
    facts: Option<Facts>,
}

impl Seen {
    fn now(&self) -> Option<Facts> {
        let found =
            if self.behind_link { disk::follow(&self.path) } else { disk::look(&self.path) };
        found.ok().as_ref().map(Facts::of)
    }
}

impl Footprint {
    /// That of this canonical directory, with nothing in it so far.
    pub(super) fn of(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), seen: Vec::new() }
    }

    /// Takes down what was found at a path below the directory, or at the directory itself.
    pub(super) fn add(&mut self, path: PathBuf, behind_link: bool, found: Option<&Metadata>) {
        self.seen.push(Seen { path, behind_link, facts: found.map(Facts::of) });
    }

    /// Whether it is small enough to be looked at again before each call.
    pub(super) fn is_small(&self) -> bool {
        self.seen.len() <= MOST
    }

    /// Whether `path` still leads to the directory, and nothing in it has changed.
    pub fn holds(&self, path: &Path) -> bool {
        let Some(directory) = self.seen.first() else { return false };
        let leads_there = path == self.directory
            || disk::follow(path).is_ok_and(|found| Some(Facts::of(&found)) == directory.facts);
        leads_there && self.seen.iter().all(|seen| seen.facts.is_some() && seen.now() == seen.facts)
    }
}
