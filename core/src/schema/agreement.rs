//! Parsers, writers and published JSON Schemas say the same: every document is changed at every
//! place in many ways, and each change must be judged alike by all of them.

use std::fmt::Debug;

use crate::json::{JsString, Map, Value, parse};

use super::acknowledgement::Acknowledgements;
use super::engine_state::EngineState;
use super::event::BoardEvent;
use super::manifest::Manifest;
use super::output::OutputRecord;
use super::preferences::Preferences;
use super::run_artifact::RunArtifact;
use super::run_log::{PluginLogEntry, RunLog};
use super::skill_result::{NeedsLlm, SkillError, SkillResult};
use super::{Issue, PathPart, SCHEMA_NAMES, json_schema, validate_by_name};

mod samples;
mod validator;

use samples::sample;

type Path = Vec<PathPart>;

/// Every place of a value, the root first.
fn places(value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    let mut open = vec![(Path::new(), value)];
    while let Some((path, value)) = open.pop() {
        let step = |part| path.iter().cloned().chain([part]).collect::<Path>();
        if let Some(map) = value.as_object() {
            open.extend(map.iter().map(|(key, item)| (step(PathPart::Key(key.clone())), item)));
        }
        let items = value.as_array().unwrap_or_default().iter().enumerate();
        open.extend(items.map(|(index, item)| (step(PathPart::Index(index)), item)));
        found.push(path);
    }
    found
}

/// A copy of `root` with another value at a place, or without that place.
fn changed(root: &Value, path: &[PathPart], new: Option<Value>) -> Option<Value> {
    let Some((part, rest)) = path.split_first() else { return new };
    match (root, part) {
        (Value::Object(object), PathPart::Key(key)) => {
            let mut map: Map = (**object).clone();
            let old = map.get_js(key).cloned().unwrap_or_default();
            match changed(&old, rest, new) {
                Some(item) => map.insert(key.clone(), item),
                None => drop(map.remove(key)),
            }
            Some(map.into())
        }
        (Value::Array(list), PathPart::Index(index)) => {
            let mut items = list.as_slice().to_vec();
            match changed(&items[*index], rest, new) {
                Some(item) => items[*index] = item,
                None => drop(items.remove(*index)),
            }
            Some(items.into())
        }
        _ => panic!("no such place"),
    }
}

/// Values of every type, and the edges that the documents know.
fn pool() -> Vec<Value> {
    [
        "null",
        "true",
        "false",
        "0",
        "1",
        "-1",
        "1.5",
        "10",
        "11",
        "60000",
        "60001",
        "1e9",
        "1e400",
        "\"\"",
        "\"x\"",
        "\"\\ud800\"",
        "\"success\"",
        "\"failed\"",
        "\"weekly\"",
        "\"manual\"",
        "\"info\"",
        "\"LOW\"",
        "[]",
        "[null]",
        "[\"x\"]",
        "{}",
        "{\"a\":1}",
        "{\"a\":{}}",
        "{\"__proto__\":\"x\"}",
        "{\"type\":\"t\",\"path\":\"p\"}",
    ]
    .map(|text| parse(text).expect("json"))
    .to_vec()
}

/// The value with each place removed or replaced.
fn mutants(value: &Value) -> Vec<Value> {
    let pool = pool();
    let mut mutants = Vec::new();
    for path in places(value) {
        mutants.extend(changed(value, &path, None));
        mutants.extend(pool.iter().filter_map(|new| changed(value, &path, Some(new.clone()))));
    }
    mutants
}

/// Two changes at once, in places that a fixed sequence picks.
fn double_mutants(value: &Value, count: usize) -> Vec<Value> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut pick = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    let pool = pool();
    let mut mutants = Vec::new();
    for _ in 0..count {
        let mut mutant = value.clone();
        for _ in 0..2 {
            let places = places(&mutant);
            let new = pool.get(pick(pool.len() + 4)).cloned();
            mutant = changed(&mutant, &places[pick(places.len())], new).unwrap_or_default();
        }
        mutants.push(mutant);
    }
    mutants
}

