//! What an operator sees of a home: the common form in which model and engine are compared.

use std::collections::{BTreeMap, BTreeSet};

/// What a step came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub exit: i32,
    /// How an advance ended; empty for any other command.
    pub status: String,
    /// `status reason` by plugin, the reason only where it was skipped.
    pub entries: BTreeMap<String, String>,
    pub states: BTreeMap<String, String>,
    pub gated: BTreeSet<String>,
    /// The handlers that were called, sorted.
    pub called: Vec<String>,
    /// Whether what was to happen meanwhile did happen.
    pub interrupted: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SeenRun {
    pub at: i64,
    pub status: String,
    pub duration: Option<i64>,
    pub output: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SeenGate {
    pub plugin: String,
    pub started: i64,
    pub completed: i64,
    pub applied: Option<i64>,
    pub result: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SeenGrant {
    pub granted: i64,
    pub first: i64,
    pub expires: i64,
    /// `*` stands for everything; a list is in brackets.
    pub scopes: String,
}

/// The plan: `plugin level approved-effects` of those that are due, and the others with their reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenPlan {
    pub exit: i32,
    pub tier: String,
    pub grant: Option<(String, i64)>,
    pub due: Vec<String>,
    pub not_due: Vec<String>,
    pub failures: BTreeSet<String>,
}

/// A home at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    pub now: i64,
    pub runs: BTreeMap<String, SeenRun>,
    pub gates: Vec<SeenGate>,
    /// When each denial was given.
    pub denials: BTreeMap<String, i64>,
    pub grant: Option<SeenGrant>,
    pub last_interaction: Option<i64>,
    pub tasks: Vec<String>,
    pub done: BTreeSet<String>,
    /// Deferrals as `id until`.
    pub deferrals: BTreeSet<String>,
    pub journal: bool,
    pub plan: SeenPlan,
}
