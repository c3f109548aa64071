"""A worker at the end of a pipe: how it starts, what it says, what it keeps to itself, how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Optional

import pytest
import warpline
from conftest import Home
from waiting import PROMPTLY
from warpline import _native
from worker_talk import LIMIT, SECRET, WITHHELD, Worker

FINE = "{'status': 'success'}"


def start(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def written(home: Home, body: str, top: str = "") -> Path:
    """A plugin with this body of its handler."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    source = f"import os, sys, threading, time\n{top}\n"
    return home.plugin(
        "p", f"{source}def handler(manifest, args, signal, capabilities):\n{lines}\n"
    )


def test_it_says_hello_in_its_version_and_imports_nothing_from_the_working_directory(
    home: Home, tmp_path: Path
) -> None:
    (tmp_path / "warpline.py").write_text("raise SystemExit('not this one')\n")
    (tmp_path / "json.py").write_text("raise SystemExit('nor this one')\n")
    with Worker(cwd=tmp_path) as worker:
        assert worker.hear("hello") == {"kind": "hello", "version": warpline.__version__}
        directory = written(home, "return {'path': sys.path, 'arguments': sys.argv}")
        value = worker.run(directory)["value"]
        assert "" not in value["path"] and str(tmp_path) not in value["path"]
        assert value["arguments"] == ["-c"]


def test_a_worker_of_the_same_kind_has_the_package_and_the_paths_that_it_is_given(
    home: Home, tmp_path: Path
) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "only_here.py").write_text("NAME = 'only here'\n")
    # A module of that name on the way is not the package of the host.
    (extra / "warpline.py").write_text("raise SystemExit('not this one')\n")
    package = Path(warpline.__file__).parent
    paths = [str(extra), *(path for path in sys.path if path)]
    with Worker(str(package), *paths, PYTHONPATH="") as worker:
        body = "import only_here, warpline\nreturn [only_here.NAME, warpline.__file__, sys.path]"
        value = worker.run(written(home, body))["value"]
        assert value == ["only here", warpline.__file__, paths]


@pytest.mark.parametrize("package", ["none", "without a worker", "a module"])
def test_an_interpreter_without_the_package_ends_with_a_code_of_its_own(
    tmp_path: Path, package: str
) -> None:
    if package == "without a worker":
        (tmp_path / "warpline").mkdir()
        (tmp_path / "warpline" / "__init__.py").write_text("")
    elif package == "a module":
        (tmp_path / "warpline.py").write_text("")
    # Without what is installed.
    ended = start("-S", "-c", _native.WORKER_START, cwd=Path("/"), PYTHONPATH=str(tmp_path))
    assert (ended.returncode, ended.stdout, ended.stderr) == (86, "", "")


