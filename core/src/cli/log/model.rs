//! The runs of a home as data: from their documents, or from the daily files where there is none.

use std::collections::HashSet;

use indexmap::IndexMap;

use crate::clock::Instant;
use crate::decide;
use crate::error::Result;
use crate::home::days::{self, Logged};
use crate::home::history::{self, Catalog, Document};
use crate::home::jsonl::LineEvent;
use crate::home::lock::Holder;
use crate::home::mention::Mention;
use crate::home::{Paths, run_id};
use crate::json::JsString;
use crate::schema::closed_set;
use crate::schema::run_artifact::{Attempt, RunArtifact};
use crate::schema::run_log::{PluginLogEntry, RunLog};

closed_set! {
    /// Who called the plugins of a run.
    Kind {
        /// An advance.
        Advance = "advance",
        /// A person, or a program, directly.
        Run = "run",
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub run_id: JsString,
    pub kind: Kind,
    /// That of its document; `running` or `unfinished` for an advance without an end.
    pub status: JsString,
    pub started_at: Option<JsString>,
    pub completed_at: Option<JsString>,
    pub resumed_from: Option<JsString>,
    pub summary: JsString,
    pub entries: Vec<Entry>,
    /// The attempts of a direct run.
    pub attempts: Vec<Attempt>,
}

/// What became of one plugin in a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub plugin: JsString,
    pub status: JsString,
    pub started_at: Option<JsString>,
    pub elapsed_ms: Option<f64>,
    pub summary: JsString,
    pub retried: bool,
}

/// The runs that were asked for, newest first, and what could not be read on the way.
#[derive(Default)]
pub(super) struct Recent {
    pub runs: Vec<Run>,
    /// Whether there are older ones.
    pub more: bool,
    pub unreadable: Unreadable,
}

/// Counts of what could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Unreadable {
    pub documents: usize,
    pub lines: usize,
}

/// The newest `limit` runs; with `plugin` those in which it came up, and of them its entry alone.
///
/// Files are opened from the newest on, and no more than needed.
pub(super) fn recent(paths: &Paths, limit: usize, plugin: Option<&JsString>) -> Recent {
    let catalog = Catalog::of(paths);
    let mut recent = Recent::default();
    let mut documented: HashSet<&JsString> = catalog.ids().collect();
    let matches = |run: &mut Run| match plugin {
        None => true,
        Some(plugin) => {
            run.entries.retain(|entry| entry.plugin == *plugin);
            !run.entries.is_empty()
        }
    };
    let mention = plugin.map(Mention::of);
    for id in catalog.ids() {
        if recent.runs.len() > limit {
            break;
        }
        match history::read_about(paths, id, mention.as_slice()) {
            Ok(Some(document)) => {
                let mut run = Run::from(document);
                recent.runs.extend(matches(&mut run).then_some(run));
            }
            Ok(None) => {}
            Err(_) => {
                recent.unreadable.documents += 1;
                documented.remove(id);
            }
        }
    }
    let oldest = recent.runs.get(limit).and_then(Run::started);
    let (undocumented, unreadable) = from_days(paths, &documented, limit, oldest, plugin);
    recent.unreadable.lines = unreadable;
    recent
        .runs
        .extend(undocumented.into_iter().filter_map(|mut run| matches(&mut run).then_some(run)));
    recent.runs.sort_by_key(|run| std::cmp::Reverse(run.started()));
    recent.more = recent.runs.len() > limit;
    recent.runs.truncate(limit);
    recent
}

