"""Runs plugins for their tests: the real engine, in a home of its own, on facts that a test makes up.

May change.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, TypedDict, Union

from ._calls import Invocation, PathLike
from ._documents import Manifest, OutputRecord
from ._engine import CancelSignal, run_operation, test_home
from ._operations import load_plugin_manifests
from ._test_clock import standing_at

__all__ = ["DependencyFacts", "TestHome", "TestRun", "open_test_home"]

#: The environment is the process's, so runs take turns.
_turn = threading.Lock()


class DependencyFacts(TypedDict, total=False):
    """What a dependency is said to have done."""

    #: The newest Output it ever produced; none by default. `run_id` and `produced_at` are filled in.
    output: OutputRecord
    #: How its last run ended; `success` by default.
    run: str


@dataclass(frozen=True)
class TestRun(Invocation):
    """What a run came to."""

    #: No class of tests, whatever its name begins with.
    __test__ = False

    run_id: str
    #: What the plugin printed, without secrets; each attempt begins with a line `=== Attempt N ===`.
    transcript: str
    #: The record `runs/<run_id>.json`; None where the handler was not reached.
    artifact: Optional[dict[str, Any]]


class TestHome:
    """A home that holds nothing but what a test and its plugins write."""

    __test__ = False

    def __init__(self, path: Path, plugins_dir: Path) -> None:
        #: Absolute.
        self.path = path
        self._plugins_dir = plugins_dir
        self._runs = 0
        self._removed = False

    def __enter__(self) -> TestHome:
        return self

    def __exit__(self, *raised: object) -> None:
        self.remove()

    def run(
        self,
        plugin: str,
        args: Optional[Mapping[str, Any]] = None,
        *,
        config: Optional[Mapping[str, Any]] = None,
        secrets: Optional[Mapping[str, str]] = None,
        dependencies: Optional[Mapping[str, DependencyFacts]] = None,
        now: Union[datetime, str, None] = None,
        granted: bool = True,
        retries: Optional[int] = None,
        run_id: Optional[str] = None,
        signal: Optional[CancelSignal] = None,
    ) -> TestRun:
        """Runs one plugin, through the real engine; raises for facts that its manifest does not allow.

        `args` are those of the call. `config` is what `config/<plugin>.json` holds for this run.
        `secrets` become environment variables meanwhile; a declared one that is not given is missing,
        whatever the environment of the tests holds. `dependencies` says what the declared ones did;
        one that is not given has never run. `now` is the instant at which the run takes place: what
        records hold, and what `datetime` and `time` show to the plugin's own modules; time limits and
        waits go by the real time. With `granted=False` a plugin that declares an effect is refused;
        no grant is ever written. `retries` replaces the manifest's number. `run_id` is `test-1`,
        `test-2` and so on unless given.
        """
        _check_facts(args, config, secrets, dependencies, granted, retries)
        self._check_there()
        instant = _instant_ms(now)
        iso = _iso(instant)
        manifest = self._manifest(plugin)
        self._runs += 1
        name = run_id or f"test-{self._runs}"
        request = {
            "plugin": plugin,
            "args": dict(args or {}),
            "options": {
                "pluginsDir": str(self._plugins_dir),
                "persistArtifact": True,
                "runId": name,
                "maxRetriesOverride": retries,
                "dependencyRuns": _dependency_runs(manifest, dependencies or {}, iso),
            },
            "witness": {"granted": True, "scope": plugin}
            if granted
            else {"granted": False, "reason": "no-declared-side-effects"},
            "now": None if now is None else iso,
        }
        variables = {"WARPLINE_HOME": str(self.path), **_secret_variables(manifest, secrets or {})}
        with ExitStack() as stack:
            stack.enter_context(_turn)
            stack.enter_context(_variables(variables))
            if config is not None:
                stack.enter_context(self._config(plugin, config))
            if now is not None:
                stack.enter_context(standing_at(instant))
            token = test_home.set(str(self.path))
            stack.callback(test_home.reset, token)
            outcome = run_operation("invoke", request, signal=signal)
        artifact = self.read(f"runs/{name}.json")
        return TestRun(
            **outcome,
            run_id=name,
            transcript=self.read(f"runs/{name}.log") or "",
            artifact=None if artifact is None else json.loads(artifact),
        )

    def write(self, path: str, content: object) -> None:
        """Writes a file of the home, text as it is and anything else as JSON."""
        self._check_there()
        file = self._inside(path)
        text = content if isinstance(content, str) else json.dumps(content, indent=2)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def read(self, path: str) -> Optional[str]:
        """The text of a file of the home; None where there is none."""
        try:
            return self._inside(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def remove(self) -> None:
        """Deletes the home."""
        self._removed = True
        shutil.rmtree(self.path, ignore_errors=True)

    def _check_there(self) -> None:
        """A run would make it again, for nobody to delete."""
        if self._removed:
            raise RuntimeError("the test home has been removed")

    def _inside(self, path: str) -> Path:
        file = Path(os.path.normpath(self.path / path))
        if file == self.path or self.path not in file.parents:
            raise ValueError("a path of a test home must lie inside it")
        return file

    def _manifest(self, plugin: str) -> Manifest:
        loaded = load_plugin_manifests(self._plugins_dir)
        if plugin in loaded.manifests:
            return loaded.manifests[plugin]
        if loaded.root_error is not None:
            path, code = loaded.root_error["path"], loaded.root_error["code"]
            raise LookupError(f"the folder of plugins {path} cannot be read ({code})")
        for failure in loaded.failures:
            if failure["plugin"] == plugin:
                raise LookupError(f"plugin `{plugin}` does not load: {failure['error']}")
        names = ", ".join(f"`{name}`" for name in loaded.manifests) or "none"
        raise LookupError(f"there is no plugin `{plugin}` in {self._plugins_dir}; there is {names}")

    @contextmanager
    def _config(self, plugin: str, config: Mapping[str, Any]) -> Iterator[None]:
        path = f"config/{plugin}.json"
        before = self.read(path)
        self.write(path, dict(config))
        try:
            yield
        finally:
            if before is None:
                (self.path / path).unlink()
            else:
                self.write(path, before)


def open_test_home(plugins_dir: PathLike) -> TestHome:
    """Makes a home in the system's temporary directory for the plugins of a folder, which stay where
    they are. A context manager: the home is gone afterwards."""
    plugins = Path(os.path.abspath(os.fspath(plugins_dir)))
    return TestHome(Path(tempfile.mkdtemp(prefix="warpline-test-")).resolve(), plugins)


def _check_facts(
    args: object,
    config: object,
    secrets: object,
    dependencies: object,
    granted: object,
    retries: object,
) -> None:
    mappings = {"args": args, "config": config, "secrets": secrets, "dependencies": dependencies}
    for name, value in mappings.items():
        if value is not None and not isinstance(value, Mapping):
            raise TypeError(f"option `{name}` must be a mapping")
    if not isinstance(granted, bool):
        raise TypeError("option `granted` must be True or False")
    if retries is None:
        return
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= 10:
        raise ValueError("option `retries` must be an integer from 0 to 10")


def _instant_ms(now: Union[datetime, str, None]) -> int:
    if now is None:
        now = datetime.now(timezone.utc)
    try:
        moment = datetime.fromisoformat(now.replace("Z", "+00:00")) if isinstance(now, str) else now
    except ValueError:
        moment = None
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise ValueError(
            "option `now` must be an instant: a datetime with a time zone, or text such as "
            "`2026-03-01T08:00:00Z`"
        )
    since = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def _iso(instant: int) -> str:
    moment = datetime.fromtimestamp(instant // 1000, timezone.utc)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{instant % 1000:03}Z"


def _secret_variables(manifest: Manifest, given: Mapping[str, str]) -> Mapping[str, Optional[str]]:
    for name, value in given.items():
        if name not in manifest["secrets"]:
            raise ValueError(_undeclared(manifest, name, "secrets"))
        if not isinstance(value, str):
            raise TypeError(f"secret `{name}` must be text")
    return {name: given.get(name) for name in manifest["secrets"]}


def _dependency_runs(
    manifest: Manifest, given: Mapping[str, DependencyFacts], iso: str
) -> dict[str, dict[str, Any]]:
    """The dependencies as the state document would have them, stamped as the runtime stamps."""
    runs: dict[str, dict[str, Any]] = {}
    for name, facts in given.items():
        if name not in manifest["dependencies"]:
            raise ValueError(_undeclared(manifest, name, "dependencies"))
        # A misspelt one would be a dependency that has done nothing.
        if not isinstance(facts, Mapping) or not {"output", "run"}.issuperset(facts):
            raise TypeError(f"dependency `{name}` must be a mapping of `output` and `run`")
        runs[name] = {"last_run_at": iso, "status": facts.get("run", "success")}
        output = facts.get("output")
        if output is not None and not isinstance(output, Mapping):
            raise TypeError(f"the `output` of dependency `{name}` must be a mapping")
        if output is not None:
            runs[name]["last_output"] = {"run_id": "test-0", "produced_at": iso, **output}
    return runs


def _undeclared(manifest: Manifest, name: str, field: str) -> str:
    return f"the manifest of `{manifest['name']}` does not name `{name}` in `{field}`"


@contextmanager
def _variables(variables: Mapping[str, Optional[str]]) -> Iterator[None]:
    """Sets variables, or takes away those that are None, and puts back what was there."""
    before = {name: os.environ.get(name) for name in variables}
    try:
        _set_all(variables)
        yield
    finally:
        _set_all(before)


def _set_all(variables: Mapping[str, Optional[str]]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
