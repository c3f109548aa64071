//! `in-flight.jsonl`: what the running pass did so far, so that a killed one is not forgotten.
//!
//! Two kinds of line. `{run_id, plugin, started_at}` announces the call of a plugin that declares
//! effects. `{run_id, plugin, plugin_runs, pending_gates}`, the part of the state document that the
//! plugin's outcome will write, comes when the outcome is known. What is said of a plugin that declares
//! effects is flushed to the disk before the pass goes on. The outcome of any other survives the death of
//! the process as well; where the power fails too it may be forgotten, and the plugin runs once more. The
//! file is removed once the state holds all of it.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::clock::Instant;
use crate::decide::crash::{Outcome, Started};
use crate::error::{Error, Result};
use crate::json::{self, JsString, Map, Value};
use crate::schema::engine_state::{EngineState, PendingGate, PluginRun};
use crate::schema::{Issue, PathPart};

use super::files::Appender;
use super::lock::RunLock;
use super::{Paths, files, run_id};

/// The journal of one pass. The file appears with the first line, and stays open from then on.
pub struct Journal {
    home: PathBuf,
    path: PathBuf,
    run_id: JsString,
    file: Option<Appender>,
}

impl Journal {
    /// The journal of the pass `run_id`, which holds the run lock and has loaded the state for
    /// writing, so that no line of an older pass is left.
    pub fn open(paths: &Paths, run_id: &str) -> Self {
        Self { home: paths.home.clone(), path: paths.journal(), run_id: run_id.into(), file: None }
    }

    /// Writes down, and onto the disk, that a plugin which declares effects will now be called.
    ///
    /// # Errors
    ///
    /// [`Error::File`]: the plugin must not be invoked then.
    pub fn started(&mut self, plugin: &JsString, started_at: Instant) -> Result<()> {
        let mut line = self.line(plugin);
        line.insert("started_at", started_at.to_iso());
        self.append(line, true)
    }

    /// Records what the state will say of a plugin that came to its end; `effects`
    /// says whether it declares any.
    ///
    /// # Errors
    ///
    /// [`Error::File`]: should the pass be killed, the plugin counts as unfinished.
    pub fn outcome(
        &mut self,
        plugin: &JsString,
        run: &PluginRun,
        gate: Option<&PendingGate>,
        effects: bool,
    ) -> Result<()> {
        let mut part = EngineState::default();
        part.plugin_runs.insert(plugin.clone(), run.clone());
        part.pending_gates.extend(gate.cloned());
        let part = part.to_value();
        let mut line = self.line(plugin);
        for key in ["plugin_runs", "pending_gates"] {
            line.insert_some(key, part.get(key).cloned());
        }
        self.append(line, effects)
    }

    /// Removes the journal: the state holds all of it.
    ///
    /// # Errors
    ///
    /// [`Error::File`]; the next pass removes it then.
    pub fn close(mut self) -> Result<()> {
        self.file = None;
        files::remove(&self.home, &self.path).map(drop)
    }

    fn line(&self, plugin: &JsString) -> Map {
        let mut line = Map::new();
        line.insert("run_id", &self.run_id);
        line.insert("plugin", plugin);
        line
    }

    fn append(&mut self, line: Map, flush: bool) -> Result<()> {
        let line = Value::from(line).to_compact() + "\n";
        // What somebody moved away, replaced or changed is opened anew by its name.
        let kept = self.file.take().filter(|file| file.is_still_at(&self.path));
        let mut file = match kept {
            Some(file) => file,
            None => Appender::open(&self.home, &self.path)?,
        };
        file.append_whole(&line, flush)?;
        self.file = Some(file);
        Ok(())
    }
}

/// Whether a pass that was killed has left its journal, which the next advance or answer folds in.
pub fn is_left(paths: &Paths) -> bool {
    files::is_there(&paths.journal()) && !RunLock::is_held(paths)
}

/// What a journal tells, in the order it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The plugins with declared side effects that were invoked.
    pub started: Vec<Started>,
    /// The plugins that came to their end.
    pub outcomes: Vec<Outcome>,
}

impl Lines {
    /// The passes that the lines are of, each once.
    pub(super) fn run_ids(&self) -> Vec<&JsString> {
        let started = self.started.iter().map(|line| &line.run_id);
        let ended = self.outcomes.iter().map(|line| &line.run_id);
        let mut seen = HashSet::new();
        started.chain(ended).filter(|run_id| seen.insert(*run_id)).collect()
    }

    /// The plugins that were invoked and did not come to an end, each once a pass.
    pub(super) fn unfinished(&self) -> Vec<&Started> {
        let mut seen: HashSet<(&JsString, &JsString)> =
            self.outcomes.iter().map(|line| (&line.run_id, &line.plugin)).collect();
        self.started.iter().filter(|line| seen.insert((&line.run_id, &line.plugin))).collect()
    }
}

/// Reads a journal; no lines where there is none.
pub(super) fn read(paths: &Paths) -> Result<Lines> {
    let path = paths.journal();
    let bytes = files::read_bytes(&path)?.unwrap_or_default();
    parse(&bytes).map_err(|issues| Error::Invalid { path, issues })
}

/// Reads the bytes of a journal.
///
/// A last line without its end was being written when the machine stopped: what it was to say had
/// not happened yet, or counts as unfinished. Any other line that cannot be read is refused, since
/// what it hides may be an effect that must not fire again.
///
/// # Errors
///
/// The faults of the first such line, each at its place in it.
pub fn parse(bytes: &[u8]) -> Result<Lines, Vec<Issue>> {
    let mut read = Lines::default();
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
    for (index, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
        read_line(line, &mut read).map_err(|mut issues| {
            for issue in &mut issues {
                issue.path.insert(0, PathPart::Index(index));
            }
            issues
        })?;
    }
    Ok(read)
}

fn read_line(line: &[u8], lines: &mut Lines) -> Result<(), Vec<Issue>> {
    let fault = |key: Option<&str>, expected: &str| {
        let path = key.into_iter().map(|key| PathPart::Key(key.into())).collect();
        vec![Issue { path, expected: expected.to_owned() }]
    };
    let text = std::str::from_utf8(line).map_err(|_| fault(None, "UTF-8 text"))?;
    let value = json::parse(text).map_err(|_| fault(None, "a JSON object"))?;
    let string = |key| {
        let found = value.get(key).and_then(Value::as_string);
        found.cloned().ok_or_else(|| fault(Some(key), "a string"))
    };
    let (plugin, run_id) = (string("plugin")?, string("run_id")?);
    if !run_id.as_str().is_some_and(run_id::is_valid) {
        return Err(fault(Some("run_id"), "a run id"));
    }
    if value.get("started_at").is_some() {
        let started_at = string("started_at")?;
        lines.started.push(Started { plugin, run_id, started_at });
        return Ok(());
    }
    let mut part = EngineState::parse(&value)?;
    let run = part.plugin_runs.shift_remove(&plugin);
    let run = run.ok_or_else(|| fault(Some("plugin_runs"), "an entry of the plugin"))?;
    let gate = part.pending_gates.pop().filter(|gate| gate.plugin == plugin);
    lines.outcomes.push(Outcome { plugin, run_id, run, gate });
    Ok(())
}

#[cfg(test)]
mod tests;
