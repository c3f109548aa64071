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
    time.sleep(args.get("seconds", 2))
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
            timeout=30,
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
    home.plugin("late", LATE.format(damage=damage), timeout_ms=100)
    home.plugin("fine")
    program = f"""
import os, warpline
out = os.fdopen(os.dup(1), "w")
first = warpline.invoke_plugin("late", witness={WITNESS})
second = warpline.invoke_plugin("fine", witness={WITNESS})
print(first.timed_out, second.result["status"], os.environ.get("LEFT"), file=out, flush=True)
os._exit(0)
"""
    ended = without_reader(home, ["-c", program]) if gone else home.python(program, timeout=30)
    assert (ended.returncode, ended.stdout) == (0, "True success None\n")


def test_the_dispatching_thread_outlives_a_message_that_fails(home: Home) -> None:
    home.plugin("late", LATE.format(damage="pass"), timeout_ms=100)
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
    home.plugin("p", LATE.format(damage='print("said", flush=True)'), input={})
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
        timeout=30,
    )


def test_plugins_of_a_command_read_nothing(home: Home) -> None:
    home.plugin("p", READS, timeout_ms=2000)
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
