"""Mints the capabilities of one attempt from what the engine says the manifest earned."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Optional

from .._documents import OutputRecord


@dataclass(frozen=True)
class Caller:
    """Who calls: the first argument of every capability."""

    plugin: str
    run_id: str


class _Part:
    __slots__ = ("_caller",)

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def _require(self, member: str, given: object) -> None:
        if given != self._caller or not isinstance(given, Caller):
            raise TypeError(f"{member} takes `capabilities.caller` as its first argument")


class Dependencies(_Part):
    """What the last runs of the declared dependencies left."""

    __slots__ = ("_runs",)

    def __init__(self, caller: Caller, runs: dict[str, dict[str, Any]]) -> None:
        super().__init__(caller)
        self._runs = runs

    def last_output(self, caller: Caller, name: str) -> Optional[OutputRecord]:
        """The last Output of a declared dependency; None where there is none."""
        self._require("dependencies.last_output", caller)
        output: Optional[OutputRecord] = deepcopy(self._of(name)["output"])
        return output

    def last_run(self, caller: Caller, name: str) -> Optional[str]:
        """How the last run of a declared dependency ended; None where it never ran."""
        self._require("dependencies.last_run", caller)
        run: Optional[str] = deepcopy(self._of(name)["run"])
        return run

    def _of(self, name: str) -> dict[str, Any]:
        found = self._runs.get(name)
        if found is None:
            raise LookupError(
                f"plugin `{self._caller.plugin}` reads `{name}`, which its manifest does not "
                "declare: add it to `dependencies`"
            )
        return found


class Secrets(_Part):
    """Which secrets were found. Their values are in the environment."""

    __slots__ = ("_names",)

    def __init__(self, caller: Caller, names: list[str]) -> None:
        super().__init__(caller)
        self._names = names

    def resolved_names(self, caller: Caller) -> list[str]:
        """The names of the secrets that were found."""
        self._require("secrets.resolved_names", caller)
        return list(self._names)


@dataclass(frozen=True)
class Capabilities:
    """The fourth argument of a handler."""

    caller: Caller
    dependencies: Dependencies
    secrets: Secrets


def mint(data: dict[str, Any]) -> Capabilities:
    """From `{caller: {plugin, runId}, secrets, dependencies}`."""
    caller = Caller(data["caller"]["plugin"], data["caller"]["runId"])
    return Capabilities(
        caller, Dependencies(caller, data["dependencies"]), Secrets(caller, data["secrets"])
    )
