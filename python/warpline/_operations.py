"""What a host calls: advances, single invocations, plans, manifests."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import Any, Callable, Mapping, Optional

from . import _calls
from ._calls import AdvanceResult, Invocation, Isolation, LoadedManifests, PathLike, Result
from ._documents import Plan, PluginRun, PluginState, RunProfile, Witness
from ._engine import CancelSignal, run_operation


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
    isolation: Isolation = "none",
    signal: Optional[CancelSignal] = None,
    on_plugin_start: Optional[Callable[[str], object]] = None,
    on_plugin_end: Optional[Callable[[str, PluginState, int, Optional[str]], object]] = None,
    on_run_failure: Optional[Callable[[str], object]] = None,
) -> AdvanceResult:
    """Runs every due plugin once, and returns when all have ended.

    Other threads of the interpreter go on meanwhile. `signal` interrupts the advance once it is set;
    so does Ctrl-C, which is raised as KeyboardInterrupt after what has finished was recorded. With
    `isolation="process"` every attempt has a process of its own, which is ended with it. Raises a
    WarplineError, and leaves the home as it was, for what it is refused.
    """
    return _run(_calls.advance(locals()))


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
    isolation: Isolation = "none",
    on_attempt_start: Optional[Callable[[int], object]] = None,
    on_attempt_failed: Optional[Callable[[int, str], object]] = None,
) -> Invocation:
    """Runs one plugin now. Whether it is due, denied or approved is not asked, and no state is kept.

    `witness` says on whose authority it runs, and has no default: `{"granted": True, "scope": ...}`
    after a grant was checked, or `{"granted": False, "reason": ...}` with `manual-run` or
    `no-declared-side-effects`. With `isolation="process"` every attempt has a process of its own,
    which is ended with it.
    """
    return _run(_calls.invoke(locals()))


def plan(
    *,
    profile: Optional[RunProfile] = None,
    plugins_dir: Optional[PathLike] = None,
    state_dir: Optional[PathLike] = None,
    approval_path: Optional[PathLike] = None,
) -> Plan:
    """What an advance would run now, and why the rest would not. Writes nothing, locks nothing."""
    return _run(_calls.plan(locals()))


def load_plugin_manifests(plugins_dir: Optional[PathLike] = None) -> LoadedManifests:
    """Loads every manifest under a plugin root, the home's unless another is named."""
    return _run(_calls.manifests(locals()))


def _run(call: _calls.Call[Result]) -> Result:
    for name, hook in call.hooks.items():
        if iscoroutinefunction(hook):
            raise TypeError(f"option `{name}` is an async function: await warpline.aio instead")
    fields = run_operation(call.kind, call.request, signal=call.signal, on_notice=call.on_notice)
    return call.result(fields)
