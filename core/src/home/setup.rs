//! What a home is prepared with: directories, package.json, the package link, a first plugin.
//!
//! Everything is created where it is missing and left alone where it is there.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::json::{Value, parse};

use super::leftovers::{DIRECTORY_MARK, DIRECTORY_START};
use super::place::{PRIVATE_DIRECTORY, Place};
use super::{disk, files};

/// The name of the package in `node_modules`.
const PACKAGE: &str = "warpline";

/// What became of one thing that a home needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was missing and is there now.
    Created,
    /// It was there and broken, and works now.
    Mended,
    /// It was there.
    Kept,
    /// Something else is in its place, which was left alone; the text says what.
    InTheWay(&'static str),
}

/// Creates a directory of a home with its parents.
///
/// # Errors
///
/// [`Error::File`] when it cannot be created.
pub fn directory(home: &Path, path: &Path) -> Result<Outcome> {
    if disk::is_directory(path) {
        return Ok(Outcome::Kept);
    }
    Place::make_directory(home, path).map_err(Error::file("create", path))?;
    Ok(Outcome::Created)
}

/// Writes a `package.json` that makes every module below the home an ES module.
///
/// # Errors
///
/// [`Error::File`] when it cannot be read or written.
pub fn package_json(home: &Path) -> Result<Outcome> {
    let path = home.join("package.json");
    let Some(text) = files::read_text(&path)? else {
        files::replace(home, &path, b"{\n  \"type\": \"module\"\n}\n")?;
        return Ok(Outcome::Created);
    };
    Ok(match parse(&text) {
        Err(_) => Outcome::InTheWay("it is not valid JSON"),
        Ok(document) => match document.get("type").and_then(Value::as_string) {
            Some(kind) if *kind == "module" => Outcome::Kept,
            _ => Outcome::InTheWay("its `type` is not `module`"),
        },
    })
}

/// Links `<home>/node_modules/warpline` to the package, for editors and type checkers. A link that
/// leads nowhere is replaced; a link that leads to a directory, and anything else, stays.
///
/// # Errors
///
/// [`Error::File`] when the link cannot be made.
pub fn package_link(home: &Path, package: &Path) -> Result<Outcome> {
    let modules = home.join("node_modules");
    let link = modules.join(PACKAGE);
    let refused = |error| Error::file("create", &link)(error);
    let outcome = match disk::look(&link) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Outcome::Created,
        Err(error) => return Err(refused(error)),
        Ok(found) if !found.is_symlink() => {
            return Ok(Outcome::InTheWay("it is not a link, so it is not replaced"));
        }
        Ok(_) if disk::is_directory(&link) => return Ok(Outcome::Kept),
        Ok(_) => Outcome::Mended,
    };
    Place::make_directory(home, &modules).map_err(Error::file("create", &modules))?;
    // Made beside its place and renamed onto it, so that there is never a moment without a link.
    let workshop = Workshop::new(&modules)?;
    let fresh = workshop.join(PACKAGE);
    disk::link(package, &fresh).map_err(refused)?;
    disk::rename(&fresh, &link).map_err(refused)?;
    disk::sync_directory(&modules).map_err(refused)?;
    Ok(outcome)
}

/// Whether anything has this path, a link that leads nowhere included.
pub fn is_taken(path: &Path) -> bool {
    files::is_there(path)
}

/// Writes a text file of a home unless it holds this text already.
///
/// # Errors
///
/// [`Error::File`] when it cannot be read or written.
pub fn current_file(home: &Path, path: &Path, text: &str) -> Result<Outcome> {
    let outcome = match files::read_text(path)? {
        Some(present) if present == text => return Ok(Outcome::Kept),
        Some(_) => Outcome::Mended,
        None => Outcome::Created,
    };
    files::replace(home, path, text.as_bytes())?;
    Ok(outcome)
}

/// Writes a text file of a home where there is none.
///
/// # Errors
///
/// [`Error::File`] when it cannot be read or written.
pub fn missing_file(home: &Path, path: &Path, text: &str) -> Result<Outcome> {
    if files::read_text(path)?.is_some() {
        return Ok(Outcome::Kept);
    }
    files::replace(home, path, text.as_bytes())?;
    Ok(Outcome::Created)
}

/// One file of a plugin to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFile {
    /// Its path below the plugin's directory.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Reads the files of a plugin, sorted by path. Links, `node_modules` and `__pycache__` are left out.
///
/// # Errors
///
/// [`Error::File`] when one cannot be read.
pub fn plugin_files(source: &Path) -> Result<Vec<PluginFile>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        let from = source.join(&relative);
        for entry in disk::list(&from).map_err(Error::file("read", &from))? {
            let entry = entry.map_err(Error::file("read", &from))?;
            let kind = entry.file_type().map_err(Error::file("read", &entry.path()))?;
            let path = relative.join(entry.file_name());
            if kind.is_dir()
                && entry.file_name() != "node_modules"
                && entry.file_name() != "__pycache__"
            {
                open.push(path);
            } else if kind.is_file() {
                let bytes = files::read_bytes(&entry.path())?.unwrap_or_default();
                found.push(PluginFile { path, bytes });
            }
        }
    }
    found.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

/// Writes a plugin to `target`, all of it or nothing; [`Outcome::Kept`] where something is there.
///
/// # Errors
///
/// [`Error::File`] when a file cannot be written; nothing is at `target` then, unless it is the directory around it that
/// cannot be flushed: the plugin is there then, and may be gone after a power cut.
pub fn new_plugin(target: &Path, files: &[PluginFile]) -> Result<Outcome> {
    if is_taken(target) {
        return Ok(Outcome::Kept);
    }
    let root = target.parent().unwrap_or(target);
    files::create_directories(root, PRIVATE_DIRECTORY).map_err(Error::file("create", root))?;
    // Beside the plugin root: a half plugin inside it would be taken for one.
    let workshop = Workshop::new(root.parent().unwrap_or(root))?;
    let whole = workshop.join("plugin");
    disk::make_directory(&whole, PRIVATE_DIRECTORY).map_err(Error::file("create", &whole))?;
    for file in files {
        files::replace(&whole, &whole.join(&file.path), &file.bytes)?;
    }
    match disk::rename(&whole, target) {
        Ok(()) => {}
        Err(_) if disk::is_directory(target) => return Ok(Outcome::Kept),
        Err(error) => return Err(Error::file("create", target)(error)),
    }
    disk::sync_directory(root).map_err(Error::file("write", root))?;
    Ok(Outcome::Created)
}

/// A directory in which something is made before it is moved to its place. Dropped, it is gone.
struct Workshop(Option<tempfile::TempPath>);

impl Workshop {
    fn new(parent: &Path) -> Result<Self> {
        let made = tempfile::Builder::new()
            .prefix(DIRECTORY_START)
            .rand_bytes(DIRECTORY_MARK)
            .make_in(parent, |path| disk::make_directory(path, PRIVATE_DIRECTORY))
            .map_err(Error::file("create", parent))?;
        Ok(Self(Some(made.into_temp_path())))
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.as_deref().unwrap_or(Path::new("")).join(name)
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            let _ = disk::remove_directory(&path);
            // What could not be removed now is swept away later.
            let _ = path.keep();
        }
    }
}
