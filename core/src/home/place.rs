//! Where a write goes: a directory that is held open, and a name in it.
//!
//! The way there is walked one directory at a time, without following a link, from one that must not be
//! left: the home, for a path below it; else the directory of the path itself, which its caller chose.
//! A link on the way counts where it leads to a place inside, and that place is walked to in turn. What
//! somebody puts in the place of a directory afterwards changes nothing: what is open stays open.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

use super::disk::{self, Found};
use super::files::{create_directories, directory_of};

/// The bits of a directory that is made for a home: its owner's alone.
pub(super) const PRIVATE_DIRECTORY: u32 = 0o700;

/// The bits of a directory that a host or a plugin asks for: as the umask has it.
const COMMON_DIRECTORY: u32 = 0o777;

/// A name in an open directory.
#[derive(Debug)]
pub(super) struct Place {
    /// The directory.
    directory: File,
    /// The full path, every link on it resolved when it was walked.
    path: PathBuf,
}

/// What a walk may not leave, and how it makes what is missing.
struct Bounds {
    /// The directory as its caller names it.
    named: PathBuf,
    /// The same with its links resolved.
    real: PathBuf,
    /// The bits of new directories; `None` where none is made.
    mode: Option<u32>,
}

impl Place {
    /// Where a write to a path of a home goes: links are followed inside, missing directories are made.
    pub(super) fn of(home: &Path, path: &Path) -> io::Result<Self> {
        let (bounds, place) = Self::walk(home, path, Some(PRIVATE_DIRECTORY))?;
        place.behind_link(&bounds)
    }

    /// Where a write goes that no home bounds: a link is followed below the directory that it lies in.
    pub(super) fn own(path: &Path) -> io::Result<Self> {
        // No path lies below itself, so its directory is what may not be left.
        let (bounds, place) = Self::walk(path, path, Some(COMMON_DIRECTORY))?;
        place.behind_link(&bounds)
    }

    /// Makes a directory of a home with its parents.
    pub(super) fn make_directory(home: &Path, path: &Path) -> io::Result<()> {
        Self::walk(home, &path.join("_"), Some(PRIVATE_DIRECTORY)).map(drop)
    }

    /// Like [`Place::of`], but for what lies there last, which may be a link: opening it must refuse that.
    pub(super) fn of_lock(home: &Path, path: &Path) -> io::Result<Self> {
        Ok(Self::walk(home, path, Some(PRIVATE_DIRECTORY))?.1)
    }

    /// Like [`Place::of_lock`], and makes no directory.
    pub(super) fn existing(home: &Path, path: &Path) -> io::Result<Self> {
        Ok(Self::walk(home, path, None)?.1)
    }

    fn walk(home: &Path, path: &Path, mode: Option<u32>) -> io::Result<(Bounds, Self)> {
        let directory = directory_of(path);
        let (named, rest) = match directory.strip_prefix(home) {
            Ok(rest) => (home, rest),
            Err(_) => (directory, Path::new("")),
        };
        if let Some(mode) = mode {
            create_directories(named, mode)?;
        }
        let bounds = Bounds { named: named.to_owned(), real: disk::resolve(named)?, mode };
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let mut at = bounds.start()?;
        for part in parts(rest)? {
            at = bounds.enter(at, &part)?;
        }
        Ok((bounds, at.name(&name)))
    }

    /// The place itself, or where its link leads.
    fn behind_link(self, bounds: &Bounds) -> io::Result<Self> {
        match self.look() {
            Ok(found) if found.is_link => {}
            Ok(_) => return Ok(self),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self),
            Err(error) => return Err(error),
        }
        let target = disk::resolve(&self.path)?;
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(bounds.reach(directory_of(&target))?.name(name))
    }

    /// The full path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The last part of the path.
    pub(super) fn file_name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// Another name in the same directory.
    pub(super) fn beside(&self, name: &OsStr) -> io::Result<Self> {
        let directory = self.directory.try_clone()?;
        Ok(Self { directory, path: self.path.with_file_name(name) })
    }

    /// Facts about what lies there, of a link those of the link.
    pub(super) fn look(&self) -> io::Result<Found> {
        disk::look_at(&self.directory, self.file_name(), &self.path)
    }

    /// Opens the file, and makes it with these bits where there is none. A link is refused.
    pub(super) fn create(&self, flags: OFlags, mode: u32) -> io::Result<File> {
        disk::create_at(&self.directory, self.file_name(), &self.path, flags, mode)
    }

    /// Moves what lies here onto another name of the same directory.
    pub(super) fn rename(&self, to: &Self) -> io::Result<()> {
        disk::rename_at(&self.directory, self.file_name(), to.file_name(), to.path())
    }

    /// Removes the file; of a link, the link itself.
    pub(super) fn remove(&self) -> io::Result<()> {
        disk::remove_at(&self.directory, self.file_name(), &self.path)
    }

    /// Flushes the names of the directory to the disk.
    pub(super) fn sync_directory(&self) -> io::Result<()> {
        disk::sync_open_directory(&self.directory, directory_of(&self.path))
    }
}

/// An open directory on the way.
struct Step {
    directory: File,
    path: PathBuf,
}

impl Step {
    fn name(self, name: &OsStr) -> Place {
        Place { directory: self.directory, path: self.path.join(name) }
    }

    fn below(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.path.join(name);
        let directory = disk::directory_at(&self.directory, name, &path)?;
        Ok(Self { directory, path })
    }
}

impl Bounds {
    fn start(&self) -> io::Result<Step> {
        let directory = disk::open_directory(&self.real)?;
        Ok(Step { directory, path: self.real.clone() })
    }

    /// The directory `name`, made where it is missing; where it is a link, the one that it leads to.
    fn enter(&self, at: Step, name: &OsStr) -> io::Result<Step> {
        let path = at.path.join(name);
        let refused = match (at.below(name), self.mode) {
            (Ok(step), _) => return Ok(step),
            (Err(error), Some(mode)) if error.kind() == io::ErrorKind::NotFound => {
                match disk::make_directory_at(&at.directory, name, &path, mode) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => disk::sync_open_directory(&at.directory, &at.path)?,
                }
                return at.below(name);
            }
            (Err(error), _) => error,
        };
        match disk::look_at(&at.directory, name, &path) {
            Ok(found) if found.is_link => self.reach(&disk::resolve(&path)?),
            _ => Err(refused),
        }
    }

    /// A directory by its real path, without following any link.
    fn reach(&self, real: &Path) -> io::Result<Step> {
        let rest = real.strip_prefix(&self.real).map_err(|_| self.left())?;
        let mut at = self.start()?;
        for part in parts(rest)? {
            at = at.below(&part)?;
        }
        Ok(at)
    }

    fn left(&self) -> io::Error {
        let named = self.named.display();
        io::Error::new(io::ErrorKind::InvalidInput, format!("a link leads it out of {named}"))
    }
}

fn parts(path: &Path) -> io::Result<Vec<OsString>> {
    let part = |part| match part {
        Component::Normal(name) => Ok(name.to_owned()),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    path.components().map(part).collect()
}

#[cfg(test)]
mod tests;
