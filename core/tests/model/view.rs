//! The model's home as an operator sees it, its plan included.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::{Case, covers, levels, tier, why_not};
use crate::seen::{Seen, SeenGate, SeenGrant, SeenPlan, SeenRun};
use crate::step::Facts;
use crate::world::{Grant, Scopes, World};

impl World {
    pub fn seen(&self) -> Seen {
        let document = &self.document;
        let run = |run: &crate::world::Run| SeenRun {
            at: run.at,
            status: run.status.clone(),
            duration: run.duration,
            output: run.output.clone(),
        };
        let mut gates: Vec<SeenGate> = document
            .gates
            .iter()
            .map(|gate| SeenGate {
                plugin: gate.plugin.clone(),
                started: gate.started,
                completed: gate.completed,
                applied: gate.applied,
                result: gate.result.clone(),
            })
            .collect();
        gates.sort_by(|left, right| left.plugin.cmp(&right.plugin));
        let deferrals = document.deferrals.iter();
        Seen {
            now: self.now,
            runs: document.runs.iter().map(|(name, one)| (name.clone(), run(one))).collect(),
            gates,
            denials: document.denials.iter().map(|(name, one)| (name.clone(), one.at)).collect(),
            grant: self.grant.as_ref().map(|grant| SeenGrant {
                granted: grant.granted,
                first: grant.first,
                expires: grant.expires,
                scopes: scopes(grant),
            }),
            last_interaction: document.last_interaction,
            tasks: document.tasks.iter().map(|task| task.id.clone()).collect(),
            done: document.done.clone(),
            deferrals: deferrals.map(|(id, until)| format!("{id} {until}")).collect(),
            journal: self.journal.is_some(),
            plan: self.plan(None),
        }
    }

    pub fn plan(&self, profile: Option<&str>) -> SeenPlan {
        let (document, now) = (self.read(), self.now);
        let roster: BTreeMap<&String, &Facts> =
            self.plugins.iter().filter_map(|(name, facts)| Some((name, facts.as_ref()?))).collect();
        let (levels, unplaced) = levels(&roster);
        let broken = self.plugins.iter().filter(|(_, facts)| facts.is_none());
        let failures: BTreeSet<String> =
            broken.map(|(name, _)| name.clone()).chain(unplaced).collect();
        let tier = tier(document.last_interaction, now);
        let mut plan = SeenPlan {
            exit: i32::from(!failures.is_empty()),
            tier: tier.into(),
            grant: self
                .grant
                .as_ref()
                .filter(|grant| now <= grant.expires)
                .map(|grant| (scopes(grant), grant.expires)),
            failures,
            ..SeenPlan::default()
        };
        let mut due_before = BTreeSet::new();
        for (number, level) in levels.iter().enumerate() {
            let mut due_here = Vec::new();
            for name in level {
                let facts = roster[name];
                let reason = why_not(&Case {
                    name,
                    facts,
                    document: &document,
                    locked: &document.locked(now),
                    profile,
                    tier,
                    force: false,
                    grant: self.grant.as_ref(),
                    due_before: &due_before,
                    now,
                });
                let approved = covers(self.grant.as_ref(), name, now);
                let effects = facts.effects.iter().map(|effect| format!(" {effect}={approved}"));
                let line = format!("{name} {number}{}", effects.collect::<String>());
                match reason {
                    None => {
                        plan.due.push(line);
                        due_here.push(name.clone());
                    }
                    Some(reason) => {
                        plan.not_due.push(format!("{line}: {} {}", reason.code, reason.told));
                    }
                }
            }
            due_before.extend(due_here);
        }
        plan
    }
}

fn scopes(grant: &Grant) -> String {
    match &grant.scopes {
        Scopes::Everything => "*".into(),
        Scopes::Names(names) => {
            format!("[{}]", names.iter().cloned().collect::<Vec<_>>().join(","))
        }
    }
}
