//! The plan as data: every plugin with its level, its effects and the guard that holds it back.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::cli::fleet::Loaded;
use crate::clock::Instant;
use crate::decide::dueness::{Question, ReasonCode, Verdict, evaluate, locked_plugins};
use crate::decide::{gate, grant, levels, tier};
use crate::json::{JsString, Value};
use crate::schema::engine_state::{EngineState, RunStatus};
use crate::schema::grant::{Grant, Scopes};
use crate::schema::manifest::{Manifest, RunProfile, SideEffect, Tier};

/// What a plan is made from, apart from the plugins.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The home.
    pub home: PathBuf,
    /// The plugin root as resolved.
    pub plugins_dir: PathBuf,
    /// The state document.
    pub state: EngineState,
    /// Why an advance would be refused, or run nothing, as a whole, sentence by sentence.
    pub refused: Vec<String>,
    /// The text of the grant file.
    pub grant: Option<String>,
    /// Which schedules the advance would admit.
    pub profile: Option<RunProfile>,
    /// The instant to plan for.
    pub now: Instant,
}

/// What an advance would do. Both lists are ordered by level, then by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The home.
    pub home: PathBuf,
    /// The plugin root as resolved.
    pub plugins_dir: PathBuf,
    /// Which schedules the advance would admit.
    pub profile: Option<RunProfile>,
    /// How long the home has been idle.
    pub tier: Tier,
    /// The instant that is planned for.
    pub now: Instant,
    /// What the grant file amounts to.
    pub grant: GrantLine,
    /// The plugins that an advance would run.
    pub due: Vec<Planned>,
    /// The others, each with the first guard that holds it back.
    pub not_due: Vec<(Planned, Held)>,
    /// The results that wait for an answer, in the order they were parked. Not in the JSON report.
    pub parked: Vec<Waiting>,
    /// Load failures and plugins on or behind a cycle, by name.
    pub failures: Vec<(JsString, String)>,
    /// The path and errno name of an unreadable plugin root; `ENOENT` where there is none yet.
    pub root_error: Option<(PathBuf, String)>,
    /// What an operator should know though nothing failed, one sentence each.
    pub warnings: Vec<String>,
}

/// A result that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The directory name.
    pub plugin: JsString,
    /// The run that parked it.
    pub run_id: JsString,
    /// When that run ended, as written.
    pub completed_at: Option<JsString>,
    /// The result's summary.
    pub summary: JsString,
    /// What the plugin declares; `None` where it does not load.
    pub side_effects: Option<Vec<SideEffect>>,
    /// The denial on record, of this proposal or an earlier one: when and why.
    pub denied: Option<(JsString, JsString)>,
    /// Whether, until when, or why not a yes would be met; `None` where the plugin does not load.
    pub prospect: Option<gate::Prospect>,
}

/// What the grant file amounts to.
#[derive(Clone, Debug, PartialEq)]
pub enum GrantLine {
    /// No file, or one that grants nothing.
    None,
    /// A grant in force.
    Live(Grant),
    /// A grant whose time is over.
    Expired(Grant),
}

/// One plugin of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The directory name.
    pub plugin: JsString,
    /// Its topological level, from 0.
    pub level: usize,
    /// Its declared effects in declaration order, and whether a grant covers them.
    pub side_effects: Vec<(SideEffect, bool)>,
    /// Whether its manifest was read as it is written, without running it.
    pub literal: bool,
}

/// What holds a plugin back.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The guard.
    pub reason: ReasonCode,
    /// Its sentence.
    pub detail: String,
    /// The facts behind it.
    pub data: Value,
    /// When the plugin last ran.
    pub last_run_at: Option<JsString>,
    /// Whether that run failed.
    pub last_run_failed: bool,
}

impl Plan {
    /// Whether the plan cannot speak for every plugin that is there.
    pub fn is_incomplete(&self) -> bool {
        // An empty root is a mistake, a missing one is how every home begins.
        let unreadable =
            |(path, code): &(PathBuf, String)| code != "ENOENT" || path.as_os_str().is_empty();
        !self.failures.is_empty() || self.root_error.as_ref().is_some_and(unreadable)
    }
}

