"""The process around the engine: Ctrl-C, the end of the interpreter, forks, panics."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import warpline
from conftest import Home
from waiting import PROMPTLY
from warpline import _native
from warpline._engine import run_operation

#: How often the end of the interpreter is tried: four times each program below with each pause.
REPETITIONS = 112

SLOW = """
import time
from warpline import skill_ok

def handler(manifest, args, signal, capabilities):
    print("slow has started", flush=True)
    time.sleep(600)
    return skill_ok("too late")
"""
SPINNING = """
def handler(*_):
    while True:
        sum(range(1000))
"""
ASYNC = """
import asyncio

async def handler(*_):
    await asyncio.gather(asyncio.sleep(600), asyncio.to_thread(__import__("time").sleep, 600))
"""
RETRYING = """
from warpline import skill_failure

def handler(*_):
    return skill_failure("rate_limit", "again")
"""


def interrupt(home: Home, arguments: list[str]) -> tuple[int, float, str, str]:
    """Starts a program, sends SIGINT once the slow plugin runs, and waits for its end."""
    child = subprocess.Popen(
        [sys.executable, *arguments],
        env=home.environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None and child.stderr is not None
    seen = ""
    while "slow has started" not in seen:
        line = child.stderr.readline()
        assert line, seen
        seen += line
    child.send_signal(signal.SIGINT)
    since = time.monotonic()
    out, err = child.communicate(timeout=60)
    return child.returncode, time.monotonic() - since, out, seen + err


def test_ctrl_c_ends_a_blocking_advance_at_once_and_is_raised(home: Home) -> None:
    home.plugin("quick")
    home.plugin("slow", SLOW, dependencies=["quick"])
    program = """
import time, warpline
try:
    warpline.run_advance(on_run_failure=print)
except KeyboardInterrupt:
    print("raised")
    """
    status, seconds, out, err = interrupt(home, ["-c", program])
    assert status == 0, err
    assert seconds < PROMPTLY
    assert "was interrupted" in out and "raised" in out
    state = home.state()
    assert state["plugin_runs"]["quick"]["status"] == "success"
    log = home.json(f"runs/{state['last_run_id']}.json")
    assert log["status"] == "interrupted" and log["completed_at"] is None
    left = [
        name for name in os.listdir(home.path / "state") if "lock" in name or "in-flight" in name
    ]
    assert left == []
    home.plugin("slow", dependencies=["quick"])
    resumed = warpline.run_advance(force=True)
    assert home.json(f"runs/{resumed.run_id}.json")["resumed_from"] == state["last_run_id"]


@pytest.mark.parametrize(
    "call",
    [
        "run_advance()",
        "plan()",
        "load_plugin_manifests()",
        "invoke_plugin('hangs', witness={'granted': False, 'reason': 'manual-run'})",
    ],
)
def test_ctrl_c_does_not_wait_for_a_manifest_that_hangs(home: Home, call: str) -> None:
    (home.plugin("hangs") / "manifest.py").write_text(
        "import time\nprint('slow has started', flush=True)\ntime.sleep(600)\n"
    )
    program = f"""
import warpline
try:
    warpline.{call}
