"""`python -m warpline`: the command line on a home of Python plugins."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import EXAMPLES, ROOT, Home
from waiting import PROMPTLY, until


def test_init_prepares_a_home_whose_first_advance_works(tmp_path: Path) -> None:
    environment = {name: text for name, text in os.environ.items() if name != "WARPLINE_HOME"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "warpline", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )

    first = run("init")
    assert first.returncode == 0, first.stderr
    seed = tmp_path / ".warpline" / "plugins" / "metrics-rollup"
    assert sorted(os.listdir(seed)) == ["handler.py", "manifest.py", "rows.py"]
    assert "created" in first.stdout and "created" not in run("init").stdout
    assert run("plan").returncode == 0
    config = tmp_path / ".warpline" / "config" / "metrics-rollup.json"
    assert json.loads(config.read_text()) == {"retention_days": 90}
    advance = run("advance", "--json")
    assert advance.returncode == 0, advance.stderr
    assert json.loads(advance.stdout)["plugin_states"] == {"metrics-rollup": "completed"}


def test_in_a_directory_that_was_deleted_a_home_has_to_be_named(tmp_path: Path) -> None:
    program = """
import os, sys, warpline
os.rmdir(os.getcwd())
try:
    print(warpline.warpline_home())
except ValueError as error:
    print(error)
