//! The manifest of a plugin: what `manifest.ts` exports. `docs/manifest.md` lists its keys.

use crate::json::{JsString, Map, Record, Value};

use super::shape::{self, Faults, Fields, Place};
use super::{Issue, closed_set, is_prototype_member};

closed_set! {
    /// An effect that a plugin declares and a human approves.
    SideEffect {
        /// Mail is sent.
        SendsEmail = "sends_email",
        /// An issue is filed.
        CreatesIssue = "creates_issue",
        /// A database is written.
        WritesDb = "writes_db",
        /// Any other system is called, reading included.
        ExternalApi = "external_api",
        /// A file is changed, other than the plugin's own memory in the home.
        ModifiesFile = "modifies_file",
    }
}

closed_set! {
    /// Who may let the plugin proceed once it is due.
    AutonomyLevel {
        /// Its result counts at once.
        Autonomous = "autonomous",
        /// Each result waits until a person accepts it. It does not run under a profile.
        Supervised = "supervised",
        /// It never runs in an advance; a person types `warpline run`.
        Manual = "manual",
    }
}

closed_set! {
    /// When an advance considers the plugin at all.
    Schedule {
        /// Every advance but one with the profile `manual`.
        OnRun = "on_run",
        /// The same advances; the word says that once a day is meant, and `ttl_hours` sees to it.
        Daily = "daily",
        /// Advances with the profile `weekly`, and those without one.
        Weekly = "weekly",
        /// Advances with the profile `manual` alone.
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
        /// Idle for less than 2 days.
        Normal = "normal",
        /// Idle for 2 days or more.
        Degraded = "degraded",
        /// Idle for 7 days or more.
        Extended = "extended",
        /// Idle for 14 days or more.
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
        /// True or false.
        Boolean = "boolean",
        /// A list.
        Array = "array",
        /// An object; neither null nor a list.
        Object = "object",
    }
}

closed_set! {
    /// Whether outputs of earlier runs stay.
    Temporality {
        /// Each run adds an instance.
        Versioned = "versioned",
        /// A run overwrites the one before.
        Replace = "replace",
    }
}

/// The most retries that a manifest or a call may ask for.
pub const MAX_RETRIES: u32 = 10;

/// A validated manifest, defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The name of its directory.
    pub name: JsString,
    /// Free text; nothing compares it.
    pub version: JsString,
    /// One line for a reader.
    pub description: JsString,
    /// What it can be told, by input name.
    pub inputs: Record<Input>,
    /// What it produces, by a name of its own.
    pub outputs: Record<OutputDeclaration>,
    /// Free words; they grant nothing.
    pub capabilities: Vec<JsString>,
    /// Which advances consider it.
    pub schedule: Schedule,
    /// Whether its results count at once.
    pub autonomy_level: AutonomyLevel,
    /// What it does to the world, each of which needs a grant.
    pub side_effects: Vec<SideEffect>,
    /// Names of environment variables, all of which must be set.
    pub secrets: Vec<JsString>,
    /// Hours that a run stays fresh, above 0.
    pub ttl_hours: f64,
    /// Directory names of the plugins that run before it.
    pub dependencies: Vec<JsString>,
    /// Milliseconds, an integer greater than 0. May exceed any integer type, hence a double.
    pub timeout_ms: f64,
    /// Attempts after the first, 0 to [`MAX_RETRIES`].
    pub max_retries: u32,
    /// Milliseconds, 0 to 60000.
    pub retry_delay_ms: f64,
    /// Absent and empty are different things. Each holds `description` and maybe `is_default`.
    pub actions: Option<Map>,
    /// How many of its direct invocations run at once; an integer of at least 1.
    pub max_parallelism: f64,
    /// The least attentive operator it still runs for.
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
    /// Whether those of earlier runs stay.
    pub temporality: Temporality,
}

impl Manifest {
    /// The names that a manifest can have, in the order of [`Manifest::to_value`].
    pub const KEYS: [&'static str; 18] = [
        "name",
        "version",
        "description",
        "inputs",
        "outputs",
        "capabilities",
        "schedule",
        "autonomy_level",
        "side_effects",
        "secrets",
        "ttl_hours",
        "dependencies",
        "timeout_ms",
        "max_retries",
        "retry_delay_ms",
        "actions",
        "max_parallelism",
        "min_tier",
    ];

