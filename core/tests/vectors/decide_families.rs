//! The families of the pure rules.

use std::collections::HashSet;

use warpline_core::clock::Instant;
use warpline_core::decide::dueness::{self, Question, Verdict};
use warpline_core::decide::freshness::freshness;
use warpline_core::decide::gate::{self, Answer};
use warpline_core::decide::grant::{self, MergeRequest, Merged};
use warpline_core::decide::{attempt, denial, levels, quiet, retention, retry, tier};
use warpline_core::json::{JsString, Map, Record, Value, parse};
use warpline_core::schema::engine_state::{self, EngineState, PendingGate};
use warpline_core::schema::event::{self, BoardEvent, GateReason, Stamp};
use warpline_core::schema::grant::Scopes;
use warpline_core::schema::issue::issues_text;
use warpline_core::schema::manifest::{Manifest, RunProfile, SideEffect, Tier};
use warpline_core::schema::output::OutputRecord;
use warpline_core::schema::preferences::{Preferences, minute_of_day};
use warpline_core::schema::skill_result::SkillResult;

use crate::input::Input;
use crate::runner::Adapter;

/// Each family with the adapter that computes its expectations.
pub fn families() -> Vec<(&'static str, Adapter)> {
    vec![
        ("attempt-status", attempt_status),
        ("denial-fingerprint", denial_fingerprint),
        ("denial-standing", denial_standing),
        ("dueness", dueness_verdict),
        ("freshness", freshness_reason),
        ("gate-apply", gate_apply),
        ("gate-retention", gate_retention),
        ("grant-check", grant_check),
        ("grant-merge", grant_merge),
        ("levels", topological_levels),
        ("quiet-hours", quiet_hours),
        ("retention", file_retention),
        ("retry-delay", retry_delay),
        ("tier", attention_tier),
    ]
}

type Computed = Result<Value, String>;

fn object(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    entries.into_iter().collect::<Map>().into()
}

fn instant(text: &str) -> Result<Instant, String> {
    Instant::parse(text).ok_or_else(|| format!("{text:?} is no instant"))
}

fn now(input: &Input) -> Result<Instant, String> {
    instant(input.text("now")?)
}

fn manifest(input: &Input) -> Result<Manifest, String> {
    Manifest::parse(input.value("manifest")?).map_err(|issues| issues_text(&issues))
}

fn state(value: &Value) -> Result<EngineState, String> {
    EngineState::parse(value).map_err(|issues| issues_text(&issues))
}

/// A whole number that is at least zero.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked to be whole
fn count(input: &Input, key: &str) -> Result<u32, String> {
    let number = input.number(key)?;
    let whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    whole.then_some(number as u32).ok_or_else(|| format!("`{key}` is no count"))
}

/// A member of a closed set; `None` where the key is `null`.
fn member<T>(input: &Input, key: &str, find: fn(&str) -> Option<T>) -> Result<Option<T>, String> {
    let Some(name) = input.optional_text(key)? else { return Ok(None) };
    find(name).map(Some).ok_or_else(|| format!("`{key}` is no member of its set"))
}

fn required<T>(input: &Input, key: &str, find: fn(&str) -> Option<T>) -> Result<T, String> {
    member(input, key, find)?.ok_or_else(|| format!("`{key}` is null"))
}

fn attempt_status(input: &Input) -> Computed {
    let result = SkillResult::parse(input.value("result")?).map_err(|i| issues_text(&i))?;
    let (cancelled, timed_out) = (input.flag("cancelled")?, input.flag("timed_out")?);
    let status = attempt::classify(&result, cancelled, timed_out);
    let (number, max_retries) = (count(input, "attempt")?, count(input, "max_retries")?);
    let mut computed = Map::new();
    if input.expects("attempt_status") {
        computed.insert("attempt_status", status);
        computed.insert("attempt_error", attempt::error_text(status, &result));
        computed.insert("retry", attempt::retries(number, max_retries, status, &result));
    }
    computed.insert("run_status", attempt::run_status(cancelled, timed_out, &result));
    Ok(computed.into())
}

