//! The plugin root: which directories are plugins, and whether one of them changed.

use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::json::JsString;
use crate::schema::closed_set;
use crate::schema::prototype::is_prototype_member;

use super::files;

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

/// What is read of a module: one byte more than the eraser takes.
const MODULE_CAP: u64 = 16 * 1024 * 1024 + 1;

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

/// What a plugin root holds. Both lists are sorted by name, by UTF-16 code unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    /// The plugins.
    pub candidates: Vec<Candidate>,
    /// Directories that cannot be plugins, each with the reason for a reader.
    pub failures: Vec<(JsString, String)>,
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
    for entry in fs::read_dir(root).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        if !fs::metadata(entry.path()).is_ok_and(|found| found.is_dir()) {
            continue;
        }
        match candidate(&entry) {
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

fn candidate(entry: &DirEntry) -> Result<Candidate, String> {
    let name = entry.file_name().into_string().map(JsString::from);
    let name = name.map_err(|_| "the directory name is not UTF-8 text".to_owned())?;
    if is_prototype_member(&name) {
        return Err("the directory name belongs to Object.prototype".to_owned());
    }
    let unreadable = |what: &str, error: &io::Error| format!("cannot read {what}: {}", code(error));
    let directory =
        fs::canonicalize(entry.path()).map_err(|error| unreadable("the directory", &error))?;
    let mut manifests = Vec::new();
    for language in Language::ALL {
        let (file, manifest) = (language.manifest(), directory.join(language.manifest()));
        match fs::metadata(&manifest) {
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
/// No more is read than one byte beyond what a module may have, so that an endless file ends.
///
/// # Errors
///
/// [`Error::File`] for what is no regular file, a pipe or a device for one, or cannot be read.
pub fn module_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    files::read_start(path, MODULE_CAP)
}

/// A text that changes whenever a file below `directory` is added, removed or written.
///
/// It covers name, size, time of change and inode of every file, `node_modules`, `__pycache__` and
/// `.git` aside.
/// Links are looked at, and what a link leads to, but no directory is entered through one. Beyond
/// 20,000 entries only their presence counts. What cannot be read counts as not there: the import
/// that follows will say why.
pub fn revision(directory: &Path) -> String {
    let mut hash = Sha256::new();
    let mut seen = 0_usize;
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        let mut entries: Vec<DirEntry> = match fs::read_dir(directory.join(&relative)) {
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
            update(&mut hash, fs::symlink_metadata(entry.path()));
            if kind.is_symlink() {
                // Times of a directory change with what is in it, which is not looked at here.
                let target = fs::metadata(entry.path());
                update(&mut hash, target.and_then(only_file));
            }
        }
        if seen > REVISION_CAP {
            break;
        }
    }
    hash.update((seen as u64).to_le_bytes());
    let digest = hash.finalize();
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn only_file(found: fs::Metadata) -> io::Result<fs::Metadata> {
    if found.is_file() { Ok(found) } else { Err(io::ErrorKind::IsADirectory.into()) }
}

fn update(hash: &mut Sha256, found: io::Result<fs::Metadata>) {
    let Ok(found) = found else {
        hash.update([0]);
        return;
    };
    hash.update([1]);
    hash.update(found.size().to_le_bytes());
    hash.update(found.mtime().to_le_bytes());
    hash.update(found.mtime_nsec().to_le_bytes());
    hash.update(found.ino().to_le_bytes());
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
mod tests;
