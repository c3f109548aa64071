//! A home as the model has it, and what a human's answers make of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::{merge, proposal, spoiled, stands};
use crate::step::{Facts, Script, Step, span};

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub at: i64,
    pub status: String,
    pub duration: Option<i64>,
    pub output: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    pub plugin: String,
    pub started: i64,
    pub completed: i64,
    pub applied: Option<i64>,
    /// The status and the last Output of the result that waits.
    pub result: String,
    pub output: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Denial {
    pub at: i64,
    pub proposal: (BTreeSet<String>, Option<String>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Scopes {
    Everything,
    Names(BTreeSet<String>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    pub granted: i64,
    pub first: i64,
    pub expires: i64,
    pub scopes: Scopes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub id: String,
    pub severity: String,
    pub plugin: String,
}

/// The state document.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pub runs: BTreeMap<String, Run>,
    pub gates: Vec<Gate>,
    pub denials: BTreeMap<String, Denial>,
    pub tasks: Vec<Task>,
    pub done: BTreeSet<String>,
    pub deferrals: Vec<(String, i64)>,
    pub last_interaction: Option<i64>,
}

/// What a killed pass left: the outcomes it knew, and what was still running.
#[derive(Clone, Debug)]
pub struct Journal {
    pub ended: Vec<Ended>,
    pub open: Vec<String>,
}

/// A handler that came to its end.
#[derive(Clone, Debug)]
pub struct Ended {
    pub plugin: String,
    pub run: Run,
    /// The Output of this very run.
    pub produced: Option<String>,
    pub gate: Option<Gate>,
}

#[derive(Clone, Debug, Default)]
pub struct World {
    pub now: i64,
    /// `None` is a plugin whose manifest does not load.
    pub plugins: BTreeMap<String, Option<Facts>>,
    pub scripts: BTreeMap<String, Script>,
    pub review_gate: bool,
    pub quiet: Option<(i64, i64)>,
    pub document: Document,
    pub grant: Option<Grant>,
    pub journal: Option<Journal>,
}

impl Document {
    pub fn open_tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !self.done.contains(&task.id))
    }

    pub fn is_deferred(&self, id: &str, now: i64) -> bool {
        self.deferrals.iter().any(|(other, until)| other == id && *until > now)
    }

    /// Plugins that an open task locks.
    pub fn locked(&self, now: i64) -> BTreeSet<String> {
        let open = self.open_tasks().filter(|task| !self.is_deferred(&task.id, now));
        open.map(|task| task.plugin.clone()).collect()
    }

    pub fn waiting(&self, plugin: &str) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.plugin == plugin && gate.applied.is_none())
    }

    /// A run on record; one that produced nothing leaves the last Output alone.
    pub fn record(&mut self, ended: &Ended) {
        let before = self.runs.get(&ended.plugin).and_then(|run| run.output.clone());
        let output = ended.produced.clone().or(before);
        self.runs.insert(ended.plugin.clone(), Run { output, ..ended.run.clone() });
    }

    /// Parks a result in place of an older one of its plugin.
    pub fn park(&mut self, gate: &Gate) {
        self.gates.retain(|old| old.plugin != gate.plugin);
        self.gates.push(gate.clone());
    }

    /// Brings a killed pass to its end. What was running has failed now, since nobody knows better.
    pub fn fold(&mut self, journal: &Journal, now: i64) {
        for ended in &journal.ended {
            if self.runs.get(&ended.plugin).is_some_and(|run| run.at > ended.run.at) {
                continue;
            }
            self.record(ended);
            if let Some(gate) = &ended.gate {
                self.park(gate);
            }
        }
        for plugin in &journal.open {
            let output = self.runs.get(plugin).and_then(|run| run.output.clone());
            let run = Run { at: now, status: "failed".into(), duration: None, output };
            self.runs.insert(plugin.clone(), run);
        }
    }
}

impl World {
    pub fn facts(&self, name: &str) -> Option<&Facts> {
        self.plugins.get(name)?.as_ref()
    }

    /// What whoever goes on to write does first.
    pub fn settle(&mut self) {
        if let Some(journal) = self.journal.take() {
            self.document.fold(&journal, self.now);
        }
    }

    /// The document as a reader sees it.
    pub fn read(&self) -> Document {
        let mut document = self.document.clone();
        if let Some(journal) = &self.journal {
            document.fold(journal, self.now);
        }
        document
    }

    /// A step that is no command.
    pub fn set(&mut self, step: &Step) {
        match step.clone() {
            Step::Plugin(name, facts) => drop(self.plugins.insert(name, Some(facts))),
            Step::Break(name) => drop(self.plugins.insert(name, None)),
            Step::Remove(name) => drop(self.plugins.remove(&name)),
            Step::Plays(name, script) => drop(self.scripts.insert(name, script)),
            Step::Wait(ms) => self.now += ms,
            Step::Task { id, severity, plugin } => {
                self.settle();
                self.document.tasks.push(Task { id, severity, plugin });
            }
            Step::Preferences { review_gate, quiet } => {
                (self.review_gate, self.quiet) = (review_gate, quiet);
            }
            Step::GrantFile { scopes, lasts } => {
                let now = self.now;
                let scopes = Scopes::Names(scopes.into_iter().collect());
                self.grant = Some(Grant { granted: now, first: now, expires: now + lasts, scopes });
            }
            Step::Advance { .. } | Step::Command(_) => panic!("a command: {step:?}"),
        }
    }

