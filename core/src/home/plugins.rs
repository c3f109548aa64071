//! The plugin root: which directories are plugins, and whether one of them changed.

use std::ffi::OsString;
use std::fs::{DirEntry, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::json::JsString;
use crate::schema::closed_set;
use crate::schema::prototype::is_prototype_member;

pub use super::footprint::Footprint;

use super::{disk, files};

closed_set! {
    /// What a plugin is written in. Its manifest's file name says it.
    Language {
        /// `manifest.ts` and `handler.ts`.
        TypeScript = "TypeScript",
        /// `manifest.py` and `handler.py`.
        Python = "Python",
    }
}

impl Language {
    /// The name of the manifest's file.
    pub fn manifest(self) -> &'static str {
        match self {
            Self::TypeScript => "manifest.ts",
            Self::Python => "manifest.py",
        }
    }
}

/// The most bytes of a module that are read as text: as many as the eraser takes.
pub const MAX_MODULE_BYTES: u64 = 16 * 1024 * 1024;

/// How many entries of one plugin a revision looks at.
const REVISION_CAP: usize = 20_000;

/// A directory that holds a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The directory name: the plugin's key everywhere.
    pub name: JsString,
    /// The directory with links resolved.
    pub directory: PathBuf,
    /// Its manifest.
    pub manifest: PathBuf,
    /// What it is written in.
    pub language: Language,
}

impl Candidate {
    /// Whether this path below its directory is a file, or a link to one.
    pub fn has_file(&self, path: &Path) -> bool {
        disk::is_file(&self.directory.join(path))
    }
}

/// What a plugin root holds. Both lists are sorted by name, by UTF-16 code unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    /// The plugins.
    pub candidates: Vec<Candidate>,
    /// Directories that cannot be plugins, each with the reason for a reader.
    pub failures: Vec<(JsString, String)>,
}

impl Roster {
    /// Every name in it, that of a directory which cannot be a plugin too.
    pub fn names(&self) -> impl Iterator<Item = &JsString> {
        let candidates = self.candidates.iter().map(|candidate| &candidate.name);
        candidates.chain(self.failures.iter().map(|(name, _)| name))
    }
}

/// Lists what may be plugins below a root: a link counts if a directory is behind it, a file never.
///
/// # Errors
///
/// [`Error::EmptyPluginRoot`], or [`Error::PluginRoot`] with the name of the system's error.
pub fn roster(root: &Path) -> Result<Roster> {
    if root.as_os_str().is_empty() {
        return Err(Error::EmptyPluginRoot);
    }
    let refused =
        |error: io::Error| Error::PluginRoot { path: root.to_owned(), code: code(&error) };
    let mut roster = Roster::default();
    let entries = disk::list(root).map_err(refused)?;
    let real_root = disk::resolve(root).map_err(refused)?;
    for entry in entries {
        let entry = entry.map_err(refused)?;
        match disk::follow(&entry.path()) {
            Ok(found) if found.is_dir() => {}
            Err(error) if !leads_nowhere(&error) => {
                let name = entry.file_name().to_string_lossy().into_owned();
                let reason = format!("cannot read the directory: {}", code(&error));
                roster.failures.push((name.into(), reason));
                continue;
            }
            _ => continue,
        }
        // Links on the way are resolved once for all that are no links themselves.
        let real = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let real = real.then(|| real_root.join(entry.file_name()));
        match candidate(&entry.path(), entry.file_name(), real) {
            Ok(candidate) => roster.candidates.push(candidate),
            Err(reason) => {
                let name = entry.file_name().to_string_lossy().into_owned();
                roster.failures.push((name.into(), reason));
            }
        }
    }
    roster.candidates.sort_by(|left, right| left.name.cmp(&right.name));
    roster.failures.sort();
    Ok(roster)
}

