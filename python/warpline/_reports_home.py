"""What the commands report that show or run a home, as types."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union

from ._documents import (
    AdvanceStatus,
    Attempt,
    LoadFailure,
    NotDueReason,
    OutputFormat,
    Plan,
    PluginEntry,
    PluginState,
    RootError,
    RunProfile,
    Schedule,
    SideEffect,
    Tier,
)
from ._home_documents import (
    BoardEvent,
    Task,
)


class AdvanceReport(TypedDict):
    """`advance --json`."""

    run_id: str
    status: AdvanceStatus
    plugin_states: dict[str, PluginState]
    gated_plugins: list[str]
    run_log_path: str
    plugin_entries: list[PluginEntry]
    exit_code: Literal[0, 1, 130]


class Handoff(TypedDict):
    """Work that a plugin has handed to a model."""

    plugin: str
    task: Optional[str]
    context_path: Optional[str]
    context: Literal["present", "missing", "outside", "unnamed"]
    run_id: Optional[str]
    by_hand: bool
    ended_at: str


class LogFollowLine(TypedDict):
    """A line of `log --follow --json`."""

    ts: str
    run_id: str
    kind: Literal["advance", "run"]
    event: Literal["run_start", "plugin_result", "run_end"]
    plugin: Optional[str]
    status: Optional[str]
    elapsed_ms: Optional[float]
    detail: Optional[str]


class LoggedEntry(TypedDict):
    """What became of a plugin in a run."""

    plugin: str
    status: str
    started_at: Optional[str]
    elapsed_ms: Optional[float]
    summary: str
    retried: bool


class LoggedRun(TypedDict):
    """An advance, or a run by hand."""

    run_id: str
    kind: Literal["advance", "run"]
    status: Literal[
        "complete",
        "partial",
        "failed",
        "interrupted",
        "running",
        "unfinished",
        "success",
        "cancelled",
        "timeout",
        "delegated",
    ]
    started_at: Optional[str]
    completed_at: Optional[str]
    resumed_from: Optional[str]
    summary: str
    entries: list[LoggedEntry]
    attempts: list[Attempt]


class LogReport(TypedDict):
    """`log --json`."""

    runs: list[LoggedRun]


class _RunReport(TypedDict):
    ok: bool
    duration_ms: float
    attempt_count: int
    cancelled: bool
    timed_out: bool


class RunReport(_RunReport, total=False):
    """`run --json`; `error` is there where `ok` is false."""

    error: str


class ShownOutput(TypedDict):
    """An Output, and whether its run and its file are there."""

    type: str
    format: OutputFormat
    produced_at: Optional[str]
    run_id: Optional[str]
    run: Literal["retained", "not_retained", "none"]
    body: Optional[str]
    path: Optional[str]
    path_exists: Optional[bool]


class ShowReport(TypedDict):
    """`show --json`."""

    plugin: str
    run_id: Optional[str]
    outputs: list[ShownOutput]
    versions: list[ShownOutput]


class StandingGrant(TypedDict):
    """The grant, and whether it still holds."""

    live: bool
    scopes: Union[Literal["*"], list[str]]
    granted_at: str
    first_granted_at: str
    expires_at: str


class RunningAdvance(TypedDict):
    """The advance that runs; null where its lock does not tell."""

    run_id: Optional[str]
    pid: Optional[int]
    started_at: Optional[str]


class LastAdvance(TypedDict):
    """The advance before."""

    run_id: str
    ended_at: Optional[str]
    status: Literal["complete", "partial", "failed", "interrupted", "killed", "unknown"]


class ParkedResult(TypedDict):
    """A result that waits for a person."""

    plugin: str
    run_id: str
    completed_at: Optional[str]
    summary: str
    acceptable_until: Optional[str]
    not_acceptable: Optional[Literal["expired", "dependency_moved", "unusable", "not_loaded"]]


class UnapprovedPlugin(TypedDict):
    """A plugin whose effects are not granted."""

    plugin: str
    side_effects: list[SideEffect]


class StandingDenial(TypedDict):
    """A no that stands."""

    plugin: str
    denied_at: str
    reason: str


class TaskCounts(TypedDict):
    """How many tasks are open."""

    pending: int
    deferred: int


class NoticeCounts(TypedDict):
    """How many notices nobody has acknowledged."""

    critical: int
    warning: int
    info: int


class FailedPlugin(TypedDict):
    """A plugin whose last run failed."""

    plugin: str
    failed_at: str
    reason: Optional[str]
    run_id: Optional[str]


class NextDue(TypedDict):
    """When a plugin is due next."""

    plugin: str
    at: str


class StatusReport(TypedDict):
    """`status --json`."""

    home: str
    plugins_dir: str
    now: str
    tier: Tier
    grant: Optional[StandingGrant]
    running: Optional[RunningAdvance]
    last_advance: Optional[LastAdvance]
    journal_left: bool
    parked: list[ParkedResult]
    unapproved: list[UnapprovedPlugin]
    handoffs: list[Handoff]
    denials: list[StandingDenial]
    tasks: TaskCounts
    notices: NoticeCounts
    failed: list[FailedPlugin]
    due: list[str]
    next: list[NextDue]
    failures: list[LoadFailure]
    root_error: Optional[RootError]
    warnings: list[str]


class ProfileFacts(TypedDict):
    """Of `profile_schedule`."""

    profile: Optional[RunProfile]
    schedule: Schedule


class TierFacts(TypedDict):
    """Of `min_tier`."""

    current: Tier
    min_tier: Tier


class DependencyFacts(TypedDict):
    """Of `dependency_failed`."""

    dependencies: list[str]


class DenialFacts(TypedDict):
    """Of `denied`."""

    denied_at: str
    denial_reason: str


class ApprovalFacts(TypedDict):
    """Of `unapproved`."""

    superseded_denial: Optional[DenialFacts]


class ExplainedGuard(TypedDict):
    """The answer of one guard."""

    guard: NotDueReason
    holds: bool
    detail: Optional[str]
    data: Optional[
        Union[ProfileFacts, TierFacts, DependencyFacts, DenialFacts, ApprovalFacts, dict[str, Any]]
    ]
    facts: str


class ExplainReport(TypedDict):
    """`plan --explain --json`."""

    plugin: str
    level: Optional[int]
    due: bool
    failure: Optional[str]
    guards: list[ExplainedGuard]


#: `plan --json`.
PlanReport = Plan


#: `board --json`.
BoardReport = list[BoardEvent]


#: `tasks --json`.
TasksReport = list[Task]


#: `handoffs --json`.
HandoffsReport = list[Handoff]
