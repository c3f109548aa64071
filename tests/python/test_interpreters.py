"""The module in every CPython that is on this machine: one build for all of them, from 3.9 on."""

from __future__ import annotations

import subprocess

import pytest
from conftest import ROOT, Home
from interpreters import SUPPORTED, TOO_OLD


def run(home: Home, path: str, source: str) -> subprocess.CompletedProcess[str]:
    # Nothing of this interpreter's own packages: only the module and the package around it.
    environment = {"PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [path, "-X", "faulthandler", "-W", "ignore", "-c", source],
        env={**environment, "WARPLINE_HOME": str(home.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )


WORK = """
import asyncio, os, threading
import warpline
from warpline import _native

states = []
result = warpline.run_advance(on_plugin_end=lambda *told: states.append(told[:2]))
assert warpline.__version__ == _native.__version__
print(result.status, sorted(states))

stop = threading.Event()
stop.set()
print(warpline.run_advance(force=True, signal=stop).status)

child = os.fork()
if child == 0:
    os._exit(0 if warpline.run_advance(force=True).status == "complete" else 1)
print(os.waitpid(child, 0)[1])

try:
    warpline.run_advance(plugins_dir="nowhere")
except warpline.PluginRootError as error:
    print(error.code)

try:
    from warpline import aio
except ImportError:
    print("complete")
else:
    print(asyncio.run(aio.run_advance(force=True)).status)
"""

SUBINTERPRETERS = """
import os
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def create():
    "One that shares the lock of the main one, as mod_wsgi makes them, and one that does not."
    try:
        return [interpreters.create("legacy"), interpreters.create("isolated")]
    except TypeError:
        pass
    try:
        return [interpreters.create(isolated=False), interpreters.create(isolated=True)]
    except TypeError:
        return [interpreters.create()]

def try_in_each():
    for one in create():
        run = getattr(interpreters, "exec", interpreters.run_string)
        run(one, '''
try:
    import warpline
except ImportError as error:
    print(error, flush=True)
else:
    print("imported", flush=True)
        ''')
        interpreters.destroy(one)

try_in_each()
import warpline
print(warpline.run_advance().status, flush=True)
try_in_each()
print(warpline.run_advance(force=True).status, flush=True)
"""


def test_the_one_that_runs_the_tests_is_among_them() -> None:
    assert SUPPORTED


@pytest.mark.parametrize("version", SUPPORTED)
def test_a_supported_interpreter_does_the_work(home: Home, version: str) -> None:
    home.plugin("plain")
    home.plugin(
        "async",
        """
        import asyncio
        from warpline import skill_ok
        async def handler(*_):
            await asyncio.sleep(0.01)
            return skill_ok("done")
        """,
    )
    ended = run(home, SUPPORTED[version], WORK)
    expected = [
        "complete [('async', 'completed'), ('plain', 'completed')]",
        "interrupted",
        "0",
        "ERR_WARPLINE_PLUGIN_ROOT",
        "complete",
    ]
    assert (ended.stdout.splitlines(), ended.returncode) == (expected, 0), ended.stderr


@pytest.mark.parametrize("version", SUPPORTED)
def test_a_subinterpreter_is_refused_and_harms_nothing(home: Home, version: str) -> None:
    home.plugin("plain")
    ended = run(home, SUPPORTED[version], SUBINTERPRETERS)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    refused = [line for line in lines if line != "complete"]
    assert lines == [*refused[: len(refused) // 2], "complete"] * 2, ended.stdout
    shared = "warpline runs in the main interpreter alone, and this is a subinterpreter; under mod_wsgi, `WSGIApplicationGroup %{GLOBAL}` chooses the main one"
    # Said by CPython itself, from 3.12 on, where the lock is not shared.
    own = "module warpline._native does not support loading in subinterpreters"
    assert refused[0] == shared and set(refused) <= {shared, own}


@pytest.mark.parametrize("version", TOO_OLD)
def test_an_interpreter_that_is_too_old_says_so_and_ends(home: Home, version: str) -> None:
    ended = run(home, TOO_OLD[version], "import warpline")
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.splitlines()[-1].startswith(("ImportError", "SyntaxError"))
