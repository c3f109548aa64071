"""Operations as coroutines: the same answers, on the loop of whoever awaits them."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any, Callable, Coroutine

import pytest
import warpline
from conftest import Home
from waiting import PATIENCE
from warpline import aio

MANUAL: warpline.NotGranted = {"granted": False, "reason": "manual-run"}
request_id: ContextVar[str] = ContextVar("request_id", default="none")

WHERE = """
import asyncio, threading
from warpline import skill_ok

async def handler(manifest, args, signal, capabilities):
    await asyncio.sleep(0)
    return skill_ok(f"{threading.get_ident()} {id(asyncio.get_running_loop())}")
"""
THREAD = """
import threading
from warpline import skill_ok

def handler(*_):
    return skill_ok(f"{threading.get_ident()} {threading.current_thread().daemon}")
"""

#: What runs a coroutine to its end, by name.
RUNNERS: dict[str, Callable[[Coroutine[Any, Any, Any]], Any]] = {"asyncio": asyncio.run}
if find_spec("uvloop") is not None:
    import uvloop

    def on_uvloop(main: Coroutine[Any, Any, Any]) -> Any:
        loop = uvloop.new_event_loop()
        try:
            return loop.run_until_complete(main)
        finally:
            loop.close()

    RUNNERS["uvloop"] = on_uvloop


@pytest.fixture(params=list(RUNNERS))
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    return RUNNERS[request.param]


Run = Callable[[Coroutine[Any, Any, Any]], Any]


def test_every_operation_is_there_with_the_same_parameters() -> None:
    functions = [name for name in warpline.__all__ if inspect.isfunction(getattr(warpline, name))]
    operations = set(functions) - {"skill_failure", "skill_handoff", "skill_ok", "warpline_home"}
    assert operations == set(aio.__all__)
    for name in aio.__all__:
        function = getattr(aio, name)
        assert inspect.iscoroutinefunction(function)
        assert inspect.signature(function) == inspect.signature(getattr(warpline, name))


def test_every_operation_answers_as_the_blocking_one_does(home: Home, run: Run) -> None:
    home.plugin("p")
    home.plugin("q", "broken(")

    async def main() -> tuple[Any, ...]:
        planned = await aio.plan(profile="daily")
        loaded = await aio.load_plugin_manifests()
        invoked = await aio.invoke_plugin("p", {"x": 1}, witness=MANUAL, run_id="r")
        advanced = await aio.run_advance(force=True, dry_run=True)
        return planned, loaded, invoked, advanced

    planned, loaded, invoked, advanced = run(main())
    blocking = warpline.plan(profile="daily")
    assert {**planned, "now": ""} == {**blocking, "now": ""}
    assert loaded == warpline.load_plugin_manifests()
    assert (invoked.plugin, invoked.result["summary"], invoked.attempt_count) == ("p", "done", 1)
    assert advanced.plugin_states == warpline.run_advance(force=True, dry_run=True).plugin_states


def test_an_async_handler_runs_on_the_loop_and_a_sync_one_on_a_thread(home: Home, run: Run) -> None:
    home.plugin("here", WHERE)
    home.plugin("there", THREAD)

    async def main() -> dict[str, str]:
        result = await aio.run_advance()
        assert result.status == "complete"
        words = {entry["plugin"]: entry["result_summary"] for entry in result.plugin_entries}
        assert words["here"] == f"{threading.get_ident()} {id(asyncio.get_running_loop())}"
        return words

    words = run(main())
    assert words["there"].split()[0] != str(threading.get_ident())
    assert words["there"].endswith("True")


def test_context_variables_reach_handlers_and_hooks_and_no_change_comes_back(home: Home) -> None:
    source = """
from warpline import skill_ok
import test_aio

{kind} handler(*_):
    seen = test_aio.request_id.get()
    test_aio.request_id.set("changed")
    return skill_ok(seen)
"""
    home.plugin("a", source.format(kind="async def"))
    home.plugin("s", source.format(kind="def"))
    sys.modules.setdefault("test_aio", sys.modules[__name__])
    seen: list[str] = []

    async def main() -> None:
        request_id.set("r-1")
        result = await aio.run_advance(on_plugin_end=lambda *_: seen.append(request_id.get()))
        assert [entry["result_summary"] for entry in result.plugin_entries] == ["r-1", "r-1"]
        assert request_id.get() == "r-1"

    asyncio.run(main())
    assert seen == ["r-1", "r-1"]


def test_prints_and_changes_of_the_process_are_the_handlers_own(
    home: Home, capfd: pytest.CaptureFixture[str]
) -> None:
    home.plugin(
        "p",
        """
import asyncio, os
from warpline import skill_ok

async def handler(*_):
    await asyncio.sleep(0.1)
    os.environ["LEFT_BEHIND"] = "1"
    print("the handler says s3cret")
    return skill_ok("done")
