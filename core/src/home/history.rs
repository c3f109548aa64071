//! `runs/` read back: which runs there are, newest first, and what each document says.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::json::{JsString, parse};
use crate::schema::run_artifact::RunArtifact;
use crate::schema::run_log::{EntryStatus, PluginLogEntry, RunLog};
use crate::schema::{Issue, PathPart};

use super::mention::Mention;
use super::{Paths, disk, files, run_id, runs};

/// A larger document counts as unreadable.
const DOCUMENT_CAP: u64 = 256 * 1024 * 1024;

/// How many advances before the one that should hold an entry are asked as well: an advance that
/// was killed is recorded only by a later one.
const LOOK_BACK: usize = 8;

/// What a document of `runs/` tells of.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// One advance.
    Advance(RunLog),
    /// One plugin, called directly.
    Direct(RunArtifact),
}

/// The documents of a home by run id, newest first. Only regular files count.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    newest_first: Vec<(Instant, JsString)>,
}

impl Catalog {
    /// Lists `runs/`; nothing where it cannot be listed.
    ///
    /// The instant of a run is the one its id carries, else the time of the file.
    pub fn of(paths: &Paths) -> Self {
        let documents = runs::names_with_times(&paths.runs_dir).filter_map(|(name, modified)| {
            let id = name.strip_suffix(".json").filter(|id| run_id::is_valid(id))?;
            let id = JsString::from(id);
            Some((run_id::started_at(&id).unwrap_or(modified), id))
        });
        let mut newest_first: Vec<_> = documents.collect();
        newest_first.sort_by(|left, right| right.cmp(left));
        Self { newest_first }
    }

    /// The run ids.
    pub fn ids(&self) -> impl Iterator<Item = &JsString> {
        self.newest_first.iter().map(|(_, id)| id)
    }

    /// The instant and id of each advance.
    pub fn advances(&self) -> impl Iterator<Item = (Instant, &JsString)> {
        let runs = self.newest_first.iter().map(|(at, id)| (*at, id));
        runs.filter(|(_, id)| run_id::started_at(id).is_some())
    }

    /// The instant and id of each run whose id does not have the form of an advance's.
    pub fn direct(&self) -> impl Iterator<Item = (Instant, &JsString)> {
        let runs = self.newest_first.iter().map(|(at, id)| (*at, id));
        runs.filter(|(_, id)| run_id::started_at(id).is_none())
    }

    /// Looks up, for each plugin and the instant its last run ended, the run and the entry that
    /// tell of it. Each document is read at most once, and none without need; what is not kept any
    /// more, or cannot be read, is left out.
    pub fn entries(
        &self,
        paths: &Paths,
        ended: impl IntoIterator<Item = (JsString, Instant)>,
    ) -> HashMap<JsString, (JsString, PluginLogEntry)> {
        let mut later: Vec<(JsString, Instant)> = ended.into_iter().collect();
        later.sort_by_key(|(_, at)| *at);
        // Those whose run may be told of by the document at hand, and how many were asked.
        let mut open: Vec<(JsString, usize)> = Vec::new();
        let mut found = HashMap::new();
        for (started, id) in self.advances() {
            while let Some((plugin, _)) = later.pop_if(|(_, at)| *at >= started) {
                open.push((plugin, 0));
            }
            if open.is_empty() {
                if later.is_empty() {
                    break;
                }
                continue;
            }
            let mut entries: HashMap<JsString, PluginLogEntry> = match read(paths, id) {
                Ok(Some(Document::Advance(log))) => {
                    let ran = log.plugin_entries.into_iter().filter(has_run);
                    ran.map(|entry| (entry.plugin.clone(), entry)).collect()
                }
                _ => HashMap::new(),
            };
            open.retain_mut(|(plugin, asked)| {
                *asked += 1;
                match entries.remove(plugin) {
                    Some(entry) => {
                        found.insert(plugin.clone(), (id.clone(), entry));
                        false
                    }
                    None => *asked < LOOK_BACK,
                }
            });
        }
        found
    }
}

fn has_run(entry: &PluginLogEntry) -> bool {
    match entry.status {
        EntryStatus::Completed | EntryStatus::Failed | EntryStatus::Gated => true,
        EntryStatus::Skipped | EntryStatus::Denied => false,
    }
}

/// Reads the document of a run; `None` where there is none.
///
/// # Errors
///
/// [`Error::File`], [`Error::NotJson`], [`Error::Invalid`]: it cannot be read, or is of another run.
pub fn read(paths: &Paths, run_id: &JsString) -> Result<Option<Document>> {
    read_about(paths, run_id, &[])
}