    /// Reads a manifest as written, fills in the defaults and drops what nobody knows.
    ///
    /// # Errors
    ///
    /// Every fault, with its path.
    ///
    /// ```
    /// use warpline_core::json::parse;
    /// use warpline_core::schema::manifest::Manifest;
    ///
    /// let written = parse(r#"{"name": "uptime-line", "version": "1.0.0", "ttl_hours": 0}"#).expect("JSON");
    /// let faults = Manifest::parse(&written).expect_err("neither complete nor right");
    /// let paths: Vec<_> = faults.iter().map(|fault| fault.path_text()).collect();
    /// assert_eq!(paths, ["description", "autonomy_level", "ttl_hours"]);
    /// ```
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        shape::document(value, read)
    }

    /// The whole document, in the order that files have.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("name", &self.name);
        map.insert("version", &self.version);
        map.insert("description", &self.description);
        map.insert("inputs", shape::record_value(&self.inputs, Input::to_value));
        map.insert("outputs", shape::record_value(&self.outputs, OutputDeclaration::to_value));
        map.insert("capabilities", self.capabilities.clone());
        map.insert("schedule", self.schedule);
        map.insert("autonomy_level", self.autonomy_level);
        map.insert("side_effects", self.side_effects.clone());
        map.insert("secrets", self.secrets.clone());
        map.insert("ttl_hours", self.ttl_hours);
        map.insert("dependencies", self.dependencies.clone());
        map.insert("timeout_ms", self.timeout_ms);
        map.insert("max_retries", self.max_retries);
        map.insert("retry_delay_ms", self.retry_delay_ms);
        map.insert_some("actions", self.actions.clone());
        map.insert("max_parallelism", self.max_parallelism);
        map.insert("min_tier", self.min_tier);
        map.into()
    }
}

impl Input {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("type", self.kind);
        map.insert("required", self.required);
        map.insert_some("default", self.default.clone());
        map.insert_some("description", self.description.as_ref());
        map.into()
    }
}

impl OutputDeclaration {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("type", &self.kind);
        map.insert_some("description", self.description.as_ref());
        map.insert("temporality", self.temporality);
        map.into()
    }
}

fn read(place: Place<'_>, faults: &mut Faults) -> Option<Manifest> {
    let mut fields = Fields::of(place, faults)?;
    let name = fields.required("name", read_name);
    let version = fields.required("version", shape::non_empty);
    let description = fields.required("description", shape::string);
    let inputs = fields.or("inputs", Record::new(), shape::record(read_input));
    let outputs = fields.or("outputs", Record::new(), shape::record(read_output));
    let capabilities = fields.or("capabilities", Vec::new(), shape::list(shape::string));
    let schedule = fields.or("schedule", Schedule::OnRun, shape::member);
    let autonomy_level = fields.required("autonomy_level", shape::member);
    let side_effects = fields.or("side_effects", Vec::new(), shape::list(shape::member));
    let secrets = fields.or("secrets", Vec::new(), shape::list(shape::string));
    let ttl_hours = fields.required("ttl_hours", read_ttl);
    let dependencies = fields.or("dependencies", Vec::new(), shape::list(shape::string));
    let timeout_ms = fields.or("timeout_ms", 60_000.0, shape::integer_from(1.0));
    let max_retries = fields.or("max_retries", 1, shape::count(0, MAX_RETRIES));
    let retry_delay_ms = fields.or("retry_delay_ms", 2000, shape::count(0, 60_000));
    let actions = fields.optional("actions", shape::record(read_action));
    let max_parallelism = fields.or("max_parallelism", 1.0, shape::integer_from(1.0));
    let min_tier = fields.or("min_tier", Tier::Normal, shape::member);
    Some(Manifest {
        name: name?,
        version: version?,
        description: description?,
        inputs: inputs?,
        outputs: outputs?,
        capabilities: capabilities?,
        schedule: schedule?,
        autonomy_level: autonomy_level?,
        side_effects: side_effects?,
        secrets: secrets?,
        ttl_hours: ttl_hours?,
        dependencies: dependencies?,
        timeout_ms: timeout_ms?,
        max_retries: max_retries?,
        retry_delay_ms: retry_delay_ms?.into(),
        actions: actions?.map(|actions| actions.into_iter().collect()),
        max_parallelism: max_parallelism?,
        min_tier: min_tier?,
    })
}

fn read_name(place: Place<'_>, faults: &mut Faults) -> Option<JsString> {
    let name = shape::non_empty(place, faults)?;
    if is_prototype_member(&name) {
        return faults.add("a name that JavaScript objects do not inherit");
    }
    Some(name)
}

