"""The words of the tests of hostile plugins: commands on a home, and what each of them must leave."""

from __future__ import annotations

import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from conftest import Home
from processes import end_all
from waiting import PATIENCE

#: Left in `state/` by an advance that came to its end, for monitors.
SIGN = "last-successful-advance"

#: A plugin that does nothing wrong, and is still at work when its neighbours begin.
SIBLING = """
import time
from warpline import skill_ok

def handler(*_):
    time.sleep(0.03)
    print("from the sibling")
    return skill_ok("the sibling is fine")
"""


@dataclass
class Row:
    """What a plugin does, and what becomes of it."""

    name: str
    #: The body of its handler.
    handler: str
    #: Code beside the handler.
    top: str = ""
    #: Its state: `completed`, `failed`, or `interrupted` where its code, or a signal, ends the process.
    ends: str = "failed"
    #: In its summary.
    says: str = ""
    stderr: str = ""
    #: Of the command; what follows from `ends` where it is not given.
    exit: Optional[int] = None
    #: Sent once the plugin has printed `ready`.
    signal: Optional[signal.Signals] = None
    #: Without a sibling, which could not end either.
    alone: bool = False
    manifest: dict[str, Any] = field(default_factory=dict)

    def install(self, home: Home) -> None:
        lines = "\n".join(f"    {line}" for line in self.handler.strip().splitlines())
        source = (
            f"import os, sys, time\nfrom warpline import skill_failure, skill_ok\n{self.top}\n"
            f"def handler(manifest, args, signal, capabilities):\n{lines}\n"
        )
        home.plugin(self.name, source, **self.manifest)


@dataclass
class Ended:
    code: int
    out: str
    err: str


def command(home: Home, *arguments: str, send: Optional[signal.Signals] = None) -> Ended:
    """Runs a command to the end of its process; what its children hold open is not waited for."""
    child = subprocess.Popen(
        [sys.executable, "-m", "warpline", *arguments],
        env=home.environment(PYTHONUNBUFFERED="1", WARPLINE_HOME=str(home.path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    read = {"out": b"", "err": b""}
    end = time.monotonic() + PATIENCE
    with child, selectors.DefaultSelector() as pipes:
        for name, stream in (("out", child.stdout), ("err", child.stderr)):
            assert stream is not None
            pipes.register(stream, selectors.EVENT_READ, name)
        try:
            while True:
                # Asked before: what a process that has ended wrote lies in its pipes.
                ended = child.poll() is not None
                ready = pipes.select(0 if ended else 0.01)
                for key, _ in ready:
                    text = os.read(key.fd, 1 << 16)
                    read[key.data] += text
                    if not text:
                        pipes.unregister(key.fileobj)
                # The end of its line may come later, and a neighbour's print before that.
                if send is not None and b"ready" in read["err"]:
                    child.send_signal(send)
                    send = None
                if ended and not ready:
                    break
                assert time.monotonic() < end, read
        finally:
            child.kill()
    return Ended(child.returncode, read["out"].decode(), read["err"].decode())


@dataclass
class Left:
    state: Any
    logs: list[Any]
    artifacts: list[Any]
    transcripts: list[bytes]


def intact(home: Home, ended: bool = False) -> Left:
    """Every document of a home, parsed; none may be broken, and no lock or temporary file be left.

    `ended`: plugin code ended the process, so that the file of a lock is left, which nobody holds.
    """
    known = {"engine-state.json", "events.jsonl", SIGN, *([".lock"] if ended else [])}
    stray = {path.name for path in (home.path / "state").glob("*")} - known
    assert not stray, "nothing but documents is left in state/"
    runs = sorted((home.path / "runs").glob("*"))
    assert not [path for path in runs if not re.fullmatch(r"[\w-]+\.(json|log)", path.name)]
    for path in [*home.path.glob("logs/runs/*"), home.path / "state" / "events.jsonl"]:
        for line in path.read_text().splitlines() if path.exists() else []:
            json.loads(line)
    documents = [json.loads(path.read_text()) for path in runs if path.suffix == ".json"]
    sign = home.path / "state" / SIGN
    if sign.exists():
        json.loads(sign.read_text())
    state = home.path / "state" / "engine-state.json"
    return Left(
        state=json.loads(state.read_text()) if state.exists() else None,
        logs=[document for document in documents if "plugin_entries" in document],
        artifacts=[document for document in documents if "attempts" in document],
        transcripts=[path.read_bytes() for path in runs if path.suffix == ".log"],
    )


def survive(directory: Path, row: Row) -> None:
    """Lets a row loose in `run` and in `advance`, in a home of its own with a sibling; then an advance
    without it must do its work."""
    directory.mkdir()
    home = Home(directory)
    row.install(home)
    try:
        check_run(home, row, command(home, "run", row.name, "go", "--json", send=row.signal))
        if not row.alone:
            home.plugin("sibling", SIBLING)
        check_advance(home, row, command(home, "advance", "--json", send=row.signal))
        works_without(home, row.name)
    finally:
        end_all(home.path)


def check_process(row: Row, ended: Ended) -> None:
    expected = row.exit
    if expected is None:
        expected = 130 if row.signal else 0 if row.ends == "completed" else 1
    assert ended.code == expected, ended
    assert re.search(row.stderr, ended.err, re.S), ended


def check_run(home: Home, row: Row, run: Ended) -> Left:
    check_process(row, run)
    left = intact(home)
    assert left.state is None, "run writes no state"
    [artifact] = left.artifacts
    statuses = {
        "completed": ["success"],
        "failed": ["failed", "timeout"],
        "interrupted": ["failed", "cancelled"],
    }
    assert artifact["status"] in statuses[row.ends]
    assert artifact["completed_at"] is not None
    if row.ends != "interrupted":
        assert json.loads(run.out)["ok"] is (row.ends == "completed"), run
    assert re.search(row.says, artifact["summary"]), artifact["summary"]
    return left


def check_advance(home: Home, row: Row, advance: Ended) -> None:
    check_process(row, advance)
    left = intact(home, ended=row.ends == "interrupted")
    [log] = left.logs
    [entry] = [entry for entry in log["plugin_entries"] if entry["plugin"] == row.name]
    if row.ends == "interrupted":
        assert (log["status"], log["completed_at"], entry["status"]) == (
            "interrupted",
            None,
            "failed",
        )
    else:
        states = {row.name: row.ends, **({} if row.alone else {"sibling": "completed"})}
        assert json.loads(advance.out)["plugin_states"] == states, advance
        assert (log["status"], entry["status"]) == (
            "partial" if row.ends == "failed" else "complete",
            row.ends,
        )
        status = "failed" if row.ends == "failed" else "success"
        assert left.state["plugin_runs"][row.name]["status"] == status
    assert re.search(row.says, entry["result_summary"]), entry


def works_without(home: Home, *names: str) -> None:
    """The next command does its work."""
    for name in names:
        shutil.rmtree(home.plugins / name)
    home.plugin("sibling", SIBLING)
    following = command(home, "advance", "--force", "--json")
    assert following.code == 0, following
    assert json.loads(following.out)["plugin_states"] == {"sibling": "completed"}
    assert intact(home).state["plugin_runs"]["sibling"]["status"] == "success"
