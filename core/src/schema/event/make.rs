//! One constructor for each thing that happens.

use crate::json::{JsString, Map, Value};

use super::super::closed_set;
use super::super::grant::Scopes;
use super::super::run_log::AdvanceStatus;
use super::{BoardEvent, EventSeverity, EventType};

/// UTF-16 units of a summary that an event keeps.
const SUMMARY_UNITS: usize = 200;

/// The source of events that no plugin is behind.
const ENGINE: &str = "engine";

closed_set! {
    /// Why a parked result was thrown away unanswered or answered with a no.
    GateReason {
        /// An older build parked it without the real result.
        Stub = "stub",
        /// A dependency ran after it was computed.
        DependencyMoved = "dependency_moved",
        /// A human said no.
        Denied = "denied",
    }
}

/// What makes an event unique: its id and its clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// A random UUID.
    pub event_id: JsString,
    /// The instant, as `toISOString` has it.
    pub timestamp: JsString,
}

/// An event of any kind; the summary is cut to its first 200 UTF-16 units.
pub fn make_event(
    stamp: &Stamp,
    kind: EventType,
    source: &JsString,
    summary: &JsString,
    severity: EventSeverity,
    run_id: Option<&JsString>,
    metadata: Option<Value>,
) -> BoardEvent {
    BoardEvent {
        event_id: stamp.event_id.clone(),
        kind,
        timestamp: stamp.timestamp.clone(),
        source: source.clone(),
        summary: summary.slice_to(SUMMARY_UNITS),
        severity,
        task_id: None,
        run_id: run_id.cloned(),
        metadata_json: metadata.map(|metadata| metadata.to_compact().into()),
    }
}

/// An advance began.
pub fn run_started(stamp: &Stamp, run_id: &JsString) -> BoardEvent {
    let summary = text(&["Run ".into(), run_id.clone(), " started".into()]);
    let (kind, source) = (EventType::RunStarted, ENGINE.into());
    make_event(stamp, kind, &source, &summary, EventSeverity::Info, Some(run_id), None)
}

/// An advance ended.
pub fn run_completed(stamp: &Stamp, run_id: &JsString, status: AdvanceStatus) -> BoardEvent {
    let summary = text(&["Run ".into(), run_id.clone(), format!(" {status}").into()]);
    let (kind, source) = (EventType::RunCompleted, ENGINE.into());
    make_event(stamp, kind, &source, &summary, EventSeverity::Info, Some(run_id), None)
}

/// A plugin's handler is about to be called.
pub fn plugin_started(stamp: &Stamp, plugin: &JsString, run_id: Option<&JsString>) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": started".into()]);
    plugin_result(stamp, plugin, &summary, EventSeverity::Info, run_id)
}

/// A plugin's result was accepted.
pub fn plugin_completed(
    stamp: &Stamp,
    plugin: &JsString,
    summary: &JsString,
    run_id: Option<&JsString>,
) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": ".into(), summary.clone()]);
    plugin_result(stamp, plugin, &summary, EventSeverity::Info, run_id)
}

/// A plugin was not due, for a reason worth telling.
pub fn plugin_skipped(
    stamp: &Stamp,
    plugin: &JsString,
    reason: &JsString,
    run_id: Option<&JsString>,
) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": skipped — ".into(), reason.clone()]);
    plugin_result(stamp, plugin, &summary, EventSeverity::Info, run_id)
}

/// A plugin's result waits for a human.
pub fn plugin_gated(stamp: &Stamp, plugin: &JsString, run_id: Option<&JsString>) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": awaiting approval".into()]);
    plugin_result(stamp, plugin, &summary, EventSeverity::Warning, run_id)
}

/// A plugin failed.
pub fn plugin_failed(
    stamp: &Stamp,
    plugin: &JsString,
    error: &JsString,
    run_id: Option<&JsString>,
) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": ".into(), error.clone()]);
    make_event(stamp, EventType::Error, plugin, &summary, EventSeverity::Warning, run_id, None)
}

/// An attempt failed and another one follows. The error stands in the summary alone.
pub fn attempt_failed(
    stamp: &Stamp,
    plugin: &JsString,
    attempt: u32,
    error: &JsString,
    run_id: Option<&JsString>,
) -> BoardEvent {
    let summary = text(&[format!("attempt {attempt} failed: ").into(), error.clone()]);
    let metadata =
        [("plugin", Value::from(plugin)), ("attempt", attempt.into()), ("retryable", true.into())];
    let metadata = Some(metadata.into_iter().collect::<Map>().into());
    let severity = EventSeverity::Info;
    make_event(stamp, EventType::Notice, plugin, &summary, severity, run_id, metadata)
}