/// [`read`], and `None` also for a document that mentions none of several names.
///
/// # Errors
///
/// Those of [`read`].
pub fn read_about(
    paths: &Paths,
    run_id: &JsString,
    mentions: &[Mention],
) -> Result<Option<Document>> {
    let Some(path) = runs::named_by_document(paths, run_id) else { return Ok(None) };
    let Some(bytes) = files::read_start(&path, DOCUMENT_CAP + 1)? else { return Ok(None) };
    let unreadable = |why: &str| {
        Error::file("read", &path)(std::io::Error::new(std::io::ErrorKind::InvalidData, why))
    };
    if bytes.len() as u64 > DOCUMENT_CAP {
        return Err(unreadable("it is larger than 256 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text"))?;
    if !mentions.is_empty() && !mentions.iter().any(|mention| mention.is_in(&text)) {
        return Ok(None);
    }
    let value = parse(&text).map_err(|source| Error::NotJson { path: path.clone(), source })?;
    let invalid = |issues| Error::Invalid { path: path.clone(), issues };
    // Only a direct run is of one plugin.
    let (document, own) = if value.get("plugin").is_some() {
        let artifact = RunArtifact::parse(&value).map_err(invalid)?;
        let own = artifact.run_id == *run_id;
        (Document::Direct(artifact), own)
    } else {
        let log = RunLog::parse(&value).map_err(invalid)?;
        let own = log.run_id == *run_id;
        (Document::Advance(log), own)
    };
    if own {
        return Ok(Some(document));
    }
    let path = vec![PathPart::Key("run_id".into())];
    Err(invalid(vec![Issue { path, expected: "the name of the file".to_owned() }]))
}

/// Hears of direct runs that begin and end from now on.
#[derive(Debug)]
pub struct Watch {
    paths: Paths,
    /// What tells one writing of a document from the next, by run id.
    known: HashMap<JsString, (u64, i64, i64)>,
    /// When the directory last changed, and whether it has been listed since without a change: a
    /// clock may tick too slowly to tell two changes apart.
    changed: Option<(i64, i64)>,
    settled: bool,
}

impl Watch {
    /// Takes note of what is there now.
    pub fn from_now(paths: &Paths) -> Self {
        let known = Self::listed(paths).collect();
        Self { paths: paths.clone(), known, changed: None, settled: false }
    }

    /// The documents of direct runs that were written since the last call.
    pub fn poll(&mut self) -> Vec<Result<Document>> {
        let found = disk::follow(&self.paths.runs_dir).ok();
        let changed = found.map(|found| (found.mtime(), found.mtime_nsec()));
        if changed == self.changed && self.settled {
            return Vec::new();
        }
        self.settled = changed == self.changed;
        self.changed = changed;
        let now: HashMap<JsString, (u64, i64, i64)> = Self::listed(&self.paths).collect();
        let mut written: Vec<(&JsString, &(u64, i64, i64))> =
            now.iter().filter(|(id, facts)| self.known.get(*id) != Some(facts)).collect();
        written.sort_by_key(|(id, (_, seconds, nanoseconds))| (*seconds, *nanoseconds, *id));
        let documents = written.iter().filter_map(|(id, _)| read(&self.paths, id).transpose());
        let documents = documents.collect();
        self.known = now;
        documents
    }

    fn listed(paths: &Paths) -> impl Iterator<Item = (JsString, (u64, i64, i64))> {
        let entries = disk::list(&paths.runs_dir).into_iter().flatten();
        entries.filter_map(std::result::Result::ok).filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let id = name.strip_suffix(".json").filter(|id| run_id::is_valid(id))?;
            let id = JsString::from(id);
            if run_id::started_at(&id).is_some() {
                return None;
            }
            let found = disk::facts_of(&entry).ok().filter(Metadata::is_file)?;
            Some((id, (found.ino(), found.mtime(), found.mtime_nsec())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::runs::tests::{at, home, set_time};

    fn log(id: &str, entries: &str) -> String {
        format!(
            r#"{{"run_id":"{id}","started_at":"s","completed_at":null,"status":"complete","resumed_from":null,"summary":"","plugin_entries":[{entries}]}}"#
        )
    }

    fn entry(plugin: &str, status: &str, summary: &str) -> String {
        format!(
            r#"{{"plugin":"{plugin}","status":"{status}","started_at":"s","elapsed_ms":1,"result_summary":"{summary}"}}"#
        )
    }

    fn id(hour: u32) -> String {
        format!("2026-08-20T{hour:02}0000000Z-0a1b2c3d")
    }

    fn with(documents: &[(String, String)]) -> (tempfile::TempDir, Paths) {
        let (root, paths) = home();
        std::fs::create_dir_all(&paths.runs_dir).expect("a directory");
        for (id, text) in documents {
            std::fs::write(paths.runs_dir.join(format!("{id}.json")), text).expect("a file");
        }
        (root, paths)
    }

    #[test]
    fn runs_are_listed_newest_first_by_their_id_or_else_by_their_file() {
        let (_root, paths) = with(&[
            (id(9), String::new()),
            (id(11), String::new()),
            ("by-hand".into(), String::new()),
            (".hidden".into(), String::new()),
            ("a b".into(), String::new()),
        ]);
        let file = |name: &str| paths.runs_dir.join(name);
        set_time(&file("by-hand.json"), at("2026-08-20T10:00:00.000Z"));
        std::fs::write(file("by-hand.log"), "").expect("a transcript");
        std::os::unix::fs::symlink(file("by-hand.json"), file("link.json")).expect("a link");
        let catalog = Catalog::of(&paths);
        let ids: Vec<String> = catalog.ids().map(JsString::to_text).collect();
        assert_eq!(ids, [id(11), "by-hand".into(), id(9)]);
        assert_eq!(catalog.direct().count(), 1);
        assert_eq!(Catalog::of(&Paths::new("/nowhere".into())).ids().count(), 0);
    }

    #[test]
    fn a_document_is_read_as_what_it_is_and_only_under_its_own_name() {
        let artifact = r#"{"run_id":"hand","plugin":"p","started_at":"s","completed_at":null,"status":"running","summary":"","final_error":null}"#;
        let (_root, paths) = with(&[
            (id(9), log(&id(9), "")),
            ("hand".into(), artifact.into()),
            ("other".into(), artifact.into()),
            ("broken".into(), "{".into()),
        ]);
        let read = |id: &str| read(&paths, &id.into());
        assert!(matches!(read(&id(9)), Ok(Some(Document::Advance(_)))));
        assert!(matches!(read("hand"), Ok(Some(Document::Direct(_)))));
        assert!(matches!(read("gone"), Ok(None)) && matches!(read("../x"), Ok(None)));
        assert!(matches!(read("other"), Err(Error::Invalid { .. })));
        let about = |id: &str, names: &[&str]| {
            let mentions: Vec<Mention> =
                names.iter().map(|name| Mention::of(&(*name).into())).collect();
            read_about(&paths, &id.into(), &mentions)
        };
        assert!(matches!(about("hand", &["q", "p"]), Ok(Some(_))));
        assert!(matches!(about("hand", &["q"]), Ok(None)));
        assert!(matches!(about("broken", &["p"]), Ok(None)), "it is not read at all");
        assert!(matches!(read("broken"), Err(Error::NotJson { .. })));
    }

    #[test]
    fn the_entry_of_a_run_is_found_in_the_advance_that_it_ended_in() {
        let (_root, paths) = with(&[
            (
                id(8),
                log(&id(8), &[entry("a", "completed", "a8"), entry("b", "failed", "b8")].join(",")),
            ),
            (id(9), log(&id(9), &entry("a", "gated", "a9"))),
            (id(10), "broken".into()),
            (
                id(11),
                log(
                    &id(11),
                    &[entry("a", "completed", "a11"), entry("b", "skipped", "b11")].join(","),
                ),
            ),
        ]);
        let ask = |asked: &[(&str, &str)]| {
            let ended = asked.iter().map(|(plugin, ended)| ((*plugin).into(), at(ended)));
            let found = Catalog::of(&paths).entries(&paths, ended);
            let mut told: Vec<_> =
                found.values().map(|(_, entry)| entry.result_summary.to_text()).collect();
            told.sort();
            told
        };
        let hour = |hour: u32| format!("2026-08-20T{hour:02}:30:00.000Z");
        assert_eq!(ask(&[("a", &hour(9)), ("b", &hour(11))]), ["a9", "b8"]);
        assert_eq!(ask(&[("a", &hour(10))]), ["a9"], "the document in between is broken");
        assert_eq!(ask(&[("a", &hour(12)), ("__proto__", &hour(12))]), ["a11"]);
        assert_eq!(ask(&[("a", &hour(7))]), Vec::<String>::new());
    }

    #[test]
    fn a_run_that_is_no_text_is_refused_by_the_name_of_its_file() {
        let (_root, paths) = with(&[]);
        std::fs::write(paths.runs_dir.join(format!("{}.json", id(9))), b"\xff").expect("a file");
        let refused = read(&paths, &id(9).into()).expect_err("no text");
        assert_eq!(refused.code(), "ERR_WARPLINE_FILE");
        assert!(refused.to_string().ends_with(".json: it is not UTF-8 text"), "{refused}");
    }
}
