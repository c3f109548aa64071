//! What an approval came to, for standard output: as text, or as JSON.

use crate::answers::{Answer, Merged};
use crate::cli::plan::scopes_text;
use crate::cli::{names, text};
use crate::clock::Instant;
use crate::json::{JsString, Map, Value};
use crate::schema::manifest::SideEffect;

/// The answers to parked results, and the grant where one was given.
pub(super) struct Report {
    pub results: Vec<Answered>,
    pub granted: Option<Granted>,
}

/// What became of the parked result of one plugin.
pub(super) struct Answered {
    pub plugin: JsString,
    pub side_effects: Vec<SideEffect>,
    pub answer: Answer,
}

/// What the grant file now holds, and what was asked for.
pub(super) struct Granted {
    pub merged: Merged,
    pub coverage: Coverage,
    /// The instant of the grant.
    pub now: Instant,
}

/// What a grant was asked for.
pub(super) struct Coverage {
    /// Whether `--all` was asked for.
    pub all: bool,
    /// Sorted by name; with `--all` those that declare effects.
    pub plugins: Vec<Asked>,
    /// The plugins that do not load, with the reason; only with `--all`.
    pub failures: Vec<(JsString, String)>,
}

/// A plugin that a grant was asked for.
pub(super) struct Asked {
    pub plugin: JsString,
    pub side_effects: Vec<SideEffect>,
    /// Whether a denial keeps it from running all the same.
    pub denied: bool,
}

