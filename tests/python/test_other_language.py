"""Plugins in TypeScript under a Python host, for real: they run in a worker under Node.js."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterator

import pytest
import warpline
from conftest import ROOT, Home
from processes import running, settled, zombies
from records import records
from waiting import PROMPTLY, until

NPM = ROOT / "npm"
MANUAL: warpline.NotGranted = {"granted": False, "reason": "manual-run"}
SECRET = "hunter2-hunter2"


@pytest.fixture(autouse=True)
def with_the_npm_package(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("WARPLINE_NPM", str(NPM))
    yield
    assert running(home.path) == []
    assert zombies() == []


def typescript(home: Home, name: str, body: str, /, top: str = "", **fields: Any) -> Path:
    """Writes a TypeScript plugin with this body of its handler."""
    manifest = {
        "name": name,
        "version": "1.0.0",
        "description": "d",
        "autonomy_level": "autonomous",
        "ttl_hours": 1,
        "retry_delay_ms": 0,
        **fields,
    }
    directory = home.plugins / name
    directory.mkdir(exist_ok=True)
    (directory / "manifest.ts").write_text(f"export const manifest = {json.dumps(manifest)}\n")
    (directory / "handler.ts").write_text(
        "import { skillFailure, skillOk } from 'warpline/unstable-result'\n"
        f"{top}\n"
        "export async function handler(manifest: any, args: any, signal: AbortSignal, cap: any) {\n"
        f"{body}\n}}\n"
    )
    return directory


READS = "JSON.stringify(cap.dependencies.lastOutput(cap.caller, '{0}')?.body ?? null) + cap.dependencies.lastRun(cap.caller, '{0}')"
PYTHON = """
import os, sys
from warpline import skill_ok

def handler(manifest, args, signal, capabilities):
    seen = {{name: (output["body"] if (output := capabilities.dependencies.last_output(capabilities.caller, name)) else None, capabilities.dependencies.last_run(capabilities.caller, name)) for name in manifest["dependencies"]}}
    # In one piece: others print meanwhile.
    print("the key is " + os.environ["KEY"])
    return skill_ok(
        f"{{sorted(seen.items())}} {{capabilities.secrets.resolved_names(capabilities.caller)}}",
        artifacts_produced=[{{"type": "t", "format": "text", "body": "from {0} with " + os.environ["KEY"]}}],
    )
