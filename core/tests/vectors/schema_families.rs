//! The families of documents and their JSON text.

use std::collections::HashMap;

use warpline_core::json::{JsString, Map, Value, parse};
use warpline_core::schema::config::{self, ConfigFault};
use warpline_core::schema::engine_state::{self, EngineState, StateFault};
use warpline_core::schema::event::{self, EventSeverity, EventType, Stamp};
use warpline_core::schema::manifest::Manifest;
use warpline_core::schema::run_log::AdvanceStatus;
use warpline_core::schema::skill_result::SkillResult;
use warpline_core::schema::{Issue, PathPart, builders, redact};

use crate::input::Input;
use crate::js;
use crate::runner::Adapter;

/// Each family with the adapter that computes its expectations.
pub fn families() -> Vec<(&'static str, Adapter)> {
    vec![
        ("js-json", js_json),
        ("manifest-parse", manifest_parse),
        ("skill-result-parse", skill_result_parse),
        ("engine-state-read", engine_state_read),
        ("engine-state-write", engine_state_write),
        ("config-resolve", config_resolve),
        ("redact", redact_value),
        ("result-builders", result_builders),
        ("board-event", board_event),
    ]
}

fn object<const N: usize>(entries: [(&'static str, Value); N]) -> Value {
    entries.into_iter().collect::<Map>().into()
}

fn path_value(issue: &Issue) -> Value {
    let parts = issue.path.iter().map(|part| match part {
        PathPart::Key(key) => Value::from(key),
        #[allow(clippy::cast_precision_loss)] // positions of small arrays
        PathPart::Index(index) => Value::from(*index as f64),
    });
    Value::from(parts.collect::<Vec<_>>())
}

/// What a parser answered, as these families have it.
fn parsed(kind: &'static str, result: Result<Value, Vec<Issue>>) -> Value {
    match result {
        Ok(value) => object([("ok", true.into()), ("json", value.to_compact().into())]),
        Err(issues) => object([
            ("ok", false.into()),
            ("kind", kind.into()),
            ("paths", issues.iter().map(path_value).collect::<Vec<_>>().into()),
        ]),
    }
}

fn js_json(input: &Input) -> Result<Value, String> {
    let value = js::evaluate(input.text("js")?)?;
    if let Some(json) = input.optional_text("json")? {
        let parsed = parse(json).map_err(|error| error.to_string())?;
        let (from_js, from_json) = (value.to_pretty(), parsed.to_pretty());
        if from_js != from_json {
            return Err(format!("`js` gives {from_js}, `json` gives {from_json}"));
        }
    }
    if let Some(marked) = input.get("lone_surrogate") {
        let unpaired = value.to_compact().contains("\\ud");
        if marked.as_bool() != Some(unpaired) {
            return Err("`lone_surrogate` does not say whether one is there".into());
        }
    }
    Ok(object([("pretty", value.to_pretty().into()), ("compact", value.to_compact().into())]))
}

fn manifest_parse(input: &Input) -> Result<Value, String> {
    let manifest = Manifest::parse(input.value("manifest")?);
    Ok(parsed("invalid_manifest", manifest.map(|manifest| manifest.to_value())))
}

fn skill_result_parse(input: &Input) -> Result<Value, String> {
    Ok(read_result(input.value("result")?))
}

fn read_result(value: &Value) -> Value {
    parsed("invalid_result", SkillResult::parse(value).map(|result| result.to_value()))
}

fn engine_state_read(input: &Input) -> Result<Value, String> {
    let read_only = match input.text("policy")? {
        "read_only" => true,
        "write" => false,
        policy => return Err(format!("no such policy: {policy}")),
    };
    let answer = match (input.optional_text("file_kind")?, input.optional_text("text")?) {
        (Some("directory"), None) => {
            Err(object([("ok", false.into()), ("kind", "unreadable".into())]))
        }
        (None, None) => Ok(EngineState::default()),
        (None, Some(text)) => engine_state::parse_text(text).map_err(|fault| refusal(&fault)),
        _ => return Err("`file_kind` and `text` do not go together".into()),
    };
    let mut state = match answer {
        Ok(state) => state,
        Err(_) if read_only => EngineState::default(),
        Err(refusal) => return Ok(refusal),
    };
    let stubs = state.take_stub_gates();
    let discarded = stubs.iter().map(|gate| {
        object([("plugin", gate.plugin.clone().into()), ("run_id", gate.run_id.clone().into())])
    });
    let notices = stubs.iter().filter(|_| !read_only).map(|gate| {
        let stamp = Stamp { event_id: "id".into(), timestamp: "now".into() };
        let reason = event::GateReason::Stub;
        let event = event::gate_invalidated(&stamp, &gate.plugin, &gate.run_id, reason);
        let metadata = event
            .metadata_json
            .as_ref()
            .and_then(JsString::as_str)
            .and_then(|text| parse(text).ok());
        metadata.unwrap_or_default()
    });
    Ok(object([
        ("ok", true.into()),
        ("json", state.to_value().to_compact().into()),
        ("discarded_gates", discarded.collect::<Vec<_>>().into()),
        ("notices", notices.collect::<Vec<_>>().into()),
    ]))
}

fn refusal(fault: &StateFault) -> Value {
    match fault {
        StateFault::NotJson(_) => object([("ok", false.into()), ("kind", "unreadable".into())]),
        StateFault::Newer { found } => object([
            ("ok", false.into()),
            ("kind", "newer_version".into()),
            ("schema_version", (*found).into()),
        ]),
        StateFault::Invalid(issues) => object([
            ("ok", false.into()),
            ("kind", "invalid".into()),
            ("path", issues.first().map(path_value).into()),
        ]),
    }
}

fn engine_state_write(input: &Input) -> Result<Value, String> {
    let document = parse(input.text("document_json")?).map_err(|error| error.to_string())?;
    Ok(object([("text", engine_state::document_text(&document).into())]))
}

fn config_resolve(input: &Input) -> Result<Value, String> {
    let mut manifest = Map::new();
    manifest.insert("name", "p");
    manifest.insert("version", "1.0.0");
    manifest.insert("description", "d");
    manifest.insert("autonomy_level", "autonomous");
    manifest.insert("ttl_hours", 6.0);
    manifest.insert("inputs", input.value("inputs")?.clone());
    manifest.insert("secrets", input.value("secrets")?.clone());
    let manifest = Manifest::parse(&manifest.into()).map_err(|issues| format!("{issues:?}"))?;
    let mut env: HashMap<JsString, JsString> = HashMap::new();
    for (name, value) in input.object("env")?.iter() {
        let value = value.as_string().ok_or_else(|| format!("`env.{name}` is not a string"))?;
        env.insert(name.clone(), value.clone());
    }
    let file = input.optional_text("file")?;
    let resolved =
        config::resolve(&manifest, file, input.object("args")?, &|name| env.get(name).cloned());
    Ok(match resolved {
        Ok(resolved) => {
            object([("ok", true.into()), ("json", Value::from(resolved.args).to_compact().into())])
        }
        Err(ConfigFault::Problems(problems)) => {
            let problems = problems.iter().map(|problem| {
                let mut map = Map::new();
                map.insert("key", problem.key());
                map.insert("kind", problem.kind());
                map.insert_some("expected", problem.expected());
                Value::from(map)
            });
            object([
                ("ok", false.into()),
                ("code", "parse_error".into()),
                ("problems", problems.collect::<Vec<_>>().into()),
            ])
        }
        Err(ConfigFault::MissingSecrets(names)) => object([
            ("ok", false.into()),
            ("code", "auth_failure".into()),
            ("missing", names.into()),
        ]),
    })
}

fn redact_value(input: &Input) -> Result<Value, String> {
    let value = redact::redact(input.value("value")?, &input.strings("secrets")?);
    Ok(object([("value", value)]))
}

fn result_builders(input: &Input) -> Result<Value, String> {
    let overrides = input.get("overrides").and_then(Value::as_object);
    let home = input.string("home")?;
    let built = match input.text("builder")? {
        "skillOk" => builders::skill_ok(input.string("summary")?, overrides),
        "skillFailure" => {
            builders::skill_failure(input.string("code")?, input.string("message")?, overrides)
        }
        "skillHandoff" => builders::skill_handoff(
            input.string("task")?,
            input.string("context_path")?,
            overrides,
            home,
        ),
        builder => return Err(format!("no such builder: {builder}")),
    };
    Ok(object([("json", built.to_compact().into()), ("parsed", read_result(&built))]))
}

fn board_event(input: &Input) -> Result<Value, String> {
    let stamp = Stamp {
        event_id: input.string("event_id")?.clone(),
        timestamp: input.string("timestamp")?.clone(),
    };
    let plugin = || input.string("plugin");
    let run_id = || input.optional_string("run_id");
    let event = match input.text("event")? {
        "run_started" => event::run_started(&stamp, input.string("run_id")?),
        "run_completed" => {
            let status = AdvanceStatus::from_name(input.text("status")?).ok_or("no such status")?;
            event::run_completed(&stamp, input.string("run_id")?, status)
        }
        "plugin_started" => event::plugin_started(&stamp, plugin()?, run_id()?),
        "plugin_completed" => {
            event::plugin_completed(&stamp, plugin()?, input.string("summary")?, run_id()?)
        }
        "plugin_failed" => {
            event::plugin_failed(&stamp, plugin()?, input.string("error")?, run_id()?)
        }
        "plugin_skipped" => {
            event::plugin_skipped(&stamp, plugin()?, input.string("reason")?, run_id()?)
        }
        "plugin_gated" => event::plugin_gated(&stamp, plugin()?, run_id()?),
        "plugin_denied" => {
            let reason = input.string("reason")?;
            event::plugin_denied(&stamp, plugin()?, reason, input.string("run_id")?)
        }
        "denial_recorded" => {
            let fingerprint = input.string("fingerprint")?;
            event::denial_recorded(&stamp, plugin()?, input.string("reason")?, fingerprint)
        }
        "attempt_failed" => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small counts
            let attempt = input.number("attempt")? as u32;
            event::attempt_failed(&stamp, plugin()?, attempt, input.string("error")?, run_id()?)
        }
        "raw" => {
            let kind = EventType::from_name(input.text("type")?).ok_or("no such type")?;
            let (source, summary) = (input.string("source")?, input.string("summary")?);
            event::make_event(&stamp, kind, source, summary, EventSeverity::Info, run_id()?, None)
        }
        event => return Err(format!("no such event: {event}")),
    };
    Ok(object([("line", event.to_line().into())]))
}
