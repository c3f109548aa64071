"""Plugins that reach for the process around them: they end it, take its signals, change what all share."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Iterator

import pytest
from conftest import Home
from hostile import SIBLING, Row, check_run, command, intact, survive, works_without

FINE = "return skill_ok('fine')"
RAISES = "def raises(*_, **__):\n    raise RuntimeError('patched')"

#: What is put in the place of what all share, each by the code that does it.
PATCHES = {
    "print": "builtins.print = raises",
    "streams": "sys.stdout = sys.stderr = None",
    "odd streams": "sys.stdout = sys.stderr = object()",
    "json": "json.dumps = json.loads = raises",
    "json lies": "json.dumps = lambda *_, **__: '1'",
    "signal": "signals.signal = signals.getsignal = raises",
    "excepthook": "threading.excepthook = sys.excepthook = sys.unraisablehook = raises",
    "asyncio": "asyncio.run = asyncio.current_task = asyncio.get_running_loop = raises",
    "inspect": "inspect.isawaitable = raises",
    "contextvars": "contextvars.copy_context = raises",
    "copy": "copy.deepcopy = raises",
    "os": "os.getcwd = os.getpid = os.fsdecode = raises",
    "math": "math.isfinite = raises",
}

ROWS = [
    Row("exits", "sys.exit(0)", says="SystemExit: 0"),
    Row("exits-7", "sys.exit(7)", says="SystemExit: 7"),
    Row("quits", "quit()", says="SystemExit"),
    Row("interrupts", "raise KeyboardInterrupt", says="KeyboardInterrupt"),
    Row("leaves", "os._exit(0)", ends="interrupted", stderr="plugin `leaves` ended the process"),
    Row(
        "leaves-7", "os._exit(7)", ends="interrupted", stderr="plugin `leaves-7` ended the process"
    ),
    Row(
        "leaves-thread",
        "thread = threading.Thread(target=os._exit, args=(0,)); thread.start(); time.sleep(600)",
        top="import threading",
        ends="interrupted",
        stderr="plugin `leaves-thread` ended the process",
    ),
    Row(
        "thread-raises",
        f"thread = threading.Thread(target=lambda: 1 / 0); thread.start(); thread.join(); {FINE}",
        top="import threading",
        ends="completed",
        exit=1,
        stderr="plugin `thread-raises` raised in a thread: ZeroDivisionError",
    ),
    Row(
        "timer-raises",
        f"timer = threading.Timer(0.01, lambda: 1 / 0); timer.start(); timer.join(); {FINE}",
        top="import threading",
        ends="completed",
        exit=1,
        stderr="plugin `timer-raises` raised in a thread: ZeroDivisionError",
    ),
    Row(
        "changes-process",
        """
os.chdir("/")
os.environ["HOSTILE_NEW"] = "x"
del os.environ["PATH"]
os.environ["WARPLINE_HOME"] = "/nowhere"
os.umask(0o777)
raise ValueError("and leaves")
""",
        says="and leaves",
        stderr="the working directory.*`WARPLINE_HOME`",
    ),
    Row("changes-mask", f"os.umask(0o777); {FINE}", ends="completed", stderr="mask of file modes"),
    Row("closes-stdin", f"sys.stdin.close(); os.close(0); {FINE}", ends="completed"),
    Row("closes-stdout", f"os.close(1); {FINE}", ends="completed"),
    Row("closes-stderr", f"os.close(2); print('to nowhere'); {FINE}", ends="completed"),
    Row(
        "outlives",
        f"subprocess.Popen(['sleep', '600'], start_new_session=True, close_fds=False); {FINE}",
        top="import subprocess",
        ends="completed",
    ),
    Row("allocates", "bytearray(10 ** 15)", says="MemoryError"),
    Row(
        "limits-memory",
        """
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, resource.RLIM_INFINITY))
kept = []
try:
    while True:
        kept.append(bytearray(1 << 24))
