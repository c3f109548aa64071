"""What only many rounds show: memory that grows, and ends, forks and signals at unlucky moments.

WARPLINE_STRESS_ROUNDS and WARPLINE_STRESS_INVOCATIONS say how many; `make soak` asks for 200 and 100,000.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import pytest
from conftest import Home

ROUNDS = int(os.environ.get("WARPLINE_STRESS_ROUNDS", "8"))
INVOCATIONS = int(os.environ.get("WARPLINE_STRESS_INVOCATIONS", "10000"))

#: How much anonymous memory the second half of all invocations may add, in MB.
GROWTH = 2.0

#: Five plugins, one after the other: an advance of a few tenths of a second.
BRIEF = """
import time
from warpline import skill_ok

def handler(manifest, args, signal, capabilities):
    print(manifest["name"], "has started", flush=True)
    time.sleep(0.04)
    return skill_ok("done")
"""
WORDS_OF_CRASHES = ["Fatal", "panicked", "Segmentation", "Exception ignored"]


def chain(home: Home) -> None:
    for number in range(5):
        before = [f"p{number - 1}"] if number else []
        home.plugin(f"p{number}", BRIEF, dependencies=before)


def home_of(shared: Home, number: int) -> Home:
    """A home of its own that has the plugins of another one."""
    home = Home.__new__(Home)
    home.path = shared.path.parent / f"home-{number}"
    home.path.mkdir()
    home.plugins = shared.plugins
    (home.path / "plugins").symlink_to(shared.plugins)
    return home


def rounds(play: Callable[[int], Any]) -> None:
    """Plays every round, three at a time; all that went wrong is shown."""
    with ThreadPoolExecutor(3) as pool:
        faults = [fault for fault in pool.map(play, range(ROUNDS)) if fault is not None]
    assert faults == [], f"{len(faults)} of {ROUNDS}"


def fault_of(home: Home, said: str) -> Any:
    """What is wrong with a home whose advance was cut short: all of it is readable, the pass that began
    is on record, nothing holds a lock, and the next pass completes."""
    if any(word in said for word in WORDS_OF_CRASHES):
        return said
    if "has started" in said:
        log = home.json(f"runs/{home.state()['last_run_id']}.json")
        if log["status"] not in ("interrupted", "complete"):
            return log
        if log["status"] == "interrupted" and log["completed_at"] is not None:
            return log
    next_one = home.cli("advance", "--force", "--json")
    if next_one.returncode != 0 or json.loads(next_one.stdout)["status"] != "complete":
        return next_one
    return None


def test_memory_stays_where_it_is_over_many_invocations(home: Home) -> None:
    home.plugin("p")
    program = f"""
    import warpline

    def anonymous():
        with open("/proc/self/smaps_rollup") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss_Anon"))

    witness = {{"granted": False, "reason": "no-declared-side-effects"}}
    half = {INVOCATIONS} // 2
    for number in range(2 * half):
        done = warpline.invoke_plugin("p", witness=witness)
        assert done.result["status"] == "success"
        if number == half:
            print(anonymous())
    print(anonymous())
    """
    ended = home.python(program, timeout=60 + INVOCATIONS / 100)
    assert ended.returncode == 0, ended.stderr
    middle, end = (int(line) / 1024 for line in ended.stdout.split())
    print(f"{INVOCATIONS} invocations: {middle:.2f} MB halfway, {end:.2f} MB at the end")
    assert end - middle < GROWTH


ENDS = {
    "sys.exit beside an advance on a daemon thread": (
        5,
        """
        threading.Thread(target=warpline.run_advance, daemon=True).start()
        time.sleep({pause})
        sys.exit(5)
        """,
    ),
    "the end of the main thread beside one on a daemon thread": (
        0,
        """
        threading.Thread(target=warpline.run_advance, daemon=True).start()
        time.sleep({pause})
        """,
    ),
    "os._exit beside an advance": (
        6,
        """
        threading.Thread(target=warpline.run_advance, daemon=True).start()
        time.sleep({pause})
        os._exit(6)
        """,
    ),
    "os._exit on another thread": (
        7,
        """
        def leave():
            time.sleep({pause})
            os._exit(7)
        threading.Thread(target=leave, daemon=True).start()
        warpline.run_advance()
        time.sleep(600)
        """,
    ),
    "an exception on the main thread beside two advances": (
        1,
        """
        def invoke():
            while True:
                warpline.invoke_plugin("p0", witness={{"granted": False, "reason": "manual-run"}})
        threading.Thread(target=warpline.run_advance, daemon=True).start()
        threading.Thread(target=invoke, daemon=True).start()
        time.sleep({pause})
        raise ZeroDivisionError
        """,
    ),
}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("end", ENDS)
def test_a_process_that_ends_at_any_moment_of_an_advance_leaves_its_record(
    home: Home, end: str
) -> None:
    chain(home)
    code, program = ENDS[end]
    chance = random.Random(end)
    pauses = [chance.uniform(0, 0.5) for _ in range(ROUNDS)]

    def play(number: int) -> Any:
        own = home_of(home, number)
        source = "import os, sys, threading, time, warpline\n" + textwrap.dedent(program)
        ended = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", source.format(pause=pauses[number])],
            env=own.environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
        if ended.returncode != code:
            return ended
        return fault_of(own, ended.stderr)

    rounds(play)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_stopped_at_any_moment_ends_with_130(
    home: Home, number: signal.Signals
) -> None:
    chain(home)
    chance = random.Random(number)
    pauses = [chance.uniform(0, 0.3) for _ in range(ROUNDS)]

    def play(which: int) -> Any:
        own = home_of(home, which)
        command = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "warpline", "advance", "--json"],
            env=own.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert command.stderr is not None
        said = command.stderr.readline()
        time.sleep(pauses[which])
        command.send_signal(number)
        out, rest = command.communicate(timeout=60)
        said += rest
        # What had ended before the signal came has ended well.
        log = own.json(f"runs/{own.state()['last_run_id']}.json")
        # One that came when all was on record already may be heard, or come too late for that.
        expected = [130] if log["status"] == "interrupted" else [0, 130]
        if command.returncode not in expected:
            return command.returncode, log["status"], out, said
        if json.loads(out)["status"] != log["status"]:
            return out, log["status"]
        return fault_of(own, said)

    rounds(play)


FORKING = """
    import os, random, sys, threading, time
    import warpline

    homes, forks = sys.argv[1], {rounds}
    witness = {{"granted": False, "reason": "manual-run"}}
    over = threading.Event()
    faults = []

    def advance(which):
        "Advances of a home of this thread's own, one after the other."
        folder = os.path.join(homes, str(which))
        paths = dict(
            plugins_dir=os.path.join(homes, "plugins"),
            state_dir=os.path.join(folder, "state", "engine-state.json"),
            runs_dir=os.path.join(folder, "runs"),
            logs_dir=os.path.join(folder, "logs"),
            events_path=os.path.join(folder, "events.jsonl"),
        )
        while not over.is_set():
            try:
                status = warpline.run_advance(force=True, **paths).status
                if status != "complete":
                    faults.append(status)
            except Exception as error:
                faults.append(repr(error))

    threads = [threading.Thread(target=advance, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    chance = random.Random(1)
    children = []
    for number in range(forks):
        time.sleep(chance.uniform(0, 0.03))
        child = os.fork()
        if child == 0:
            folder = os.path.join(homes, f"child-{{number}}")
            os.mkdir(folder)
            os.environ["WARPLINE_HOME"] = folder
            result = warpline.run_advance(plugins_dir=os.path.join(homes, "plugins"))
            if result.status != "complete":
                print("a child:", result.plugin_entries, file=sys.stderr, flush=True)
            # Alive while the parent goes on: nothing of the parent's is held in here.
            time.sleep(chance.uniform(0, 0.3))
            os._exit(0 if result.status == "complete" else 3)
        children.append((child, time.monotonic()))
        while children and (len(children) > 3 or number == forks - 1):
            child, since = children.pop(0)
            while True:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    break
                if time.monotonic() - since > 60:
                    os.kill(child, 9)
                    faults.append("a child hangs")
                time.sleep(0.005)
            if status != 0:
                faults.append(f"a child ended with {{status}}")
    over.set()
    for thread in threads:
        thread.join()
    print(len(faults), faults[:5])
"""


@pytest.mark.timeout(3600)
def test_a_host_that_forks_while_advances_run_and_its_children_work_on(home: Home) -> None:
    home.plugin(
        "p0",
        "import time\nfrom warpline import skill_ok\ndef handler(*_):\n    time.sleep(0.01)\n    return skill_ok('')\n",
    )
    home.plugin("p1", dependencies=["p0"])
    path = home.path.parent / "forking.py"
    path.write_text(textwrap.dedent(FORKING.format(rounds=ROUNDS)))
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(path), str(home.path)],
        env=home.environment(),
        capture_output=True,
        text=True,
        timeout=120 + 3 * ROUNDS,
    )
    assert (ended.returncode, ended.stdout) == (0, "0 []\n"), ended.stderr