impl Report {
    /// One block for each result, then the grant; empty where every result was refused. What
    /// `--all` covers is left out: it was told before the grant.
    pub(super) fn to_text(&self) -> String {
        let mut lines = Vec::new();
        for answered in &self.results {
            answered.write(&mut lines);
        }
        if let Some(granted) = &self.granted {
            granted.write(&mut lines);
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// `{results, grant, plugins, failures}`.
    pub(super) fn to_value(&self) -> Value {
        let results: Vec<Value> = self.results.iter().map(Answered::to_value).collect();
        let granted = self.granted.as_ref();
        let plugins = granted.map_or(&[][..], |granted| &granted.coverage.plugins);
        let failures = granted.map_or(&[][..], |granted| &granted.coverage.failures);
        let failures = failures.iter().map(|(plugin, error)| {
            let entries: [(&str, Value); 2] =
                [("plugin", plugin.into()), ("error", error.as_str().into())];
            Value::from(Map::from_iter(entries))
        });
        let mut map = Map::new();
        map.insert("results", results);
        map.insert("grant", granted.map(|granted| grant_value(&granted.merged)));
        map.insert("plugins", plugins.iter().map(Asked::to_value).collect::<Vec<_>>());
        map.insert("failures", failures.collect::<Vec<_>>());
        map.into()
    }
}

/// `{scopes, granted_at, first_granted_at, expires_at, capped, extended}`.
fn grant_value(merged: &Merged) -> Value {
    let grant = &merged.grant;
    let mut map = Map::new();
    map.insert("scopes", grant.scopes.to_value());
    map.insert("granted_at", &grant.granted_at);
    map.insert("first_granted_at", &grant.first_granted_at);
    map.insert("expires_at", &grant.expires_at);
    map.insert("capped", merged.capped);
    map.insert("extended", merged.extended);
    map.into()
}

fn effects_value(effects: &[SideEffect]) -> Value {
    effects.iter().map(|effect| effect.as_str()).collect::<Vec<_>>().into()
}

impl Answered {
    fn write(&self, lines: &mut Vec<String>) {
        let name = text::line(&self.plugin);
        match &self.answer {
            Answer::Applied { run_id, run_completed_at, summary, later_run_at } => {
                lines.push(format!(
                    "{name}: recorded the parked result of run {}, completed at {}; the plugin is \
                     not run again",
                    text::line(run_id),
                    text::at(run_completed_at)
                ));
                if !summary.is_empty() {
                    lines.push(format!("  {}", text::line(summary)));
                }
                let effects = text::effects(&self.side_effects);
                lines.push(format!("  declared side effects: {effects}"));
                if let Some(later) = later_run_at {
                    lines.push(format!(
                        "  a later run, that of {}, stays the plugin's last run",
                        text::at(later)
                    ));
                }
            }
            Answer::AlreadyApplied { run_id, applied_at } => lines.push(format!(
                "{name}: the result of run {} was already applied at {}; this grants the plugin \
                 and does not re-record it",
                text::line(run_id),
                text::at(applied_at)
            )),
            // Refusals are told on standard error.
            Answer::None
            | Answer::Denied { .. }
            | Answer::DependencyMoved { .. }
            | Answer::Expired { .. }
            | Answer::Unusable { .. } => {}
        }
    }

    /// `{plugin, outcome, run_id, side_effects}` and the facts of the outcome.
    fn to_value(&self) -> Value {
        let (outcome, run_id) = match &self.answer {
            Answer::None => ("none", None),
            Answer::AlreadyApplied { run_id, .. } => ("already_applied", Some(run_id)),
            Answer::Denied { .. } => ("denied", None),
            Answer::DependencyMoved { run_id, .. } => ("dependency_moved", Some(run_id)),
            Answer::Expired { run_id } => ("expired", Some(run_id)),
            Answer::Unusable { run_id } => ("unusable", Some(run_id)),
            Answer::Applied { run_id, .. } => ("recorded", Some(run_id)),
        };
        let mut map = Map::new();
        map.insert("plugin", &self.plugin);
        map.insert("outcome", outcome);
        map.insert("run_id", run_id.cloned());
        map.insert("side_effects", effects_value(&self.side_effects));
        match &self.answer {
            Answer::AlreadyApplied { applied_at, .. } => map.insert("applied_at", applied_at),
            Answer::Denied { denied_at, reason } => {
                map.insert("denied_at", denied_at);
                map.insert("denial_reason", reason);
            }
            Answer::DependencyMoved { moved, .. } => map.insert("dependencies", moved.clone()),
            Answer::Applied { run_completed_at, summary, later_run_at, .. } => {
                map.insert("run_completed_at", run_completed_at);
                map.insert("summary", summary);
                map.insert("later_run_at", later_run_at.clone());
            }
            Answer::None | Answer::Expired { .. } | Answer::Unusable { .. } => {}
        }
        map.into()
    }
}

impl Granted {
    fn write(&self, lines: &mut Vec<String>) {
        if !self.coverage.all {
            self.coverage.write_named(lines);
        }
        let grant = &self.merged.grant;
        let expiry = grant.expires_at.as_str().and_then(Instant::parse);
        let left = expiry.map_or(0, |expiry| expiry.since(self.now));
        lines.push(format!(
            "Grant: {} — {} remaining, until {}",
            scopes_text(&grant.scopes),
            text::span(left),
            text::at(&grant.expires_at)
        ));
        if self.merged.capped {
            lines.push(
                "  capped at 23 hours from the first approval; `--long` lifts the cap".to_owned(),
            );
        }
        if self.merged.extended {
            lines.push(
                "  this outlasts 23 hours from the first approval; `warpline revoke` ends it early"
                    .to_owned(),
            );
        }
    }
}

impl Coverage {
    /// What `--all` covers.
    pub(super) fn to_text(&self) -> String {
        let mut lines = Vec::new();
        self.write_all(&mut lines);
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn write_named(&self, lines: &mut Vec<String>) {
        let names: Vec<String> =
            self.plugins.iter().map(|asked| text::line(&asked.plugin)).collect();
        let count = text::count(names.len(), "plugin");
        lines.push(format!("Approved {count}: {}", names.join(", ")));
        for (asked, name) in self.plugins.iter().zip(names) {
            lines.push(match asked.side_effects.as_slice() {
                [] => format!("  {name} declares no side effects and needs no grant"),
                effects => format!("  {name}: {}", text::effects(effects)),
            });
        }
    }

    fn write_all(&self, lines: &mut Vec<String>) {
        let (denied, covered): (Vec<_>, Vec<_>) =
            self.plugins.iter().partition(|asked| asked.denied);
        let effects = covered.iter().map(|asked| asked.side_effects.len()).sum();
        lines.push(format!(
            "Approval for everything: {} with {}, and every plugin added while it lasts",
            text::count(covered.len(), "plugin"),
            text::count(effects, "declared side effect")
        ));
        for Asked { plugin, side_effects, .. } in covered {
            lines.push(format!("  {}: {}", text::line(plugin), text::effects(side_effects)));
        }
        for Asked { plugin, .. } in denied {
            lines.push(format!(
                "  {} stays denied; `{}` takes that back",
                text::line(plugin),
                text::command("deny --remove", [plugin], "")
            ));
        }
        if !self.failures.is_empty() {
            let broken = names::list(self.failures.iter().map(|(name, _)| name));
            lines.push(format!("  not counted because it does not load: {broken}"));
        }
    }
}

impl Asked {
    /// `{plugin, side_effects, denied}`.
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("plugin", &self.plugin);
        map.insert("side_effects", effects_value(&self.side_effects));
        map.insert("denied", self.denied);
        map.into()
    }
}
