//! What a home is prepared with: directories, package.json, the package link, a first plugin.
//!
//! Everything is created where it is missing and left alone where it is there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::json::{JsString, Map, Value, parse};
use crate::schema::manifest::Manifest;

use super::{Paths, files};

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

/// Creates a directory with its parents.
///
/// # Errors
///
/// [`Error::File`] when it cannot be created.
pub fn directory(path: &Path) -> Result<Outcome> {
    if path.is_dir() {
        return Ok(Outcome::Kept);
    }
    fs::create_dir_all(path).map_err(Error::file("create", path))?;
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
        files::write_atomic(&path, b"{\n  \"type\": \"module\"\n}\n", None)?;
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
    let outcome = match fs::symlink_metadata(&link) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Outcome::Created,
        Err(error) => return Err(refused(error)),
        Ok(found) if !found.is_symlink() => {
            return Ok(Outcome::InTheWay("it is not a link, so it is not replaced"));
        }
        Ok(_) if link.is_dir() => return Ok(Outcome::Kept),
        Ok(_) => Outcome::Mended,
    };
    fs::create_dir_all(&modules).map_err(Error::file("create", &modules))?;
    // Made beside its place and renamed onto it, so that there is never a moment without a link.
    let workshop = workshop(&modules)?;
    let fresh = workshop.path().join(PACKAGE);
    std::os::unix::fs::symlink(package, &fresh).map_err(refused)?;
    fs::rename(&fresh, &link).map_err(refused)?;
    Ok(outcome)
}

/// Copies a plugin's files to `target`, all or nothing. Links and `node_modules` are not copied.
///
/// # Errors
///
/// [`Error::File`] when a file cannot be read or written; nothing is at `target` then.
pub fn copy_plugin(source: &Path, target: &Path) -> Result<Outcome> {
    if fs::symlink_metadata(target).is_ok() {
        return Ok(Outcome::Kept);
    }
    let root = target.parent().unwrap_or(target);
    fs::create_dir_all(root).map_err(Error::file("create", root))?;
    // Beside the plugin root: a half copy inside it would be taken for a plugin.
    let workshop = workshop(root.parent().unwrap_or(root))?;
    let copy = workshop.path().join("plugin");
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        let (from, to) = (source.join(&relative), copy.join(&relative));
        fs::create_dir_all(&to).map_err(Error::file("create", &to))?;
        for entry in fs::read_dir(&from).map_err(Error::file("read", &from))? {
            let entry = entry.map_err(Error::file("read", &from))?;
            let kind = entry.file_type().map_err(Error::file("read", &entry.path()))?;
            if kind.is_dir() && entry.file_name() != "node_modules" {
                open.push(relative.join(entry.file_name()));
            } else if kind.is_file() {
                let bytes = fs::read(entry.path()).map_err(Error::file("read", &entry.path()))?;
                files::write_atomic(&to.join(entry.file_name()), &bytes, None)?;
            }
        }
    }
    match fs::rename(&copy, target) {
        Ok(()) => Ok(Outcome::Created),
        Err(_) if target.is_dir() => Ok(Outcome::Kept),
        Err(error) => Err(Error::file("create", target)(error)),
    }
}

fn workshop(parent: &Path) -> Result<tempfile::TempDir> {
    let builder = tempfile::Builder::new().prefix(".warpline-").tempdir_in(parent);
    builder.map_err(Error::file("create", parent))
}

/// Writes a plugin's configuration from the defaults that its manifest declares, secrets aside.
///
/// # Errors
///
/// [`Error::File`] when it cannot be read or written.
pub fn default_config(paths: &Paths, plugin: &JsString, manifest: &Manifest) -> Result<Outcome> {
    let path = paths.config_dir.join(format!("{plugin}.json"));
    if files::read_text(&path)?.is_some() {
        return Ok(Outcome::Kept);
    }
    let defaults: Map = manifest
        .inputs
        .iter()
        .filter(|(name, _)| !manifest.secrets.contains(name))
        .filter_map(|(name, input)| Some((name.clone(), input.default.clone()?)))
        .collect();
    files::write_atomic(&path, Value::from(defaults).to_pretty().as_bytes(), None)?;
    Ok(Outcome::Created)
}

/// The inputs that a plugin cannot run without and that neither its configuration nor a default
/// supplies, in declaration order.
///
/// # Errors
///
/// [`Error::File`] when the configuration cannot be read.
pub fn missing_inputs(
    paths: &Paths,
    plugin: &JsString,
    manifest: &Manifest,
) -> Result<Vec<JsString>> {
    let text = files::read_text(&paths.config_dir.join(format!("{plugin}.json")))?;
    let written = text.and_then(|text| parse(&text).ok());
    let written = written.as_ref().and_then(Value::as_object);
    let missing = manifest.inputs.iter().filter(|(name, input)| {
        input.required
            && input.default.is_none()
            && !written.is_some_and(|written| written.contains(name))
    });
    Ok(missing.map(|(name, _)| name.clone()).collect())
}
