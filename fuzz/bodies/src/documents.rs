//! The documents of a home and of a plugin.

use warpline_core::json::{JsString, Map, Value, parse};
use warpline_core::schema::acknowledgement::Acknowledgements;
use warpline_core::schema::engine_state::{self, EngineState, StateFault};
use warpline_core::schema::event::BoardEvent;
use warpline_core::schema::issue::issues_text;
use warpline_core::schema::manifest::Manifest;
use warpline_core::schema::preferences::Preferences;
use warpline_core::schema::redact;
use warpline_core::schema::run_artifact::RunArtifact;
use warpline_core::schema::run_log::RunLog;
use warpline_core::schema::settings;
use warpline_core::schema::skill_result::SkillResult;
use warpline_core::schema::{Issue, validate_by_name};

use crate::edited::{assert_hides_values, marked, value};

/// A sample of each document, which is a seed of its target as well.
macro_rules! sample {
    ($path:literal) => {
        include_str!(concat!("../../corpus/", $path))
    };
}

pub const ENGINE_STATE: &str = sample!("engine_state/sample.json");
pub const MANIFEST: &str = sample!("manifest/sample.json");
const ACKNOWLEDGEMENTS: &str = sample!("acknowledgements/sample.json");
const EVENT: &str = sample!("events/sample.json");
const PREFERENCES: &str = sample!("preferences/sample.json");
const RUN_ARTIFACT: &str = sample!("run_artifact/sample.json");
const RUN_LOG: &str = sample!("run_log/sample.json");
const SKILL_RESULT: &str = sample!("skill_result/sample.json");

type Parse<T> = fn(&Value) -> Result<T, Vec<Issue>>;

/// What is read is written so that it reads the same; what is refused is refused without its values.
fn keeps<T>(value: &Value, parse_value: Parse<T>, to_value: fn(&T) -> Value) -> Option<T> {
    if let Some(Err(issues)) = marked(value).as_ref().map(parse_value) {
        assert_hides_values(&issues_text(&issues));
    }
    match parse_value(value) {
        Ok(document) => {
            let text = to_value(&document).to_compact();
            let again = parse(&text).expect("JSON is written");
            let again = parse_value(&again).map_err(|issues| issues_text(&issues));
            assert_eq!(to_value(&again.expect("what is written is read")).to_compact(), text);
            Some(document)
        }
        Err(issues) => {
            assert!(!issues.is_empty(), "a refusal has a fault");
            None
        }
    }
}

pub fn acknowledgements(data: &[u8]) {
    let Some(value) = value(data, &[ACKNOWLEDGEMENTS]) else { return };
    keeps(&value, Acknowledgements::parse, Acknowledgements::to_value);
}

pub fn events(data: &[u8]) {
    let Some(value) = value(data, &[EVENT]) else { return };
    if let Some(event) = keeps(&value, BoardEvent::parse, BoardEvent::to_value) {
        assert!(!event.to_line().contains('\n'), "an event is one line");
    }
}

pub fn preferences(data: &[u8]) {
    let Some(value) = value(data, &[PREFERENCES]) else { return };
    keeps(&value, Preferences::parse, Preferences::to_value);
}

pub fn run_artifact(data: &[u8]) {
    let Some(value) = value(data, &[RUN_ARTIFACT]) else { return };
    keeps(&value, RunArtifact::parse, RunArtifact::to_value);
}

pub fn run_log(data: &[u8]) {
    let Some(value) = value(data, &[RUN_LOG]) else { return };
    keeps(&value, RunLog::parse, RunLog::to_value);
}

pub fn manifest(data: &[u8]) {
    let Some(value) = value(data, &[MANIFEST]) else { return };
    if let Some(manifest) = keeps(&value, Manifest::parse, Manifest::to_value) {
        let written = manifest.to_value();
        let keys: Vec<JsString> = written.as_object().expect("an object").keys().cloned().collect();
        assert!(keys.iter().all(|key| Manifest::KEYS.iter().any(|known| *key == *known)));
        parse(&settings::json_schema_text(&manifest)).expect("a schema is JSON");
    }
}

pub fn engine_state(data: &[u8]) {
    let Some(value) = value(data, &[ENGINE_STATE]) else { return };
    let text = value.to_compact();
    match engine_state::parse_text(&text) {
        Ok(state) => {
            let written = state.to_text();
            let again = engine_state::parse_text(&written).expect("what is written is read");
            assert_eq!(again.to_text(), written);
            let kept = parse(&written).expect("JSON is written");
            for (key, value) in parse(&text).iter().filter_map(Value::as_object).flat_map(Map::iter)
            {
                let kept = kept.as_object().and_then(|kept| kept.get_js(key));
                let kept = kept.unwrap_or_else(|| panic!("{key:?} is lost"));
                if EngineState::default()
                    .to_value()
                    .as_object()
                    .is_some_and(|own| !own.contains(key))
                {
                    assert_eq!(kept.to_compact(), value.to_compact(), "{key:?} is changed");
                }
            }
            let mut left = state.clone();
            let stubs = left.take_stub_gates();
            assert_eq!(stubs.len() + left.pending_gates.len(), state.pending_gates.len());
        }
        Err(StateFault::Invalid(issues)) => assert!(!issues.is_empty(), "a refusal has a fault"),
        Err(StateFault::NotJson(error)) => panic!("what was written is JSON: {error}"),
        Err(StateFault::Newer { found }) => assert!(found > 1.0),
    }
    if let Some(Err(StateFault::Invalid(issues))) =
        marked(&value).map(|value| engine_state::parse_text(&value.to_compact()))
    {
        assert_hides_values(&issues_text(&issues));
    }
}

/// Results, the shapes inside them, and what is left of them without a credential.
pub fn skill_result(data: &[u8]) {
    let Some(value) = value(data, &[SKILL_RESULT]) else { return };
    keeps(&value, SkillResult::parse, SkillResult::to_value);
    for name in ["skill-error", "output-record", "needs-llm"] {
        if let Some(Ok(normal)) = validate_by_name(name, &value) {
            assert_eq!(
                validate_by_name(name, &normal).map(|again| again.expect("normal").to_compact()),
                Some(normal.to_compact())
            );
        }
    }
    let secrets = ["hunter2", "a", "done"].map(JsString::from);
    let redacted = redact::redact(&value, &secrets);
    crate::redactions::assert_clean(&redacted, &secrets);
    assert_eq!(redact::redact(&redacted, &[]).to_compact(), redacted.to_compact());
    keeps(&redacted, SkillResult::parse, SkillResult::to_value);
}