/// Whether a link has no end, or ends at nothing.
fn leads_nowhere(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(code, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

/// The plugin of this name below a root, looked for without its neighbours. `None` where it is not there
/// or cannot be one: [`roster`] says why.
pub fn find(root: &Path, plugin: &JsString) -> Option<Candidate> {
    let name = plugin.as_str()?;
    let mut parts = Path::new(name).components();
    let (Some(Component::Normal(part)), None) = (parts.next(), parts.next()) else { return None };
    // What is found under another spelling of its name is for the list, which knows the real one.
    if root.as_os_str().is_empty() || part != name {
        return None;
    }
    let path = root.join(name);
    if !disk::is_directory(&path) {
        return None;
    }
    let found = candidate(&path, part.to_owned(), None).ok()?;
    let is_itself = found.directory.file_name() == Some(part);
    (is_itself || disk::look(&path).is_ok_and(|found| found.is_symlink())).then_some(found)
}

/// What lies at `path`, a directory or a link to one; `real` is where, if that is known.
fn candidate(path: &Path, name: OsString, real: Option<PathBuf>) -> Result<Candidate, String> {
    let name = name.into_string().map(JsString::from);
    let name = name.map_err(|_| "the directory name is not UTF-8 text".to_owned())?;
    if is_prototype_member(&name) {
        return Err("the directory name belongs to Object.prototype".to_owned());
    }
    let unreadable = |what: &str, error: &io::Error| format!("cannot read {what}: {}", code(error));
    let directory = match real {
        Some(real) => real,
        None => disk::resolve(path).map_err(|error| unreadable("the directory", &error))?,
    };
    let mut manifests = Vec::new();
    for language in Language::ALL {
        let (file, manifest) = (language.manifest(), directory.join(language.manifest()));
        match disk::follow(&manifest) {
            Ok(found) if found.is_file() => manifests.push((*language, manifest)),
            Ok(_) => return Err(format!("{file} is not a file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(file, &error)),
        }
    }
    let mut manifests = manifests.into_iter();
    match (manifests.next(), manifests.next()) {
        (Some((language, manifest)), None) => Ok(Candidate { name, directory, manifest, language }),
        (Some(_), Some(_)) => Err("the directory has both manifest.ts and manifest.py".to_owned()),
        (None, _) => Err("the directory has no manifest.ts or manifest.py".to_owned()),
    }
}

/// The bytes of a plugin's module; `None` where there is no such file.
///
/// No more is read than one byte beyond [`MAX_MODULE_BYTES`], so that an endless file ends.
///
/// # Errors
///
/// [`Error::File`] for what is no regular file, a pipe or a device for one, or cannot be read.
pub fn module_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    files::read_start(path, MAX_MODULE_BYTES + 1)
}

/// A text that changes whenever a file below `directory` is added, removed or written.
///
/// It covers name, size, inode and both times of change of every file, `node_modules`, `__pycache__` and
/// `.git` aside: the time that a copy can bring along, and the one that only the system sets.
/// Links are looked at, and what a link leads to, but no directory is entered through one. Beyond
/// 20,000 entries only their presence counts. What cannot be read counts as not there: the import
/// that follows will say why.
pub fn revision(directory: &Path) -> String {
    walk(directory, None).0
}

/// What a look at all of a plugin's files finds.
#[derive(Debug)]
pub struct Survey {
    /// See [`revision`].
    pub revision: String,
    /// The second in which a file was last changed, since the epoch.
    pub changed: i64,
    /// To be asked whether anything has changed since; `None` for more than a few dozen files.
    pub footprint: Option<Footprint>,
}

/// Looks at a canonical directory for the revision of its plugin, and remembers what it saw.
pub fn survey(directory: &Path) -> Survey {
    let mut footprint = Footprint::of(directory);
    let (revision, changed) = walk(directory, Some(&mut footprint));
    Survey { revision, changed, footprint: Some(footprint).filter(Footprint::is_small) }
}

fn walk(directory: &Path, mut footprint: Option<&mut Footprint>) -> (String, i64) {
    let watches = footprint.is_some();
    let mut note = |path: PathBuf, behind_link, found: &io::Result<Metadata>| {
        if let Some(footprint) = &mut footprint {
            footprint.add(path, behind_link, found.as_ref().ok());
        }
    };
    let mut hash = Sha256::new();
    let mut newest = 0;
    let mut seen = 0_usize;
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        let path = directory.join(&relative);
        if watches {
            // Before it is listed: what changes meanwhile is seen by the next look.
            let found = disk::look(&path);
            newest = newest.max(found.as_ref().map_or(0, |found| found.mtime().max(found.ctime())));
            note(path.clone(), false, &found);
        }
        let mut entries: Vec<DirEntry> = match disk::list(&path) {
            Ok(entries) => entries.take(REVISION_CAP).filter_map(io::Result::ok).collect(),
            Err(_) => continue,
        };
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if name == "node_modules" || name == "__pycache__" || name == ".git" {
                continue;
            }
            seen += 1;
            if seen > REVISION_CAP {
                break;
            }
            let path = relative.join(&name);
            hash.update((path.as_os_str().len() as u64).to_le_bytes());
            hash.update(path.as_os_str().as_bytes());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push(path);
                continue;
            }
            let found = disk::look(&entry.path());
            note(entry.path(), false, &found);
            newest = newest.max(update(&mut hash, found));
            if kind.is_symlink() {
                // Times of a directory change with what is in it, which is not looked at here.
                let target = disk::follow(&entry.path()).and_then(only_file);
                note(entry.path(), true, &target);
                newest = newest.max(update(&mut hash, target));
            }
        }
        if seen > REVISION_CAP {
            // What was not looked at may change at any time.
            newest = i64::MAX;
            break;
        }
    }
    hash.update((seen as u64).to_le_bytes());
    let digest = hash.finalize();
    (digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect(), newest)
}

fn only_file(found: Metadata) -> io::Result<Metadata> {
    if found.is_file() { Ok(found) } else { Err(io::ErrorKind::IsADirectory.into()) }
}

/// Takes in what was found; gives the second it was changed in.
fn update(hash: &mut Sha256, found: io::Result<Metadata>) -> i64 {
    let Ok(found) = found else {
        hash.update([0]);
        return 0;
    };
    hash.update([1]);
    hash.update(found.size().to_le_bytes());
    hash.update(found.mtime().to_le_bytes());
    hash.update(found.mtime_nsec().to_le_bytes());
    hash.update(found.ctime().to_le_bytes());
    hash.update(found.ctime_nsec().to_le_bytes());
    hash.update(found.ino().to_le_bytes());
    found.mtime().max(found.ctime())
}

/// The name of a system error, as Node has it: ENOENT, ENOTDIR, EACCES.
pub(super) fn code(error: &io::Error) -> String {
    let Some(raw) = error.raw_os_error() else {
        return "EINVAL".to_owned();
    };
    let name = match Errno::from_raw_os_error(raw) {
        Errno::NOENT => "ENOENT",
        Errno::NOTDIR => "ENOTDIR",
        Errno::ACCESS => "EACCES",
        Errno::PERM => "EPERM",
        Errno::LOOP => "ELOOP",
        Errno::NAMETOOLONG => "ENAMETOOLONG",
        Errno::IO => "EIO",
        Errno::MFILE => "EMFILE",
        Errno::NFILE => "ENFILE",
        Errno::STALE => "ESTALE",
        _ => return format!("errno {raw}"),
    };
    name.to_owned()
}

#[cfg(test)]
pub(crate) mod tests;