except KeyboardInterrupt:
    print("raised")
    """
    status, seconds, out, err = interrupt(home, ["-c", program])
    assert (status, out) == (0, "raised\n"), err
    assert seconds < PROMPTLY


def test_ctrl_c_ends_a_command_with_130(home: Home) -> None:
    home.plugin("slow", SLOW)
    status, seconds, out, err = interrupt(home, ["-m", "warpline", "advance", "--json"])
    assert status == 130, err
    assert seconds < PROMPTLY
    assert '"status": "interrupted"' in out and "slow has started" not in out


PROGRAMS = {
    "an advance on a daemon thread": """
        import threading, time, warpline
        started = threading.Event()
        threading.Thread(
            target=lambda: warpline.run_advance(on_plugin_start=lambda _: started.set()), daemon=True
        ).start()
        started.wait(60)
        time.sleep({pause})
    """,
    "advances on daemon threads, over and over": """
        import os, threading, time, warpline
        def loop():
            while True:
                try:
                    warpline.run_advance(dry_run=True, force=True)
                except warpline.WarplineError:
                    pass
        for _ in range(4):
            threading.Thread(target=loop, daemon=True).start()
        time.sleep({pause})
    """,
    "handlers that were given up": """
        import time, warpline
        for name in ("slow", "spinning", "async"):
            witness = {{"granted": False, "reason": "manual-run"}}
            warpline.invoke_plugin(name, witness=witness)
        time.sleep({pause})
    """,
    "sys.exit in a hook": """
        import sys, warpline
        warpline.run_advance(on_plugin_start=lambda _: sys.exit(0))
    """,
}


@pytest.mark.timeout(1200)
def test_the_end_of_the_interpreter_neither_hangs_nor_aborts(home: Home) -> None:
    home.plugin("slow", SLOW, timeout_ms=30)
    home.plugin("spinning", SPINNING, timeout_ms=30)
    home.plugin("async", ASYNC, timeout_ms=30)
    home.plugin("retrying", RETRYING, max_retries=10, retry_delay_ms=1)

    def run(number: int) -> tuple[str, int, str]:
        name = list(PROGRAMS)[number % len(PROGRAMS)]
        path = home.path.parent / f"home-{number}"
        path.mkdir()
        (path / "plugins").symlink_to(home.plugins)
        source = textwrap.dedent(PROGRAMS[name].format(pause=(number % 7) * 0.01))
        environment = {**home.environment(), "WARPLINE_HOME": str(path)}
        ended = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", source],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return name, ended.returncode, ended.stderr

    with ThreadPoolExecutor(3) as pool:
        ends = list(pool.map(run, range(REPETITIONS)))
    assert len(ends) == REPETITIONS
    words = ["Fatal", "panicked", "Traceback", "Exception in thread"]
    wrong = [end for end in ends if end[1] != 0 or any(word in end[2] for word in words)]
    assert wrong == []


def test_the_dispatching_thread_that_comes_late_to_the_end_says_nothing(home: Home) -> None:
    home.plugin("p")
    ended = home.python(
        """
        import time, warpline
        from warpline._host.host import PythonHost

        start = PythonHost._start

        def slow(self, number, text):
            start(self, number, text)
            time.sleep(0.2)

        PythonHost._start = slow
        print(warpline.run_advance().status)
        """
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "complete\n", "")


def test_who_comes_after_the_end_is_refused_and_other_threads_end_quietly(home: Home) -> None:
    home.plugin("p")
    ended = home.python(
        """
        import atexit, threading

        @atexit.register
        def late():
            ready.set()
            worker.join()
            try:
                warpline.plan()
            except RuntimeError as error:
                print(error)

        import warpline
        ready = threading.Event()

        def run():
            try:
                ready.wait()
                warpline.plan()
            except Exception:
                print("an ordinary exception")
            finally:
                print("the thread ends")

        warpline.plan()
        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        """
    )
    refusal = "the interpreter is ending: the engine takes no more work"
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == ["the thread ends", refusal]


def test_an_advance_that_the_interpreter_ends_under_is_recorded(home: Home) -> None:
    home.plugin("slow", SLOW)
    ended = home.python(PROGRAMS["an advance on a daemon thread"].format(pause=0.2))
    assert ended.returncode == 0, ended.stderr
    log = home.json(f"runs/{home.state()['last_run_id']}.json")
    assert log["status"] == "interrupted"


@pytest.mark.parametrize("name", ["warpline-dispatch", "warpline-plugin"])
def test_a_call_for_which_no_thread_could_be_made_leaves_none_behind(home: Home, name: str) -> None:
    home.plugin("p")
    ended = home.python(
        f"""
        import functools, threading, warpline
        # It has another name from 3.13 on.
        which = {{"_start_new_thread", "_start_joinable_thread"}} & set(vars(threading))
        real = {{name: getattr(threading, name) for name in which}}

        def start(bootstrap, *rest, name, **more):
            if bootstrap.__self__.name == {name!r}:
                raise RuntimeError("can't start new thread")
            return real[name](bootstrap, *rest, **more)

        for each in which:
            setattr(threading, each, functools.partial(start, name=each))
        for _ in range(3):
            try:
                warpline.run_advance()
            except RuntimeError as error:
                print(error)
        vars(threading).update(real)
        print(warpline.run_advance().status)
        print([thread.name for thread in threading.enumerate()].count("warpline-dispatch"))
        """
    )
    refused = "can't start new thread\n"
    assert ended.stdout == f"{3 * refused}complete\n1\n", ended.stderr


def test_a_forked_child_works_with_an_engine_of_its_own(home: Home) -> None:
    home.plugin("p")
    ended = home.python(
        """
        import os, warpline
        assert warpline.run_advance().status == "complete"
        child = os.fork()
        if child == 0:
            result = warpline.run_advance(force=True)
            os._exit(0 if result.plugin_states == {"p": "completed"} else 1)
        print(os.waitpid(child, 0)[1])
        print(warpline.run_advance(force=True).status)
        """
    )
    assert ended.stdout.split() == ["0", "complete"], ended.stderr


def test_a_child_that_is_forked_while_a_plugin_is_imported_imports_it_anew(home: Home) -> None:
    (home.plugin("p") / "clock.py").write_text(
        "import os, time\nif os.environ.get('SLOW'):\n    print('importing', flush=True)\n    time.sleep(2)\n"
    )
    (home.plugins / "p" / "handler.py").write_text(
        "import clock\nfrom warpline import skill_ok\ndef handler(*_):\n    return skill_ok('done')\n"
    )
    ended = home.python(
        """
        import os, sys, threading, time, warpline
        importing = threading.Event()
        class Heard:
            def write(self, text):
                if "importing" in text:
                    importing.set()
            def flush(self):
                pass
        sys.stderr = Heard()
        os.environ["SLOW"] = "yes"
        states = []
        thread = threading.Thread(target=lambda: states.append(warpline.run_advance().plugin_states))
        thread.start()
        importing.wait()
        child = os.fork()
        if child == 0:
            os.environ.pop("SLOW")
            witness = {"granted": False, "reason": "manual-run"}
            done = warpline.invoke_plugin("p", witness=witness)
            os._exit(0 if done.result["status"] == "success" else 3)
        since = time.monotonic()
        ended, status = 0, None
        while not ended and time.monotonic() - since < 60:
            ended, status = os.waitpid(child, os.WNOHANG)
            time.sleep(0.01)
        if not ended:
            os.kill(child, 9)
            os.waitpid(child, 0)
        thread.join()
        print("child", ended == child, status, states)
        """,
        timeout=120,
    )
    assert ended.stdout == "child True 0 [{'p': 'completed'}]\n", ended.stderr


@pytest.mark.parametrize("call", ["warpline.run_advance", "awaited"])
def test_what_a_host_ends_at_once_is_recorded(home: Home, call: str) -> None:
    home.plugin("slow", SLOW)
    ended = home.python(
        f"""
        import asyncio, os, threading, time, warpline, warpline.aio
        def awaited(**options):
            asyncio.run(warpline.aio.run_advance(**options))
        started = threading.Event()
        def leave():
            started.wait()
            os._exit(7)
        threading.Thread(target=leave, daemon=True).start()
        {call}(on_plugin_start=lambda _: started.set())
        """
    )
    assert ended.returncode == 7, ended.stderr
    assert "the process ends while these plugins run: slow" in ended.stderr
    log = home.json(f"runs/{home.state()['last_run_id']}.json")
    assert log["status"] == "interrupted"


def test_children_that_multiprocessing_forks_inside_a_handler_work(home: Home) -> None:
    home.plugin(
        "p",
        """
        import multiprocessing
        from warpline import skill_ok
        def double(number):
            print("in a child", flush=True)
            return 2 * number
        def handler(*_):
            with multiprocessing.get_context("fork").Pool(2) as pool:
                return skill_ok(str(pool.map(double, [1, 2, 3])))
        """,
    )
    ended = home.python(
        """
        import warpline
        witness = {"granted": False, "reason": "manual-run"}
        result = warpline.invoke_plugin("p", witness=witness, persist_artifact=True).result
        print(result["summary"])
        """
    )
    assert ended.stdout == "[2, 4, 6]\n", ended.stderr


@pytest.mark.parametrize(
    "end",
    ["return skill_ok('from the child')", "sys.exit(5)", "raise ValueError", "return object()"],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_forked_child_that_leaves_a_handler_is_ended(home: Home, kind: str, end: str) -> None:
    home.plugin(
        "p",
        f"""
        import os, sys
        from warpline import skill_ok
        {kind} handler(*_):
            child = os.fork()
            if child:
                return skill_ok(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
            {end}
        """,
    )
    ended = home.python(
        """
        import warpline
        print(warpline.run_advance().plugin_entries[0]["result_summary"])
        """
    )
    assert ended.stdout == "1\n", ended.stderr
    assert "forked child returned" in ended.stderr


def test_a_forked_child_that_leaves_a_module_is_ended_before_its_handler(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "of-some-length")
    home.plugin(
        "p",
        """
        import os
        from warpline import skill_ok
        child = os.fork()
        def handler(*_):
            return skill_ok(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
        """,
        secrets=["TOKEN"],
    )
    ended = home.python(
        """
        import warpline
        print(warpline.run_advance().plugin_entries[0]["result_summary"])
        """
    )
    told = "warpline: a forked child returned from plugin code; it was ended\n"
    assert (ended.stdout, ended.stderr) == ("1\n", told)


def test_an_engine_of_the_parent_refuses_in_the_child() -> None:
    engine = _native.NativeEngine()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            engine.open(1, False, False, True, "plan", "{}", "{}", None)
            os.write(writer, b"began")
        except RuntimeError as error:
            os.write(writer, str(error).encode())
        finally:
            del engine
            os._exit(0)
    os.close(writer)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reader, 1000) == b"this engine belongs to the process that forked"


def test_a_panic_is_an_exception() -> None:
    panic = vars(_native)["panic_for_a_test"]
    with pytest.raises(RuntimeError, match="the engine panicked: asked for"):
        panic()


def test_a_panic_in_an_operation_ends_that_operation_alone(home: Home) -> None:
    with pytest.raises(warpline.WarplineError, match="the engine panicked: asked for") as raised:
        run_operation("panic_for_a_test", {})
    assert raised.value.code == "ERR_WARPLINE_HOST"
    home.plugin("p")
    assert warpline.run_advance().plugin_states == {"p": "completed"}


def test_a_late_or_repeated_answer_is_dropped(home: Home) -> None:
    engine = _native.NativeEngine()
    for _ in range(2):
        engine.complete(1, "value", "null")
        engine.complete(2, "raised", "no json")
    assert engine.begin(1) is False
    with pytest.raises(ValueError):
        engine.wait(7, 1)


def test_the_package_needs_nothing_but_the_interpreter() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import sys, warpline; print(*sorted(sys.modules))"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(warpline.__file__).parents[1])},
        check=True,
    )
    assert "typing_extensions" not in ended.stdout and "pytest" not in ended.stdout
