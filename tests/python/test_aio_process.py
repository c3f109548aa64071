"""Coroutines of operations and what is around them: a loop that goes away, Ctrl-C, the interpreter."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
import warpline
from conftest import Home
from test_aio import MANUAL
from test_aio_cancel import WAITING, assert_interrupted, begun
from waiting import PROMPTLY, until
from warpline import aio


@pytest.mark.parametrize("keeps", [False, True])
def test_a_loop_that_is_closed_meanwhile_loses_no_record(home: Home, keeps: bool) -> None:
    """The collector comes to the handler, and to the advance unless somebody keeps that: in any order."""
    home.plugin("first")
    slow = home.plugin("slow", WAITING, dependencies=["first"])

    kept: list[Any] = []

    def closed_meanwhile() -> None:
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda *_: None)
        running = loop.create_task(aio.run_advance())
        if keeps:
            kept.append(running)
        loop.run_until_complete(begun(slow))
        loop.close()

    def collected_and_recorded() -> bool:
        # Again and again: the thread that handed the handler over may just be about to let go of it.
        gc.collect()
        return (home.path / "state" / "last-successful-advance").exists()

    closed_meanwhile()
    until(collected_and_recorded)
    assert_interrupted(home, "first", "slow")
    # The process goes on to work: nothing waits for that loop.
    (slow / "handler.py").write_text(
        "from warpline import skill_ok\nhandler = lambda *_: skill_ok('ok')\n"
    )
    assert asyncio.run(aio.run_advance(force=True)).status == "complete"


@pytest.mark.parametrize("flags", [[], ["-X", "dev", "-W", "error"]])
def test_ctrl_c_goes_through_asyncio_run_after_the_record(home: Home, flags: list[str]) -> None:
    home.plugin("first")
    slow = home.plugin("slow", WAITING, dependencies=["first"])
    program = """
import asyncio
from warpline import aio
try:
    asyncio.run(aio.run_advance())
except KeyboardInterrupt:
    print("raised")
"""
    child = subprocess.Popen(
        [sys.executable, *flags, "-c", program],
        env=home.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    asyncio.run(begun(slow))
    child.send_signal(signal.SIGINT)
    since = time.monotonic()
    out, err = child.communicate(timeout=60)
    assert time.monotonic() - since < PROMPTLY
    assert (child.returncode, out, err) == (0, "raised\n", "")
    assert_interrupted(home, "first", "slow")
    assert (slow / "cancelled").exists()


def test_ctrl_c_in_the_middle_of_plugin_code_is_the_persons(home: Home) -> None:
    """Where the loop does not turn it into a cancellation, it arrives in whatever code runs."""
    home.plugin(
        "busy",
        """
import pathlib

async def handler(*_):
    (pathlib.Path(__file__).parent / "begun").touch()
    while True:
        sum(range(1000))
""",
    )
    program = """
import asyncio
from warpline import aio
loop = asyncio.new_event_loop()
running = loop.create_task(aio.run_advance())
try:
    loop.run_until_complete(running)
except KeyboardInterrupt:
    print("raised")
    running.cancel()
    try:
        loop.run_until_complete(running)
    except asyncio.CancelledError:
        print("recorded")
loop.close()
"""
    child = subprocess.Popen(
        [sys.executable, "-c", program], env=home.environment(), stdout=subprocess.PIPE, text=True
    )
    asyncio.run(begun(home.plugins / "busy"))
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert (child.returncode, out) == (0, "raised\nrecorded\n")


def test_debug_mode_has_nothing_to_complain_of(home: Home) -> None:
    home.plugin(
        "p",
        "import asyncio\nfrom warpline import skill_ok\nasync def handler(*_):\n"
        "    await asyncio.sleep(0.01)\n    return skill_ok('done')\n",
    )
    home.plugin("slow", WAITING, dependencies=["p"])
    ended = subprocess.run(
        [
            sys.executable,
            "-X",
            "dev",
            "-W",
            "error",
            "-c",
            """
