"""The shapes of documents, as types: plain dictionaries at run time."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union

Tier = Literal["normal", "degraded", "extended", "suspended"]
RunProfile = Literal["daily", "weekly", "manual"]
ResultStatus = Literal["success", "partial", "failed", "skipped"]
Impact = Literal["HIGH", "MEDIUM", "LOW"]
AdvanceStatus = Literal["complete", "partial", "failed", "interrupted"]
PluginState = Literal["pending", "running", "gated", "approved", "completed", "failed", "skipped"]


class _ManifestInput(TypedDict):
    type: str
    required: bool


class ManifestInput(_ManifestInput, total=False):
    """An input that a manifest declares."""

    default: Any
    description: str


class _ManifestOutput(TypedDict):
    type: str
    temporality: str


class ManifestOutput(_ManifestOutput, total=False):
    """An output that a manifest declares."""

    description: str


class _Manifest(TypedDict):
    name: str
    version: str
    description: str
    inputs: dict[str, ManifestInput]
    outputs: dict[str, ManifestOutput]
    capabilities: list[str]
    schedule: str
    autonomy_level: str
    side_effects: list[str]
    secrets: list[str]
    ttl_hours: float
    dependencies: list[str]
    timeout_ms: int
    max_retries: int
    retry_delay_ms: float
    max_parallelism: int
    min_tier: str


class Manifest(_Manifest, total=False):
    """A validated manifest, with its defaults."""

    actions: Any


class OutputRecord(TypedDict, total=False):
    """What a run left."""

    type: str
    format: str
    path: str
    body: str
    run_id: str
    produced_at: str


class _SkillError(TypedDict):
    code: str
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
    artifacts_produced: list[OutputRecord]
    reversible: bool
    undo_instruction: str
    needs_llm: NeedsLlm
    schema_version: int


class _PluginEntry(TypedDict):
    plugin: str
    status: str
    started_at: str
    elapsed_ms: int
    result_summary: str


class PluginEntry(_PluginEntry, total=False):
    """What happened to a plugin in an advance."""

    reversible: bool
    undo_instruction: str
    retried: bool
    result: SkillResult


class Attempt(TypedDict):
    """One attempt of an invocation."""

    attempt: int
    started_at: str
    elapsed_ms: int
    status: str
    error: Optional[str]


class GrantLine(TypedDict):
    """The live grant of a plan."""

    scopes: Union[Literal["*"], list[str]]
    expires_at: str


class EffectLine(TypedDict):
    """A declared effect, and whether the grant covers it."""

    effect: str
    approved: bool


class Due(TypedDict):
    """A plugin that an advance would run."""

    plugin: str
    level: int
    side_effects: list[EffectLine]


class NotDue(Due):
    """A plugin that an advance would not run, with the reason and the facts behind it."""

    reason: str
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
    status: str


class PluginRun(_PluginRun, total=False):
    """The last run of a plugin, as `plugin_runs` of the state document has it."""

    duration_ms: float
    last_output: OutputRecord
