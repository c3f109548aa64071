"""With isolation, every attempt has a process of its own: whatever it does there stays there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterator, Optional

import pytest
import warpline
from conftest import ROOT, Home
from processes import running, settled, zombies
from waiting import PROMPTLY
from warpline._own_kind import own_kind

MANUAL: warpline.NotGranted = {"granted": False, "reason": "manual-run"}

#: Is at work while its neighbours do what they do.
SIBLING = """
import time
from warpline import skill_ok

def handler(*_):
    time.sleep(0.3)
    return skill_ok("the sibling is fine")
"""


@pytest.fixture(autouse=True)
def nothing_left(home: Home) -> Iterator[None]:
    yield
    assert running(home.path) == []
    assert zombies() == []


def written(home: Home, body: str, /, top: str = "", **manifest: Any) -> None:
    """A plugin `p` with this body of its handler."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    source = (
        f"import os, sys, threading, time\nfrom warpline import skill_failure, skill_ok\n{top}\n"
    )
    home.plugin(
        "p", f"{source}def handler(manifest, args, signal, capabilities):\n{lines}\n", **manifest
    )


def isolated(home: Home, **options: Any) -> dict[str, Any]:
    """Runs an advance with a sibling of `p`; gives the entry of `p`."""
    home.plugin("sibling", SIBLING)
    result = warpline.run_advance(isolation="process", **options)
    entries: dict[str, dict[str, Any]] = {
        entry["plugin"]: {**entry} for entry in result.plugin_entries
    }
    assert result.plugin_states["sibling"] == "completed", entries["sibling"]
    assert entries["sibling"]["result_summary"] == "the sibling is fine"
    return entries["p"]


def test_every_attempt_has_a_process_of_its_own_and_none_is_this_one(home: Home) -> None:
    body = f"""
with open({str(home.path / "pids")!r}, "a") as file:
    file.write(f"{{os.getpid()}} {{len(threading.enumerate())}}\\n")
return skill_failure("rate_limit", "again")
"""
    written(home, body, max_retries=2)
    entry = isolated(home)
    assert entry["status"] == "failed" and entry["retried"]
    pids = [line.split()[0] for line in (home.path / "pids").read_text().splitlines()]
    assert len(set(pids)) == 3 and str(os.getpid()) not in pids


def test_a_module_lives_as_long_as_its_attempt(home: Home) -> None:
    body = """
SEEN.append(1)
return skill_ok(str(len(SEEN))) if len(SEEN) > 1 else skill_failure("rate_limit", f"{len(SEEN)}")
"""
    written(home, body, "SEEN = []", max_retries=2)
    assert isolated(home)["result_summary"].endswith("1")
    assert warpline.run_advance(force=True).plugin_states["p"] == "completed"


ENDS = [
    ("sys.exit(3)", "SystemExit: 3"),
    ("quit()", "SystemExit"),
    ("raise ValueError('as always')", "ValueError: as always (handler.py:"),
    ("os._exit(3)", "exit code 3"),
    ("os._exit(0)", "exit code 0"),
    ("threading.Thread(target=os._exit, args=(5,)).start(); time.sleep(600)", "exit code 5"),
    ("os.abort()", "SIGABRT"),
    ("import ctypes; ctypes.string_at(8)", "SIGSEGV"),
    ("os.kill(os.getpid(), 9); time.sleep(600)", "SIGKILL"),
    ("os.kill(os.getpid(), 15); time.sleep(600)", "SIGTERM"),
    ("os.killpg(0, 2); time.sleep(600)", "SIGINT"),
    ("os.execvp('sh', ['sh', '-c', 'echo odd; exit 7'])", "exit code 7"),
    ("os.closerange(3, 100); time.sleep(600)", "process"),
    (
        "[os.write(number, b'odd\\n') for number in range(3, 30) if writable(number)]; time.sleep(600)",
        "process",
    ),
    ("return float('nan')", "no JSON form"),
]
WRITABLE = """
def writable(number):
    try:
        return os.fstat(number) and "pipe" in os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return False
"""


@pytest.mark.parametrize(("body", "says"), ENDS)
def test_what_ends_a_process_fails_its_attempt_alone(home: Home, body: str, says: str) -> None:
    written(home, body, WRITABLE, timeout_ms=20_000)
    since = time.monotonic()
    entry = isolated(home)
    assert entry["status"] == "failed"
    assert says in entry["result_summary"], entry["result_summary"]
    assert time.monotonic() - since < PROMPTLY