finally:
    kept.clear()
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
""",
        top="import resource",
        says="MemoryError",
    ),
    Row("spins", "while True: pass", manifest={"timeout_ms": 300}, says="timeout"),
    Row(
        "signals-itself",
        "os.kill(os.getpid(), 15); time.sleep(600)",
        ends="interrupted",
        exit=130,
    ),
    Row(
        "interrupts-main",
        "_thread.interrupt_main(); time.sleep(600)",
        top="import _thread",
        ends="interrupted",
        exit=130,
    ),
    *(
        Row(
            f"ignores-{number.name.lower()}",
            f"""
try:
    signals.signal(signals.{number.name}, signals.SIG_IGN)
except ValueError:
    signals.pthread_sigmask(signals.SIG_BLOCK, [signals.{number.name}])
signals.signal = signals.default_int_handler = None
print("ready", flush=True)
while True:
    try:
        time.sleep(600)
    except BaseException:
        pass
""",
            top="import signal as signals",
            ends="interrupted",
            signal=number,
        )
        for number in (signal.SIGINT, signal.SIGTERM)
    ),
]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[None]]]:
    """All rows, a few at a time: most of their time is spent waiting for processes to start."""
    root = tmp_path_factory.mktemp("hostile")
    with ThreadPoolExecutor(3) as pool:
        yield {row.name: pool.submit(survive, root / row.name, row) for row in ROWS}


@pytest.mark.parametrize("name", [row.name for row in ROWS])
def test_a_hostile_plugin_and_the_process(outcomes: dict[str, Future[None]], name: str) -> None:
    outcomes[name].result()


TOP = f"""
import asyncio, builtins, contextvars, copy, inspect, json, math, re, threading
import signal as signals
{RAISES}
"""
RESULT = "{'status': 'success', 'phases_completed': [], 'phases_failed': [], 'data_freshness': {}, 'summary': 's'}"


def test_patches_of_what_all_share_at_once_in_one_advance(home: Home) -> None:
    rows = [
        Row(f"p{at}", f"time.sleep(0.3)\n{code}\ntime.sleep(0.1)\nreturn {RESULT}", top=TOP)
        for at, code in enumerate(PATCHES.values())
    ]
    for row in rows:
        row.install(home)
    quiet = f"import time\ndef handler(*_):\n    time.sleep(0.5)\n    return {RESULT}\n"
    home.plugin("sibling", quiet)
    home.plugin("later", f"def handler(*_):\n    return {RESULT}\n", dependencies=["sibling"])
    advance = command(home, "advance", "--json")
    assert advance.code == 0, advance
    left = intact(home)
    assert {run["status"] for run in left.state["plugin_runs"].values()} == {"success"}
    assert len(left.state["plugin_runs"]) == len(rows) + 2
    works_without(home, "later", *(row.name for row in rows))


def test_all_patches_in_one_run(home: Home) -> None:
    code = "\n".join(PATCHES.values())
    row = Row("patches", f"{code}\nreturn {RESULT}", top=TOP, ends="completed")
    row.install(home)
    check_run(home, row, command(home, "run", "patches", "go", "--json"))
    works_without(home, "patches")


def test_200_mb_of_prints_leave_memory_bounded_and_the_transcript_cut(home: Home) -> None:
    row = Row(
        "talks",
        """
text = ("x" * 1023 + "\\n") * 1024
for _ in range(200):
    print(text, end="")
# What the process itself came to: the system's other counter begins with that of its parent.
status = open("/proc/self/status").read()
return skill_ok(str(int(status.split("VmHWM:")[1].split()[0]) // 1024))
""",
        ends="completed",
    )
    row.install(home)
    path = home.path / "printed"
    with path.open("wb") as printed:
        run = subprocess.run(
            [sys.executable, "-m", "warpline", "run", "talks", "go", "--json"],
            env=home.environment(),
            stdout=subprocess.DEVNULL,
            stderr=printed,
            # It has much to do.
            timeout=300,
        )
    assert run.returncode == 0
    assert path.stat().st_size == 200 * 1024 * 1024
    path.unlink()
    left = intact(home)
    assert int(left.artifacts[0]["summary"]) < 300
    [transcript] = left.transcripts
    assert len(transcript) <= 10 * 1024 * 1024 + 200 and b"cut" in transcript[-200:]


def test_every_row_has_a_name_of_its_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert "handler" in SIBLING
