//! `runs/`: run logs, run artifacts, and which of them have had their time.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::clock::Instant;
use crate::decide::retention;
use crate::error::{Error, Result};
use crate::json::{JsString, pick};
use crate::schema::run_artifact::RunArtifact;
use crate::schema::run_log::{AdvanceStatus, RunLog};

use super::run_id::{check_run_id, is_valid};
use super::{Paths, disk, files};

pub use super::transcript::{TRANSCRIPT_CAP, Transcript};

/// Writes the document of an advance and returns its path.
///
/// # Errors
///
/// [`Error::Option`] for a run id that may not become a file name,
/// [`Error::File`].
pub fn write_run_log(paths: &Paths, log: &RunLog) -> Result<PathBuf> {
    write_run_log_text(paths, &log.run_id, &run_log_text(log))
}

/// What the document of an advance has in it.
pub fn run_log_text(log: &RunLog) -> String {
    log.to_value().to_pretty()
}

/// [`write_run_log`] with what [`run_log_text`] gave.
///
/// # Errors
///
/// As for [`write_run_log`].
pub fn write_run_log_text(paths: &Paths, run_id: &JsString, text: &str) -> Result<PathBuf> {
    write(paths, run_id, text)
}

/// Writes the document of one invocation and returns its path.
///
/// # Errors
///
/// As for [`write_run_log`].
pub fn write_artifact(paths: &Paths, artifact: &RunArtifact) -> Result<PathBuf> {
    write(paths, &artifact.run_id, &artifact.to_value().to_pretty())
}

fn write(paths: &Paths, run_id: &JsString, text: &str) -> Result<PathBuf> {
    // An unpaired surrogate fails the check like any other foreign character.
    check_run_id(&run_id.to_text())?;
    let path = document_path(paths, &run_id.to_text());
    files::replace(&paths.home, &path, text.as_bytes())?;
    Ok(path)
}

fn document_path(paths: &Paths, run_id: &str) -> PathBuf {
    paths.runs_dir.join(format!("{run_id}.json"))
}

/// The path of a run's document, for a run id that some document names.
pub(super) fn named_by_document(paths: &Paths, run_id: &JsString) -> Option<PathBuf> {
    let run_id = run_id.as_str().filter(|run_id| is_valid(run_id))?;
    Some(document_path(paths, run_id))
}

/// How the advance `run_id` ended; `None` where its run log is gone, unreadable or no run log.
pub fn status_of(paths: &Paths, run_id: &JsString) -> Option<AdvanceStatus> {
    let text = files::read_text(&named_by_document(paths, run_id)?).ok()??;
    let document = pick(&text, &["run_id", "status"]).ok()?;
    let own = document.get("run_id")?.as_string()? == run_id;
    own.then(|| AdvanceStatus::from_name(document.get("status")?.as_string()?.as_str()?))?
}

/// Whether `run_id` has a document.
///
/// # Errors
///
/// [`Error::File`] where that cannot be told.
pub(super) fn has_document(paths: &Paths, run_id: &JsString) -> Result<bool> {
    let Some(path) = named_by_document(paths, run_id) else { return Ok(false) };
    match disk::follow(&path) {
        Ok(found) => Ok(found.is_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::file("read", &path)(error)),
    }
}

/// Whether the document of `run_id` is still kept. Never fails: a run id that cannot be a file name
/// is not kept.
pub fn is_retained(paths: &Paths, run_id: &JsString) -> bool {
    named_by_document(paths, run_id).is_some_and(|path| disk::is_file(&path))
}

/// Deletes documents that were last written more than 30 days ago; the number that is gone.
///
/// Goes by the time of the file alone, and leaves transcripts. What cannot be listed or deleted
/// stays and does not count.
pub fn prune_run_logs(paths: &Paths, now: Instant) -> usize {
    let expired = retention::prune(names_with_times(&paths.runs_dir), ".json", now);
    delete_all(paths, &paths.runs_dir, &expired)
}

/// Deletes the artifacts of `plugin` past the `keep` newest, with their transcripts; the number of
/// documents that are gone.
///
/// Only names found in the directory are deleted, whatever a document says of its run. What cannot
/// be read or deleted stays and does not count.
pub fn trim_plugin_history(paths: &Paths, plugin: &JsString, keep: usize) -> usize {
    let directory = &paths.runs_dir;
    let documents = names_with_times(directory)
        .map(|(name, _)| name)
        .filter(|name| name.ends_with(".json"))
        .filter_map(|name| {
            let text = files::read_text(&directory.join(&name)).ok()??;
            Some((name, text))
        });
    let surplus = retention::trim(documents, plugin, keep);
    for name in &surplus {
        // The transcript goes first: should this stop in between, the next trim finds the rest.
        if let Some(stem) = name.strip_suffix(".json") {
            let _ = files::remove(&paths.home, &directory.join(format!("{stem}.log")));
        }
    }
    delete_all(paths, directory, &surplus)
}

/// The regular files of a directory with the time each was last written; none where it cannot be
/// listed. A name that is not UTF-8 is none of ours.
pub(super) fn names_with_times(directory: &Path) -> impl Iterator<Item = (String, Instant)> {
    let entries = disk::list(directory).into_iter().flatten();
    entries.filter_map(Result::ok).filter_map(|entry| {
        // Of a link, the link itself is looked at, as it is what would be deleted.
        let found = disk::facts_of(&entry).ok().filter(|found| found.is_file())?;
        let ms = found.mtime().checked_mul(1000)?.checked_add(found.mtime_nsec() / 1_000_000)?;
        Some((entry.file_name().into_string().ok()?, Instant::from_ms(ms)?))
    })
}

/// Deletes files by name; the number that is gone.
pub(super) fn delete_all(paths: &Paths, directory: &Path, names: &[String]) -> usize {
    let is_gone =
        |name: &&String| files::remove(&paths.home, &directory.join(name)).unwrap_or(false);
    names.iter().filter(is_gone).count()
}

#[cfg(test)]
pub(super) mod tests;
