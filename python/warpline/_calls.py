"""What each call of the package asks the engine for, however its caller waits for the answer.

`given` holds the parameters of the published function by name.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Callable, Generic, Literal, Mapping, Optional, TypeVar, Union, cast

from ._documents import (
    AdvanceStatus,
    Attempt,
    LoadFailure,
    Manifest,
    Plan,
    PluginEntry,
    PluginState,
    RecordedResult,
    RootError,
)
from ._engine import CancelSignal

PathLike = Union[str, os.PathLike[str]]
Result = TypeVar("Result")

#: Where plugin code runs.
Isolation = Literal["none", "process"]


@dataclass(frozen=True)
class AdvanceResult:
    """What an advance came to."""

    run_id: str
    status: AdvanceStatus
    #: Where every plugin stands, load failures included.
    plugin_states: dict[str, PluginState]
    gated_plugins: list[str]
    #: Empty where no run log was written.
    run_log_path: str
    plugin_entries: list[PluginEntry]


@dataclass(frozen=True)
class Invocation:
    """What a single invocation came to."""

    plugin: str
    result: RecordedResult
    duration_ms: float
    attempt_count: int
    attempts: list[Attempt]
    final_error: Optional[str]
    retried: bool
    cancelled: bool
    timed_out: bool


@dataclass(frozen=True)
class LoadedManifests:
    """What a plugin root holds. A root that cannot be read is a fact here, not an error."""

    manifests: dict[str, Manifest]
    failures: list[LoadFailure]
    root_error: Optional[RootError]
    warnings: list[str]


@dataclass(frozen=True)
class Call(Generic[Result]):
    """One operation of the engine."""

    kind: str
    request: dict[str, Any]
    #: Makes what is returned from what the operation came to.
    result: Callable[[Any], Result]
    signal: Optional[CancelSignal] = None
    #: Calls the hook of a notice, and gives what that returned.
    on_notice: Optional[Callable[[dict[str, Any]], object]] = None
    #: The hooks, by name.
    hooks: Mapping[str, object] = field(default_factory=dict)


def advance(given: Mapping[str, Any]) -> Call[AdvanceResult]:
    """One pass over all plugins."""
    hooks = _hooks(given)

    def on_notice(notice: dict[str, Any]) -> object:
        hook = hooks.get(f"on_{notice['kind']}")
        if hook is None:
            return None
        if notice["kind"] == "plugin_start":
            return hook(notice["plugin"])
        if notice["kind"] == "plugin_end":
            reason = notice.get("reason")
            return hook(notice["plugin"], notice["state"], notice["elapsed_ms"], reason)
        return hook(notice["text"])

    options = {
        "dryRun": given["dry_run"],
        "force": given["force"],
        "profile": given["profile"],
        "pluginsDir": _path(given["plugins_dir"]),
        "stateDir": _path(given["state_dir"]),
        "runsDir": _path(given["runs_dir"]),
        "logsDir": _path(given["logs_dir"]),
        "eventsPath": _path(given["events_path"]),
        "preferencesPath": _path(given["preferences_path"]),
        "approvalPath": _path(given["approval_path"]),
        "concurrency": given["concurrency"],
        "isolation": given["isolation"],
    }
    return Call(
        "advance",
        options,
        lambda fields: AdvanceResult(**fields),
        given["signal"],
        on_notice if hooks else None,
        hooks,
    )


def invoke(given: Mapping[str, Any]) -> Call[Invocation]:
    """One run of one plugin."""
    hooks = _hooks(given)
    witness = given["witness"]
    if not isinstance(witness, Mapping):
        raise TypeError(
            "invoke_plugin takes a `witness`: `{'granted': True, 'scope': ...}` or "
            "`{'granted': False, 'reason': ...}`"
        )

    def on_notice(notice: dict[str, Any]) -> object:
        hook = hooks.get(f"on_{notice['kind']}")
        if hook is None:
            return None
        if notice["kind"] == "attempt_start":
            return hook(notice["attempt"])
        return hook(notice["attempt"], notice["message"])

    request = {
        "plugin": given["plugin"],
        "args": dict(given["args"] or {}),
        "witness": dict(cast("Mapping[str, Any]", witness)),
        "options": {
            "pluginsDir": _path(given["plugins_dir"]),
            "maxRetriesOverride": given["max_retries_override"],
            "persistArtifact": given["persist_artifact"],
            "runId": given["run_id"],
            "userInitiated": given["user_initiated"],
            "runsDir": _path(given["runs_dir"]),
            "eventsPath": _path(given["events_path"]),
            "dependencyRuns": dict(given["dependency_runs"] or {}),
            "isolation": given["isolation"],
        },
    }
    return Call(
        "invoke",
        request,
        lambda fields: Invocation(**fields),
        given["signal"],
        on_notice if hooks else None,
        hooks,
    )


def plan(given: Mapping[str, Any]) -> Call[Plan]:
    """What an advance would do."""
    options = {
        "profile": given["profile"],
        "pluginsDir": _path(given["plugins_dir"]),
        "stateDir": _path(given["state_dir"]),
        "approvalPath": _path(given["approval_path"]),
    }
    return Call("plan", options, lambda fields: cast("Plan", fields))


def manifests(given: Mapping[str, Any]) -> Call[LoadedManifests]:
    """Every manifest of a plugin root."""
    options = {"pluginsDir": _path(given["plugins_dir"])}
    return Call("manifests", options, lambda fields: LoadedManifests(**fields))


def _path(path: Optional[PathLike]) -> Optional[str]:
    return None if path is None else os.fspath(path)


def _hooks(given: Mapping[str, Any]) -> dict[str, Callable[..., object]]:
    hooks = {
        name: hook for name, hook in given.items() if name.startswith("on_") and hook is not None
    }
    for name, hook in hooks.items():
        if not callable(hook):
            raise TypeError(f"option `{name}` must be callable")
    return hooks
