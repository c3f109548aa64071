"""Standard streams that lead nowhere, were closed or replaced, or that a plugin reads from."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import Optional

import pytest
from conftest import Home

WITNESS = '{"granted": False, "reason": "manual-run"}'

#: Leaves the environment changed when its time is over, so that there is something to warn about.
LATE = """
import os, sys, time
from warpline import skill_ok

def handler(manifest, args, signal, capabilities):
    os.environ["LEFT"] = "changed"
    {damage}
    time.sleep({seconds})
    return skill_ok("late")
"""


def without_reader(home: Home, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs Python with a standard error that is a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [sys.executable, *arguments],
            env=home.environment(),
            stdout=subprocess.PIPE,
            stderr=writer,
            text=True,
            timeout=60,
        )
    finally:
        os.close(writer)


@pytest.mark.parametrize(
    "damage",
    [
        "pass",
        "sys.stderr.close()",
        "sys.stderr = object()",
        "sys.stderr = type('Ends', (), {'write': sys.exit})()",
        "sys.stderr = type('Ends', (), {'write': sys.exit})(); print('said')",
        "sys.stderr = None",
        "sys.stderr = sys.stdout = None",
    ],
)
@pytest.mark.parametrize("gone", [True, False])
def test_calls_are_answered_whatever_becomes_of_standard_error(
    home: Home, damage: str, gone: bool
) -> None:
    home.plugin("late", LATE.format(damage=damage, seconds=600), timeout_ms=100)
    home.plugin("fine")
    program = f"""
import os, warpline
out = os.fdopen(os.dup(1), "w")
first = warpline.invoke_plugin("late", witness={WITNESS})
second = warpline.invoke_plugin("fine", witness={WITNESS})
print(first.timed_out, second.result["status"], os.environ.get("LEFT"), file=out, flush=True)
os._exit(0)
"""
    ended = without_reader(home, ["-c", program]) if gone else home.python(program, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "True success None\n")


def test_the_dispatching_thread_outlives_a_message_that_fails(home: Home) -> None:
    home.plugin("late", LATE.format(damage="pass", seconds=600), timeout_ms=100)
    ended = home.python(
        f"""
        import warpline
        from warpline._host.host import PythonHost

        def fail(self, number, reason):
            raise SystemExit("broken")

        PythonHost._abort = fail
        for _ in range(2):
            print(warpline.invoke_plugin("late", witness={WITNESS}).timed_out)
        """
    )
    assert ended.stdout == "True\nTrue\n", ended.stderr
    assert "the host failed: SystemExit: broken" in ended.stderr


def test_a_command_whose_warnings_nobody_reads_does_its_work(home: Home) -> None:
    home.plugin("p", LATE.format(damage='print("said", flush=True)', seconds=0), input={})
    home.plugin("fine")
    (home.path / "operator-preferences.json").write_text("{ not json")
    ended = without_reader(home, ["-m", "warpline", "advance", "--json"])
    assert '"fine": "completed"' in ended.stdout, ended.stdout
    assert '"p": "completed"' in ended.stdout
    assert ended.returncode == 0


def test_a_hook_that_raises_where_nobody_reads_of_it_cancels_nothing(home: Home) -> None:
    home.plugin(
        "p",
        'import time\nfrom warpline import skill_ok\ndef handler(*_):\n    time.sleep(0.2)\n    return skill_ok("s")\n',
    )
    program = """
import os, warpline
out = os.fdopen(os.dup(1), "w")
def hook(*_):
    raise ValueError
print(warpline.run_advance(on_plugin_start=hook).plugin_states, file=out, flush=True)
os._exit(0)
"""
    ended = without_reader(home, ["-c", program])
    assert (ended.returncode, ended.stdout) == (0, "{'p': 'completed'}\n")


def test_a_print_to_nowhere_is_no_failure_and_is_kept(home: Home) -> None:
    home.plugin(
        "p",
        """
        import sys
        from warpline import skill_ok
        def handler(*_):
            for stream in (sys.stdout, sys.stderr):
                print("as text", file=stream, flush=True)
                stream.buffer.write(b"as bytes\\n")
                stream.buffer.flush()
            try:
                sys.stdout.write(5)
            except TypeError as error:
                print(error)
            return skill_ok("done")
        """,
    )
    ended = without_reader(home, ["-m", "warpline", "run", "p", "now", "--json"])
    assert ended.returncode == 0, ended.stdout
    [log] = [path for path in (home.path / "runs").glob("*.log")]
    said = "write() argument must be str, not int\n"
    assert log.read_text() == "=== Attempt 1 ===\n" + 2 * "as text\nas bytes\n" + said


READS = """
from warpline import skill_ok

def handler(*_):
    try:
        return skill_ok(input())
    except EOFError:
        return skill_ok("there is nothing to read")
"""


def with_input(
    home: Home, arguments: list[str], stdin: Optional[int]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=home.environment(),
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_plugins_of_a_command_read_nothing(home: Home) -> None:
    home.plugin("p", READS)
    reader, writer = os.pipe()
    try:
        ended = with_input(home, ["-m", "warpline", "advance", "--json"], reader)
    finally:
        os.close(reader)
        os.close(writer)
    assert ended.returncode == 0, ended.stderr
    assert "there is nothing to read" in ended.stdout


def test_a_handler_that_still_reads_does_not_abort_the_host_at_its_end(home: Home) -> None:
    home.plugin("p", READS, timeout_ms=200)
    program = textwrap.dedent(
        f"""
        import warpline
        print(warpline.invoke_plugin("p", witness={WITNESS}).timed_out)
        """
    )
    reader, writer = os.pipe()
    try:
        ended = with_input(home, ["-c", program], reader)
    finally:
        os.close(reader)
        os.close(writer)
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr


#: Each of these takes a stream apart, or another road to it; none may cost the host its own.
APART = """
import os, sys
from warpline import skill_ok

