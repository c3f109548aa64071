"""What is running: the processes that belong to the home of a test."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from waiting import PATIENCE

#: Among the flags of a process: it is about to end.
EXITING = 0x4


def running(home: Path) -> list[str]:
    """The programs that run with this home in their environment, but for this process. What was killed
    runs no more, though the system may take its time to take it down."""
    found = []
    mark = f"WARPLINE_HOME={home}\0".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark in (entry / "environ").read_bytes() + b"\0" and not _is_ending(entry):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found.append(f"{entry.name}: {command[:120].decode(errors='replace')}")
        except OSError:
            pass
    return found


def _is_ending(entry: Path) -> bool:
    state, *fields = (entry / "stat").read_text().rpartition(")")[2].split()
    if state in "ZX" or int(fields[5]) & EXITING:
        return True
    kill = 1 << (signal.SIGKILL - 1)
    lines = (entry / "status").read_text().splitlines()
    pending = [line.split()[1] for line in lines if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(int(mask, 16) & kill for mask in pending)


def zombies() -> list[str]:
    """Children of this process that ended and were not reaped."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] == "Z" and int(fields[1]) == os.getpid():
            found.append(entry.name)
    return found


def settled(home: Path) -> list[str]:
    """What is still running once what is about to be killed has had time to be."""
    end = time.monotonic() + PATIENCE
    while (left := running(home)) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def end_all(home: Path) -> None:
    """Ends what a test has left running on purpose."""
    for line in running(home):
        try:
            os.kill(int(line.partition(":")[0]), signal.SIGKILL)
        except ProcessLookupError:
            pass
