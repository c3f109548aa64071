"""What is running: the processes that belong to the home of a test."""

from __future__ import annotations

import os
import time
from pathlib import Path

#: How long what was killed may take to be gone.
PATIENCE = 45.0


def running(home: Path) -> list[str]:
    """The programs that run with this home in their environment, but for this process."""
    found = []
    mark = f"WARPLINE_HOME={home}\0".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            ended = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            if not ended and mark in (entry / "environ").read_bytes() + b"\0":
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found.append(f"{entry.name}: {command[:120].decode(errors='replace')}")
        except OSError:
            pass
    return found


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
    """What is still running once what was killed has had time to go."""
    end = time.monotonic() + PATIENCE
    while (left := running(home)) and time.monotonic() < end:
        time.sleep(0.02)
    return left
