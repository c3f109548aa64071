"""What a host calls: advances, single invocations, plans, manifests."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Union, cast

from . import _native
from ._documents import (
    AdvanceStatus,
    Attempt,
    LoadFailure,
    Manifest,
    Plan,
    PluginEntry,
    PluginRun,
    PluginState,
    RootError,
    RunProfile,
    SkillResult,
    Witness,
)
from ._engine import CancelSignal, environment_json, run_operation

PathLike = Union[str, "os.PathLike[str]"]


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
    result: SkillResult
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


def run_advance(
    *,
    dry_run: bool = False,
    force: bool = False,
    profile: Optional[RunProfile] = None,
    plugins_dir: Optional[PathLike] = None,
    state_dir: Optional[PathLike] = None,
    runs_dir: Optional[PathLike] = None,
    logs_dir: Optional[PathLike] = None,
    events_path: Optional[PathLike] = None,
    preferences_path: Optional[PathLike] = None,
    approval_path: Optional[PathLike] = None,
    concurrency: Optional[int] = None,
    signal: Optional[CancelSignal] = None,
    on_plugin_start: Optional[Callable[[str], object]] = None,
    on_plugin_end: Optional[Callable[[str, PluginState, float, Optional[str]], object]] = None,
    on_run_failure: Optional[Callable[[str], object]] = None,
) -> AdvanceResult:
    """Runs every due plugin once, and returns when all have ended.

    Other threads of the interpreter go on meanwhile. `signal` interrupts the advance once it is set;
    so does Ctrl-C, which is raised as KeyboardInterrupt after what has finished was recorded. Raises
    a WarplineError, and leaves the home as it was, for what it is refused.
    """
    _check_hooks(
        on_plugin_start=on_plugin_start,
        on_plugin_end=on_plugin_end,
        on_run_failure=on_run_failure,
    )

    def on_notice(notice: dict[str, Any]) -> None:
        kind = notice["kind"]
        if kind == "plugin_start" and on_plugin_start is not None:
            on_plugin_start(notice["plugin"])
        elif kind == "plugin_end" and on_plugin_end is not None:
            reason = notice.get("reason")
            on_plugin_end(notice["plugin"], notice["state"], notice["elapsed_ms"], reason)
        elif kind == "run_failure" and on_run_failure is not None:
            on_run_failure(notice["text"])

    options = {
        "dryRun": dry_run,
        "force": force,
        "profile": profile,
        "pluginsDir": _path(plugins_dir),
        "stateDir": _path(state_dir),
        "runsDir": _path(runs_dir),
        "logsDir": _path(logs_dir),
        "eventsPath": _path(events_path),
        "preferencesPath": _path(preferences_path),
        "approvalPath": _path(approval_path),
        "concurrency": concurrency,
    }
    return AdvanceResult(**run_operation("advance", options, signal=signal, on_notice=on_notice))


def invoke_plugin(
    plugin: str,
    args: Optional[Mapping[str, Any]] = None,
    *,
    witness: Witness,
    plugins_dir: Optional[PathLike] = None,
    signal: Optional[CancelSignal] = None,
    max_retries_override: Optional[int] = None,
    persist_artifact: bool = False,
    run_id: Optional[str] = None,
    user_initiated: bool = False,
    runs_dir: Optional[PathLike] = None,
    events_path: Optional[PathLike] = None,
    dependency_runs: Optional[Mapping[str, PluginRun]] = None,
    on_attempt_start: Optional[Callable[[int], object]] = None,
    on_attempt_failed: Optional[Callable[[int, str], object]] = None,
) -> Invocation:
    """Runs one plugin now. Whether it is due, denied or approved is not asked, and no state is kept.

    `witness` says on whose authority it runs, and has no default: `{"granted": True, "scope": ...}`
    after a grant was checked, or `{"granted": False, "reason": ...}` with `manual-run` or
    `no-declared-side-effects`.
    """
    _check_hooks(on_attempt_start=on_attempt_start, on_attempt_failed=on_attempt_failed)
    if not isinstance(witness, Mapping):
        raise TypeError(
            "invoke_plugin takes a `witness`: `{'granted': True, 'scope': ...}` or "
            "`{'granted': False, 'reason': ...}`"
        )

    def on_notice(notice: dict[str, Any]) -> None:
        kind = notice["kind"]
        if kind == "attempt_start" and on_attempt_start is not None:
            on_attempt_start(notice["attempt"])
        elif kind == "attempt_failed" and on_attempt_failed is not None:
            on_attempt_failed(notice["attempt"], notice["message"])

    request = {
        "plugin": plugin,
        "args": dict(args or {}),
        "witness": dict(cast("Mapping[str, Any]", witness)),
        "options": {
            "pluginsDir": _path(plugins_dir),
            "maxRetriesOverride": max_retries_override,
            "persistArtifact": persist_artifact,
            "runId": run_id,
            "userInitiated": user_initiated,
            "runsDir": _path(runs_dir),
            "eventsPath": _path(events_path),
            "dependencyRuns": dict(dependency_runs or {}),
        },
    }
    return Invocation(**run_operation("invoke", request, signal=signal, on_notice=on_notice))


def plan(
    *,
    profile: Optional[RunProfile] = None,
    plugins_dir: Optional[PathLike] = None,
    state_dir: Optional[PathLike] = None,
    approval_path: Optional[PathLike] = None,
) -> Plan:
    """What an advance would run now, and why the rest would not. Writes nothing, locks nothing."""
    options = {
        "profile": profile,
        "pluginsDir": _path(plugins_dir),
        "stateDir": _path(state_dir),
        "approvalPath": _path(approval_path),
    }
    result: Plan = run_operation("plan", options)
    return result


def load_plugin_manifests(plugins_dir: Optional[PathLike] = None) -> LoadedManifests:
    """Loads every manifest under a plugin root, the home's unless another is named."""
    options = {"pluginsDir": _path(plugins_dir)}
    return LoadedManifests(**run_operation("manifests", options))


def warpline_home() -> Path:
    """The home: `WARPLINE_HOME`, or the nearest `.warpline` upwards, or one to be made here.

    Looked up at every call.
    """
    return Path(_native.warpline_home(environment_json()))


def _path(path: Optional[PathLike]) -> Optional[str]:
    return None if path is None else os.fspath(path)


def _check_hooks(**hooks: object) -> None:
    for name, hook in hooks.items():
        if hook is not None and not callable(hook):
            raise TypeError(f"option `{name}` must be callable")