def test_a_process_that_died_is_not_tried_again(home: Home) -> None:
    count = home.path / "count"
    written(home, f"open({str(count)!r}, 'a').write('x')\nos._exit(3)", max_retries=3)
    assert not isolated(home)["retried"]
    assert count.read_text() == "x"


STUCK = {
    "spins": "while True: pass",
    "keeps the lock": "return len(str(7 ** 10 ** 8))",
    "catches everything": "while True:\n    try:\n        time.sleep(600)\n    except BaseException:\n        pass",
    "ignores its signal": "signal.wait()\ntime.sleep(600)",
    "masks signals": "import signal as s\ns.pthread_sigmask(s.SIG_BLOCK, range(1, 65))\ntime.sleep(600)",
    "forks": "os.fork()\ntime.sleep(600)",
    "starts a program": "import subprocess\nsubprocess.run(['sleep', '600'])",
    "stops itself": "os.kill(os.getpid(), 19)\ntime.sleep(600)",
    "leaves a thread": "thread = threading.Thread(target=time.sleep, args=(600,)); thread.start(); thread.join()",
}


@pytest.mark.parametrize("name", STUCK)
def test_what_does_not_stop_is_killed_after_its_time(home: Home, name: str) -> None:
    written(home, STUCK[name], timeout_ms=400)
    since = time.monotonic()
    entry = isolated(home)
    assert "timeout" in entry["result_summary"], entry["result_summary"]
    assert time.monotonic() - since < PROMPTLY
    # Not only soon: when the advance returns, they are gone.
    assert running(home.path) == []


@pytest.mark.parametrize("name", ["spins", "keeps the lock", "ignores its signal", "forks"])
def test_what_does_not_stop_is_killed_when_the_caller_cancels(home: Home, name: str) -> None:
    ready = home.path / "ready"
    written(home, f"open({str(ready)!r}, 'w').close()\n{STUCK[name]}", timeout_ms=600_000)
    cancel = threading.Event()

    def set_once_it_runs() -> None:
        while not ready.exists():
            time.sleep(0.01)
        cancel.set()

    threading.Thread(target=set_once_it_runs, daemon=True).start()
    since = time.monotonic()
    result = warpline.run_advance(isolation="process", signal=cancel)
    assert result.status == "interrupted"
    assert time.monotonic() - since < PROMPTLY
    assert running(home.path) == []


LEFT = {
    "a thread": "threading.Thread(target=time.sleep, args=(600,)).start()",
    "a spinning thread": "threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()",
    "a forked child": "if os.fork() == 0: time.sleep(600)",
    "a program": "import subprocess; subprocess.Popen(['sleep', '600'])",
    "a program that reads its input": "import subprocess; subprocess.Popen(['cat'], stdin=subprocess.PIPE)",
    "an exit handler": "import atexit; atexit.register(time.sleep, 600)",
}


@pytest.mark.parametrize("name", LEFT)
def test_what_a_handler_leaves_behind_ends_with_its_attempt(home: Home, name: str) -> None:
    written(home, f"{LEFT[name]}\nreturn skill_ok('fine')")
    since = time.monotonic()
    assert isolated(home)["result_summary"] == "fine"
    assert time.monotonic() - since < PROMPTLY
    assert running(home.path) == []


def test_a_program_that_leaves_the_group_holds_up_nobody(home: Home) -> None:
    left = "import subprocess; child = subprocess.Popen(['sleep', '600'], start_new_session=True, close_fds=False)"
    written(home, f"{left}\nreturn skill_ok(str(child.pid))")
    since = time.monotonic()
    pid = int(isolated(home)["result_summary"])
    assert time.monotonic() - since < PROMPTLY
    os.kill(pid, signal.SIGKILL)
    assert settled(home.path) == []


def test_memory_that_one_plugin_takes_is_missed_by_no_other(home: Home) -> None:
    body = """
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
kept = []
while True:
    kept.append(bytearray(1 << 24))
"""
    written(home, body, "import resource")
    summary = isolated(home)["result_summary"]
    assert "MemoryError" in summary or "process" in summary, summary