fn denial_fingerprint(input: &Input) -> Computed {
    let effects = input.strings("side_effects")?;
    let effects: Option<Vec<SideEffect>> =
        effects.iter().map(|name| SideEffect::from_name(name.as_str()?)).collect();
    let effects = effects.ok_or("a side effect is none of the five")?;
    let outputs = input.array("outputs")?.iter().map(OutputRecord::parse);
    let outputs = outputs.collect::<Result<Vec<_>, _>>().map_err(|issues| issues_text(&issues))?;
    let fingerprint = denial::fingerprint(input.string("plugin")?, &effects, &outputs);
    Ok(object([("hashed", fingerprint.hashed.into()), ("sha256", fingerprint.sha256.into())]))
}

fn denial_standing(input: &Input) -> Computed {
    let state = state(input.value("state")?)?;
    let (name, denial) = match denial::standing(input.string("plugin")?, &manifest(input)?, &state)
    {
        denial::Standing::None => ("none", None),
        denial::Standing::Live(denial) => ("live", Some(denial)),
        denial::Standing::Superseded(denial) => ("superseded", Some(denial)),
    };
    Ok(object([("standing", name.into()), ("denial", denial.map(|d| d.to_value()).into())]))
}

fn dueness_verdict(input: &Input) -> Computed {
    let (plugin, state, now) =
        (input.string("plugin")?, state(input.value("state")?)?, now(input)?);
    if !input.strings("installed")?.contains(plugin) {
        return Err("the plugin is not installed".into());
    }
    let grant = input.optional_text("grant")?;
    let due_at_earlier_level: Option<HashSet<JsString>> = match input.get("due_at_earlier_level") {
        None | Some(Value::Null) => None,
        Some(_) => Some(input.strings("due_at_earlier_level")?.into_iter().collect()),
    };
    let verdict = dueness::evaluate(&Question {
        plugin,
        manifest: &manifest(input)?,
        state: &state,
        locked: &dueness::locked_plugins(&state, now),
        profile: member(input, "profile", RunProfile::from_name)?,
        tier: required(input, "tier", Tier::from_name)?,
        force: input.flag("force")?,
        grant: &|| grant.map(str::to_owned),
        due_at_earlier_level: due_at_earlier_level.as_ref(),
        now,
    });
    let mut computed = Map::new();
    computed.insert("due", verdict == Verdict::Due);
    if let Verdict::NotDue(reason) = verdict {
        computed.insert("reason", reason.code());
        let data = reason.data();
        if data.as_object().is_some_and(|facts| !facts.is_empty()) {
            computed.insert("data", data);
        }
    }
    Ok(computed.into())
}

fn freshness_reason(input: &Input) -> Computed {
    let runs = object([("plugin_runs", input.value("plugin_runs")?.clone())]);
    let reason = freshness(
        input.string("plugin")?,
        input.number("ttl_hours")?,
        &input.strings("dependencies")?,
        &state(&runs)?.plugin_runs,
        input.flag("force")?,
        now(input)?,
    );
    Ok(object([("fresh", reason.is_fresh().into()), ("reason", reason.as_str().into())]))
}

fn gate_apply(input: &Input) -> Computed {
    let mut state =
        engine_state::parse_text(input.text("file")?).map_err(|fault| format!("{fault:?}"))?;
    let stamp = Stamp { event_id: "e".into(), timestamp: input.string("now")?.clone() };
    let mut events: Vec<BoardEvent> = Vec::new();
    for stub in state.take_stub_gates() {
        let reason = GateReason::Stub;
        events.push(event::gate_invalidated(&stamp, &stub.plugin, &stub.run_id, reason));
    }
    let (plugin, manifest, now) = (input.string("plugin")?, manifest(input)?, now(input)?);
    let answer = match input.text("via")? {
        "approve" => gate::answer(&mut state, plugin, &manifest, now),
        "apply" => {
            let last = state.pending_gates.iter().rposition(|gate| gate.plugin == *plugin);
            gate::apply(&mut state, last.ok_or("there is no gate to apply")?, &manifest, now)
        }
        other => return Err(format!("nobody answers via {other:?}")),
    };
    let after = answer.writes().then(|| state.to_text());
    let mut data = Map::new();
    let outcome = match answer {
        Answer::None => "none",
        Answer::AlreadyApplied { run_id, applied_at } => {
            data.insert("run_id", run_id);
            data.insert("applied_at", applied_at);
            "already_applied"
        }
        Answer::Denied { denied_at, reason } => {
            data.insert("denied_at", denied_at);
            data.insert("reason", reason);
            "denied"
        }
        Answer::DependencyMoved { run_id, moved } => {
            let reason = GateReason::DependencyMoved;
            events.push(event::gate_invalidated(&stamp, plugin, &run_id, reason));
            data.insert("moved", moved);
            "dependency_moved"
        }
        Answer::Expired { run_id } => {
            events.push(event::gate_expired(&stamp, plugin, &run_id));
            "expired"
        }
        Answer::Unusable { .. } => "unusable",
        Answer::Applied { run_id, run_completed_at, summary, .. } => {
            data.insert("run_id", run_id);
            data.insert("run_completed_at", run_completed_at);
            data.insert("summary", summary);
            "applied"
        }
    };
    let notices = events.iter().map(metadata).collect::<Result<Vec<_>, _>>()?;
    Ok(object([
        ("outcome", outcome.into()),
        ("data", data.into()),
        ("file_after", after.into()),
        ("notices", notices.into()),
    ]))
}