/// The newest runs that only the daily files tell of, none that began before `oldest`; with `plugin` enough
/// of them to hold the newest in which it came up.
fn from_days(
    paths: &Paths,
    documented: &HashSet<&JsString>,
    limit: usize,
    oldest: Option<Instant>,
    plugin: Option<&JsString>,
) -> (Vec<Run>, usize) {
    let mention = plugin.map(Mention::of);
    let is_wanted = |line: &str| {
        !line.contains(r#""event":"plugin_result""#)
            || mention.as_ref().is_none_or(|mention| mention.is_in(line))
    };
    let mut counted = HashSet::new();
    let mut unreadable = 0;
    let mut runs: IndexMap<JsString, Vec<Logged>> = IndexMap::new();
    for line in days::newest_first(paths, oldest, is_wanted) {
        let Some(line) = line else {
            unreadable += 1;
            continue;
        };
        let began = run_id::started_at(&line.run_id);
        if began.zip(oldest).is_some_and(|(began, oldest)| began < oldest) {
            break;
        }
        if documented.contains(&line.run_id) {
            continue;
        }
        if counted.len() > limit && !runs.contains_key(&line.run_id) {
            break;
        }
        if plugin.is_none() || line.plugin.as_ref() == plugin {
            counted.insert(line.run_id.clone());
        }
        runs.entry(line.run_id.clone()).or_default().push(line);
    }
    let holder = Holder::now(paths);
    let runs = runs.into_iter().map(|(id, lines)| Run::of_lines(id, lines, holder.as_ref()));
    (runs.collect(), unreadable)
}

/// The run of this id; `None` where nothing tells of it.
///
/// # Errors
///
/// Those of a document that cannot be read.
pub(super) fn one(paths: &Paths, id: &JsString) -> Result<Option<Run>> {
    if let Some(document) = history::read(paths, id)? {
        return Ok(Some(document.into()));
    }
    let mut own = Vec::new();
    let mention = Mention::of(id);
    let lines = days::newest_first(paths, run_id::started_at(id), |line| mention.is_in(line));
    for line in lines.flatten().filter(|line| line.run_id == *id) {
        let begins = line.event == LineEvent::RunStart;
        own.push(line);
        if begins {
            break;
        }
    }
    let holder = Holder::now(paths);
    Ok((!own.is_empty()).then(|| Run::of_lines(id.clone(), own, holder.as_ref())))
}

/// The id of every run with a document, and of every advance that may begin with `typed`.
pub(super) fn ids(paths: &Paths, typed: &JsString) -> HashSet<JsString> {
    let logged = typed.as_str().map(|typed| days::ids_of(paths, typed)).unwrap_or_default();
    Catalog::of(paths).ids().cloned().chain(logged).collect()
}

impl Run {
    fn started(&self) -> Option<Instant> {
        let written = self.started_at.as_ref().and_then(decide::instant);
        written.or_else(|| run_id::started_at(&self.run_id))
    }

    /// A run of which only its lines are left, the newest first.
    fn of_lines(run_id: JsString, lines: Vec<Logged>, holder: Option<&Holder>) -> Self {
        let runs = holder.is_some_and(|holder| holder.run_id.as_ref() == Some(&run_id));
        let mut run = Self {
            run_id,
            kind: Kind::Advance,
            status: if runs { "running" } else { "unfinished" }.into(),
            started_at: None,
            completed_at: None,
            resumed_from: None,
            summary: JsString::new(),
            entries: Vec::new(),
            attempts: Vec::new(),
        };
        for line in lines.into_iter().rev() {
            match line.event {
                LineEvent::RunStart => run.started_at = Some(line.ts),
                LineEvent::RunEnd => {
                    run.status = line.status.unwrap_or(run.status);
                    run.completed_at = Some(line.ts);
                    run.summary = line.detail.unwrap_or_default();
                }
                LineEvent::PluginResult => run.entries.push(Entry {
                    plugin: line.plugin.unwrap_or_default(),
                    status: line.status.unwrap_or_default(),
                    started_at: None,
                    elapsed_ms: line.elapsed_ms,
                    summary: line.detail.unwrap_or_default(),
                    retried: false,
                }),
            }
        }
        run
    }
}

impl From<Document> for Run {
    fn from(document: Document) -> Self {
        match document {
            Document::Advance(log) => log.into(),
            Document::Direct(artifact) => artifact.into(),
        }
    }
}

impl From<RunLog> for Run {
    fn from(log: RunLog) -> Self {
        Self {
            run_id: log.run_id,
            kind: Kind::Advance,
            status: log.status.as_str().into(),
            started_at: Some(log.started_at),
            completed_at: log.completed_at,
            resumed_from: log.resumed_from,
            summary: log.summary,
            entries: log.plugin_entries.into_iter().map(Entry::from).collect(),
            attempts: Vec::new(),
        }
    }
}

impl From<PluginLogEntry> for Entry {
    fn from(entry: PluginLogEntry) -> Self {
        Self {
            plugin: entry.plugin,
            status: entry.status.as_str().into(),
            started_at: Some(entry.started_at),
            elapsed_ms: Some(entry.elapsed_ms),
            summary: entry.result_summary,
            retried: entry.retried,
        }
    }
}

impl From<RunArtifact> for Run {
    fn from(artifact: RunArtifact) -> Self {
        let instant = |text: &JsString| decide::instant(text);
        let began = instant(&artifact.started_at);
        let ended = artifact.completed_at.as_ref().and_then(instant);
        let elapsed = ended.zip(began).map(|(ended, began)| decide::number(ended.since(began)));
        let entry = Entry {
            plugin: artifact.plugin,
            status: artifact.status.as_str().into(),
            started_at: Some(artifact.started_at.clone()),
            elapsed_ms: elapsed,
            summary: artifact.summary.clone(),
            retried: artifact.retried,
        };
        Self {
            run_id: artifact.run_id,
            kind: Kind::Run,
            status: artifact.status.as_str().into(),
            started_at: Some(artifact.started_at),
            completed_at: artifact.completed_at,
            resumed_from: None,
            summary: artifact.summary,
            entries: vec![entry],
            attempts: artifact.attempts,
        }
    }
}
