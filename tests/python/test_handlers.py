"""What handlers return, raise and ignore never harms the host."""

from __future__ import annotations

import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

import pytest
import warpline
from conftest import Home
from waiting import PROMPTLY, until, within
from warpline._host.text import JSON_LIMIT

MANUAL: warpline.NotGranted = {"granted": False, "reason": "manual-run"}
BASE = "{'status': 'success', 'phases_completed': [], 'phases_failed': [], 'data_freshness': {}, 'summary': 's'}"


def invoke(home: Home, source: str, **fields: Any) -> warpline.Invocation:
    home.plugin("p", source, **fields)
    return warpline.invoke_plugin("p", witness=MANUAL)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("float('nan')", "`extra` is not a finite number"),
        ("[1, {'a': float('inf')}]", "`extra[1].a` is not a finite number"),
        ("{1, 2}", "`extra` is of type set"),
        ("b'x'", "`extra` is of type bytes"),
        ("object()", "`extra` is of type object"),
        ("{1: 2}", "`extra` has a key that is int"),
        ("{None: 2}", "`extra` has a key that is NoneType"),
        ("{('a',): 2}", "`extra` has a key that is tuple"),
        ("10 ** 400", "`extra` is an integer too large"),
        ("10 ** 10_000", "`extra` is an integer too large"),
        ("cycle", "`extra[0].c` contains itself"),
        ("deep", "nested deeper than 900 levels"),
        ("Renamed()", "`extra` is of type an unknown type"),
        ("'x' * 40_000_000", "longer than"),
        ("['x' * 1000] * 40_000", "longer than"),
        ("Hostile()", "ZeroDivisionError"),
        ("(x for x in ())", "`extra` is of type generator"),
    ],
)
def test_a_value_without_a_json_form_is_a_failure_that_says_where(
    home: Home, value: str, said: str
) -> None:
    invocation = invoke(
        home,
        f"""
class Hostile(dict):
    def items(self):
        return 1 / 0

class Meta(type):
    @property
    def __name__(cls):
        return 1 / 0

class Renamed(metaclass=Meta):
    pass

cycle = [{{}}]
cycle[0]['c'] = cycle
deep = []
for _ in range(100_000):
    deep = [deep]

def handler(*_):
    return {{**{BASE}, 'extra': {value}}}
""",
    )
    assert invocation.result["status"] == "failed"
    assert invocation.result["errors"][0]["code"] == "parse_error"
    assert "the handler's result has no JSON form: " in (invocation.final_error or "")
    assert said in (invocation.final_error or ""), invocation.final_error


def test_a_list_that_is_in_a_value_many_times_is_not_held_many_times(home: Home) -> None:
    # Too long by its text: nobody has to go through all of the parts to find that out.
    home.plugin(
        "p",
        f"""
        part = [None] * 200_000

        def handler(*_):
            return {{'text': 'x' * {JSON_LIMIT - 1000}, 'extra': [part] * 499}}
        """,
    )
    ended = home.python(
        f"""
        import resource, warpline
        def most():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        before = most()
        print(warpline.invoke_plugin("p", witness={MANUAL}).final_error)
        assert most() - before < 300, most()
        """
    )
    assert "longer than" in ended.stdout and ended.returncode == 0, ended.stderr


