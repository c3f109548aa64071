//! What the contract says of one advance, second by second.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::{Case, DAY, is_quiet, kept, levels, local_minute, tier, why_not};
use crate::seen::Outcome;
use crate::step::{Facts, Meanwhile, Script};
use crate::world::{Document, Ended, Gate, Journal, Run, World};

/// Every plugin of the tests is given up after this.
pub const TIMEOUT: i64 = 50;

/// A pass under way.
struct Pass {
    started: i64,
    profile: Option<String>,
    force: bool,
    dry: bool,
    tier: &'static str,
    locked: BTreeSet<String>,
    /// The document as the pass read it, with what it did since.
    document: Document,
    ended: Vec<Ended>,
    gated: BTreeSet<String>,
    unapproved: bool,
    cancelled: bool,
    /// Whether the journal outlives the pass.
    unremoved: bool,
    outcome: Outcome,
}

impl World {
    pub fn advance(
        &mut self,
        options: &BTreeSet<String>,
        meanwhile: Option<&(i64, Meanwhile)>,
    ) -> Outcome {
        let has = |flag: &str| options.contains(flag);
        let (force, dry, strict) = (has("--force"), has("--dry-run"), has("--strict"));
        let profile = options.iter().find_map(|word| word.strip_prefix("--profile="));
        if !dry {
            self.settle();
        }
        let document = self.read();
        let mut pass = Pass {
            started: self.now,
            profile: profile.map(str::to_owned),
            force,
            dry,
            tier: tier(document.last_interaction, self.now),
            locked: document.locked(self.now),
            document,
            ended: Vec::new(),
            gated: BTreeSet::new(),
            unapproved: false,
            cancelled: false,
            unremoved: false,
            outcome: Outcome::default(),
        };
        let plugins = self.plugins.clone();
        let roster: BTreeMap<&String, &Facts> =
            plugins.iter().filter_map(|(name, facts)| Some((name, facts.as_ref()?))).collect();
        let (levels, unplaced) = levels(&roster);
        let broken = plugins.iter().filter(|(_, facts)| facts.is_none()).map(|(name, _)| name);
        for name in broken.chain(&unplaced) {
            pass.enter(name, "failed", "failed");
        }
        let quiet = is_quiet(self.quiet, local_minute(self.now)) && !force && !dry;
        if quiet {
            for name in levels.iter().flatten() {
                pass.enter(name, "skipped quiet", "skipped");
            }
        } else {
            for name in levels.iter().flatten() {
                pass.outcome.states.insert(name.clone(), "pending".into());
            }
            for level in &levels {
                if !pass.gated.is_empty() || pass.cancelled {
                    break;
                }
                if let Some(killed) = self.run_level(&mut pass, level, &roster, meanwhile) {
                    return killed;
                }
            }
            if !dry {
                self.record(&pass);
                if pass.unremoved {
                    // The document knows all of it: nothing is left to fold.
                    self.journal = Some(Journal { ended: Vec::new(), open: Vec::new() });
                }
            }
        }
        let waits = || self.read().gates.iter().any(|gate| gate.applied.is_none());
        let failed = pass.outcome.states.values().any(|state| state == "failed");
        let status = match () {
            () if pass.cancelled => "interrupted",
            () if roster.is_empty() => "failed",
            () if failed || !pass.gated.is_empty() => "partial",
            () => "complete",
        };
        let exit = match status {
            "interrupted" => 130,
            _ if failed || roster.is_empty() => 1,
            _ if strict && (pass.unapproved || waits()) => 1,
            _ => 0,
        };
        let mut outcome = pass.outcome;
        outcome.called.sort();
        Outcome { exit, status: status.into(), gated: pass.gated, ..outcome }
    }