""",
        secrets=["TOKEN"],
    )

    async def main() -> None:
        import os

        os.environ["TOKEN"] = "s3cret"
        running = asyncio.create_task(
            aio.invoke_plugin("p", witness=MANUAL, persist_artifact=True, run_id="r")
        )
        print("the host says s3cret")
        await running
        assert "LEFT_BEHIND" not in os.environ
        del os.environ["TOKEN"]

    asyncio.run(main())
    out, err = capfd.readouterr()
    assert out == "the host says s3cret\n"
    assert "the handler says [redacted]" in err
    assert "the environment variable `LEFT_BEHIND`; it was put back" in err
    assert "the handler says [redacted]" in (home.path / "runs" / "r.log").read_text()


def test_hooks_sync_and_async_come_in_order_and_before_the_result(home: Home, run: Run) -> None:
    home.plugin("a")
    home.plugin("b", dependencies=["a"])
    told: list[Any] = []
    thread = threading.get_ident()

    async def start(plugin: str) -> None:
        await asyncio.sleep(0.05)
        told.append(("start", plugin, threading.get_ident() == thread))

    def end(plugin: str, state: str, elapsed_ms: int, reason: Any) -> None:
        asyncio.get_running_loop()
        told.append((plugin, state, reason))

    async def main() -> None:
        await aio.run_advance(on_plugin_start=start, on_plugin_end=end)
        told.append("returned")

    run(main())
    assert told == [
        ("start", "a", True),
        ("a", "completed", None),
        ("start", "b", True),
        ("b", "completed", None),
        "returned",
    ]


def test_a_hook_that_raises_or_cancels_itself_is_reported_and_loses_nothing(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.plugin("p", "def handler(*_):\n    raise ValueError('again')\n", max_retries=0)
    heard: list[str] = []

    async def start(plugin: str) -> None:
        raise asyncio.CancelledError

    async def fail(text: str) -> None:
        heard.append(text)

    def end(*_: Any) -> None:
        raise ZeroDivisionError("in a hook")

    result = asyncio.run(
        aio.run_advance(on_plugin_start=start, on_plugin_end=end, on_run_failure=fail)
    )
    assert result.plugin_states == {"p": "failed"} and len(heard) == 1
    err = capsys.readouterr().err
    assert "a hook failed: CancelledError" in err
    assert "a hook failed: ZeroDivisionError: in a hook" in err


def test_many_operations_share_a_loop_without_waiting_for_each_other(home: Home, run: Run) -> None:
    # Each ends once all 40 have begun.
    home.plugin(
        "p",
        """
        import asyncio
        from warpline import skill_ok

        begun = 0

        async def handler(*_):
            global begun
            begun += 1
            while begun < 40:
                await asyncio.sleep(0.01)
            return skill_ok("done")
        """,
        max_parallelism=40,
        timeout_ms=600_000,
    )

    async def main() -> None:
        calls = [aio.invoke_plugin("p", witness=MANUAL) for _ in range(40)]
        results = await asyncio.gather(*calls)
        assert all(one.result["summary"] == "done" for one in results)

    before = threading.active_count()
    run(main())
    assert threading.active_count() - before < 45


def test_loops_of_several_threads_each_run_their_own_handlers(home: Home, run: Run) -> None:
    home.plugin("p", WHERE, max_parallelism=4)
    found: list[bool] = []

    async def main() -> None:
        for _ in range(5):
            one = await aio.invoke_plugin("p", witness=MANUAL)
            here = f"{threading.get_ident()} {id(asyncio.get_running_loop())}"
            found.append(one.result["summary"] == here)

    threads = [threading.Thread(target=run, args=(main(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20


def test_a_blocking_call_inside_a_loop_ends_and_says_what_else_there_is(home: Home) -> None:
    home.plugin("p", WHERE)

    async def hook(plugin: str) -> None:
        raise AssertionError("never called")

    async def main() -> None:
        one = warpline.invoke_plugin("p", witness=MANUAL)
        assert one.result["summary"].split()[0] != str(threading.get_ident())
        with pytest.raises(TypeError, match=r"`on_plugin_start` is an async .* warpline\.aio"):
            warpline.run_advance(on_plugin_start=hook)

    asyncio.run(asyncio.wait_for(main(), PATIENCE))
    assert not (home.path / "state").exists()


def test_a_handler_may_advance_another_home_from_within(home: Home, tmp_path: Any) -> None:
    home.plugin("inner", WHERE)
    outer = tmp_path / "outer"
    (outer / "plugins").mkdir(parents=True)
    plugin = outer / "plugins" / "outer"
    plugin.mkdir()
    (plugin / "manifest.py").write_text(
        (home.plugins / "inner" / "manifest.py").read_text().replace("inner", "outer")
    )
    (plugin / "handler.py").write_text(
        "import asyncio\nfrom warpline import aio, run_advance, skill_ok\n"
        "async def handler(*_):\n"
        "    here = id(asyncio.get_running_loop())\n"
        "    result = await aio.run_advance(force=True)\n"
        "    assert str(here) in result.plugin_entries[0]['result_summary']\n"
        "    blocking = run_advance(force=True)\n"
        "    assert str(here) not in blocking.plugin_entries[0]['result_summary']\n"
        "    return skill_ok(blocking.status)\n"
    )

    async def main() -> warpline.Invocation:
        return await aio.invoke_plugin("outer", witness=MANUAL, plugins_dir=outer / "plugins")

    assert asyncio.run(main()).result["summary"] == "complete"


@pytest.mark.parametrize(
    "given",
    [{"on_plugin_start": 5}, {"signal": 5}, {"plugins_dir": 5}, {"concurrency": {1, 2}}],
)
def test_what_the_blocking_one_refuses_is_refused_alike(home: Home, given: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as blocking:
        warpline.run_advance(**given)
    with pytest.raises(type(blocking.value)) as awaited:
        asyncio.run(aio.run_advance(**given))
    assert str(awaited.value) == str(blocking.value)


def test_a_refusal_of_the_engine_has_its_class(home: Home) -> None:
    with pytest.raises(warpline.PluginRootError) as refused:
        asyncio.run(aio.run_advance(plugins_dir="nowhere"))
    assert "create the directory" in (refused.value.hint or "")
    with pytest.raises(TypeError, match="witness"):
        asyncio.run(aio.invoke_plugin("p", witness=None))  # type: ignore[arg-type]
