"""Many plugins at once: short calls run one after the other, and none waits for one that takes long."""

from __future__ import annotations

import sys
import threading
from typing import Any, Iterator

import pytest
import warpline
from conftest import OK, Home

#: More than any of these tests takes.
LONG = 60.0


class Meeting:
    """What plugins of a fleet reach through `sys`."""

    def __init__(self, number: int) -> None:
        self.event = threading.Event()
        self.barrier = threading.Barrier(number, timeout=LONG)


@pytest.fixture
def meeting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Meeting]:
    found = Meeting(50)
    monkeypatch.setattr(sys, "meeting", found, raising=False)
    yield found
    found.event.set()


def handler(line: str) -> str:
    return f"""
import sys
from warpline import skill_ok

def handler(manifest, args, signal, capabilities):
    {line}
    return skill_ok("done")
"""


def states(result: warpline.AdvanceResult) -> set[str]:
    return set(result.plugin_states.values())


def test_a_manifest_whose_import_hangs_holds_up_no_other(home: Home, meeting: Meeting) -> None:
    for number in range(30):
        home.plugin(f"p{number:02}")
    directory = home.plugin("a-hangs")
    file = directory / "manifest.py"
    file.write_text(f"import sys\nassert sys.meeting.event.wait({LONG})\n{file.read_text()}")
    last = home.plugin("z-frees") / "manifest.py"
    last.write_text(f"import sys\nsys.meeting.event.set()\n{last.read_text()}")
    loaded = warpline.load_plugin_manifests()
    assert loaded.failures == [] and len(loaded.manifests) == 32


def test_a_handler_that_hangs_holds_up_no_other(home: Home, meeting: Meeting) -> None:
    home.plugin("a-hangs", handler(f"assert sys.meeting.event.wait({LONG})"))
    for number in range(30):
        home.plugin(f"p{number:02}")
    home.plugin("z-frees", handler("sys.meeting.event.set()"))
    result = warpline.run_advance(concurrency=2)
    assert states(result) == {"completed"} and len(result.plugin_states) == 32


def test_a_handler_that_computes_without_end_holds_up_no_other(
    home: Home, meeting: Meeting
) -> None:
    home.plugin("a-spins", handler("while not sys.meeting.event.is_set(): pass"))
    home.plugin("z-frees", handler("sys.meeting.event.set()"))
    assert states(warpline.run_advance(concurrency=2)) == {"completed"}


def test_handlers_that_leave_no_hook_for_threads_hold_up_no_other(home: Home) -> None:
    # More than the threads that may be there before the first of them runs.
    hangs = "threading.excepthook = sys.excepthook = None; assert sys.over.wait(60)"
    for number in range(20):
        home.plugin(f"h{number:02}", handler(f"import threading; {hangs}"))
    home.plugin("z-frees", handler("sys.over.set()"))
    ended = home.python(
        """
        import sys, threading, warpline
        sys.over = threading.Event()
        print(set(warpline.run_advance(concurrency=21).plugin_states.values()))
        """
    )
    assert ended.stdout == "{'completed'}\n", ended.stderr


def test_handlers_that_wait_do_so_at_the_same_time(home: Home, meeting: Meeting) -> None:
    for number in range(50):
        home.plugin(f"p{number:02}", handler("sys.meeting.barrier.wait()"))
    # A second time with threads that are there already.
    for _ in range(2):
        assert states(warpline.run_advance(concurrency=50, force=True)) == {"completed"}


def test_what_is_given_up_is_tidied_before_a_later_call_begins(home: Home) -> None:
    late = "import os; os.environ['LEFT'] = 'changed'; signal.wait(60)"
    home.plugin("a-late", handler(late), timeout_ms=1)
    seen = handler("import os; assert 'LEFT' not in os.environ")
    home.plugin("z-looks", seen, dependencies=["a-late"], run_on_dependency_failure=True)
    witness: Any = {"granted": False, "reason": "manual-run"}
    for _ in range(30):
        assert warpline.invoke_plugin("a-late", witness=witness).timed_out
        assert warpline.invoke_plugin("z-looks", witness=witness).result["status"] == "success"


def test_what_is_raised_on_a_thread_whose_call_is_over_harms_no_other(home: Home) -> None:
    home.plugin("p")
    ended = home.python(
        """
        import ctypes, threading, warpline
        interrupt = ctypes.py_object(KeyboardInterrupt)
        # As a watchdog of a plugin does that comes too late.
        for _ in range(4):
            print(warpline.run_advance(force=True).plugin_states)
            for thread in threading.enumerate():
                if thread.name == "warpline-plugin":
                    ident = ctypes.c_ulong(thread.ident)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, interrupt)
        """
    )
    assert ended.stdout == "{'p': 'completed'}\n" * 4, ended.stderr
    assert "the host failed: KeyboardInterrupt" in ended.stderr


def test_records_keep_the_order_of_the_fleet(home: Home, meeting: Meeting) -> None:
    home.plugin("a-slow", handler(f"assert sys.meeting.event.wait({LONG})"))
    for number in range(20):
        home.plugin(f"p{number:02}", OK)
    home.plugin("z-frees", handler("sys.meeting.event.set()"))
    result = warpline.run_advance(concurrency=4)
    assert states(result) == {"completed"}
    names = [entry["plugin"] for entry in result.plugin_entries]
    assert names == sorted(names) and len(names) == 22


def test_importing_the_package_loads_nothing_that_is_seldom_needed(home: Home) -> None:
    ended = home.python("import sys, warpline; print(*sys.modules)")
    heavy = {
        *("asyncio", "concurrent.futures", "logging", "multiprocessing", "pathlib", "select"),
        *("signal", "socket", "ssl", "subprocess", "urllib.parse"),
        *("warpline._home_documents", "warpline.aio", "warpline.testing"),
    }
    bare = set(home.python("import sys; print(*sys.modules)").stdout.split())
    loaded = set(ended.stdout.split()) - bare
    assert "warpline._operations" in loaded, ended.stderr
    assert not loaded & heavy


def test_every_name_is_there_when_it_is_asked_for(home: Home) -> None:
    ended = home.python(
        """
        import pickle, warpline
        assert set(warpline.__all__) <= set(dir(warpline))
        assert "errors" in dir(warpline) and warpline.errors.LockedError is warpline.LockedError
        try:
            warpline.no_such_name
        except AttributeError as error:
            assert "no_such_name" in str(error)
        names = {}
        exec("from warpline import *", names)
        assert set(warpline.__all__) <= set(names)
        assert pickle.loads(pickle.dumps(warpline.AdvanceResult)) is warpline.AdvanceResult
        """
    )
    assert ended.returncode == 0, ended.stderr


def test_a_plugin_that_is_async_needs_no_asyncio_of_the_program(home: Home) -> None:
    home.plugin(
        "p",
        """
        import asyncio
        from warpline import skill_ok

        asyncio.run = asyncio.current_task = None

        async def handler(manifest, args, signal, capabilities):
            await asyncio.sleep(0)
            return skill_ok("done")
        """,
    )
    program = "import warpline; print(warpline.run_advance().plugin_states)"
    assert home.python(program).stdout == "{'p': 'completed'}\n"