    /// Runs one level; something when the process died meanwhile.
    fn run_level(
        &mut self,
        pass: &mut Pass,
        level: &[String],
        roster: &BTreeMap<&String, &Facts>,
        meanwhile: Option<&(i64, Meanwhile)>,
    ) -> Option<Outcome> {
        let began = self.now;
        let mut running: Vec<(i64, &String)> = Vec::new();
        for name in level {
            let facts = roster[name];
            let reason = why_not(&Case {
                name,
                facts,
                document: &pass.document,
                locked: &pass.locked,
                profile: pass.profile.as_deref(),
                tier: pass.tier,
                force: pass.force,
                grant: self.grant.as_ref(),
                due_before: &BTreeSet::new(),
                now: began,
            });
            let code = reason.map(|reason| reason.code);
            let acts = !facts.effects.is_empty();
            if pass.dry && acts && matches!(code, None | Some("unapproved")) {
                pass.enter(name, "skipped blocked", "skipped");
                continue;
            }
            match code {
                None => running.push((began + self.takes(name), name)),
                Some("denied") => pass.enter(name, "denied", "skipped"),
                Some(code) => {
                    pass.unapproved |= code == "unapproved";
                    pass.enter(name, &format!("skipped {code}"), "skipped");
                }
            }
        }
        running.sort();
        let end = running.last().map_or(began, |(at, _)| *at);
        let event =
            meanwhile.filter(|(after, _)| !pass.outcome.interrupted && pass.started + after <= end);
        let stop = event.filter(|(_, what)| *what == Meanwhile::Cancelled);
        let stop = stop.map(|(after, _)| pass.started + after);
        for (_, name) in &running {
            let script = self.script(name);
            if script.ending == "unreadable" {
                continue;
            }
            pass.outcome.called.push((*name).clone());
            let again = began + script.takes;
            if script.ending == "flaky" && stop.is_none_or(|at| again < at) {
                pass.outcome.called.push((*name).clone());
            }
        }
        if let Some((after, what)) = event {
            let at = pass.started + after;
            pass.outcome.interrupted = true;
            for (ended, name) in running.extract_if(.., |(ended, _)| *ended < at) {
                self.end(pass, name, roster[name], began, ended, false);
            }
            self.now = at;
            let open = running.iter().filter(|(_, name)| !roster[*name].effects.is_empty());
            let open: Vec<String> = open.map(|(_, name)| (*name).clone()).collect();
            let told = !open.is_empty() || !pass.ended.is_empty();
            match what {
                Meanwhile::Unremoved => pass.unremoved = told && !pass.dry,
                Meanwhile::Killed => {
                    // The second call of a flaky handler may not have happened yet.
                    pass.outcome.called.clear();
                    if told && !pass.dry {
                        self.journal = Some(Journal { ended: pass.ended.clone(), open });
                    }
                    return Some(Outcome { interrupted: true, ..Outcome::default() });
                }
                Meanwhile::Cancelled => {
                    pass.cancelled = true;
                    for (_, name) in running.drain(..) {
                        self.end(pass, name, roster[name], began, at, true);
                    }
                    return None;
                }
                Meanwhile::Command(words) => {
                    let exit = self.answer(words).to_string();
                    pass.outcome.entries.insert("@".into(), exit);
                }
            }
        }
        for (ended, name) in running {
            self.end(pass, name, roster[name], began, ended, false);
        }
        self.now = end;
        None
    }

    fn script(&self, name: &str) -> Script {
        self.scripts.get(name).cloned().unwrap_or_default()
    }

    fn takes(&self, name: &str) -> i64 {
        let script = self.script(name);
        match script.ending.as_str() {
            "unreadable" => 0,
            "hangs" => TIMEOUT,
            "flaky" => 2 * script.takes,
            _ => script.takes,
        }
    }

    /// A handler comes to its end, by itself or because the pass was interrupted.
    fn end(
        &self,
        pass: &mut Pass,
        name: &str,
        facts: &Facts,
        started: i64,
        at: i64,
        cancelled: bool,
    ) {
        let script = self.script(name);
        let (result, produced) = match script.ending.as_str() {
            _ if cancelled => ("failed", None),
            "throws" | "hangs" | "unreadable" => ("failed", None),
            "flaky" => ("success", script.output),
            "handoff" => ("skipped", script.output),
            ending => (ending, script.output),
        };
        let parks = facts.autonomy == "supervised" || self.review_gate;
        let parks = parks && result != "failed" && !pass.dry;
        let gate = parks.then(|| Gate {
            plugin: name.into(),
            started,
            completed: at,
            applied: None,
            result: result.into(),
            output: produced.clone(),
        });
        let status = if parks { "gated" } else { result };
        let run = Run { at, status: status.into(), duration: Some(at - started), output: None };
        let ended = Ended { plugin: name.into(), run, produced, gate };
        pass.document.record(&ended);
        pass.ended.push(ended);
        let entry = match () {
            () if result == "failed" => "failed",
            () if parks => "gated",
            () => "completed",
        };
        if parks {
            pass.gated.insert(name.into());
        }
        pass.enter(name, entry, entry);
    }

    /// The one write of a pass, onto what others wrote meanwhile.
    fn record(&mut self, pass: &Pass) {
        let now = self.now;
        let document = &mut self.document;
        document.last_interaction = Some(pass.started);
        document.gates.retain(|gate| kept(gate, now));
        for ended in &pass.ended {
            document.record(ended);
            if let Some(gate) = &ended.gate {
                document.park(gate);
            }
        }
        let info: Vec<String> = document
            .open_tasks()
            .filter(|task| task.severity == "info")
            .map(|task| task.id.clone())
            .collect();
        for id in info {
            match pass.tier {
                "degraded" | "extended" if !document.is_deferred(&id, now) => {
                    document.deferrals.push((id, now + 7 * DAY));
                }
                "suspended" => {
                    document.tasks.retain(|task| task.id != id || task.severity != "info");
                    document.done.insert(id);
                }
                _ => {}
            }
        }
    }
}

impl Pass {
    fn enter(&mut self, name: &str, entry: &str, state: &str) {
        self.outcome.entries.insert(name.into(), entry.into());
        self.outcome.states.insert(name.into(), state.into());
    }
}
