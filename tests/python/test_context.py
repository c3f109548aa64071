"""Whose code is running: context variables, prints, the process, and the interpreter's lock."""

from __future__ import annotations

import io
import os
import sys
import threading
from contextlib import redirect_stdout
from contextvars import ContextVar

import pytest
import warpline
from conftest import Home

MANUAL: warpline.NotGranted = {"granted": False, "reason": "manual-run"}
request_id: ContextVar[str] = ContextVar("request_id", default="none")


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_context_variables_of_the_caller_are_kept_and_not_changed(home: Home, kind: str) -> None:
    home.plugin(
        "p",
        f"""
from warpline import skill_ok
import test_context

{kind} handler(*_):
    seen = test_context.request_id.get()
    test_context.request_id.set("changed by " + seen)
    return skill_ok(seen)
""",
    )
    sys.modules.setdefault("test_context", sys.modules[__name__])
    request_id.set("r-1")
    summaries = [warpline.invoke_plugin("p", witness=MANUAL).result["summary"] for _ in range(2)]
    assert summaries == ["r-1", "r-1"]
    assert request_id.get() == "r-1"


PRINTING = """
import sys
print("at import")
from warpline import skill_ok
kept = sys.stdout

{kind} handler(*_):
    print("printed")
    sys.stdout.write("written\\n")
    sys.stdout.buffer.write("bytes é\\n".encode())
    kept.write("kept s3cret\\n")
    print("to stderr", file=sys.stderr)
    sys.stdout.flush()
    return skill_ok("done")
"""


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_prints_of_plugins_go_to_stderr_and_into_the_transcript(
    home: Home, kind: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3cret")
    home.plugin("p", PRINTING.format(kind=kind), secrets=["TOKEN"])
    print("host before")
    warpline.invoke_plugin("p", witness=MANUAL, persist_artifact=True, run_id="r")
    print("host after")
    out, err = capfd.readouterr()
    assert out == "host before\nhost after\n"
    for line in ("at import", "printed", "written", "bytes é", "kept s3cret", "to stderr"):
        assert line in err, err
    transcript = (home.path / "runs" / "r.log").read_text()
    assert transcript == (
        "=== Attempt 1 ===\nat import\nprinted\nwritten\nbytes é\nkept [redacted]\nto stderr\n"
    )


def test_what_the_host_prints_meanwhile_is_untouched(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.plugin(
        "p",
        """
        import time
        from warpline import skill_ok
        def handler(*_):
            for _ in range(20):
                print("plugin")
                time.sleep(0.01)
            return skill_ok("done")
        """,
    )
    stop = threading.Event()

    def host() -> None:
        while not stop.is_set():
            print("host")
            stop.wait(0.005)

    thread = threading.Thread(target=host)
    thread.start()
    warpline.invoke_plugin("p", witness=MANUAL)
    stop.set()
    thread.join()
    out, err = capsys.readouterr()
    assert set(out.split()) == {"host"} and set(err.split()) == {"plugin"}


def test_a_host_that_redirects_its_output_still_can(home: Home) -> None:
    home.plugin("p", PRINTING.format(kind="def"))
    text = io.StringIO()
    with redirect_stdout(text):
        print("one")
        warpline.invoke_plugin("p", witness=MANUAL)
        print("two")
    assert text.getvalue() == "one\ntwo\n"


def test_what_a_plugin_changes_in_the_process_is_put_back(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.plugin(
        "p",
        """
        import os
        from warpline import skill_ok
        def handler(*_):
            os.environ["ADDED_BY_P"] = "1"
            os.environ["CHANGED"] = "2"
            os.environ.pop("REMOVED")
            os.environb[b"AS_BYTES"] = b"3"
            del os.environb[b"REMOVED_AS_BYTES"]
            os.chdir("/")
            return skill_ok(os.environ["CHANGED"] + os.getcwd())
        """,
    )
    monkeypatch.setenv("CHANGED", "1")
    monkeypatch.setenv("REMOVED", "here")
    monkeypatch.setenv("REMOVED_AS_BYTES", "here")
    before = os.getcwd()
    assert warpline.invoke_plugin("p", witness=MANUAL).result["summary"] == "2/"
    assert os.getcwd() == before
    assert "ADDED_BY_P" not in os.environ and os.environ["REMOVED"] == "here"
    assert os.environ["CHANGED"] == "1"
    assert "AS_BYTES" not in os.environ and os.environ["REMOVED_AS_BYTES"] == "here"
    err = capsys.readouterr().err
    for what in ("the working directory", "`ADDED_BY_P`", "`CHANGED`", "`REMOVED`", "`AS_BYTES`"):
        assert f"plugin `p` changed {what}" in err or f"variable {what}" in err, err
    os.environ["HOST"] = "stays"
    warpline.invoke_plugin("p", witness=MANUAL)
    assert os.environ.pop("HOST") == "stays"


def test_other_threads_run_while_an_advance_waits(home: Home) -> None:
    home.plugin(
        "p",
        """
        import time
        from warpline import skill_ok
        def handler(*_):
            time.sleep(0.3)
            return skill_ok("done")
        """,
    )
    counted, stop = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    warpline.run_advance()
    stop.set()
    thread.join()
    assert counted > 50


def test_a_line_about_a_plugin_cannot_play_tricks_on_a_terminal(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.plugin(
        "p",
        """
        import os
        from warpline import skill_ok
        def handler(*_):
            os.environ["A\\x1b[2J\\u202eB"] = "1"
            return skill_ok("done")
        """,
    )
    warpline.invoke_plugin("p", witness=MANUAL)
    err = capsys.readouterr().err
    assert "`A\\u{1b}[2J\\u{202e}B`" in err and "\x1b" not in err and "\u202e" not in err
