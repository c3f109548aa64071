"""Waiting for what comes from another thread or process: until it is there, and never for a moment."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Callable, Optional, TypeVar

T = TypeVar("T")

#: How long anything may take to come, in seconds, however busy the machine is.
PATIENCE = 60.0
#: Less than this takes, on any machine, what does not wait for the ten minutes that a plugin sleeps.
PROMPTLY = 120.0


def until(look: Callable[[], Optional[T]], what: Callable[[], object] = lambda: None) -> T:
    """Looks until something is there, and gives it. `what` says, where nothing comes, what is there."""
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end, what()
        time.sleep(0.01)
    return found


async def text_of(file: Path) -> str:
    """The text of a file, once there is any; whatever else is on the loop goes on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < end, file
        await asyncio.sleep(0.01)
    return file.read_text()


def within(run: Callable[[int], T], has_begun: Callable[[], bool]) -> T:
    """Runs plugin code under a limit of time, in milliseconds, that it meets after it has begun: where it
    was over before that, a longer one follows."""
    for limit in (300, 1_000, 4_000, 16_000):
        result = run(limit)
        if has_begun():
            return result
    raise AssertionError("the code of the plugin never begins")
