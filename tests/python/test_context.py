"""Whose code is running: context variables, prints, the process, and the interpreter's lock."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
import types
from contextlib import redirect_stdout
from contextvars import ContextVar

import pytest
import warpline
from conftest import Home
from waiting import until

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
    for line in ("at import", "printed", "written", "bytes é", "kept [redacted]", "to stderr"):
        assert line in err, err
    assert "s3cret" not in err
    transcript = (home.path / "runs" / "r.log").read_text()
    assert transcript == (
        "=== Attempt 1 ===\nat import\nprinted\nwritten\nbytes é\nkept [redacted]\nto stderr\n"
    )


LEAKING = """
import os, sys, time
from warpline import skill_ok
token = os.environ["TOKEN"]
print("module", token)

def handler(manifest, args, signal, capabilities):
    print("in two", token[:3], end="")
    sys.stdout.buffer.write(token[3:].encode() + b"\\n")
    sys.stderr.writelines(["lines ", token[:4], token[4:], "\\n"])
    sys.stderr.buffer.writelines([b"bytes ", token.encode(), b"\\n"])
    sys.stdout.flush()
    child = os.fork()
    if not child:
        print("child", token[:2], end="")
        print(token[2:], flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print("only begun: s3c", end="")
    open(args["printed"], "w").close()
    {end}
"""


def test_what_is_printed_shows_no_secret_in_one_piece_or_two(
    home: Home, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3cret-token")
    home.plugin("p", LEAKING.replace("{end}", 'return skill_ok("done")'), secrets=["TOKEN"])
    home.plugin(
        "late",
        LEAKING.replace("{end}", 'signal.wait(60); print("ret-token!"); return skill_ok("late")'),
        secrets=["TOKEN"],
    )

    class Printed:
        """Set once a plugin has printed all that it prints in time."""

        def __init__(self, name: str) -> None:
            self.path = home.path / f"printed by {name}"

        def is_set(self) -> bool:
            return self.path.exists()

    shown: list[str] = []

    def err_with(text: str) -> str:
        """What was shown since the last time, up to this text and maybe more."""

        def look() -> str:
            shown.append(capfd.readouterr().err)
            return "".join(shown) if text in "".join(shown) else ""

        err = until(look, lambda: shown)
        shown.clear()
        return err

    for name in ("p", "late"):
        printed = Printed(name)
        args = {"printed": str(printed.path)}
        signal = printed if name == "late" else None
        warpline.invoke_plugin(name, args, witness=MANUAL, signal=signal)
        # What was kept back of a call that was given up is shown beside its end.
        err = err_with("only begun: s3c")
        for line in ("module", "in two", "lines", "bytes", "child"):
            assert f"{line} [redacted]\n" in err, err
        said, begun, late = err.partition("only begun: s3c")
        assert begun and "s3cret" not in said, err
    if not late:
        late = err_with("!\n")
    elif not late.endswith("!\n"):
        late += err_with("!\n")
    assert late == "[redacted]!\n", "nor does what was given up complete it"


def test_a_secret_that_is_no_utf8_and_one_at_a_cut_are_not_shown(
    home: Home, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = os.fsdecode(b"s3cr\xe9t-token")
    monkeypatch.setenv("TOKEN", token)
    home.plugin(
        "p",
        """
        import os
        from warpline import skill_ok
        def handler(manifest, args, signal, capabilities):
            token = os.environ["TOKEN"]
            if args["throw"]:
                raise ValueError("x" * (16_384 - 12 - 4) + token)
            print("printed", token)
            return skill_ok("returned " + token)
        """,
        secrets=["TOKEN"],
    )
    returned = warpline.invoke_plugin("p", {"throw": False}, witness=MANUAL)
    assert returned.result["summary"] == "returned [redacted]"
    assert capfd.readouterr().err == "printed [redacted]\n"
    raised = warpline.invoke_plugin("p", {"throw": True}, witness=MANUAL).final_error
    assert raised is not None and "x… (cut)" in raised, raised


def test_a_manifest_that_raises_shows_no_secret_that_it_declares(
    home: Home, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3cret-token")
    (home.plugin("p") / "manifest.py").write_text(
        "import os\nmanifest = {'secrets': ['TOKEN']}\n"
        "print(os.environ['TOKEN'])\nraise ValueError(os.environ['TOKEN'])\n"
    )
    [failure] = warpline.load_plugin_manifests().failures
    assert "ValueError: [redacted]" in failure["error"]
    assert capfd.readouterr().err == "[redacted]\n"


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


def test_threads_and_loggers_of_a_handler_print_as_the_handler(
    home: Home, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.plugin(
        "p",
        """
        import logging, sys, threading
        from concurrent.futures import ThreadPoolExecutor
        from warpline import skill_ok
        def handler(*_):
            logger = logging.getLogger("of the plugin")
            logger.addHandler(logging.StreamHandler(sys.stdout))
            logger.getChild("child").warning("by a logger")
            thread = threading.Thread(target=print, args=("on a thread",))
            thread.start()
            thread.join()
            with ThreadPoolExecutor(1) as pool:
                pool.submit(print, "in a pool").result()
            from shared_steps import OVER, THREADS
            def prints_late():
                assert OVER.wait(600)
                print("after the end")
            THREADS.append(threading.Thread(target=prints_late))
            THREADS[0].start()
            return skill_ok("done")
        """,
    )
    shared = types.ModuleType("shared_steps")
    over, threads = threading.Event(), list[threading.Thread]()
    vars(shared).update(OVER=over, THREADS=threads)
    monkeypatch.setitem(sys.modules, "shared_steps", shared)
    print("host before")
    warpline.invoke_plugin("p", witness=MANUAL, persist_artifact=True, run_id="r")
    thread = threading.Thread(target=print, args=("host on a thread",))
    thread.start()
    thread.join()
    over.set()
    threads[0].join()
    out, err = capfd.readouterr()
    assert out == "host before\nhost on a thread\n"
    said = ["by a logger", "on a thread", "in a pool"]
    assert err.splitlines() == [*said, "after the end"]
    assert (home.path / "runs" / "r.log").read_text().splitlines() == ["=== Attempt 1 ===", *said]


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


def test_other_threads_run_while_an_advance_waits(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.plugin(
        "p",
        """
        from shared_steps import BEGUN, COUNTED
        from warpline import skill_ok
        def handler(*_):
            BEGUN.set()
            return skill_ok(str(COUNTED.wait(60)))
        """,
    )
    begun, counted = threading.Event(), threading.Event()
    shared = types.ModuleType("shared_steps")
    vars(shared).update(BEGUN=begun, COUNTED=counted)
    monkeypatch.setitem(sys.modules, "shared_steps", shared)

    def count() -> None:
        begun.wait(60)
        for _ in range(50):
            time.sleep(0.001)
        counted.set()

    thread = threading.Thread(target=count)
    thread.start()
    [entry] = warpline.run_advance().plugin_entries
    thread.join()
    assert entry["result_summary"] == "True"


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