#[test]
fn every_sample_comes_back_byte_for_byte() {
    for name in SCHEMA_NAMES {
        let sample = sample(name);
        let normal = validate_by_name(name, &sample).expect(name).expect(name);
        assert_eq!(normal.to_compact(), sample.to_compact(), "{name}");
    }
    assert_eq!(validate_by_name("no-such-schema", &Value::Null), None);
    assert_eq!(json_schema::for_name("no-such-schema"), None);
}

#[test]
fn every_document_has_a_schema_and_what_can_be_validated_is_one() {
    for name in json_schema::DOCUMENTS {
        assert!(json_schema::for_name(name).is_some(), "{name}");
    }
    for name in SCHEMA_NAMES {
        assert!(json_schema::DOCUMENTS.contains(&name), "{name}");
    }
}

#[test]
fn preferences_are_judged_alike_by_schema_and_parser() {
    let schema = json_schema::for_name("preferences").expect("a schema");
    let sample = sample("preferences");
    for mutant in mutants(&sample).into_iter().chain(double_mutants(&sample, 400)) {
        let by_parser = Preferences::parse(&mutant).is_ok();
        assert_eq!(validator::accepts(&schema, &mutant), by_parser, "{mutant:?}");
    }
}

#[test]
fn schema_and_parser_judge_every_change_alike() {
    for name in SCHEMA_NAMES {
        let schema = json_schema::for_name(name).expect(name);
        let (mut accepted, mut refused) = (0, 0);
        let sample = sample(name);
        for mutant in mutants(&sample).into_iter().chain(double_mutants(&sample, 400)) {
            let by_parser = validate_by_name(name, &mutant).expect(name).is_ok();
            // What the schema cannot say: inherited names in a config file.
            let inherited = name == "plugin-config" && mutant.get("__proto__").is_some();
            assert_eq!(
                validator::accepts(&schema, &mutant) && !inherited,
                by_parser,
                "{name} {mutant:?}"
            );
            *if by_parser { &mut accepted } else { &mut refused } += 1;
        }
        assert!(accepted > 30 && refused > 10, "{name}: {accepted} accepted, {refused} refused");
    }
}

#[test]
fn samples_hold_every_property_that_a_schema_names() {
    for name in SCHEMA_NAMES {
        let schema = json_schema::for_name(name).expect(name);
        for path in validator::absent(&schema, &sample(name)) {
            // Of these two a record holds one.
            assert!(path.ends_with("body") || path.ends_with("path"), "{name}: {path} is nowhere");
        }
    }
}

#[test]
fn keys_that_nobody_knows_are_dropped_except_at_the_top_of_the_state() {
    for name in SCHEMA_NAMES {
        let schema = json_schema::for_name(name).expect(name);
        let sample = sample(name);
        for path in validator::closed_objects(&schema, &sample) {
            let key: JsString = "a key of tomorrow".into();
            let place: Path = path.iter().cloned().chain([PathPart::Key(key.clone())]).collect();
            let more = changed(&sample, &place, Some(1.0.into())).expect("an object");
            let normal = validate_by_name(name, &more).expect(name).expect(name);
            if name == "engine-state" && path.is_empty() {
                assert_eq!(normal.to_compact(), more.to_compact());
            } else {
                assert_eq!(normal.to_compact(), sample.to_compact(), "{name} {path:?}");
            }
        }
    }
}