/// What the event tells programs.
fn metadata(event: &BoardEvent) -> Computed {
    let text = event.metadata_json.as_ref().and_then(JsString::as_str);
    parse(text.ok_or("an event without metadata")?).map_err(|error| error.to_string())
}

fn gate_retention(input: &Input) -> Computed {
    let now = now(input)?;
    let parked_now: HashSet<JsString> = input.strings("parked_now")?.into_iter().collect();
    let clocks = ["run_started_at", "run_completed_at", "applied_at"];
    let gates = input.rows("gates", &[&["plugin", "run_id"][..], &clocks].concat())?;
    let gates = gates.into_iter().map(whole_gate);
    let gates = gates.collect::<Result<Vec<_>, _>>()?;
    let kept = gates.iter().filter(|gate| gate::survives(gate, now, &parked_now));
    let survivors: Vec<JsString> = kept.map(|gate| gate.run_id.clone()).collect();
    Ok(object([("survivors", survivors.into())]))
}

/// A gate with the parts that the family leaves out.
fn whole_gate(given: &Map) -> Result<PendingGate, String> {
    let template = r#"{"created_at":"2026-08-20T10:00:00.000Z","payload_summary":"s","plugin_result":
        {"status":"success","phases_completed":[],"phases_failed":[],"data_freshness":{},"summary":"s"}}"#;
    let parts = parse(template).map_err(|error| error.to_string())?;
    let parts = parts.as_object().into_iter().chain([given]).flat_map(Map::iter);
    let gate: Map = parts.map(|(key, value)| (key.clone(), value.clone())).collect();
    PendingGate::parse(&gate.into()).map_err(|issues| issues_text(&issues))
}

fn grant_check(input: &Input) -> Computed {
    let text = match (input.optional_text("text")?, input.get("file_kind")) {
        (text, None) => text,
        // A path that is no file reads as no text.
        (None, Some(kind)) if kind.as_string().is_some_and(|kind| *kind == "directory") => None,
        _ => return Err("`file_kind` is not known".into()),
    };
    let approved = grant::is_approved(text, input.string("scope")?, now(input)?);
    Ok(object([("approved", approved.into())]))
}

fn grant_merge(input: &Input) -> Computed {
    let (before, now, operation) = (input.optional_text("before")?, now(input)?, input.text("op")?);
    if operation == "revoke" {
        return Ok(object([("after", Value::Null), ("returned", Value::Null)]));
    }
    let scopes = match input.value("scopes")? {
        Value::String(all) if *all == "*" => Scopes::All,
        _ => Scopes::Plugins(input.strings("scopes")?),
    };
    #[allow(clippy::cast_possible_truncation)] // whole milliseconds
    let ttl_ms = input.get("ttl_ms").and_then(Value::as_number).map(|ms| ms as i64);
    let flag = |key| input.get(key).and_then(Value::as_bool).unwrap_or(false);
    let (grant, returned) = match operation {
        "grant" => {
            let grant = grant::pre_grant(scopes, ttl_ms, now).map_err(|fault| fault.to_string())?;
            (grant, Value::Null)
        }
        "merge" => {
            let (replace, long) = (flag("replace"), flag("long"));
            let request = MergeRequest { scopes, ttl_ms, replace, long };
            let merged: Merged =
                grant::merge(before, &request, now).map_err(|fault| fault.to_string())?;
            let returned = merged.to_value();
            (merged.grant, returned)
        }
        other => return Err(format!("nobody grants by {other:?}")),
    };
    Ok(object([("after", grant.to_text().into()), ("returned", returned)]))
}