import asyncio, gc, logging
from warpline import aio
logging.basicConfig(level=logging.INFO)

async def main():
    # A busy machine is slow.
    asyncio.get_running_loop().slow_callback_duration = 60
    async def start(plugin): await asyncio.sleep(0)
    witness = {"granted": False, "reason": "manual-run"}
    for _ in range(3):
        await aio.invoke_plugin("p", witness=witness, on_attempt_start=start)
    try:
        await asyncio.wait_for(aio.run_advance(on_plugin_start=start), 1)
    except asyncio.TimeoutError:
        print("cut short")
    # An operation that is let go of in the middle.
    loose = asyncio.ensure_future(aio.run_advance(force=True))
    await asyncio.sleep(0.3)

asyncio.run(main())
gc.collect()
""",
        ],
        env=home.environment(PYTHONASYNCIODEBUG="1"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    quiet = [line for line in ended.stderr.splitlines() if "Using selector" not in line]
    assert (ended.returncode, ended.stdout, quiet) == (0, "cut short\n", [])


def test_a_handler_whose_turn_never_came_is_no_complaint(home: Home) -> None:
    # In a process of its own: what other tests left would be collected, and complained of, here.
    program = """
import asyncio, gc, warpline
from warpline._host.on_loop import OnLoop

async def handler():
    raise AssertionError("never called")

loop = asyncio.new_event_loop()
work = OnLoop(loop, handler(), warpline.Signal(), print, print, print)
work.start()
loop.close()
del work
gc.collect()
"""
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        env=home.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_the_interpreter_ends_with_operations_and_handlers_on_a_loop_nobody_runs(
    home: Home,
) -> None:
    """No thread of the engine wants the interpreter's lock while that ends: it would abort."""
    home.plugin("slow", WAITING)
    home.plugin("sync", "import time\ndef handler(*_):\n    time.sleep(600)\n")
    program = """
import asyncio, threading, time
from warpline import aio

def serve():
    asyncio.run(aio.run_advance())

threading.Thread(target=serve, daemon=True).start()
time.sleep({pause})
"""
    for pause in [0.02, 0.1, 0.2, 0.3, 0.4, 0.6] * 3:
        ended = home.python(program.format(pause=pause), timeout=60)
        assert ended.returncode == 0, ended.stderr
        assert "Traceback" not in ended.stderr, ended.stderr


def test_what_comes_too_late_on_another_thread_ends_without_a_word(home: Home) -> None:
    home.plugin("p", "async def handler(*_):\n    raise ValueError\n", max_retries=0)
    program = """
import asyncio, threading, time
from warpline import aio

async def again():
    while True:
        await aio.invoke_plugin("p", witness={{"granted": False, "reason": "manual-run"}})

async def serve():
    await asyncio.gather(*[again() for _ in range(10)])

for _ in range(2):
    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
time.sleep({pause})
"""
    for pause in [0.3, 0.4, 0.5, 0.6] * 3:
        ended = home.python(program.format(pause=pause), timeout=60)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_the_dispatching_thread_survives_a_loop_that_takes_no_calls(home: Home) -> None:
    home.plugin("p", "async def handler(*_):\n    pass\n", timeout_ms=500, max_retries=0)

    class Deaf(asyncio.SelectorEventLoop):
        deaf = False

        def call_soon_threadsafe(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
            if self.deaf:
                raise RuntimeError("Event loop is closed")
            return super().call_soon_threadsafe(*args, **kwargs)

    loop = Deaf()
    loop.set_exception_handler(lambda *_: None)
    running = loop.create_task(aio.invoke_plugin("p", witness=MANUAL, persist_artifact=True))
    loop.call_later(0.2, loop.stop)
    loop.deaf = True
    loop.run_forever()
    until(
        lambda: any(
            home.json(f"runs/{path.name}")["status"] != "running"
            for path in (home.path / "runs").glob("*.json")
        )
    )
    assert not running.done()
    assert warpline.plan()["due"]
    loop.deaf = False
    running.cancel()
    loop.close()