#[test]
fn closed_sets_take_the_members_that_files_have_and_no_other_text() {
    let sets: &[(&str, &[&str], &str)] = &[
        ("plugin-manifest", &["schedule"], "on_run daily weekly manual"),
        ("plugin-manifest", &["autonomy_level"], "autonomous supervised manual"),
        (
            "plugin-manifest",
            &["side_effects", "0"],
            "sends_email creates_issue writes_db external_api modifies_file",
        ),
        ("plugin-manifest", &["min_tier"], "normal degraded extended suspended"),
        ("plugin-manifest", &["inputs", "repo", "type"], "string number boolean array object"),
        ("plugin-manifest", &["outputs", "brief", "temporality"], "versioned replace"),
        ("skill-result", &["status"], "success partial failed skipped"),
        (
            "skill-error",
            &["code"],
            "auth_failure rate_limit data_missing stale_data parse_error timeout dependency_unavailable",
        ),
        ("skill-error", &["impact"], "HIGH MEDIUM LOW"),
        ("output-record", &["format"], "markdown json html text"),
        ("engine-state", &["plugin_runs", "7", "status"], "success partial failed skipped gated"),
        ("run-log", &["status"], "complete partial failed interrupted"),
        ("plugin-log-entry", &["status"], "completed failed skipped gated denied"),
        (
            "board-event",
            &["type"],
            "task_created task_updated task_completed task_deferred run_started run_completed plugin_result error notice",
        ),
        ("acknowledgements", &["id-1", "action_taken"], "acknowledge action defer mark_done"),
    ];
    for (name, place, members) in sets {
        let schema = json_schema::for_name(name).expect(name);
        let part = |step: &&str| match (step.parse(), *place) {
            (Ok(index), ["side_effects", _]) => PathPart::Index(index),
            _ => PathPart::Key((*step).into()),
        };
        let place: Path = place.iter().map(part).collect();
        let accepts = |member: &str| {
            let document = changed(&sample(name), &place, Some(member.into())).expect("a place");
            let parsed = validate_by_name(name, &document).expect(name).is_ok();
            assert_eq!(validator::accepts(&schema, &document), parsed, "{name} {member}");
            parsed
        };
        for member in members.split(' ') {
            assert!(accepts(member), "{name} {member}");
            let cased = member.to_uppercase();
            assert!(cased == *member || !accepts(&cased), "{name} {cased}");
        }
        for other in ["", "unknown_error", "sends_teleport", "automatic", "append", "hourly"] {
            assert!(!accepts(other), "{name} {other}");
        }
    }
}

/// Checks that what was parsed is parsed again, equal, from what it is written as.
fn round_trips<T: PartialEq + Debug>(
    sample: &Value,
    parse: fn(&Value) -> Result<T, Vec<Issue>>,
    to_value: fn(&T) -> Value,
) {
    let mut parsed = 0;
    for mutant in mutants(sample).into_iter().chain(double_mutants(sample, 400)) {
        let Ok(document) = parse(&mutant) else { continue };
        let written = to_value(&document);
        assert_eq!(parse(&written).as_ref(), Ok(&document), "{mutant:?}");
        let text = written.to_compact();
        let read = crate::json::parse(&text).expect("what is written is JSON");
        assert_eq!(read.to_compact(), text);
        parsed += 1;
    }
    assert!(parsed > 10, "only {parsed} mutants of {sample:?} were accepted");
}

#[test]
fn what_was_parsed_is_parsed_again_from_what_it_is_written_as() {
    round_trips(&sample("plugin-manifest"), Manifest::parse, Manifest::to_value);
    round_trips(&sample("skill-result"), SkillResult::parse, SkillResult::to_value);
    round_trips(&sample("skill-error"), SkillError::parse, SkillError::to_value);
    round_trips(&sample("output-record"), OutputRecord::parse, OutputRecord::to_value);
    round_trips(&sample("needs-llm"), NeedsLlm::parse, NeedsLlm::to_value);
    round_trips(&sample("engine-state"), EngineState::parse, EngineState::to_value);
    round_trips(&sample("run-log"), RunLog::parse, RunLog::to_value);
    round_trips(&sample("plugin-log-entry"), PluginLogEntry::parse, PluginLogEntry::to_value);
    round_trips(&sample("board-event"), BoardEvent::parse, BoardEvent::to_value);
    round_trips(&sample("acknowledgements"), Acknowledgements::parse, Acknowledgements::to_value);
    round_trips(&sample("run-artifact"), RunArtifact::parse, RunArtifact::to_value);
    round_trips(&sample("preferences"), Preferences::parse, Preferences::to_value);
}
