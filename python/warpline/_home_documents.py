"""The shapes of the documents of a home, as types of what the engine writes: it leaves no default out.

Only `Preferences` is written by people, who may leave out any key.
"""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union

from ._documents import (
    AdvanceStatus,
    Attempt,
    PluginEntry,
    PluginRun,
    RecordedResult,
)

Severity = Literal["critical", "warning", "info"]
RunArtifactStatus = Literal["success", "failed", "cancelled", "timeout", "running", "delegated"]
ActionTaken = Literal["acknowledge", "action", "defer", "mark_done"]
EventType = Literal[
    "task_created",
    "task_updated",
    "task_completed",
    "task_deferred",
    "run_started",
    "run_completed",
    "plugin_result",
    "error",
    "notice",
]

#: `config/<plugin>.json`: the inputs of a plugin, by name.
PluginConfig = dict[str, Any]


class Deferral(TypedDict):
    """A task that was put off."""

    task_id: str
    reason: str
    deferred_at: str
    expires_at: str


class Denial(TypedDict):
    """A person's no."""

    plugin: str
    reason: str
    denied_at: str
    note: Optional[str]
    fingerprint: str


class Task(TypedDict):
    """A task that was flagged."""

    task_id: str
    first_flagged: str
    description: str
    severity: Severity
    run_count: float
    clean_streak: float
    last_detail: str
    source_check: str
    first_run_id: Optional[str]
    last_flagged_run_id: Optional[str]
    action_type: str
    due_date: Optional[str]
    extensions: dict[str, Any]


class CompletedTask(TypedDict):
    """A task that is done."""

    task_id: str
    description: str
    severity: Severity
    source_check: str
    completed_at: str
    extensions: dict[str, Any]


class PendingGate(TypedDict):
    """A result that waits for a person, or was accepted lately."""

    plugin: str
    run_id: str
    created_at: str
    payload_summary: str
    plugin_result: RecordedResult
    run_started_at: Optional[str]
    run_completed_at: Optional[str]
    applied_at: Optional[str]


class EngineState(TypedDict):
    """`state/engine-state.json`: what is remembered between advances. Other programs may keep further
    keys there."""

    schema_version: int
    last_run_id: Optional[str]
    last_run_at: Optional[str]
    last_interaction_at: Optional[str]
    plugin_runs: dict[str, PluginRun]
    deferrals: list[Deferral]
    denials: dict[str, Denial]
    task_aging: list[Task]
    completed_tasks: list[CompletedTask]
    pending_gates: list[PendingGate]
    extensions: dict[str, Any]


class _RunLog(TypedDict):
    run_id: str
    started_at: str
    completed_at: Optional[str]
    status: AdvanceStatus
    resumed_from: Optional[str]
    summary: str
    plugin_entries: list[PluginEntry]


class RunLog(_RunLog, total=False):
    """`runs/<run_id>.json` of an advance."""

    manifests_loaded: int


class RunArtifact(TypedDict):
    """`runs/<run_id>.json` of a direct invocation."""

    run_id: str
    plugin: str
    started_at: str
    completed_at: Optional[str]
    status: RunArtifactStatus
    summary: str
    user_initiated: bool
    attempts: list[Attempt]
    final_error: Optional[str]
    cancelled: bool
    timed_out: bool
    retried: bool


class BoardEvent(TypedDict):
    """A line of `state/events.jsonl`."""

    event_id: str
    type: EventType
    timestamp: str
    source: str
    summary: str
    severity: Severity
    task_id: Optional[str]
    run_id: Optional[str]
    metadata_json: Optional[str]


class Acknowledgement(TypedDict):
    """A person's answer to a notice."""

    acknowledged_at: str
    action_taken: ActionTaken


#: `state/acknowledgements.json`, by the id of the event.
Acknowledgements = dict[str, Acknowledgement]


class QuietHours(TypedDict, total=False):
    """When no plugin runs: from `start` to `end`, each `HH:MM` of the local clock."""

    start: str
    end: str


class Preferences(TypedDict, total=False):
    """`preferences.json`: the choices of who operates the home."""

    max_sends_per_day: int
    review_gate: bool
    quiet_hours: Optional[QuietHours]
    retention: Any


class Grant(TypedDict):
    """The grant file of a home: a person's yes. Only the commands write one."""

    granted_at: str
    first_granted_at: str
    expires_at: str
    scopes: Union[Literal["*"], list[str]]


class LastSuccessfulAdvance(TypedDict):
    """`state/last-successful-advance`: the last advance that returned."""

    run_id: str
    completed_at: str
    status: AdvanceStatus
    skipped_reason: Optional[Literal["quiet_hours"]]
    gated: int
    pending_gates: int
    failed: int
    pruned: int


class _DailyLogLine(TypedDict):
    ts: str
    run_id: str
    level: Literal["info", "warn", "error"]
    event: Literal["run_start", "plugin_result", "run_end"]


class DailyLogLine(_DailyLogLine, total=False):
    """A line of `logs/runs/<day>.jsonl`."""

    plugin: str
    status: str
    elapsed_ms: float
    detail: str