def test_prints_of_5_mb_and_those_to_descriptor_1_are_shown(
    home: Home, capfd: pytest.CaptureFixture[str]
) -> None:
    written(
        home,
        """
print("x" * 5_000_000)
os.write(1, b"to the descriptor\\n")
os.system("echo from a program")
print("without an end", end="")
return skill_ok("fine")
""",
    )
    assert isolated(home)["result_summary"] == "fine"
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.count("x") >= 5_000_000
    for line in ("to the descriptor", "from a program", "without an end"):
        assert line in shown.err


def test_secrets_stay_out_of_prints_results_and_records(
    home: Home, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "hunter2-hunter2")
    body = """
key = os.environ["KEY"]
print("it is", key)
sys.stderr.write(key[:7])
sys.stderr.write(key[7:] + "\\n")
if args.get("fails"):
    raise ValueError(f"no access with {key}")
return skill_ok(f"the key is {key}", artifacts_produced=[{"type": "t", "body": key}])
"""
    written(home, body, secrets=["KEY"])
    assert isolated(home)["result_summary"] == "the key is [redacted]"
    failed = warpline.invoke_plugin(
        "p", {"fails": True}, witness=MANUAL, isolation="process", persist_artifact=True
    )
    assert "no access with [redacted]" in (failed.final_error or "")
    shown = capfd.readouterr().err
    assert shown.count("it is [redacted]\n") == 2 and shown.count("\n[redacted]\n") == 2
    written_down = b"".join(home.files().values()).replace(b'["KEY"]', b"")
    assert b"hunter2" not in written_down and "hunter2" not in shown
    assert b"it is [redacted]" in written_down


def heard(isolation: warpline.Isolation) -> list[object]:
    """What hooks are told of an advance and an invocation."""
    told: list[object] = []
    warpline.run_advance(
        force=True,
        isolation=isolation,
        on_plugin_start=lambda plugin: told.append(("start", plugin)),
        on_plugin_end=lambda plugin, state, _, why: told.append(("end", plugin, state, why)),
        on_run_failure=lambda text: told.append(text.partition(" is ")[2]),
    )
    warpline.invoke_plugin(
        "p",
        witness=MANUAL,
        isolation=isolation,
        on_attempt_start=told.append,
        on_attempt_failed=lambda attempt, message: told.append((attempt, message)),
    )
    return told


def test_hooks_come_as_always(home: Home) -> None:
    written(home, "return skill_failure('rate_limit', 'again')", max_retries=1)
    home.plugin("sibling", SIBLING)
    told = heard("process")
    assert ("start", "p") in told and "partial; failed: `p`" in told and 2 in told
    assert told.index(1) == len(told) - 4

    def order(told: list[object]) -> list[str]:
        return sorted(map(str, told))

    assert order(told) == order(heard("none"))


def test_async_handlers_dependencies_and_arguments_are_the_same(home: Home) -> None:
    home.plugin("first")
    home.plugin(
        "p",
        """
        import asyncio
        from warpline import skill_ok

        async def handler(manifest, args, signal, capabilities):
            await asyncio.sleep(0.01)
            caller = capabilities.caller
            run = capabilities.dependencies.last_run(caller, "first")
            return skill_ok(f"{manifest['name']} {args} {run} {await asyncio.to_thread(len, 'abc')}")
        """,
        dependencies=["first"],
    )
    assert isolated(home)["result_summary"] == "p {} success 3"
    said = warpline.invoke_plugin("p", {"a": 1}, witness=MANUAL, isolation="process").result
    assert said["summary"] == "p {'a': 1} None 3"


def test_what_cannot_be_meant_is_refused(home: Home) -> None:
    home.plugin("p")
    with pytest.raises(warpline.OptionError, match="isolation"):
        warpline.run_advance(isolation="thread")  # type: ignore[arg-type]
    with pytest.raises(warpline.OptionError, match="isolation"):
        warpline.invoke_plugin("p", witness=MANUAL, isolation=True)  # type: ignore[arg-type]


def test_several_threads_isolate_at_once(home: Home) -> None:
    written(home, "time.sleep(0.2)\nreturn skill_ok(str(os.getpid()))")

    def invoke(_: int) -> object:
        run = warpline.invoke_plugin("p", witness=MANUAL, isolation="process")
        return run.result["summary"]

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(invoke, range(6)))) == 6