fn topological_levels(input: &Input) -> Computed {
    let entry = |plugin: &Value| -> Option<levels::Entry> {
        let [name, dependencies] = plugin.as_array()? else { return None };
        let dependencies = dependencies.as_array()?.iter().map(|name| name.as_string().cloned());
        Some((name.as_string()?.clone(), dependencies.collect::<Option<_>>()?))
    };
    let roster: Option<Vec<_>> = input.array("plugins")?.iter().map(entry).collect();
    let roster = roster.ok_or("a plugin is not [name, dependencies]")?;
    let order = levels::order(&roster);
    match levels::levels(&roster) {
        Ok(levels) if levels == order.levels && order.unplaced.is_empty() => {
            Ok(object([("ok", true.into()), ("levels", levels.into())]))
        }
        Err(cycle) if order.unplaced.iter().map(|(name, _)| name).eq(&cycle.members) => {
            let members = ("members", cycle.members.into());
            Ok(object([("ok", false.into()), ("kind", "cycle".into()), members]))
        }
        _ => Err("the order of an advance has other plugins than the levels".into()),
    }
}

fn quiet_hours(input: &Input) -> Computed {
    let preferences = match input.optional_text("preferences")? {
        None => Preferences::default(),
        Some(text) => {
            let value = parse(text).map_err(|error| error.to_string())?;
            Preferences::parse(&value).map_err(|issues| issues_text(&issues))?
        }
    };
    let window = preferences.quiet_hours;
    let minute = minute_of_day(input.text("local")?).ok_or("`local` is no minute")?;
    let (force, dry_run) = (input.flag("force")?, input.flag("dry_run")?);
    Ok(object([
        ("window", window.map(|window| window.to_value()).into()),
        ("quiet", quiet::is_quiet(window, minute).into()),
        ("advance_skipped", quiet::skips_advance(window, minute, force, dry_run).into()),
    ]))
}

fn file_retention(input: &Input) -> Computed {
    let now = now(input)?;
    let mut files: Record<(Instant, &str)> = Record::new();
    for file in input.rows("files", &["name", "mtime", "content"])? {
        let text = |key| file.get(key).and_then(Value::as_string).and_then(JsString::as_str);
        let (name, mtime, content) = (text("name"), text("mtime"), text("content"));
        let (Some(name), Some(mtime), Some(content)) = (name, mtime, content) else {
            return Err("a file lacks its name, mtime or content".into());
        };
        files.insert(name.into(), (instant(mtime)?, content));
    }
    let names = || files.iter().filter_map(|(name, file)| Some((name.as_str()?, file)));
    let with_times = || names().map(|(name, (mtime, _))| (name, *mtime));
    let chosen = match input.text("op")? {
        "prune" => retention::prune(with_times(), ".json", now),
        "prune_jsonl" => retention::prune(with_times(), ".jsonl", now),
        "trim" => {
            let texts = names().map(|(name, (_, content))| (name, *content));
            retention::trim(texts, input.string("plugin")?, count(input, "keep")? as usize)
        }
        other => return Err(format!("nothing is deleted by {other:?}")),
    };
    let mut deleted: Vec<JsString> = chosen.iter().map(|name| (*name).into()).collect();
    if input.text("op")? == "trim" {
        let logs = chosen.iter().filter_map(|name| name.strip_suffix(".json"));
        let logs = logs.map(|stem| JsString::from(format!("{stem}.log")));
        deleted.extend(logs.filter(|name| files.contains_key(name)));
    }
    deleted.sort();
    #[allow(clippy::cast_possible_truncation)] // a handful of files
    let count = chosen.len() as u32;
    Ok(object([("deleted", deleted.into()), ("count", count.into())]))
}

fn retry_delay(input: &Input) -> Computed {
    let (base, random) = (input.number("base_delay_ms")?, input.number("random")?);
    let delay = retry::delay_ms(base, count(input, "retry")?, random);
    Ok(object([("delay_ms", delay.into())]))
}

fn attention_tier(input: &Input) -> Computed {
    match input.text("kind")? {
        "tier" => {
            let last = input.optional_string("last_interaction_at")?;
            Ok(object([("tier", tier::tier(last, now(input)?).into())]))
        }
        "eligible" => {
            let current = required(input, "current", Tier::from_name)?;
            let min_tier = required(input, "min_tier", Tier::from_name)?;
            Ok(object([("eligible", tier::is_eligible(current, min_tier).into())]))
        }
        other => Err(format!("`{other}` asks nothing")),
    }
}