"""
    gone = tmp_path / "gone"
    for home, expected in (("", "the working directory is gone"), ("/a/home", "/a/home")):
        gone.mkdir()
        environment = {**os.environ, "WARPLINE_HOME": home, "PWD": str(tmp_path)}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        command = [sys.executable, "-c", program]
        told = subprocess.run(command, cwd=gone, env=environment, capture_output=True, text=True)
        assert told.stdout.strip().endswith(expected), told.stderr


def test_a_package_without_its_engine_says_so(tmp_path: Path) -> None:
    package = tmp_path / "warpline"
    shutil.copytree(
        ROOT / "python" / "warpline", package, ignore=shutil.ignore_patterns("_native.abi3.so")
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "warpline", "--version"]
    told = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert told.returncode == 1
    assert "the engine of warpline cannot be loaded: " in told.stderr
    assert told.stderr.rstrip().endswith("install warpline-runtime anew, for this Python")


def test_the_verbs_end_with_the_codes_of_the_table(home: Home) -> None:
    home.plugin("good")
    home.plugin("effects", side_effects=["modifies_file"])
    home.plugin("bad", "def handler(*_):\n    print('trouble')\n    raise ValueError('no')\n")
    assert home.cli("plan").returncode == 0
    advance = home.cli("advance")
    assert advance.returncode == 1
    assert "trouble" in advance.stderr and "trouble" not in advance.stdout
    assert home.cli("approve", "effects").returncode == 0
    assert home.json(".session-approval")["scopes"] == ["effects"]
    assert home.cli("advance", "--force").returncode == 1
    run = home.cli("run", "good", "now", "--json")
    assert run.returncode == 0 and json.loads(run.stdout)["ok"] is True
    assert home.cli("run", "bad", "now").returncode == 1
    [log] = [path for path in (home.path / "runs").glob("*.log") if "trouble" in path.read_text()]
    assert log.read_text().startswith("=== Attempt 1 ===\ntrouble\n")
    assert home.cli("revoke").returncode == 0
    assert home.cli("advance", "--plugins", "absent").returncode == 75
    assert home.cli("advance", "--bogus").returncode == 1
    assert home.cli("--help").returncode == 0
    (home.plugins / "broken").mkdir()
    assert home.cli("plan").returncode == 1


def test_help_loads_nothing(home: Home) -> None:
    directory = home.plugin("p")
    (directory / "manifest.py").write_text("raise SystemExit('loaded')\n")
    before = home.files()
    shown = home.cli("advance", "--help")
    assert shown.returncode == 0 and "loaded" not in shown.stderr + shown.stdout
    assert home.files() == before


def test_the_home_option_is_what_plugins_see(home: Home, tmp_path: Path) -> None:
    home.plugin(
        "p",
        """
        from warpline import skill_ok, warpline_home
        def handler(*_):
            return skill_ok(str(warpline_home()))
        """,
    )
    other = tmp_path / "other"
    other.mkdir()
    (other / "plugins").symlink_to(home.plugins)
    shown = home.cli("advance", "--home", str(other), "--json")
    [entry] = json.loads(shown.stdout)["plugin_entries"]
    assert entry["result_summary"] == str(other)


def test_results_are_alone_on_standard_output(home: Home) -> None:
    home.plugin(
        "p",
        """
        import sys, threading
        from warpline import skill_ok
        def handler(*_):
            print("from the handler")
            thread = threading.Thread(target=print, args=("from its thread",))
            thread.start()
            thread.join()
            return skill_ok("done")
        """,
    )
    shown = home.cli("advance", "--json")
    json.loads(shown.stdout)
    assert "from the handler" in shown.stderr and "from its thread" in shown.stderr


def test_what_passes_by_the_streams_of_python_is_not_on_standard_output(home: Home) -> None:
    home.plugin(
        "p",
        """
        import atexit, os, subprocess, sys
        from warpline import skill_ok
        atexit.register(os.write, 1, b"at the end ")
        def handler(*_):
            subprocess.run(["echo", "from a program"], check=True)
            os.write(1, b"from a descriptor ")
            sys.__stdout__.write("from the first stream ")
            open("/dev/fd/1", "w").write("from a file ")
            return skill_ok("done")
        """,
    )
    shown = home.cli("advance", "--json")
    assert json.loads(shown.stdout)["plugin_states"] == {"p": "completed"}
    assert shown.stdout.startswith("{") and shown.stdout.endswith("}\n")
    for where in ("program", "descriptor", "first stream", "file"):
        assert f"from a {where}" in shown.stderr or f"from the {where}" in shown.stderr
    assert "at the end" in shown.stderr


def test_a_program_that_goes_on_does_not_hold_standard_output_open(home: Home) -> None:
    home.plugin(
        "p",
        """
        import subprocess
        from warpline import skill_ok
        def handler(*_):
            child = subprocess.Popen(["sleep", "600"], stderr=subprocess.DEVNULL, close_fds=False)
            return skill_ok(str(child.pid))
        """,
    )
    command = f"{sys.executable} -m warpline advance --json 2>&- | cat"
    since = time.monotonic()
    ended = subprocess.run(
        ["bash", "-c", command], env=home.environment(), stdout=subprocess.PIPE, check=True
    )
    assert time.monotonic() - since < PROMPTLY
    [entry] = json.loads(ended.stdout)["plugin_entries"]
    os.kill(int(entry["result_summary"]), signal.SIGKILL)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_place_for_a_file_of_the_home(home: Home, closed: str) -> None:
    home.plugin(
        "p",
        """
        import os, subprocess
        from warpline import skill_ok
        def handler(*_):
            os.write(1, b"from a descriptor")
            subprocess.run(["echo", "from a program"], check=True)
            return skill_ok(" ".join(os.readlink(f"/proc/self/fd/{at}") for at in range(3)))
        """,
    )
    command = f"{sys.executable} -m warpline advance {closed}"
    ended = subprocess.run(
        ["bash", "-c", command], env=home.environment(), capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    assert home.state()["plugin_runs"]["p"]["status"] == "success"
    [log] = (home.path / "runs").glob("*.json")
    [entry] = json.loads(log.read_text())["plugin_entries"]
    streams = entry["result_summary"].split()
    assert not [path for path in streams if path.startswith(str(home.path)) or "anon" in path]
    assert streams.count("/dev/null") >= closed.count("&-")


def test_a_reader_that_leaves_is_no_error(home: Home) -> None:
    for at in range(200):
        home.plugin(f"p{at}", description="x" * 500)
    command = f"{sys.executable} -m warpline plan --json | head -c 10; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", command], env=home.environment(), capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_interrupt_as_well(home: Home, number: signal.Signals) -> None:
    home.plugin(
        "slow",
        """
        def handler(manifest, args, signal, capabilities):
            print("started", flush=True)
            signal.wait(100)
        """,
    )
    child = subprocess.Popen(
        [sys.executable, "-m", "warpline", "advance"],
        env=home.environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    while "started" not in (line := child.stderr.readline()):
        assert line
    child.send_signal(number)
    assert child.wait(60) == 130
    child.stderr.close()
    assert home.json(f"runs/{home.state()['last_run_id']}.json")["status"] == "interrupted"


def test_following_the_log_ends_at_ctrl_c_without_a_word(home: Home) -> None:
    for _ in range(3):  # what ends at once races with what the signal raises
        child = subprocess.Popen(
            [sys.executable, "-m", "warpline", "log", "--follow"],
            env=home.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert child.stdout is not None
        directory = home.path / "logs" / "runs"
        directory.mkdir(parents=True, exist_ok=True)
        told = threading.Thread(target=child.stdout.readline)
        told.start()
        line = '{"ts":"t","run_id":"r","level":"info","event":"run_start"}\n'
        while told.is_alive():
            day = time.strftime("%Y-%m-%d", time.gmtime())
            with (directory / f"{day}.jsonl").open("a") as file:
                file.write(line)
            told.join(0.05)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
        assert (child.returncode, err) == (130, b"")


KEEPS = """
import re
def handler(*_):
    print("started", flush=True)
    re.match(r"(a+)+$", "a" * 60 + "b")