    /// A human's answer; its exit code.
    pub fn answer(&mut self, words: &[String]) -> i32 {
        let has = |flag: &str| words.iter().any(|word| word == flag);
        let value = |flag: &str| words.iter().skip_while(|word| *word != flag).nth(1);
        let ttl = value("--ttl").map(|text| span(text));
        let mut names: Vec<String> = Vec::new();
        for word in words.iter().skip(1) {
            let is_value = value("--ttl") == Some(word) || value("--note") == Some(word);
            if !word.starts_with("--") && !is_value && !names.contains(word) {
                names.push(word.clone());
            }
        }
        let done = match words[0].as_str() {
            "approve" if has("--all") => {
                self.give(&Scopes::Everything, ttl, has("--replace"), has("--long"));
                true
            }
            "approve" => self.approve(&names, ttl, has("--replace"), has("--long")),
            "deny" if has("--remove") => self.take_back(&names),
            "deny" => self.deny(&names),
            "revoke" => {
                self.grant = None;
                true
            }
            "forget" => self.forget(&names),
            "defer" => self.defer(&names[0], span(&names[1])),
            "done" => self.done(&names[0]),
            other => panic!("no answer: {other}"),
        };
        i32::from(!done)
    }

    fn give(&mut self, scopes: &Scopes, ttl: Option<i64>, replace: bool, long: bool) {
        self.grant = Some(merge(self.grant.as_ref(), scopes, ttl, replace, long, self.now));
    }

    fn is_denied(&self, name: &str) -> bool {
        let facts = self.facts(name).expect("a plugin");
        let denial = self.document.denials.get(name);
        denial.is_some_and(|denial| stands(denial, name, facts, &self.document))
    }

    fn approve(&mut self, names: &[String], ttl: Option<i64>, replace: bool, long: bool) -> bool {
        if names.iter().any(|name| self.facts(name).is_none()) {
            return false;
        }
        self.settle();
        if names.iter().any(|name| self.is_denied(name)) {
            return false;
        }
        let waiting = names.iter().filter(|name| self.document.waiting(name).is_some()).count();
        if waiting == 0 {
            self.give(&Scopes::Names(names.iter().cloned().collect()), ttl, replace, long);
            return true;
        }
        // Some wait and some do not: which of the two was meant?
        if waiting < names.len() {
            return false;
        }
        let mut all = true;
        for name in names {
            all &= self.apply(name);
        }
        all
    }

    /// Accepts the parked result of one plugin; whether it could be accepted.
    fn apply(&mut self, name: &str) -> bool {
        let facts = self.facts(name).expect("a plugin").clone();
        let document = &mut self.document;
        let gate = document.waiting(name).expect("it waits").clone();
        if spoiled(&gate, &facts, document, self.now) {
            document.gates.retain(|other| *other != gate);
            document.runs.remove(name);
            return false;
        }
        for other in &mut document.gates {
            if *other == gate {
                other.applied = Some(self.now);
            }
        }
        // A run that came after the parked one, and was not parked itself, stays the last run.
        let last = document.runs.get(name);
        if last.is_some_and(|run| run.status != "gated" && run.at > gate.completed) {
            return true;
        }
        let duration = Some((gate.completed - gate.started).max(0));
        let run = Run { at: gate.completed, status: gate.result, duration, output: None };
        let ended = Ended { plugin: name.into(), run, produced: gate.output, gate: None };
        document.record(&ended);
        true
    }

    fn deny(&mut self, names: &[String]) -> bool {
        if names.iter().any(|name| self.facts(name).is_none()) {
            return false;
        }
        self.settle();
        for name in names {
            if self.document.waiting(name).is_none() && self.is_denied(name) {
                continue;
            }
            let proposal = proposal(name, self.facts(name).expect("a plugin"), &self.document);
            let denial = Denial { at: self.now, proposal };
            self.document.denials.insert(name.clone(), denial);
            self.document.gates.retain(|gate| gate.plugin != *name || gate.applied.is_some());
        }
        true
    }

    fn take_back(&mut self, names: &[String]) -> bool {
        self.settle();
        let all = names.iter().all(|name| self.document.denials.contains_key(name));
        if all {
            self.document.denials.retain(|name, _| !names.contains(name));
        }
        all
    }

    fn forget(&mut self, names: &[String]) -> bool {
        self.settle();
        let document = &mut self.document;
        let may = |name: &String| {
            document.runs.contains_key(name)
                && document.waiting(name).is_none()
                && !document.denials.contains_key(name)
        };
        let all = names.iter().all(may);
        if all {
            document.runs.retain(|name, _| !names.contains(name));
        }
        all
    }

    fn defer(&mut self, id: &str, lasts: i64) -> bool {
        let is_open = self.read().open_tasks().any(|task| task.id == id);
        if is_open {
            self.settle();
            self.document.deferrals.retain(|(other, _)| other != id);
            self.document.deferrals.push((id.into(), self.now + lasts));
        }
        is_open
    }

    fn done(&mut self, id: &str) -> bool {
        let is_open = self.read().open_tasks().any(|task| task.id == id);
        if is_open {
            self.settle();
            let at = self.document.tasks.iter().position(|task| task.id == id);
            self.document.tasks.remove(at.expect("it is open"));
            self.document.done.insert(id.into());
        }
        is_open
    }
}