def test_a_child_that_the_host_forked_isolates_as_well(home: Home) -> None:
    written(home, "return skill_ok('fine')")
    ended = home.python(FORKED)
    assert (ended.returncode, ended.stdout) == (0, "complete\ncomplete\ncomplete\n"), ended.stderr


#: The child first: one home is advanced by one process at a time.
FORKED = """
import os, warpline

def advance():
    print(warpline.run_advance(isolation="process", force=True).status, flush=True)

advance()
child = os.fork()
if child == 0:
    advance()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
advance()
"""


@pytest.mark.parametrize("path", ["", ".", None])
def test_no_module_comes_from_the_working_directory(
    home: Home, tmp_path: Path, path: Optional[str]
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("warpline", "json", "threading"):
        (here / f"{name}.py").write_text("raise SystemExit('not from here')\n")
    written(home, "import warpline\nreturn skill_ok(warpline.__file__)")
    program = f"""
import sys, warpline
sys.path[:0] = {[] if path is None else [path]}
print(warpline.run_advance(isolation="process").plugin_entries[0]["result_summary"])
"""
    script = tmp_path / "program.py"
    script.write_text(program)
    ended = subprocess.run(
        [sys.executable, str(script)],
        cwd=here,
        env=home.environment(PYTHONPATH=str(ROOT / "python")),
        capture_output=True,
        text=True,
    )
    assert ended.stdout == f"{warpline.__file__}\n", ended.stderr


def test_modules_are_found_where_the_host_finds_them(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("NAME = 'only here'\n")
    monkeypatch.syspath_prepend(tmp_path)
    written(home, "import only_here\nreturn skill_ok(only_here.NAME)")
    assert isolated(home)["result_summary"] == "only here"


def test_a_host_that_is_no_interpreter_says_so(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.plugin("p")
    (tmp_path / "python").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)
    for program in ("", None, "python", str(tmp_path / "other" / "python"), "/bin/sh"):
        monkeypatch.setattr(sys, "executable", program)
        assert own_kind() is None, program
    monkeypatch.setenv("PATH", "/nowhere")
    result = warpline.run_advance(isolation="process")
    assert result.status == "failed"
    (entry,) = result.plugin_entries
    assert "WARPLINE_PYTHON" in entry["result_summary"], entry["result_summary"]


def test_the_interpreter_is_started_with_the_flags_of_this_one(home: Home) -> None:
    written(home, "return skill_ok(f'{sys.flags.optimize} {sys.flags.utf8_mode}')")
    program = "import warpline; print(warpline.run_advance(isolation='process').plugin_entries[0]['result_summary'])"
    ended = subprocess.run(
        [sys.executable, "-O", "-X", "utf8", "-c", program],
        env=home.environment(),
        capture_output=True,
        text=True,
    )
    assert ended.stdout == "1 1\n", ended.stderr


def test_a_module_called_subprocess_of_the_program_concerns_who_isolates_alone(home: Home) -> None:
    home.plugin("p")
    beside = home.path / "beside"
    beside.mkdir()
    (beside / "subprocess.py").write_text("")
    program = f"""
import sys
sys.path.insert(0, {str(beside)!r})
import warpline
print(warpline.run_advance().status)
try:
    warpline.run_advance(force=True, isolation="process")
except AttributeError as error:
    print(error)
"""
    ended = subprocess.run(
        [sys.executable, "-O", "-c", program],
        env=home.environment(),
        capture_output=True,
        text=True,
    )
    assert ended.stdout.startswith("complete\nmodule 'subprocess' has no"), ended.stderr


@pytest.mark.parametrize("flags", [[], ["--isolate"]])
def test_the_command_shows_where_a_handler_raised_and_keeps_its_output(
    home: Home, flags: list[str]
) -> None:
    written(home, "print('printed')\nraise ValueError('odd')")
    ended = home.cli("advance", *flags, "--json")
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["plugin_entries"][0]["status"] == "failed"
    file = home.plugins / "p" / "handler.py"
    fault = f'warpline: plugin `p` threw: ValueError: odd\n    File "{file}", line 6, in handler\n'
    assert "printed\n" in ended.stderr and fault in ended.stderr, ended.stderr
    ended = home.cli("run", "p", *flags, "go")
    assert ended.returncode == 1 and fault in ended.stderr, ended.stderr


def test_the_place_where_a_handler_raised_is_told_without_secrets(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P_TOKEN", "hunter2-hunter2")
    written(home, "raise ValueError(os.environ['P_TOKEN'])", secrets=["P_TOKEN"])
    ended = home.cli("run", "p", "go")
    assert "threw: ValueError: [redacted]\n    File" in ended.stderr, ended.stderr
    assert "hunter2" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("flags", [[], ["--isolate"]])
def test_an_exception_in_a_thread_of_a_plugin_is_told_and_ends_the_command_with_1(
    home: Home, flags: list[str]
) -> None:
    thread = "raised = threading.Thread(target=lambda: 1 / 0)\nraised.start()\nraised.join()"
    written(home, f"{thread}\nreturn skill_ok('fine')")
    ended = home.cli("advance", *flags, "--json")
    assert json.loads(ended.stdout)["status"] == "complete"
    said = "warpline: plugin `p` raised in a thread: ZeroDivisionError: division by zero\n"
    assert said in ended.stderr and ended.returncode == 1, ended.stderr


def spinning(home: Home) -> subprocess.Popen[str]:
    """A command whose one plugin has begun in a process of its own, and goes on for ever."""
    written(home, "print('ready', flush=True)\nwhile True: pass", timeout_ms=600_000)
    command = subprocess.Popen(
        [sys.executable, "-m", "warpline", "advance", "--isolate"],
        env=home.environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert command.stderr is not None
    assert any("ready" in line for line in iter(command.stderr.readline, ""))
    return command


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_and_its_processes(home: Home, number: signal.Signals) -> None:
    with spinning(home) as command:
        command.send_signal(number)
        assert command.wait(PROMPTLY) == 130
    assert running(home.path) == []
    assert home.json(f"runs/{home.state()['last_run_id']}.json")["status"] == "interrupted"


def test_processes_do_not_outlive_a_host_that_is_killed(home: Home) -> None:
    with spinning(home) as command:
        command.kill()
    assert settled(home.path) == []


def waits(home: Home) -> str:
    """A handler that takes its time; gives code that waits until it runs."""
    ready = str(home.path / "ready")
    written(home, f"open({ready!r}, 'w').close()\ntime.sleep(600)", timeout_ms=600_000)
    return f"""
import os, signal, threading, time, warpline

def wait():
    while not os.path.exists({ready!r}):
        time.sleep(0.01)
"""


def test_ctrl_c_is_raised_after_the_processes_are_gone(home: Home) -> None:
    program = """
def interrupt():
    wait()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    warpline.run_advance(isolation="process")
except KeyboardInterrupt:
    print("raised")
"""
    ended = home.python(waits(home) + program)
    assert (ended.returncode, ended.stdout) == (0, "raised\n"), ended.stderr
    assert running(home.path) == []
    assert home.json(f"runs/{home.state()['last_run_id']}.json")["status"] == "interrupted"


def test_the_end_of_the_interpreter_ends_the_processes(home: Home) -> None:
    program = """
threading.Thread(target=warpline.run_advance, kwargs={"isolation": "process"}, daemon=True).start()
wait()
"""
    since = time.monotonic()
    ended = home.python(waits(home) + program)
    assert ended.returncode == 0, ended.stderr
    assert time.monotonic() - since < PROMPTLY
    assert running(home.path) == []
    assert home.json(f"runs/{home.state()['last_run_id']}.json")["status"] == "interrupted"


def test_a_manifest_that_ends_its_process_harms_no_other(home: Home) -> None:
    written(home, "return skill_ok('fine')")
    for name, code in {"ends": "import os; os._exit(3)", "dies": "import os; os.abort()"}.items():
        (home.plugin(name) / "manifest.py").write_text(f"{code}\n")
    home.plugin("sibling", SIBLING)
    result = warpline.run_advance(isolation="process")
    states = dict(result.plugin_states)
    assert (states["p"], states["sibling"]) == ("completed", "completed")
    assert (states["ends"], states["dies"]) == ("failed", "failed")
    said = {entry["plugin"]: entry["result_summary"] for entry in result.plugin_entries}
    assert "exit code 3" in said["ends"] and "SIGABRT" in said["dies"], said
