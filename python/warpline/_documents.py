"""The shapes of documents, as types: plain dictionaries at run time."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union

Tier = Literal["normal", "degraded", "extended", "suspended"]
RunProfile = Literal["daily", "weekly", "manual"]
ResultStatus = Literal["success", "partial", "failed", "skipped"]
Impact = Literal["HIGH", "MEDIUM", "LOW"]
AdvanceStatus = Literal["complete", "partial", "failed", "interrupted"]
EntryStatus = Literal["completed", "failed", "skipped", "gated", "denied"]
RunStatus = Literal["success", "partial", "failed", "skipped", "gated"]
SideEffect = Literal["sends_email", "creates_issue", "writes_db", "external_api", "modifies_file"]
Schedule = Literal["on_run", "daily", "weekly", "manual"]
AutonomyLevel = Literal["autonomous", "supervised", "manual"]
InputType = Literal["string", "number", "boolean", "array", "object"]
OutputFormat = Literal["markdown", "json", "html", "text"]
ErrorCode = Literal[
    "auth_failure",
    "rate_limit",
    "data_missing",
    "stale_data",
    "parse_error",
    "timeout",
    "dependency_unavailable",
]
NotDueReason = Literal[
    "profile_schedule",
    "min_tier",
    "headless_supervised",
    "manual",
    "fresh",
    "task_locked",
    "dependency_failed",
    "denied",
    "unapproved",
]
PluginState = Literal["pending", "running", "gated", "approved", "completed", "failed", "skipped"]


class _ManifestInput(TypedDict):
    type: InputType
    required: bool


class ManifestInput(_ManifestInput, total=False):
    """An input that a manifest declares."""

    default: Any
    description: str


class _ManifestOutput(TypedDict):
    type: str
    temporality: Literal["versioned", "replace"]


class ManifestOutput(_ManifestOutput, total=False):
    """An output that a manifest declares."""

    description: str


class _ManifestAction(TypedDict):
    description: str


class ManifestAction(_ManifestAction, total=False):
    """A word for `warpline run` that a manifest declares."""

    is_default: bool


class _Manifest(TypedDict):
    name: str
    version: str
    description: str
    inputs: dict[str, ManifestInput]
    outputs: dict[str, ManifestOutput]
    capabilities: list[str]
    schedule: Schedule
    autonomy_level: AutonomyLevel
    side_effects: list[SideEffect]
    secrets: list[str]
    ttl_hours: float
    dependencies: list[str]
    timeout_ms: int
    max_retries: int
    retry_delay_ms: int
    max_parallelism: int
    min_tier: Tier


class Manifest(_Manifest, total=False):
    """A validated manifest, with its defaults."""

    actions: dict[str, ManifestAction]


class _OutputRecord(TypedDict):
    type: str


class OutputRecord(_OutputRecord, total=False):
    """A thing that a handler hands over: it has either `body` or `path`."""

    format: OutputFormat
    path: str
    body: str
    run_id: str
    produced_at: str


class _SkillError(TypedDict):
    code: ErrorCode
    message: str
    impact: Impact


class SkillError(_SkillError, total=False):
    """One error of a result."""

    source: str
    retryable: bool


class NeedsLlm(TypedDict):
    """What a model is to go on with."""

    task: str
    context_path: str


class _SkillResult(TypedDict):
    status: ResultStatus
    phases_completed: list[str]
    phases_failed: list[str]
    data_freshness: dict[str, str]
    summary: str


class SkillResult(_SkillResult, total=False):
    """What a handler returns."""

    errors: list[SkillError]
    artifacts_produced: list[Union[str, OutputRecord]]
    schema_version: float
    reversible: bool
    undo_instruction: str
    needs_llm: NeedsLlm


class _RecordedOutput(TypedDict):
    type: str
    format: OutputFormat


class RecordedOutput(_RecordedOutput, total=False):
    """An Output on record: it has either `body` or `path`."""

    run_id: str
    produced_at: str
    body: str
    path: str


class _RecordedError(TypedDict):
    code: ErrorCode
    message: str
    impact: Impact
    retryable: bool


class RecordedError(_RecordedError, total=False):
    """One error of a result on record."""

    source: str


class _RecordedResult(TypedDict):
    status: ResultStatus
    phases_completed: list[str]
    phases_failed: list[str]
    errors: list[RecordedError]
    data_freshness: dict[str, str]
    summary: str
    artifacts_produced: list[RecordedOutput]
    schema_version: float


class RecordedResult(_RecordedResult, total=False):
    """What a handler returned, as it is recorded: with its defaults."""

    reversible: bool
    undo_instruction: str
    needs_llm: NeedsLlm


class _PluginEntry(TypedDict):
    plugin: str
    status: EntryStatus
    started_at: str
    elapsed_ms: float
    result_summary: str
    retried: bool


class PluginEntry(_PluginEntry, total=False):
    """What happened to a plugin in an advance."""

    reversible: bool
    undo_instruction: str
    result: RecordedResult


class Attempt(TypedDict):
    """One attempt of an invocation."""

    attempt: int
    started_at: str
    elapsed_ms: float
    status: str
    error: Optional[str]


class GrantLine(TypedDict):
    """The live grant of a plan."""

    scopes: Union[Literal["*"], list[str]]
    expires_at: str


class EffectLine(TypedDict):
    """A declared effect, and whether the grant covers it."""

    effect: SideEffect
    approved: bool


class Due(TypedDict):
    """A plugin that an advance would run."""

    plugin: str
    level: int
    side_effects: list[EffectLine]
    #: How it came to be known: read as it is written, or by running its module.
    manifest: Literal["literal", "run"]


class NotDue(Due):
    """A plugin that an advance would not run, with the reason and the facts behind it."""

    reason: NotDueReason
    detail: str
    data: dict[str, Any]


class LoadFailure(TypedDict):
    """A plugin that did not load."""

    plugin: str
    error: str


class RootError(TypedDict):
    """Why a plugin root cannot be read: its path and the system's name for the error."""

    path: str
    code: str


class Plan(TypedDict):
    """What an advance would run now, and why the rest would not; as `plan --json` prints it."""

    home: str
    plugins_dir: str
    profile: Optional[RunProfile]
    tier: Tier
    now: str
    grant: Optional[GrantLine]
    due: list[Due]
    not_due: list[NotDue]
    failures: list[LoadFailure]
    root_error: Optional[RootError]
    warnings: list[str]


class Granted(TypedDict):
    """The witness of who has checked a grant."""

    granted: Literal[True]
    scope: str


class NotGranted(TypedDict):
    """The witness of who needs no grant."""

    granted: Literal[False]
    reason: Literal["manual-run", "no-declared-side-effects"]


Witness = Union[Granted, NotGranted]


class _PluginRun(TypedDict):
    last_run_at: str
    status: RunStatus


class PluginRun(_PluginRun, total=False):
    """The last run of a plugin, as `plugin_runs` of the state document has it."""

    duration_ms: int
    last_output: RecordedOutput