def test_a_package_that_does_not_load_is_told_apart_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "warpline").mkdir()
    (tmp_path / "warpline" / "__init__.py").write_text("import there_is_no_such_module\n")
    ended = start("-c", _native.WORKER_START, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert ended.returncode == 1
    assert '"unable"' in ended.stdout and "there_is_no_such_module" in ended.stdout


def test_a_manifest_a_handler_and_an_attempt_are_answered(home: Home) -> None:
    directory = home.plugin("p")
    with Worker() as worker:
        rows = worker.run(directory, kind="manifests")["value"]
        assert [row["plugin"] for row in rows] == ["p"]
        assert rows[0]["manifest"]["ttl_hours"] == 1
        assert worker.run(directory, 2, kind="handler")["value"] is None
        ended = worker.run(directory, 3)
        assert (ended["outcome"], ended["value"]["summary"]) == ("value", "done")
        asked = [(ask["what"], ask["about"]) for ask in worker.asked]
        assert [what for what in asked if what[0] == "begin"] == [("begin", n) for n in (1, 2, 3)]


def test_what_may_not_begin_does_not_run(home: Home, tmp_path: Path) -> None:
    directory = written(home, f"open({str(tmp_path / 'ran')!r}, 'w')\nreturn {FINE}")
    with Worker(answers={"begin": lambda ask: ask["about"] != 1}) as worker:
        worker.begin(1, directory)
        assert worker.run(home.plugin("q"), 2)["call"] == 2
        assert [said["call"] for said in worker.said if said["kind"] == "complete"] == [2]
        assert not (tmp_path / "ran").exists()


def test_who_waits_for_an_answer_holds_up_nobody_else(home: Home) -> None:
    slow = home.plugin("slow", "def handler(*_):\n    print('x')\n    return {}\n")
    other = home.plugin("other", "def handler(*_):\n    return sum(range(10 ** 6))\n")
    with Worker(answers={"print": lambda _: WITHHELD}) as worker:
        worker.begin(1, slow)
        ask = worker.asked_for("print")
        for call in range(2, 5):
            assert worker.run(other, call)["call"] == call
        worker.answers["print"] = lambda _: ""
        worker.answer(ask, "")
        assert worker.hear("complete")["call"] == 1


def test_prints_show_what_the_engine_gives_back_and_nothing_reaches_the_protocol(
    home: Home,
) -> None:
    directory = written(
        home,
        """
print("the key is", os.environ["KEY"])
os.write(1, b"to descriptor 1\\n")
sys.__stdout__.write("to the first stream\\n")
os.system("echo from a program; cat >&2")
print("without an end", end="")
return {}
""",
    )
    with Worker(KEY=SECRET) as worker:
        assert worker.run(directory)["outcome"] == "value"
        code, shown = worker.end()
    assert code == -signal.SIGKILL
    printed = ("to descriptor 1", "to the first stream", "from a program", "without an end")
    assert all(line in shown for line in printed), shown
    assert "the key is [redacted]" in shown and SECRET not in shown


def test_5_mb_of_prints_arrive_whole_though_the_descriptor_does_not_wait(home: Home) -> None:
    directory = written(home, "print('x' * 5_000_000)\nos.write(2, b'last')\nreturn {}")
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with Worker(stderr=writer) as worker:
        os.close(writer)
        worker.begin(1, directory)
        read = 0
        while not (part := os.read(reader, 1 << 16)).endswith(b"last"):
            time.sleep(0.001)
            read += part.count(b"x")
        assert read + part.count(b"x") == 5_000_000
        assert worker.hear("complete")["outcome"] == "value"
    os.close(reader)


def test_it_works_where_standard_error_is_closed(home: Home) -> None:
    directory = written(home, "print('to nowhere')\nprint('x', file=sys.stderr)\nreturn {}")
    shell = ("/bin/sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable)
    with Worker(program=shell) as worker:
        assert worker.run(directory)["outcome"] == "value"
        assert worker.end() == (-signal.SIGKILL, "")


def test_what_is_changed_in_the_process_is_put_back_and_told_of_with_its_operation(
    home: Home,
) -> None:
    directory = written(home, "os.chdir('/')\nos.environ['ODD'] = '1'\nreturn {}")
    with Worker() as worker:
        worker.run(directory)
        told = [said for said in worker.said if said["kind"] == "warning"]
    assert [(said["operation"], said["text"]) for said in told] == [
        (9, "plugin `p` changed the working directory; it was put back"),
        (9, "plugin `p` changed the environment variable `ODD`; it was put back"),
    ]


FAULT = """
def deep(depth):
    if depth:
        return deep(depth - 1)
    raise ValueError("no access with " + os.environ["KEY"] + "\\x1b[2J")
"""


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_what_was_raised_is_told_with_its_place_and_without_secrets(home: Home, kind: str) -> None:
    source = f"import os\n{FAULT}\n{kind} handler(*_):\n    deep(1)\n"
    directory = home.plugin("p", source)
    with Worker(KEY=SECRET) as worker:
        ended = worker.run(directory)
        fault = worker.said[-2]
    assert ended["outcome"] == "threw"
    assert (fault["kind"], fault["operation"], fault["plugin"]) == ("fault", 9, "p")
    file = directory / "handler.py"
    assert fault["text"].split("\n") == [
        "ValueError: no access with [redacted]\\u{1b}[2J",
        f'    File "{file}", line 9, in handler',
        f'    File "{file}", line 5, in deep',
        f'    File "{file}", line 6, in deep',
    ]


def test_where_a_module_does_not_load_is_told_and_a_manifest_says_so_itself(home: Home) -> None:
    directory = home.plugin("p", "1 / 0\n")
    (directory / "manifest.py").write_text("raise ValueError('odd')\n")
    with Worker() as worker:
        rows = worker.run(directory, kind="manifests")["value"]
        assert rows == [{"plugin": "p", "error": "ValueError: odd (manifest.py:1)"}]
        ended = worker.run(directory, 2, kind="handler")
        assert (ended["outcome"], ended["value"]) == (
            "threw",
            "ZeroDivisionError: division by zero (handler.py:1)",
        )
        faults = [said["text"] for said in worker.said if said["kind"] == "fault"]
        place = f'    File "{directory / "handler.py"}", line 1, in <module>'
        assert faults == [f"ZeroDivisionError: division by zero\n{place}"]


def test_nothing_is_told_of_a_fault_whose_secrets_nobody_knows_any_more(home: Home) -> None:
    directory = written(home, f"raise ValueError({SECRET!r})")
    with Worker(answers={"prints": lambda _: False}) as worker:
        worker.run(directory)
        assert [said["kind"] for said in worker.said] == ["hello", "complete"]
        assert worker.end()[1] == ""


@pytest.mark.parametrize(
    "body",
    [
        "signal.wait()",
        "while not signal.aborted: pass",
        "while True: pass",
        "signal.wait()\nprint('last words', end='')\nsys.exit(3)",
    ],
)
def test_an_abort_fires_the_signal_and_is_answered(home: Home, body: str) -> None:
    directory = written(home, f"print('runs')\n{body}\nreturn {{'reason': signal.reason}}")
    with Worker() as worker:
        worker.begin(1, directory)
        worker.asked_for("print")
        worker.say(kind="abort", call=1, reason="timeout")
        assert worker.hear("aborted")["call"] == 1
        assert worker.run(home.plugin("q"), 2)["value"]["summary"] == "done"


def test_an_async_handler_is_cancelled_and_asyncio_is_not_imported_before(home: Home) -> None:
    plain = home.plugin(
        "plain", "import sys\ndef handler(*_):\n    return 'asyncio' in sys.modules\n"
    )
    waits = home.plugin(
        "waits",
        """
        import asyncio

        async def handler(manifest, args, signal, capabilities):
            try:
                print("runs")
                await asyncio.sleep(600)
            finally:
                print(f"ends: {signal.reason}")
        """,
    )
    with Worker() as worker:
        assert worker.run(plain)["value"] is False
        worker.begin(2, waits)
        worker.asked_for("print")
        worker.say(kind="abort", call=2, reason="cancelled")
        worker.hear("aborted")
        end = time.monotonic() + LIMIT
        while not any(ask.get("text") == "ends: cancelled" for ask in worker.asked):
            assert time.monotonic() < end
            time.sleep(0.01)
        # What a cancelled handler raises is told to nobody.
        time.sleep(0.2)
        worker.run(plain, 3)
        assert all(said["kind"] != "fault" for said in worker.said)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("sys.exit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import _thread\n_thread.interrupt_main()\nreturn 'fine'", None),
        ("sys.stderr.close()\nsys.stdout.close()\nos.close(0)\nreturn 'fine'", None),
        ("os.close(1)\nprint('x')\nreturn 'fine'", None),
        ("os.close(2)\nprint('x')\nreturn 'fine'", None),
        ("sys.stderr = sys.stdout = None\nprint('x')\nreturn 'fine'", None),
        ("sys.setrecursionlimit(60)\nreturn 'fine'", None),
    ],
)
def test_the_worker_outlives_what_a_plugin_does(home: Home, body: str, says: Optional[str]) -> None:
    with Worker() as worker:
        ended = worker.run(written(home, body))
        if says is None:
            assert (ended["outcome"], ended["value"]) == ("value", "fine")
        else:
            assert ended["outcome"] == "threw" and says in ended["value"]
        assert worker.run(home.plugin("q"), 2)["outcome"] == "value"


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("os._exit(3)", 3, "plugin `p` ended its process"),
        (
            "threading.Thread(target=os._exit, args=(4,)).start()\ntime.sleep(600)",
            4,
            "plugin `p` ended its process",
        ),
        ("os.abort()", -signal.SIGABRT, ""),
        ("import ctypes\nctypes.string_at(8)", -signal.SIGSEGV, ""),
        ("os.kill(os.getpid(), 15)\ntime.sleep(600)", -signal.SIGTERM, ""),
        ("os.kill(os.getpid(), 2)\ntime.sleep(600)", -signal.SIGINT, ""),
        ("os.execvp('false', ['false'])", 1, ""),
    ],
)
def test_a_plugin_that_ends_the_process_ends_it_at_once(
    home: Home, body: str, code: int, says: str
) -> None:
    with Worker() as worker:
        worker.begin(1, written(home, f"print('before', end='')\n{body}"))
        ended, shown = worker.ended()
        assert ended == code
        assert says in shown
        assert all(said["kind"] == "hello" for said in worker.said)