"""


def a_mixed_fleet(home: Home) -> None:
    """Each depends on one of the other language; there are secrets, failures and retries in both."""
    home.plugin("a", PYTHON.format("a"), secrets=["KEY"], dependencies=[])
    typescript(
        home,
        "b",
        f"""
  console.log('the key is', process.env.KEY)
  return skillOk({READS.format("a")}, {{ artifacts_produced: [{{ type: 't', format: 'text', body: 'from b with ' + process.env.KEY }}] }})""",
        dependencies=["a"],
        secrets=["KEY"],
    )
    home.plugin("c", PYTHON.format("c"), secrets=["KEY"], dependencies=["b"])
    typescript(home, "d", f"  return skillOk({READS.format('c')})", dependencies=["c"])
    home.plugin("python-raises", "def handler(*_):\n    raise ValueError('odd')\n", max_retries=1)
    typescript(home, "typescript-throws", "  throw new Error('odd')", max_retries=1)
    typescript(home, "fails", "  return skillFailure('rate_limit', 'again')", max_retries=2)
    home.plugin("after", dependencies=["typescript-throws"])
    computed = typescript(home, "computed", "  return skillOk('done')")
    text = (computed / "manifest.ts").read_text().replace('"1.0.0"', "['1', '0', '0'].join('.')")
    (computed / "manifest.ts").write_text(text)
    broken = typescript(home, "broken", "  return skillOk('done')")
    (broken / "manifest.ts").write_text("throw new Error('does not load')\n")


COMMANDS = {
    "python": [sys.executable, "-m", "warpline"],
    "node": [shutil.which("node") or "node", str(NPM / "bin" / "warpline.cjs")],
}


def test_a_mixed_fleet_leaves_the_same_under_both_hosts_and_in_every_isolation(
    home: Home,
) -> None:
    left: dict[str, dict[str, list[str]]] = {}
    shown: dict[str, object] = {}
    for host, command in COMMANDS.items():
        for isolation in ([], ["--isolate"]):
            which = " ".join([host, *isolation])
            shutil.rmtree(home.path)
            home.plugins.mkdir(parents=True)
            a_mixed_fleet(home)
            ended = subprocess.run(
                [*command, "advance", "--json", *isolation],
                env=home.environment(KEY=SECRET, WARPLINE_PYTHON=sys.executable),
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert ended.returncode == 1, (which, ended.stderr)
            assert SECRET not in ended.stdout + ended.stderr, which
            assert ended.stderr.count("the key is [redacted]") == 3, (which, ended.stderr)
            report = json.loads(ended.stdout)
            shown[which] = (report["status"], report["plugin_states"])
            left[which] = records(home.path)
            assert running(home.path) == [], which
    states: Any = shown["python"]
    assert states[0] == "partial" and states[1]["d"] == "completed", states
    text = json.dumps(left["python"])
    assert "from b with [redacted]" in text and SECRET not in text
    for which in left:
        assert shown[which] == shown["python"], which
        for name, lines in left["python"].items():
            assert left[which].get(name) == lines, (which, name)
        assert left[which].keys() == left["python"].keys(), which


def test_hooks_hear_of_both_languages(home: Home) -> None:
    home.plugin("a")
    typescript(home, "b", "  throw new Error('odd')", dependencies=["a"])
    told: list[object] = []
    result = warpline.run_advance(
        on_plugin_start=told.append,
        on_plugin_end=lambda plugin, state, elapsed, why: told.append((plugin, state, why)),
    )
    assert result.plugin_states == {"a": "completed", "b": "failed"}
    assert told[:3] == ["a", ("a", "completed", None), "b"]
    assert "odd" in str(told[3])


def test_one_plugin_is_invoked_with_arguments_and_a_transcript(
    home: Home, capfd: pytest.CaptureFixture[str]
) -> None:
    typescript(home, "p", "  console.log('printed')\n  return skillOk(JSON.stringify(args))")
    run = warpline.invoke_plugin("p", {"a": [1]}, witness=MANUAL, persist_artifact=True)
    assert run.result["summary"] == '{"a":[1]}'
    transcripts = list(home.path.glob("runs/*.log"))
    assert len(transcripts) == 1 and "printed\n" in transcripts[0].read_text()
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "printed\n")


def test_manifests_and_plans_know_both_languages(home: Home) -> None:
    a_mixed_fleet(home)
    loaded = warpline.load_plugin_manifests()
    assert sorted(loaded.manifests) == sorted(
        ["a", "b", "c", "d", "after", "computed", "fails", "python-raises", "typescript-throws"]
    )
    assert [failure["plugin"] for failure in loaded.failures] == ["broken"]
    assert "does not load" in loaded.failures[0]["error"]
    assert {due["plugin"] for due in warpline.plan()["due"]} >= {"a", "computed"}


def test_several_threads_share_nothing_but_the_engine(home: Home) -> None:
    typescript(home, "p", "  return skillOk(args.name)")

    def invoke(name: str) -> object:
        return warpline.invoke_plugin("p", {"name": name}, witness=MANUAL).result["summary"]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(invoke, "abcd")) == list("abcd")


WAITS = {
    "hears its signal": "  await new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)))",
    "hears nothing": "  await new Promise((yes) => setTimeout(yes, 600_000))",
    "spins": "  for (;;) {}",
}


@pytest.mark.parametrize("name", WAITS)
def test_a_timeout_ends_a_handler_and_no_neighbour(home: Home, name: str) -> None:
    typescript(home, "p", WAITS[name], timeout_ms=500)
    home.plugin("python")
    typescript(home, "later", "  return skillOk('fine')", dependencies=["python"])
    since = time.monotonic()
    result = warpline.run_advance()
    said = {entry["plugin"]: entry["result_summary"] for entry in result.plugin_entries}
    assert "timeout" in said["p"] and said["later"] == "fine", said
    assert time.monotonic() - since < PROMPTLY


@pytest.mark.parametrize("name", WAITS)
def test_a_signal_that_is_set_ends_a_handler(home: Home, name: str) -> None:
    ready = home.path / "ready"
    top = "import { writeFileSync } from 'node:fs'"
    body = f"  writeFileSync({json.dumps(str(ready))}, '')\n{WAITS[name]}"
    typescript(home, "p", body, top, timeout_ms=600_000)
    cancel = threading.Event()

    def set_once_it_runs() -> None:
        while not ready.exists():
            time.sleep(0.01)
        cancel.set()

    threading.Thread(target=set_once_it_runs, daemon=True).start()
    since = time.monotonic()
    assert warpline.run_advance(signal=cancel).status == "interrupted"
    assert time.monotonic() - since < PROMPTLY


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("hears its signal", signal.SIGINT),
        ("spins", signal.SIGINT),
        ("hears nothing", signal.SIGTERM),
        ("hears nothing", signal.SIGKILL),
        ("spins", signal.SIGKILL),
    ],
)
def test_a_signal_ends_a_command_and_its_worker(
    home: Home, name: str, number: signal.Signals
) -> None:
    typescript(home, "p", f"  console.log('ready')\n{WAITS[name]}", timeout_ms=600_000)
    with subprocess.Popen(
        [sys.executable, "-m", "warpline", "advance"],
        env=home.environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as command:
        assert command.stderr is not None
        seen = ""
        while "ready" not in seen:
            line = command.stderr.readline()
            assert line, seen
            seen += line
        command.send_signal(number)
        code = command.wait(PROMPTLY)
        assert code == (-number if number is signal.SIGKILL else 130)
    assert settled(home.path) == []


def test_a_worker_that_is_killed_fails_what_ran_there_and_the_rest_goes_on(home: Home) -> None:
    top = "import { writeFileSync } from 'node:fs'"
    pid = home.path / "pid"
    body = f"  writeFileSync({json.dumps(str(pid))}, String(process.pid))\n  await new Promise((yes) => setTimeout(yes, 600_000))"
    typescript(home, "p", body, top, max_retries=2)
    over = home.path / "over"
    home.plugin(
        "python",
        f"""
        import os, time
        from warpline import skill_ok
        def handler(*_):
            while not os.path.exists({str(over)!r}):
                time.sleep(0.01)
            return skill_ok("done")
        """,
    )
    typescript(home, "later", "  return skillOk('fine')", dependencies=["python"])

    def kill_once_it_runs() -> None:
        while not (pid.exists() and pid.read_text()):
            time.sleep(0.01)
        os.kill(int(pid.read_text()), signal.SIGKILL)

    def end(plugin: str, *_: object) -> None:
        if plugin == "p":
            over.touch()

    threading.Thread(target=kill_once_it_runs, daemon=True).start()
    result = warpline.run_advance(on_plugin_end=end)
    said = {entry["plugin"]: entry for entry in result.plugin_entries}
    assert "SIGKILL" in said["p"]["result_summary"] and not said["p"]["retried"], said["p"]
    assert said["later"]["result_summary"] == "fine"
    assert said["python"]["status"] == "completed"


def fleet_of_two(home: Home) -> None:
    home.plugin("python")
    typescript(home, "p", "  return skillOk('ran')")


def advance_of_two(home: Home) -> str:
    """What becomes of the TypeScript plugin; the other is not harmed."""
    fleet_of_two(home)
    result = warpline.run_advance(force=True)
    said = {entry["plugin"]: entry["result_summary"] for entry in result.plugin_entries}
    assert result.plugin_states["python"] == "completed"
    assert result.plugin_states["p"] == "failed"
    return said["p"]


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_without_node_the_text_says_what_to_install(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = advance_of_two(home)
    assert "Node.js 20.10" in said and "WARPLINE_NODE" in said
    monkeypatch.setenv("WARPLINE_NODE", str(tmp_path / "nowhere"))
    assert "WARPLINE_NODE" in advance_of_two(home)
    # A manifest that is a literal is read all the same.
    monkeypatch.setenv("WARPLINE_NODE", COMMANDS["node"][0])
    assert warpline.run_advance(force=True).plugin_states["p"] == "completed"


def test_without_the_package_the_text_says_what_to_install(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WARPLINE_NPM")
    monkeypatch.chdir(tmp_path)
    assert "npm install warpline" in advance_of_two(home)
    monkeypatch.setenv("WARPLINE_NPM", str(tmp_path))
    assert "WARPLINE_NPM" in advance_of_two(home)
    monkeypatch.delenv("WARPLINE_NPM")
    installed = home.path / "node_modules"
    installed.mkdir()
    (installed / "warpline").symlink_to(NPM)
    assert warpline.run_advance(force=True).plugin_states["p"] == "completed"


FAKES = {
    "prints nonsense": ("echo nonsense; sleep 600", "no worker"),
    "prints half a line": ("printf '{\"kind\":'; sleep 600 & exit 0", "0"),
    "prints without end": ("yes", "no worker"),
    "exits 1": ("echo too old >&2; exit 1", "exit code 1"),
    "exits 0": ("exit 0", "exit code 0"),
    "dies": ("kill -9 $$", "SIGKILL"),
    "is of another version": (
        'echo \'{"kind":"hello","version":"9.9.9"}\'; sleep 600',
        "9.9.9",
    ),
    "speaks of calls it does not hold": (
        f'echo \'{{"kind":"hello","version":"{warpline.__version__}"}}\'; echo \'{{"kind":"complete","call":77,"outcome":"value","value":1}}\'; sleep 600',
        "",
    ),
}


@pytest.mark.parametrize("name", FAKES)
def test_a_node_that_is_none_harms_nothing_but_its_plugins(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    code, says = FAKES[name]
    fake = program(tmp_path / "bin" / "node", f"#!/bin/sh\n{code}\n")
    monkeypatch.setenv("WARPLINE_NODE", str(fake))
    since = time.monotonic()
    said = advance_of_two(home)
    assert says in said, said
    if name == "is of another version":
        assert warpline.__version__ in said and "npm install warpline@" in said
    assert time.monotonic() - since < PROMPTLY


def test_a_node_that_hangs_can_be_cancelled(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = tmp_path / "hangs"
    fake = program(tmp_path / "bin" / "node", f"#!/bin/sh\n: > '{hangs}'\nsleep 600\n")
    monkeypatch.setenv("WARPLINE_NODE", str(fake))
    fleet_of_two(home)
    cancel = threading.Event()

    def set_once_it_hangs() -> None:
        until(hangs.exists)
        cancel.set()

    threading.Thread(target=set_once_it_hangs, daemon=True).start()
    since = time.monotonic()
    assert warpline.run_advance(signal=cancel).status == "interrupted"
    assert time.monotonic() - since < PROMPTLY


def test_the_command_shows_where_a_typescript_handler_threw(home: Home) -> None:
    directory = typescript(
        home, "p", "  throw new Error('odd ' + process.env.KEY)", secrets=["KEY"]
    )
    ended = subprocess.run(
        [*COMMANDS["python"], "run", "p", "go"],
        env=home.environment(KEY=SECRET),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1
    assert "warpline: plugin `p` threw: odd [redacted]\n" in ended.stderr, ended.stderr
    assert f"{directory}/handler.ts:4:" in ended.stderr
    assert SECRET not in ended.stderr + ended.stdout
