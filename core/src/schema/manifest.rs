//! The manifest of a plugin (runtime spec, section 1).

use crate::json::{JsString, Map, Record, Value};

use super::closed_set;

closed_set! {
    /// An effect that a plugin declares and a human approves.
    SideEffect {
        /// Sends mail.
        SendsEmail = "sends_email",
        /// Files an issue.
        CreatesIssue = "creates_issue",
        /// Writes to a database.
        WritesDb = "writes_db",
        /// Calls any external system, reading included.
        ExternalApi = "external_api",
        /// Changes a file.
        ModifiesFile = "modifies_file",
    }
}

closed_set! {
    /// Who may let the plugin proceed once it is due.
    AutonomyLevel {
        /// Nobody needs to.
        Autonomous = "autonomous",
        /// A human accepts each result.
        Supervised = "supervised",
        /// A human starts each run.
        Manual = "manual",
    }
}

closed_set! {
    /// When an advance considers the plugin at all.
    Schedule {
        /// In every scheduled advance.
        OnRun = "on_run",
        /// In daily and wider advances.
        Daily = "daily",
        /// In weekly advances.
        Weekly = "weekly",
        /// Only when asked for.
        Manual = "manual",
    }
}

closed_set! {
    /// Which schedules an advance admits.
    RunProfile {
        /// `on_run` and `daily`.
        Daily = "daily",
        /// `on_run`, `daily` and `weekly`.
        Weekly = "weekly",
        /// `manual` alone.
        Manual = "manual",
    }
}

closed_set! {
    /// How attentive the operator is; later members are less attentive.
    Tier {
        /// Interacted within two days.
        Normal = "normal",
        /// Idle for two days.
        Degraded = "degraded",
        /// Idle for seven days.
        Extended = "extended",
        /// Idle for fourteen days.
        Suspended = "suspended",
    }
}

closed_set! {
    /// The type of an input value.
    InputType {
        /// Text.
        String = "string",
        /// A number.
        Number = "number",
        /// A truth value.
        Boolean = "boolean",
        /// A list.
        Array = "array",
        /// A record; neither null nor a list.
        Object = "object",
    }
}

closed_set! {
    /// What a re-run does to an output.
    Temporality {
        /// Each run adds an instance.
        Versioned = "versioned",
        /// A run overwrites the one before.
        Replace = "replace",
    }
}

/// A validated manifest, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of the runtime spec, by name
pub struct Manifest {
    pub name: JsString,
    pub version: JsString,
    pub description: JsString,
    pub inputs: Record<Input>,
    pub outputs: Record<OutputDeclaration>,
    pub capabilities: Vec<JsString>,
    pub schedule: Schedule,
    pub autonomy_level: AutonomyLevel,
    pub side_effects: Vec<SideEffect>,
    pub secrets: Vec<JsString>,
    pub ttl_hours: f64,
    pub dependencies: Vec<JsString>,
    /// Milliseconds, an integer greater than 0. May exceed any integer type, hence a double.
    pub timeout_ms: f64,
    pub max_retries: u32,
    /// Milliseconds, 0 to 60000.
    pub retry_delay_ms: f64,
    /// Absent and empty are different things.
    pub actions: Option<Map>,
    /// An integer of at least 1.
    pub max_parallelism: f64,
    pub min_tier: Tier,
}

/// A declared input.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The type of its value.
    pub kind: InputType,
    /// Whether a run without a value fails.
    pub required: bool,
    /// The value where nobody supplies one.
    pub default: Option<Value>,
    /// What it is for.
    pub description: Option<JsString>,
}

/// A declared output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputDeclaration {
    /// Semantic kind, free text (`type` in files).
    pub kind: JsString,
    /// What it holds.
    pub description: Option<JsString>,
    /// What a re-run does to it.
    pub temporality: Temporality,
}