def handler(*_):
    token = os.environ["STREAMS_TOKEN"]
    below = sys.stdout.detach()
    below.write(b"detached " + token.encode() + b"\\n")
    sys.stderr.detach().close()
    sys.stdout.buffer.raw.write(b"raw " + token.encode() + b"\\n")
    with sys.stdout.buffer as lent:
        lent.write(b"lent " + token.encode() + b"\\n")
    sys.stdout.buffer.detach()
    sys.stderr.reconfigure(encoding="utf-16")
    print("under its first name", token, file=sys.__stdout__)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    print("put back", token)
    for byte in f"byte by byte {token}\\n".encode():
        sys.stdout.buffer.write(bytes([byte]))
    return skill_ok("done")
"""


def test_a_plugin_that_takes_a_stream_apart_prints_as_any_other_and_leaves_it_whole(
    home: Home,
) -> None:
    home.plugin("p", APART, secrets=["STREAMS_TOKEN"])
    ended = home.python(
        f"""
        import os, sys, warpline
        os.environ["STREAMS_TOKEN"] = "pässword"
        run = warpline.invoke_plugin("p", persist_artifact=True, run_id="r", witness={WITNESS})
        print(run.result["summary"])
        print("the host", file=sys.stderr)
        """
    )
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr
    printed = ["detached", "raw", "lent", "under its first name", "put back", "byte by byte"]
    shown = "".join(f"{line} [redacted]\n" for line in printed)
    assert ended.stderr == f"{shown}the host\n"
    assert (home.path / "runs/r.log").read_text() == f"=== Attempt 1 ===\n{shown}"


#: Takes what it prints meanwhile, in two ways, and looks whether it finds its own stream in place.
TAKING = """
import contextlib, io, sys, threading
from warpline import skill_ok
import shared_steps

class Tee:
    def __init__(self, below):
        self.below, self.kept = below, []
    def write(self, text):
        self.kept.append(text)
        return self.below.write(text)
    def flush(self):
        self.below.flush()

def handler(*_):
    shared_steps.begun.wait(60)
    before = sys.stdout
    with contextlib.redirect_stdout(io.StringIO()) as taken:
        shared_steps.taken.set()
        shared_steps.printed.wait(60)
        print("mine", flush=True)
        thread = threading.Thread(target=print, args=("of my thread",))
        thread.start()
        thread.join()
        assert sys.stdout is taken
    assert sys.stdout is before
    tee = Tee(sys.stdout)
    sys.stdout = tee
    print("teed")
    sys.stderr = None
    return skill_ok(repr(taken.getvalue()) + repr("".join(tee.kept)))
"""

PRINTING = """
import os
from warpline import skill_ok
import shared_steps

def handler(*_):
    shared_steps.begun.set()
    shared_steps.taken.wait(60)
    print("the other", os.environ["STREAMS_TOKEN"])
    shared_steps.printed.set()
    return skill_ok("printed")
"""


def test_a_plugin_that_redirects_its_output_takes_nobody_elses(home: Home) -> None:
    home.plugin("takes", TAKING)
    home.plugin("prints", PRINTING, secrets=["STREAMS_TOKEN"])
    ended = home.python(
        """
        import os, sys, threading, types, warpline
        os.environ["STREAMS_TOKEN"] = "hunter2"
        steps = sys.modules["shared_steps"] = types.ModuleType("shared_steps")
        steps.begun, steps.taken, steps.printed = (threading.Event() for _ in range(3))
        def host():
            steps.taken.wait(60)
            print("the host meanwhile")
        thread = threading.Thread(target=host)
        thread.start()
        result = warpline.run_advance()
        thread.join()
        print([entry["result_summary"] for entry in result.plugin_entries])
        print("still there", file=sys.stderr)
        """
    )
    assert ended.returncode == 0, ended.stderr
    summaries = ["printed", repr("mine\nof my thread\n") + repr("teed\n")]
    assert ended.stdout == f"the host meanwhile\n{summaries}\n", ended.stderr
    assert ended.stderr == "the other [redacted]\nteed\nstill there\n"


#: Is in the middle of a print when another stream is put in the place of the one that it prints to.
LONG_PRINT = """
import shared_steps
from warpline import skill_ok

class Long:
    def __str__(self):
        shared_steps.printing.set()
        assert shared_steps.replaced.wait(60)
        return "long"

def handler(*_):
    print(Long(), "and", "on", flush=True)
    return skill_ok("printed")
"""


def test_a_print_outlives_the_place_of_the_stream_that_it_goes_to(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Memory that was let go of is filled with what nothing can be read from.
    monkeypatch.setenv("PYTHONMALLOC", "debug")
    home.plugin("prints", LONG_PRINT)
    ended = home.python(
        """
        import sys, threading, types, warpline
        steps = sys.modules["shared_steps"] = types.ModuleType("shared_steps")
        steps.printing, steps.replaced = threading.Event(), threading.Event()
        own = sys.stdout
        def host():
            assert steps.printing.wait(60)
            sys.stdout = own
            steps.replaced.set()
        thread = threading.Thread(target=host)
        thread.start()
        states = warpline.run_advance().plugin_states
        thread.join()
        print(states)
        """
    )
    assert (ended.returncode, ended.stdout) == (0, "{'prints': 'completed'}\n"), ended.stderr
    assert ended.stderr == "long and on\n"