fn read_ttl(place: Place<'_>, faults: &mut Faults) -> Option<f64> {
    match place {
        Some(Value::Number(hours)) if hours.is_finite() && *hours > 0.0 => Some(*hours),
        _ => faults.add("a number greater than 0"),
    }
}

fn read_input(place: Place<'_>, faults: &mut Faults) -> Option<Input> {
    let mut fields = Fields::of(place, faults)?;
    let kind = fields.required("type", shape::member);
    let required = fields.or("required", true, shape::boolean);
    let default = fields.optional("default", shape::anything);
    let description = fields.optional("description", shape::string);
    Some(Input { kind: kind?, required: required?, default: default?, description: description? })
}

fn read_output(place: Place<'_>, faults: &mut Faults) -> Option<OutputDeclaration> {
    let mut fields = Fields::of(place, faults)?;
    let kind = fields.required("type", shape::string);
    let description = fields.optional("description", shape::string);
    let temporality = fields.or("temporality", Temporality::Replace, shape::member);
    Some(OutputDeclaration { kind: kind?, description: description?, temporality: temporality? })
}

fn read_action(place: Place<'_>, faults: &mut Faults) -> Option<Value> {
    let mut fields = Fields::of(place, faults)?;
    let description = fields.required("description", shape::string);
    let is_default = fields.optional("is_default", shape::boolean);
    let mut map = Map::new();
    map.insert("description", description?);
    map.insert_some("is_default", is_default?);
    Some(map.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    const SMALLEST: &str = r#"{"name":"p","version":"1.0.0","description":"d",
        "autonomy_level":"autonomous","ttl_hours":6}"#;

    /// What becomes of the smallest manifest with one more or another member.
    fn with(key: &str, value: impl Into<Value>) -> Result<Manifest, Vec<Issue>> {
        let mut manifest = parse(SMALLEST).expect("json").as_object().expect("object").clone();
        manifest.insert(key, value);
        Manifest::parse(&manifest.into())
    }

    fn paths(refused: Result<Manifest, Vec<Issue>>) -> Vec<String> {
        refused.expect_err("refused").iter().map(Issue::path_text).collect()
    }

    /// Cases: T001.
    #[test]
    fn what_a_manifest_says_comes_back_as_it_was_said() {
        let given = r#"{"name":"seo","version":"1.2.0","description":"d",
            "inputs":{"site":{"type":"string","required":true,"description":"which one"}},
            "outputs":{"report":{"type":"brief","temporality":"replace"}},"capabilities":["gsc"],
            "schedule":"weekly","autonomy_level":"autonomous","side_effects":["modifies_file"],
            "ttl_hours":168,"dependencies":["gsc-auth"],"timeout_ms":30000,"max_parallelism":1}"#;
        let given = parse(given).expect("json");
        let read = Manifest::parse(&given).expect("valid").to_value();
        for (key, value) in given.as_object().expect("object").iter() {
            assert_eq!(read.as_object().expect("object").get_js(key), Some(value), "{key}");
        }
    }

    /// Cases: T002.
    #[test]
    fn a_manifest_without_a_name_is_refused() {
        let mut manifest = parse(SMALLEST).expect("json").as_object().expect("object").clone();
        manifest.remove(&"name".into());
        assert_eq!(paths(Manifest::parse(&manifest.into())), ["name"]);
    }

    /// Cases: T004, T005, T008, T009.
    #[test]
    fn autonomy_and_effects_are_closed_sets() {
        for level in ["autonomous", "supervised", "manual"] {
            let read = with("autonomy_level", level).expect(level);
            assert_eq!(read.autonomy_level.as_str(), level);
        }
        for effect in ["sends_email", "creates_issue", "writes_db", "external_api", "modifies_file"]
        {
            let read = with("side_effects", vec![Value::from(effect)]).expect(effect);
            assert_eq!(
                read.side_effects.iter().map(|one| one.as_str()).collect::<Vec<_>>(),
                [effect]
            );
        }
        assert_eq!(paths(with("autonomy_level", "automatic")), ["autonomy_level"]);
        let unknown = vec![Value::from("sends_teleport")];
        assert_eq!(paths(with("side_effects", unknown)), ["side_effects[0]"]);
    }

    /// Cases: T006.
    #[test]
    fn a_list_of_no_dependencies_is_one() {
        let read = with("dependencies", Vec::<Value>::new()).expect("valid");
        assert_eq!(read.to_value().get("dependencies"), Some(&Vec::<Value>::new().into()));
    }
}