def test_numbers_and_text_are_written_as_javascript_writes_them(home: Home) -> None:
    invocation = invoke(
        home,
        """
from enum import IntEnum
from warpline import skill_ok

class Many(IntEnum):
    A = 7

def handler(*_):
    text = "\\ud83d|\\U0001f600|\\u2028|\\x7f"
    return skill_ok(text, artifacts_produced=[{"type": "t", "format": "json", "body": "b"}],
        schema_version=2.0, data_freshness={"2": "b", "1": "a", "x": "c"})
""",
    )
    assert invocation.result["summary"] == "\ud83d|\U0001f600|\u2028|\x7f"
    assert list(invocation.result["data_freshness"]) == ["1", "2", "x"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ValueError('x')", "ValueError: x (handler.py:"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (handler.py:"),
        ("import sys; sys.exit(3)", "SystemExit: 3 (handler.py:"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise StopIteration('s')", "StopIteration: s"),
        ("raise BaseException('b')", "BaseException: b"),
        ("raise NoTraceback('t')", "NoTraceback: t (handler.py:"),
        ("raise NoClass('c')", "NoClass: c (handler.py:"),
        ("raise OddText", "OddText: odd (handler.py:"),
        ("raise type(OddText.Text('Odd'), (Exception,), {})", "Odd (handler.py:"),
        ("raise NoName('n')", "an unknown type: n (handler.py:"),
        (
            "from warpline._host.text import NotJsonError as N; return type('M', (dict,), {'items': lambda self: bad(type('E', (N,), {'__str__': lambda self: bad(SystemExit)}))})(a=1)",
            "E: its text cannot be read",
        ),
        ("raise Mute", "Mute: its text cannot be read"),
        ("raise ValueError('\\ud800')", "ValueError: \ud800"),
        ("raise ValueError('x' * 100_000)", "… (cut)"),
        ("recurse()", "RecursionError"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
        (
            "e = ValueError('cyclic'); e.__cause__ = ValueError(); e.__cause__.__cause__ = e; raise e",
            "ValueError: cyclic",
        ),
        (
            "raise BaseExceptionGroup('many', [ValueError(1), SystemExit(2)])",
            "many (2 sub-exceptions)",
        ),
        ("raise 17", "TypeError: exceptions must derive from BaseException"),
        ("return None", "result is not valid"),
        ("return 5", "result is not valid"),
        ("return handler", "of type function"),
    ],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_whatever_is_raised_is_a_failed_result(home: Home, kind: str, code: str, said: str) -> None:
    invocation = invoke(
        home,
        f"""
class Mute(Exception):
    def __str__(self):
        raise SystemExit

class NoTraceback(Exception):
    @property
    def __traceback__(self):
        raise ZeroDivisionError

class NoClass(Exception):
    @property
    def __class__(self):
        raise ZeroDivisionError

class OddText(Exception):
    class Text(str):
        def __format__(self, spec):
            raise ZeroDivisionError
        def __str__(self):
            raise ZeroDivisionError

    def __str__(self):
        return OddText.Text("odd")

class Meta(type):
    @property
    def __name__(cls):
        raise ZeroDivisionError

class NoName(Exception, metaclass=Meta):
    pass

def bad(error):
    raise error

def recurse():
    recurse()

{kind} handler(*_):
    {code}
""",
    )
    assert invocation.result["status"] == "failed"
    if kind == "async def" and "StopIteration" in code:
        said = "RuntimeError: coroutine raised StopIteration"
    assert said in (invocation.final_error or ""), invocation.final_error


def test_async_handlers_run_on_a_loop_of_their_own(home: Home) -> None:
    invocation = invoke(
        home,
        """
import asyncio, threading
from warpline import skill_ok

async def handler(manifest, args, signal, capabilities):
    one, two = await asyncio.gather(asyncio.sleep(0.01, "a"), asyncio.to_thread(lambda: "b"))
    return skill_ok(one + two)
""",
    )
    assert invocation.result["summary"] == "ab"


@pytest.mark.parametrize(
    "handler",
    [
        "def handler(*_):\n    OVER.wait(600)",
        "def handler(*_):\n    while not OVER.is_set(): pass",
        "async def handler(*_):\n    await asyncio.sleep(600)",
        "async def handler(*_):\n    OVER.wait(600)",
        "async def handler(*_):\n    await asyncio.to_thread(OVER.wait, 600)",
    ],
)
def test_a_timeout_ends_the_wait_for_any_handler(
    home: Home, handler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = types.ModuleType("shared_steps")
    shared.OVER = threading.Event()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shared_steps", shared)
    since = time.monotonic()
    source = f"import asyncio\nfrom shared_steps import OVER\n{handler}\n"
    invocation = invoke(home, source, timeout_ms=100)
    shared.OVER.set()
    assert time.monotonic() - since < PROMPTLY
    assert invocation.timed_out and invocation.attempts[0]["status"] == "timeout"
    assert invocation.final_error == "timeout"


def timed_out(home: Home, handler: str) -> Path:
    """Runs a handler into its limit of time; gives the file that it writes at its end."""
    out = home.path / "out"
    out.touch()

    def run(limit: int) -> None:
        home.plugin("p", handler, timeout_ms=limit, max_retries=0)
        assert warpline.invoke_plugin("p", {"out": str(out)}, witness=MANUAL).timed_out

    within(run, (home.path / "out begun").exists)
    return out


TELLS_WHY = """
import pathlib
def handler(manifest, args, signal, capabilities):
    before = (signal.aborted, signal.reason, signal.wait(0.01))
    if signal.aborted:
        return
    pathlib.Path(args["out"] + " begun").touch()
    came = signal.wait(60)
    pathlib.Path(args["out"]).write_text(f"{before} {came} {signal.aborted} {signal.reason}")
"""


def test_the_signal_tells_why_and_wakes_who_waits(home: Home) -> None:
    out = timed_out(home, TELLS_WHY)
    assert until(out.read_text) == "(False, None, False) True True timeout"


TELLS_WHEN_CANCELLED = """
import asyncio, pathlib
async def handler(manifest, args, signal, capabilities):
    pathlib.Path(args["out"] + " begun").touch()
    try:
        await asyncio.sleep(600)
    finally:
        pathlib.Path(args["out"]).write_text(str(signal.reason))
"""


def test_an_async_handler_is_cancelled_where_it_awaits(home: Home) -> None:
    out = timed_out(home, TELLS_WHEN_CANCELLED)
    assert until(out.read_text) == "timeout"


def test_handlers_run_side_by_side(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = types.ModuleType("shared_steps")
    shared.BARRIER = threading.Barrier(16)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shared_steps", shared)
    for at in range(16):
        home.plugin(
            f"p{at}",
            """
            from shared_steps import BARRIER
            from warpline import skill_ok
            def handler(*_):
                # Nobody passes before all are here.
                BARRIER.wait(60)
                return skill_ok("done")
            """,
        )
    assert warpline.run_advance().status == "complete"


def test_a_limit_that_a_plugin_moved_ends_no_process(home: Home) -> None:
    home.plugin(
        "p",
        """
        import sys
        def handler(*_):
            sys.setrecursionlimit(10**6)
            deep = []
            for _ in range(200_000):
                deep = [deep]
            return deep
        """,
    )
    ended = home.python(
        """
        import warpline
        witness = {"granted": False, "reason": "manual-run"}
        print(warpline.invoke_plugin("p", witness=witness).final_error)
        """
    )
    assert ended.returncode == 0, ended.stderr
    assert "nested deeper than 900 levels" in ended.stdout


def test_nesting_below_the_limit_is_taken(home: Home) -> None:
    assert (
        invoke(
            home,
            f"def handler(*_):\n    return {{**{BASE}, 'extra': deep()}}\n"
            + """
def deep():
    nested = 1
    for _ in range(800):
        nested = [nested]
    return nested
""",
        ).result["status"]
        == "success"
    )