def test_an_exception_in_a_thread_is_told_of_with_its_plugin_and_without_secrets(
    home: Home,
) -> None:
    body = """
def fails():
    raise ValueError("no access with " + os.environ["KEY"])
thread = threading.Thread(target=fails)
thread.start()
thread.join()
return 'fine'
"""
    with Worker(KEY=SECRET) as worker:
        assert worker.run(written(home, body))["value"] == "fine"
        _, shown = worker.end()
        told = [said["text"] for said in worker.said if said["kind"] == "stray"]
    assert told == ["plugin `p` raised in a thread: ValueError: no access with [redacted]"]
    assert SECRET not in shown


FORKS = """
child = os.fork()
if child == 0:
    {child}
return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize(
    ("child", "code", "shown"),
    [
        ("return 'also fine'", 1, "a forked child returned from plugin code"),
        ("raise ValueError('in the child')", 1, "a forked child returned from plugin code"),
        ("sys.exit(5)", 1, "a forked child returned from plugin code"),
        ("os._exit(7)", 7, ""),
        (
            "print('it is', os.environ['KEY']); sys.stdout.flush(); os._exit(0)",
            0,
            "it is [redacted]",
        ),
    ],
)
def test_a_forked_child_has_no_say(home: Home, child: str, code: int, shown: str) -> None:
    directory = written(home, FORKS.format(child=child))
    with Worker(KEY=SECRET) as worker:
        ended = worker.run(directory, secrets=["KEY"])
        assert (ended["outcome"], ended["value"]) == ("value", code)
        assert [said["kind"] for said in worker.said] == ["hello", "complete"]
        text = worker.end()[1]
    assert shown in text and SECRET not in text


def test_a_child_that_a_manifest_forks_shows_no_variable(home: Home) -> None:
    directory = home.plugin("p")
    manifest = (directory / "manifest.py").read_text()
    forks = "child = os.fork()\nif child == 0:\n    print('it is', os.environ['KEY'])\n    sys.stdout.flush()\n    os._exit(0)\nos.waitpid(child, 0)\n"
    (directory / "manifest.py").write_text(f"import os, sys\n{forks}{manifest}")
    with Worker(KEY=SECRET) as worker:
        assert "manifest" in worker.run(directory, kind="manifests")["value"][0]
        text = worker.end()[1]
    assert "it is [redacted]" in text and SECRET not in text


@pytest.mark.parametrize(
    "body",
    [
        "import atexit\natexit.register(time.sleep, 600)\nreturn {}",
        "threading.Thread(target=time.sleep, args=(600,)).start()\nreturn {}",
        "threading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True).start()\nreturn {}",
        "import subprocess\nsubprocess.Popen(['sleep', '600'])\nreturn {}",
        "if os.fork() == 0:\n    time.sleep(600)\nreturn {}",
        "import signal as signals\nsignals.pthread_sigmask(signals.SIG_BLOCK, range(1, 65))\nreturn {}",
    ],
)
def test_the_end_of_its_input_ends_it_and_all_that_it_started(home: Home, body: str) -> None:
    with Worker() as worker:
        worker.run(written(home, body))
        group = worker.process.pid
        since = time.monotonic()
        # Reads to the end of standard error, which whoever is left would hold open.
        code, _ = worker.end()
        assert code == -signal.SIGKILL
        # Killed at once; gone when the system has come to it.
        while left := members(group):
            assert time.monotonic() - since < PROMPTLY, left
            time.sleep(0.01)


def test_the_end_of_its_input_ends_it_while_plugin_code_keeps_the_lock(home: Home) -> None:
    directory = written(home, "print('runs')\nreturn len(str(7 ** 10 ** 7))")
    with Worker() as worker:
        worker.begin(1, directory)
        worker.asked_for("print")
        since = time.monotonic()
        assert worker.end()[0] == -signal.SIGKILL
        assert time.monotonic() - since < PROMPTLY


def members(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if stat[0] != "Z" and int(stat[2]) == group:
            found.append(int(entry.name))
    return found


def test_an_engine_in_a_worker_is_an_engine_like_any_other(home: Home, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    nested = Home(inner)
    nested.plugin("q")
    directory = written(
        home,
        f"import warpline\nreturn warpline.run_advance(plugins_dir={str(nested.plugins)!r}).status",
    )
    with Worker(WARPLINE_HOME=str(inner)) as worker:
        assert worker.run(directory)["value"] == "complete"
        assert nested.state()["plugin_runs"]["q"]["status"] == "success"
