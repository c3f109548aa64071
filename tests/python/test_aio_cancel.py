"""Cancelling in both directions: the caller's task and the engine, the loop and the process."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import warpline
from conftest import Home
from test_aio import MANUAL, Run, run
from waiting import PATIENCE, PROMPTLY, text_of, within
from warpline import aio

__all__ = ["run"]

#: Waits for long, and leaves in files how it ended.
WAITING = """
import asyncio, pathlib
here = pathlib.Path(__file__).parent

async def handler(manifest, args, signal, capabilities):
    (here / "begun").touch()
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        (here / "cancelled").write_text(f"{signal.aborted} {signal.reason}")
        raise
"""
#: Takes no cancellation for an answer.
STUBBORN = """
import asyncio, pathlib
here = pathlib.Path(__file__).parent

async def handler(*_):
    (here / "begun").touch()
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            (here / "cancelled").touch()
"""


async def begun(plugin: Path) -> None:
    since = time.monotonic()
    while not (plugin / "begun").exists():
        assert time.monotonic() - since < PATIENCE
        await asyncio.sleep(0.01)


def assert_interrupted(home: Home, finished: str, running: str) -> None:
    """The advance is on record as interrupted, with what had finished and what had not."""
    [log] = [home.json(f"runs/{path.name}") for path in (home.path / "runs").glob("*.json")]
    status = {entry["plugin"]: entry["status"] for entry in log["plugin_entries"]}
    assert status == {finished: "completed", running: "failed"}
    assert home.state()["plugin_runs"][finished]["status"] == "success"
    assert log["status"] == "interrupted"


def test_a_cancelled_task_records_first_and_its_handler_is_cancelled(home: Home, run: Run) -> None:
    home.plugin("first")
    slow = home.plugin("slow", WAITING, dependencies=["first"])
    ended: list[Any] = []

    async def main() -> None:
        running = asyncio.ensure_future(aio.run_advance(on_plugin_end=lambda *a: ended.append(a)))
        await begun(slow)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert running.cancelled()
        assert_interrupted(home, "first", "slow")
        assert await text_of(slow / "cancelled") == "True cancelled"

    run(main())
    assert [one[:2] for one in ended] == [("first", "completed"), ("slow", "failed")]


def test_a_time_limit_of_the_caller_does_the_same(home: Home, run: Run) -> None:
    home.plugin("first")
    slow = home.plugin("slow", WAITING, dependencies=["first"])

    async def main() -> None:
        running = asyncio.ensure_future(aio.run_advance())
        await begun(slow)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(running, 0.1)
        assert_interrupted(home, "first", "slow")
        assert await text_of(slow / "cancelled") == "True cancelled"

    run(main())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="task groups came with 3.11")
def test_the_failure_of_a_sibling_in_a_task_group_does_the_same(home: Home) -> None:
    home.plugin("first")
    slow = home.plugin("slow", WAITING, dependencies=["first"])

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(aio.run_advance())
            await begun(slow)
            raise ZeroDivisionError

    with pytest.raises(Exception, match="unhandled errors in a TaskGroup") as raised:
        asyncio.run(main())
    group: Any = raised.value
    assert [type(one) for one in group.exceptions] == [ZeroDivisionError]
    assert_interrupted(home, "first", "slow")


def test_a_task_that_is_cancelled_again_and_again_still_waits_for_the_record(home: Home) -> None:
    home.plugin("first")
    slow = home.plugin("slow", WAITING, dependencies=["first"])

    async def main() -> None:
        running = asyncio.ensure_future(aio.run_advance())
        await begun(slow)
        while not running.done():
            running.cancel()
            await asyncio.sleep(0)
        assert running.cancelled()
        assert_interrupted(home, "first", "slow")

    asyncio.run(main())


def test_cancelled_while_an_async_hook_runs_the_rest_is_told_all_the_same(home: Home) -> None:
    home.plugin("first")
    second = home.plugin("second", WAITING, dependencies=["first"])
    told: list[str] = []

    async def start(plugin: str) -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            told.append(f"{plugin} cut short")
            raise

    def end(plugin: str, state: str, *_: Any) -> None:
        told.append(f"{plugin} {state}")

    async def main() -> None:
        running = asyncio.ensure_future(aio.run_advance(on_plugin_start=start, on_plugin_end=end))
        await begun(second)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(running, PROMPTLY)

    asyncio.run(main())
    assert told[:2] == ["first cut short", "first completed"]


def test_a_time_limit_of_the_engine_cancels_the_handler(home: Home, run: Run) -> None:
    slow = home.plugins / "slow"

    async def main(limit: int) -> None:
        home.plugin("slow", WAITING, timeout_ms=limit, max_retries=0)
        one = await aio.invoke_plugin("slow", witness=MANUAL)
        assert one.timed_out and one.result["status"] == "failed"
        if (slow / "begun").exists():
            assert await text_of(slow / "cancelled") == "True timeout"

    within(lambda limit: run(main(limit)), (slow / "begun").exists)


def test_a_handler_that_swallows_its_cancellation_holds_nothing_up(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpline._host.on_loop.TIDY_SECONDS", 0.5)
    slow = home.plugins / "slow"

    async def main(limit: int) -> float:
        home.plugin("slow", STUBBORN, timeout_ms=limit, max_retries=0)
        since = time.monotonic()
        one = await aio.invoke_plugin("slow", witness=MANUAL)
        assert one.timed_out
        return time.monotonic() - since

    since = time.monotonic()
    took = within(lambda limit: asyncio.run(main(limit)), (slow / "begun").exists)
    assert took < PROMPTLY
    assert (slow / "cancelled").exists()
    # The loop ends as well: it would wait for the handler's task for ever.
    assert time.monotonic() - since < PROMPTLY


def test_a_handler_may_tidy_up_before_it_goes(
    home: Home, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpline._host.on_loop.TIDY_SECONDS", PATIENCE)
    slow = home.plugins / "slow"
    tidies = """\
        while not (here / "go on").exists():
            await asyncio.sleep(0.01)
        (here / "tidied").write_text("yes")