"""


def test_a_plugin_that_keeps_the_interpreter_does_not_keep_a_command(home: Home) -> None:
    home.plugin("fine")
    home.plugin("keeps", KEEPS, timeout_ms=500, dependencies=["fine"])
    since = time.monotonic()
    ended = home.cli("advance", "--json")
    assert ended.returncode == 1, ended.stderr
    assert time.monotonic() - since < PROMPTLY
    assert json.loads(ended.stdout)["plugin_states"] == {"fine": "completed", "keeps": "failed"}
    assert home.state()["plugin_runs"]["keeps"]["status"] == "failed"


def computes(pid: int) -> bool:
    """Whether a thread of a process beside the main one has computed for longer than imports take."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        ticks = int((thread / "stat").read_text().rpartition(")")[2].split()[11])
        if thread.name != str(pid) and ticks / os.sysconf("SC_CLK_TCK") > 0.5:
            return True
    return False


def test_a_signal_is_heard_while_a_plugin_keeps_the_interpreter(tmp_path: Path) -> None:
    # All three at once: each command takes five seconds to give the plugin up.
    commands = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        (tmp_path / number.name).mkdir()
        home = Home(tmp_path / number.name)
        home.plugin("keeps", KEEPS, timeout_ms=600_000)
        child = subprocess.Popen(
            [sys.executable, "-m", "warpline", "advance", "--json"],
            env={**home.environment(), "WARPLINE_HOME": str(home.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        commands.append((home, child, number))
    for _, child, number in commands:
        assert child.stderr is not None
        while "started" not in (line := child.stderr.readline()):
            assert line
        until(lambda: computes(child.pid))  # noqa: B023
        child.send_signal(number)
    for home, child, number in commands:
        out, _ = child.communicate(timeout=60)
        assert child.returncode == 130, number
        assert json.loads(out)["status"] == "interrupted"
        assert home.json(f"runs/{home.state()['last_run_id']}.json")["status"] == "interrupted"


def test_an_early_interrupt_ends_a_command_without_a_traceback(home: Home) -> None:
    ended = home.python(
        """
        import os, signal
        import warpline.__main__ as command
        command._prepare_standard_descriptors = lambda: os.kill(os.getpid(), signal.SIGINT)
        command._console()
        """
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_the_fleet_has_the_names_of_the_other_language() -> None:
    names = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert len(names) >= 5
    assert names <= {path.name for path in (ROOT / "npm" / "examples" / "plugins").iterdir()}


LEAVES = """
import atexit, builtins, os, pathlib, threading, time
from warpline import skill_ok

#: Nobody closes it, and a thread that never ends keeps it.
open_file = (pathlib.Path(__file__).parent / "written").open("w")

class Torn:
    def __del__(self, write=os.write):
        write(2, b"taken down")

def come_back(file):
    while True:
        time.sleep(0.0001)

def handler(*_):
    builtins.torn = Torn()
    open_file.write("all of it")
    for _ in range(30):
        threading.Thread(target=come_back, args=(open_file,), daemon=True).start()
    atexit.register(os.write, 2, b"the first handler")
    atexit.register(lambda: 1 / 0)
    return skill_ok("done")
"""


def test_a_command_ends_as_programs_do_and_leaves_the_interpreter_up(home: Home) -> None:
    plugin = home.plugin("p", LEAVES)
    ended = home.cli("advance", "--json")
    assert ended.returncode == 0, ended.stderr
    assert (plugin / "written").read_text() == "all of it"
    assert ended.stderr.count("the first handler") == 1
    assert ended.stderr.count("ZeroDivisionError: division by zero") == 1
    # Threads come back all the time: none may find the interpreter gone.
    assert "taken down" not in ended.stderr