/// A human's no was recorded.
pub fn denial_recorded(
    stamp: &Stamp,
    plugin: &JsString,
    reason: &JsString,
    fingerprint: &JsString,
) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": denied — ".into(), reason.clone()]);
    let data =
        [("plugin", plugin.into()), ("reason", reason.into()), ("fingerprint", fingerprint.into())];
    notice(stamp, "denial_recorded", plugin, &summary, EventSeverity::Info, None, data)
}

/// A plugin did not run because a human's no still answers it.
pub fn plugin_denied(
    stamp: &Stamp,
    plugin: &JsString,
    reason: &JsString,
    run_id: &JsString,
) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": denied — ".into(), reason.clone()]);
    let data = [("plugin", plugin.into()), ("run_id", run_id.into()), ("reason", reason.into())];
    notice(stamp, "plugin_denied", plugin, &summary, EventSeverity::Info, Some(run_id), data)
}

/// A parked result was thrown away. `run_id` is the run that parked it.
pub fn gate_invalidated(
    stamp: &Stamp,
    plugin: &JsString,
    run_id: &JsString,
    reason: GateReason,
) -> BoardEvent {
    let why = match reason {
        GateReason::Stub => ": parked result discarded — it has no clocks",
        GateReason::DependencyMoved => ": parked result discarded — a dependency ran since",
        GateReason::Denied => ": parked result discarded — it was denied",
    };
    let summary = text(&[plugin.clone(), why.into()]);
    let data = [("plugin", plugin.into()), ("run_id", run_id.into()), ("reason", reason.into())];
    let severity = EventSeverity::Warning;
    notice(stamp, "gate_invalidated", plugin, &summary, severity, Some(run_id), data)
}

/// A parked result waited for too long. `run_id` is the run that parked it.
pub fn gate_expired(stamp: &Stamp, plugin: &JsString, run_id: &JsString) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": parked result discarded — it expired".into()]);
    let data = [("plugin", plugin.into()), ("run_id", run_id.into()), ("reason", "expired".into())];
    let severity = EventSeverity::Warning;
    notice(stamp, "gate_expired", plugin, &summary, severity, Some(run_id), data)
}

/// A human accepted a parked result. `run_id` is the run that parked it.
pub fn gate_applied(stamp: &Stamp, plugin: &JsString, run_id: &JsString) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": parked result accepted".into()]);
    let data = [("plugin", plugin.into()), ("run_id", run_id.into())];
    let severity = EventSeverity::Info;
    notice(stamp, "gate_applied", plugin, &summary, severity, Some(run_id), data)
}

/// A human approved declared side effects.
pub fn grant_merged(stamp: &Stamp, scopes: &Scopes, expires_at: &JsString) -> BoardEvent {
    let summary = match scopes {
        Scopes::All => text(&["approved: all plugins, until ".into(), expires_at.clone()]),
        Scopes::Plugins(names) => {
            let until = text(&[", until ".into(), expires_at.clone()]);
            let plugins = if names.len() == 1 { "plugin" } else { "plugins" };
            text(&[format!("approved: {} {plugins}", names.len()).into(), until])
        }
    };
    let data = [("scopes", scopes.to_value()), ("expires_at", expires_at.into())];
    notice(stamp, "grant_merged", &ENGINE.into(), &summary, EventSeverity::Info, None, data)
}

/// A human took every approval back.
pub fn grant_revoked(stamp: &Stamp) -> BoardEvent {
    let summary = "approval revoked".into();
    notice(stamp, "grant_revoked", &ENGINE.into(), &summary, EventSeverity::Info, None, [])
}

/// A human took a no back.
pub fn denial_removed(stamp: &Stamp, plugin: &JsString) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": denial removed".into()]);
    let data = [("plugin", plugin.into())];
    notice(stamp, "denial_removed", plugin, &summary, EventSeverity::Info, None, data)
}

/// A human took the record of a plugin's last run away.
pub fn run_record_removed(stamp: &Stamp, plugin: &JsString) -> BoardEvent {
    let summary = text(&[plugin.clone(), ": run record removed".into()]);
    let data = [("plugin", plugin.into())];
    notice(stamp, "run_record_removed", plugin, &summary, EventSeverity::Info, None, data)
}