/// Makes the plan. Linear in plugins, dependencies and granted names.
pub fn build(loaded: &Loaded, facts: &Facts) -> Plan {
    let roster = Roster::of(loaded);
    let live = grant::live(facts.grant.as_deref(), facts.now);
    let covered = Covered::by(live.as_ref());
    let locked = locked_plugins(&facts.state, facts.now);
    let tier = tier::tier(facts.state.last_interaction_at.as_ref(), facts.now);
    let (mut due, mut not_due) = (Vec::new(), Vec::new());
    let mut due_names: HashSet<JsString> = HashSet::new();
    for (level, names) in roster.order.levels.iter().enumerate() {
        let mut due_here = Vec::new();
        let mut names: Vec<&JsString> = names.iter().collect();
        names.sort();
        for name in names {
            let Some(manifest) = roster.manifest(name) else { continue };
            let planned = Planned {
                plugin: name.clone(),
                level,
                side_effects: covered.effects(name, manifest),
                literal: loaded.literal.contains(name),
            };
            let verdict = evaluate(&Question {
                plugin: name,
                manifest,
                state: &facts.state,
                locked: &locked,
                profile: facts.profile,
                tier,
                force: false,
                grant: &|| covered.text_for(name),
                due_at_earlier_level: Some(&due_names),
                now: facts.now,
            });
            match verdict {
                Verdict::Due => {
                    due_here.push(name.clone());
                    due.push(planned);
                }
                Verdict::NotDue(reason) => {
                    let last_run = facts.state.plugin_runs.get(name);
                    let held = Held {
                        reason: reason.code(),
                        detail: reason.detail(),
                        data: reason.data(),
                        last_run_at: last_run.map(|run| run.last_run_at.clone()),
                        last_run_failed: last_run
                            .is_some_and(|run| run.status == RunStatus::Failed),
                    };
                    not_due.push((planned, held));
                }
            }
        }
        due_names.extend(due_here);
    }
    let mut failures = loaded.failures.clone();
    failures.extend(roster.order.unplaced.iter().cloned());
    failures.sort();
    Plan {
        home: facts.home.clone(),
        plugins_dir: facts.plugins_dir.clone(),
        profile: facts.profile,
        tier,
        now: facts.now,
        grant: grant_line(live, facts),
        due,
        not_due,
        parked: parked(loaded, &facts.state, facts.now),
        failures,
        root_error: loaded.root_error.clone(),
        // What keeps everything from running comes first.
        warnings: facts.refused.iter().chain(&loaded.warnings).cloned().collect(),
    }
}

fn parked(loaded: &Loaded, state: &EngineState, now: Instant) -> Vec<Waiting> {
    // The newest gate of a plugin is the one that an answer meets; a set keeps this linear.
    let mut seen: HashSet<&JsString> = HashSet::new();
    let newest = state.pending_gates.iter().rev().filter(|gate| seen.insert(&gate.plugin));
    let waiting = newest.filter(|gate| gate.applied_at.is_none());
    let mut parked: Vec<Waiting> = waiting
        .map(|gate| Waiting {
            plugin: gate.plugin.clone(),
            run_id: gate.run_id.clone(),
            completed_at: gate.run_completed_at.clone(),
            summary: gate.payload_summary.clone(),
            side_effects: loaded
                .manifest(&gate.plugin)
                .map(|manifest| manifest.side_effects.clone()),
            denied: state
                .denials
                .get(&gate.plugin)
                .map(|denial| (denial.denied_at.clone(), denial.reason.clone())),
            prospect: loaded
                .manifest(&gate.plugin)
                .map(|manifest| gate::prospect(state, gate, manifest, now)),
        })
        .collect();
    parked.reverse();
    parked
}

/// The plugins that loaded, with their order.
struct Roster<'a> {
    manifests: HashMap<&'a JsString, &'a Manifest>,
    order: levels::Order,
}

impl<'a> Roster<'a> {
    fn of(loaded: &'a Loaded) -> Self {
        let graph: Vec<(JsString, Vec<JsString>)> = loaded
            .manifests
            .iter()
            .map(|(name, manifest)| (name.clone(), manifest.dependencies.clone()))
            .collect();
        let manifests = loaded.manifests.iter().map(|(name, manifest)| (name, manifest)).collect();
        Self { manifests, order: levels::order(&graph) }
    }

    fn manifest(&self, name: &JsString) -> Option<&'a Manifest> {
        self.manifests.get(name).copied()
    }
}

/// The grant in force, with its names for one look-up each.
pub(super) struct Covered {
    names: Option<HashSet<JsString>>,
    /// The text of the same grant for every plugin: what the evaluator reads for a covered one, in
    /// place of all names again.
    text: Option<String>,
}

impl Covered {
    pub(super) fn by(grant: Option<&Grant>) -> Self {
        let names = match grant.map(|grant| &grant.scopes) {
            None => Some(HashSet::new()),
            Some(Scopes::All) => None,
            Some(Scopes::Plugins(names)) => Some(names.iter().cloned().collect()),
        };
        let text = grant.map(|grant| Grant { scopes: Scopes::All, ..grant.clone() }.to_text());
        Self { names, text }
    }

    fn covers(&self, plugin: &JsString) -> bool {
        self.names.as_ref().is_none_or(|names| names.contains(plugin))
    }

    pub(super) fn text_for(&self, plugin: &JsString) -> Option<String> {
        self.text.clone().filter(|_| self.covers(plugin))
    }

    fn effects(&self, plugin: &JsString, manifest: &Manifest) -> Vec<(SideEffect, bool)> {
        let approved = self.covers(plugin);
        manifest.side_effects.iter().map(|effect| (*effect, approved)).collect()
    }
}

fn grant_line(live: Option<Grant>, facts: &Facts) -> GrantLine {
    if let Some(grant) = live {
        return GrantLine::Live(grant);
    }
    let written = facts.grant.as_deref().and_then(Grant::parse_lenient);
    let expiry = |grant: &Grant| Instant::parse(grant.expires_at.as_str()?);
    match written {
        Some(grant) if expiry(&grant).is_some_and(|expiry| expiry < facts.now) => {
            GrantLine::Expired(grant)
        }
        _ => GrantLine::None,
    }
}
