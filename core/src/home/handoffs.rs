//! Work that plugins have handed to a model, as far as nobody has taken it up.
//!
//! A hand-off is open while the run that made it is its plugin's last one that ended, in an advance
//! or by hand. Of an advance the state document tells (status `skipped`, which a parked result gets
//! when it is accepted), of a direct run its document (`delegated`).

use std::collections::HashMap;
use std::path::Path;

use crate::clock::Instant;
use crate::decide::{attempt, instant};
use crate::json::JsString;
use crate::schema::engine_state::{EngineState, PendingGate, RunStatus};
use crate::schema::run_artifact::{ArtifactStatus, RunArtifact};
use crate::schema::skill_result::SkillResult;

use super::Paths;
use super::history::{self, Catalog, Document};
use super::pointers::{ContextFile, context_file};

/// What stands between task and path in the summary of a hand-off.
const CONTEXT: &str = ". Context: ";

/// One open hand-off.
#[derive(Clone, Debug, PartialEq)]
pub struct Handoff {
    /// The directory name.
    pub plugin: JsString,
    /// What is to be done; `None` where the run that says so is not kept any more.
    pub task: Option<JsString>,
    /// The absolute path of the file with the context.
    pub context_path: Option<JsString>,
    /// What lies there.
    pub context: ContextFile,
    /// The run, as far as it is kept.
    pub run_id: Option<JsString>,
    /// Whether it was a direct run.
    pub direct: bool,
    /// When that run ended, as written.
    pub ended_at: JsString,
}

/// The open hand-offs, the oldest first.
pub fn open(paths: &Paths, catalog: &Catalog, state: &EngineState) -> Vec<Handoff> {
    let direct = last_direct_runs(paths, catalog);
    let superseded = |plugin: &JsString, ended: Option<Instant>| {
        direct.get(plugin).is_some_and(|(direct, _)| ended.is_none_or(|ended| *direct > ended))
    };
    let mut found = Vec::new();
    let gates: HashMap<&JsString, &PendingGate> =
        state.pending_gates.iter().map(|gate| (&gate.plugin, gate)).collect();
    let mut to_look_up = Vec::new();
    let mut later: HashMap<&JsString, bool> = HashMap::new();
    for (plugin, run) in &state.plugin_runs {
        let ended = instant(&run.last_run_at);
        later.insert(plugin, superseded(plugin, ended));
        if run.status != RunStatus::Skipped || superseded(plugin, ended) {
            continue;
        }
        let own = |gate: &&&PendingGate| {
            gate.applied_at.is_some() && gate.run_completed_at.as_ref() == Some(&run.last_run_at)
        };
        match (gates.get(plugin).filter(own), ended) {
            (Some(gate), _) => {
                let told = Told::of_result(paths, &gate.plugin_result);
                found
                    .extend(told.map(|told| told.by(plugin, Some(&gate.run_id), &run.last_run_at)));
            }
            (None, Some(ended)) => to_look_up.push((plugin.clone(), ended)),
            (None, None) => found.push(Told::nothing().by(plugin, None, &run.last_run_at)),
        }
    }
    let entries = catalog.entries(paths, to_look_up.iter().cloned());
    for (plugin, _) in &to_look_up {
        let Some(run) = state.plugin_runs.get(plugin) else { continue };
        let entry = entries.get(plugin);
        let told = match entry {
            None => Some(Told::nothing()),
            Some((_, entry)) => match &entry.result {
                Some(result) => Told::of_result(paths, result),
                None => Some(Told::of_summary(paths, &entry.result_summary)),
            },
        };
        let run_id = entry.map(|(run_id, _)| run_id);
        found.extend(told.map(|told| told.by(plugin, run_id, &run.last_run_at)));
    }
    for (plugin, (_, artifact)) in &direct {
        let is_last = later.get(plugin).is_none_or(|later| *later);
        if is_last && artifact.status == ArtifactStatus::Delegated {
            let told = Told::of_summary(paths, &artifact.summary);
            let told = Told { task: told.task.or(Some(artifact.summary.clone())), ..told };
            let ended_at = artifact.completed_at.as_ref().unwrap_or(&artifact.started_at);
            let handoff = told.by(plugin, Some(&artifact.run_id), ended_at);
            found.push(Handoff { direct: true, ..handoff });
        }
    }
    found.sort_by_cached_key(|one| (instant(&one.ended_at), one.plugin.clone()));
    found
}

/// The last direct run of each plugin that ended, with the instant it did.
fn last_direct_runs(paths: &Paths, catalog: &Catalog) -> HashMap<JsString, (Instant, RunArtifact)> {
    let mut last: HashMap<JsString, (Instant, RunArtifact)> = HashMap::new();
    for (written, id) in catalog.direct() {
        let Ok(Some(Document::Direct(artifact))) = history::read(paths, id) else { continue };
        if artifact.status == ArtifactStatus::Running {
            continue;
        }
        let ended = artifact.completed_at.as_ref().and_then(instant).unwrap_or(written);
        if last.get(&artifact.plugin).is_none_or(|(other, _)| *other < ended) {
            last.insert(artifact.plugin.clone(), (ended, artifact));
        }
    }
    last
}

/// What a run says of the work it hands on.
struct Told {
    task: Option<JsString>,
    context: Option<JsString>,
    file: ContextFile,
}

impl Told {
    fn nothing() -> Self {
        Self { task: None, context: None, file: ContextFile::Unnamed }
    }

    fn with(paths: &Paths, task: JsString, context: &JsString) -> Self {
        let (path, file) = context_file(paths, context);
        let context = Some(path.display().to_string().into());
        Self { task: Some(task), context, file }
    }

    /// `None` for a result that hands nothing on.
    fn of_result(paths: &Paths, result: &SkillResult) -> Option<Self> {
        if !attempt::is_handoff(result) {
            return None;
        }
        Some(match &result.needs_llm {
            Some(needs) => Self::with(paths, needs.task.clone(), &needs.context_path),
            None => Self::of_summary(paths, &result.summary),
        })
    }

    /// What the summary says in the form that the builder gives it.
    fn of_summary(paths: &Paths, summary: &JsString) -> Self {
        let text = summary.to_text();
        let Some(rest) = text.strip_prefix(attempt::HANDOFF_PREFIX) else { return Self::nothing() };
        match rest.trim_start().rsplit_once(CONTEXT) {
            Some((task, path)) if Path::new(path).is_absolute() => {
                Self::with(paths, task.into(), &path.into())
            }
            _ => Self { task: Some(rest.trim_start().into()), ..Self::nothing() },
        }
    }

    fn by(self, plugin: &JsString, run_id: Option<&JsString>, ended_at: &JsString) -> Handoff {
        Handoff {
            plugin: plugin.clone(),
            task: self.task,
            context_path: self.context,
            context: self.file,
            run_id: run_id.cloned(),
            direct: false,
            ended_at: ended_at.clone(),
        }
    }
}