/// An advance was killed while a plugin with side effects ran. `run_id` is that advance.
pub fn run_unfinished(stamp: &Stamp, plugin: &JsString, run_id: &JsString) -> BoardEvent {
    let why = ": the run ended before its outcome was known — its side effects may have fired";
    let summary = text(&[plugin.clone(), why.into()]);
    let data = [("plugin", plugin.into()), ("run_id", run_id.into())];
    let severity = EventSeverity::Warning;
    notice(stamp, "run_unfinished", plugin, &summary, severity, Some(run_id), data)
}

fn plugin_result(
    stamp: &Stamp,
    plugin: &JsString,
    summary: &JsString,
    severity: EventSeverity,
    run_id: Option<&JsString>,
) -> BoardEvent {
    make_event(stamp, EventType::PluginResult, plugin, summary, severity, run_id, None)
}

/// A notice whose metadata names the event and then holds its data.
fn notice<const N: usize>(
    stamp: &Stamp,
    event: &str,
    source: &JsString,
    summary: &JsString,
    severity: EventSeverity,
    run_id: Option<&JsString>,
    data: [(&str, Value); N],
) -> BoardEvent {
    let mut metadata = Map::new();
    metadata.insert("event", event);
    for (key, value) in data {
        metadata.insert(key, value);
    }
    make_event(stamp, EventType::Notice, source, summary, severity, run_id, Some(metadata.into()))
}

fn text(parts: &[JsString]) -> JsString {
    parts.iter().fold(JsString::new(), |text, part| text.concat(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp() -> Stamp {
        Stamp { event_id: "id".into(), timestamp: "2026-08-20T12:00:00.000Z".into() }
    }

    #[test]
    fn a_summary_is_cut_at_200_units_inside_a_pair_too() {
        let summary = JsString::from("x".repeat(199) + "😀");
        let (source, severity) = ("s".into(), EventSeverity::Info);
        let event =
            make_event(&stamp(), EventType::Notice, &source, &summary, severity, None, None);
        assert_eq!(event.summary.to_utf16().len(), 200);
        assert!(event.to_line().contains("x\\ud83d\""), "{}", event.to_line());
    }

    #[test]
    fn notices_name_their_event_first_and_then_its_data() {
        let (plugin, run_id) = ("p".into(), "r".into());
        let metadata = |event: BoardEvent| event.metadata_json.map(|text| text.to_text());
        let expected = r#"{"event":"gate_invalidated","plugin":"p","run_id":"r","reason":"stub"}"#;
        let event = gate_invalidated(&stamp(), &plugin, &run_id, GateReason::Stub);
        assert_eq!(metadata(event).as_deref(), Some(expected));
        let expected = r#"{"event":"gate_expired","plugin":"p","run_id":"r","reason":"expired"}"#;
        assert_eq!(metadata(gate_expired(&stamp(), &plugin, &run_id)).as_deref(), Some(expected));
        let expected = r#"{"event":"gate_applied","plugin":"p","run_id":"r"}"#;
        assert_eq!(metadata(gate_applied(&stamp(), &plugin, &run_id)).as_deref(), Some(expected));
        let expected = r#"{"event":"grant_merged","scopes":["a","b"],"expires_at":"e"}"#;
        let scopes = Scopes::of(vec!["b".into(), "a".into()]);
        let event = grant_merged(&stamp(), &scopes, &"e".into());
        assert_eq!(metadata(event).as_deref(), Some(expected));
        let event = grant_merged(&stamp(), &Scopes::All, &"e".into());
        let expected = r#"{"event":"grant_merged","scopes":"*","expires_at":"e"}"#;
        assert_eq!(metadata(event).as_deref(), Some(expected));
        let expected = r#"{"event":"grant_revoked"}"#;
        assert_eq!(metadata(grant_revoked(&stamp())).as_deref(), Some(expected));
        let expected = r#"{"event":"denial_removed","plugin":"p"}"#;
        assert_eq!(metadata(denial_removed(&stamp(), &plugin)).as_deref(), Some(expected));
        let expected = r#"{"event":"run_record_removed","plugin":"p"}"#;
        let event = run_record_removed(&stamp(), &plugin);
        assert_eq!(metadata(event).as_deref(), Some(expected));
        let event = run_unfinished(&stamp(), &plugin, &run_id);
        assert_eq!(event.severity, EventSeverity::Warning);
        let expected = r#"{"event":"run_unfinished","plugin":"p","run_id":"r"}"#;
        assert_eq!(metadata(event).as_deref(), Some(expected));
    }
}
