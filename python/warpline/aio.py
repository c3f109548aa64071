"""The operations of `warpline` as coroutines, on the loop of whoever awaits them.

Async handlers run on that loop, each in a task of its own; sync handlers on threads. Hooks, sync or
async, are called on the loop one after the other. The parameters are those of `warpline`.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

from . import _calls
from ._awaited import run
from ._calls import AdvanceResult, Invocation, Isolation, LoadedManifests, PathLike
from ._documents import Plan, PluginRun, PluginState, RunProfile, Witness
from ._engine import CancelSignal

__all__ = ["invoke_plugin", "load_plugin_manifests", "plan", "run_advance"]


async def run_advance(
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
    isolation: Isolation = "none",
    signal: Optional[CancelSignal] = None,
    on_plugin_start: Optional[Callable[[str], object]] = None,
    on_plugin_end: Optional[Callable[[str, PluginState, int, Optional[str]], object]] = None,
    on_run_failure: Optional[Callable[[str], object]] = None,
) -> AdvanceResult:
    """Runs every due plugin once, and returns when all have ended.

    `signal` interrupts the advance once it is set: an asyncio.Event, a handler's signal, or anything
    with `is_set`. So does cancelling the task: what has finished is recorded first, then
    CancelledError is raised. Raises a WarplineError, and leaves the home as it was, for what it is
    refused.
    """
    return await run(_calls.advance(locals()))


async def invoke_plugin(
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
    isolation: Isolation = "none",
    on_attempt_start: Optional[Callable[[int], object]] = None,
    on_attempt_failed: Optional[Callable[[int, str], object]] = None,
) -> Invocation:
    """Runs one plugin now. Whether it is due, denied or approved is not asked, and no state is kept.

    `witness` says on whose authority it runs, and has no default: `{"granted": True, "scope": ...}`
    after a grant was checked, or `{"granted": False, "reason": ...}` with `manual-run` or
    `no-declared-side-effects`.
    """
    return await run(_calls.invoke(locals()))


async def plan(
    *,
    profile: Optional[RunProfile] = None,
    plugins_dir: Optional[PathLike] = None,
    state_dir: Optional[PathLike] = None,
    approval_path: Optional[PathLike] = None,
) -> Plan:
    """What an advance would run now, and why the rest would not. Writes nothing, locks nothing."""
    return await run(_calls.plan(locals()))


async def load_plugin_manifests(plugins_dir: Optional[PathLike] = None) -> LoadedManifests:
    """Loads every manifest under a plugin root, the home's unless another is named."""
    return await run(_calls.manifests(locals()))