"""

    async def main(limit: int) -> None:
        handler = WAITING.replace("        raise\n", tidies)
        home.plugin("slow", handler, timeout_ms=limit, max_retries=0)
        await aio.invoke_plugin("slow", witness=MANUAL)
        (slow / "go on").touch()
        if (slow / "begun").exists():
            assert await text_of(slow / "tidied") == "yes"

    within(lambda limit: run(main(limit)), (slow / "begun").exists)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise asyncio.CancelledError", "CancelledError"),
        ("asyncio.current_task().cancel(); await asyncio.sleep(1)", "CancelledError"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (handler.py:"),
        ("raise SystemExit(3)", "SystemExit: 3 (handler.py:"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise StopIteration('s')", "coroutine raised StopIteration"),
        ("return {1, 2}", "of type set"),
    ],
)
def test_what_a_handler_does_to_itself_is_its_failure_alone(
    home: Home, run: Run, code: str, said: str
) -> None:
    home.plugin("p", f"import asyncio\nasync def handler(*_):\n    {code}\n", max_retries=0)

    async def main() -> warpline.Invocation:
        return await aio.invoke_plugin("p", witness=MANUAL)

    one = run(main())
    assert one.result["status"] == "failed" and not one.cancelled
    assert said in (one.final_error or "")


@pytest.mark.parametrize("kind", ["asyncio.Event", "threading.Event", "handler"])
def test_a_signal_of_any_kind_interrupts(home: Home, kind: str) -> None:
    home.plugin("first")
    slow = home.plugin("slow", WAITING, dependencies=["first"])

    async def main() -> None:
        signals: dict[str, Any] = {
            "asyncio.Event": asyncio.Event(),
            "threading.Event": threading.Event(),
            "handler": warpline.Signal(),
        }
        given = signals[kind]
        running = asyncio.ensure_future(aio.run_advance(signal=given))
        await begun(slow)
        given._abort("cancelled") if kind == "handler" else given.set()
        result = await asyncio.wait_for(running, PROMPTLY)
        assert result.status == "interrupted"
        assert (await aio.run_advance(signal=given)).status == "interrupted"

    asyncio.run(main())


def test_a_signal_that_raises_interrupts_and_is_raised(home: Home) -> None:
    home.plugin("slow", WAITING)

    class Broken:
        asked = 0

        def is_set(self) -> bool:
            self.asked += 1
            return bool(1 / 0) if self.asked > 1 else False

    with pytest.raises(ZeroDivisionError):
        asyncio.run(asyncio.wait_for(aio.run_advance(signal=Broken()), PROMPTLY))
    [log] = (home.path / "runs").glob("*.json")
    assert home.json(f"runs/{log.name}")["status"] == "interrupted"
