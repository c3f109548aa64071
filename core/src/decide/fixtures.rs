//! Values the tests of the rules start from.

use crate::clock::Instant;
use crate::json::{JsString, Map, Record};
use crate::schema::engine_state::{
    Denial, EngineState, PendingGate, PluginRun, RunStatus, Task, TaskSeverity,
};
use crate::schema::manifest::{AutonomyLevel, Manifest, Schedule, Tier};
use crate::schema::output::{OutputContent, OutputFormat, OutputRecord};
use crate::schema::skill_result::{ResultStatus, SkillResult};

/// The instant most tests take for now.
pub(crate) const NOW: &str = "2026-08-20T12:00:00.000Z";

pub(crate) fn at(text: &str) -> Instant {
    Instant::parse(text).expect("a fixture's instant parses")
}

pub(crate) fn now() -> Instant {
    at(NOW)
}

pub(crate) fn js(text: &str) -> JsString {
    text.into()
}

pub(crate) fn names(list: &[&str]) -> Vec<JsString> {
    list.iter().map(|name| JsString::from(*name)).collect()
}

pub(crate) fn manifest() -> Manifest {
    Manifest {
        name: "p".into(),
        version: "1.0.0".into(),
        description: "d".into(),
        inputs: Record::new(),
        outputs: Record::new(),
        capabilities: vec![],
        schedule: Schedule::OnRun,
        autonomy_level: AutonomyLevel::Autonomous,
        side_effects: vec![],
        secrets: vec![],
        ttl_hours: 6.0,
        dependencies: vec![],
        timeout_ms: 60_000.0,
        max_retries: 1,
        retry_delay_ms: 2000.0,
        actions: None,
        max_parallelism: 1.0,
        min_tier: Tier::Normal,
    }
}

pub(crate) fn state() -> EngineState {
    EngineState::default()
}

pub(crate) fn run(last_run_at: &str, status: RunStatus) -> PluginRun {
    PluginRun { last_run_at: last_run_at.into(), status, duration_ms: None, last_output: None }
}

pub(crate) fn output(path: &str, run_id: &str) -> OutputRecord {
    OutputRecord {
        kind: "report".into(),
        format: OutputFormat::Markdown,
        run_id: Some(run_id.into()),
        produced_at: None,
        content: OutputContent::Path(path.into()),
    }
}

pub(crate) fn result(status: ResultStatus) -> SkillResult {
    SkillResult {
        status,
        phases_completed: vec![],
        phases_failed: vec![],
        errors: vec![],
        data_freshness: Record::new(),
        summary: "did it".into(),
        artifacts_produced: vec![],
        reversible: None,
        undo_instruction: None,
        needs_llm: None,
        schema_version: 2.0,
    }
}

/// A gate of a run that ended at 10:00 after 90 seconds.
pub(crate) fn gate(plugin: &str, run_id: &str) -> PendingGate {
    PendingGate {
        plugin: plugin.into(),
        run_id: run_id.into(),
        created_at: "2026-08-20T10:00:00.000Z".into(),
        payload_summary: "did it".into(),
        plugin_result: result(ResultStatus::Success),
        run_started_at: Some("2026-08-20T09:58:30.000Z".into()),
        run_completed_at: Some("2026-08-20T10:00:00.000Z".into()),
        applied_at: None,
    }
}

pub(crate) fn denial(plugin: &str, fingerprint: &str) -> Denial {
    Denial {
        plugin: plugin.into(),
        reason: "the operator declined this proposal".into(),
        denied_at: "2026-08-19T09:00:00.000Z".into(),
        note: None,
        fingerprint: fingerprint.into(),
    }
}

pub(crate) fn task(id: &str, severity: TaskSeverity, source: &str) -> Task {
    Task {
        task_id: id.into(),
        first_flagged: "2026-08-19T12:00:00.000Z".into(),
        description: "d".into(),
        severity,
        run_count: 1.0,
        clean_streak: 0.0,
        last_detail: JsString::new(),
        source_check: source.into(),
        first_run_id: None,
        last_flagged_run_id: None,
        action_type: JsString::new(),
        due_date: None,
        extensions: Map::new(),
    }
}
