"""Threads that run plugin code.

They are daemon threads: a handler that never returns does not keep the interpreter alive. They are
made here and not by the engine, so that the interpreter can end them without unwinding Rust.
"""

from __future__ import annotations

import queue
import sys
import threading
from os import getpid
from typing import Callable, NoReturn, Optional

from .leaving import leave
from .started import start_daemon

#: Seconds that an idle thread waits for more work.
IDLE_SECONDS = 10.0

Work = Callable[[], None]


class DaemonThreads:
    """Runs each piece of work at once, on an idle thread or a new one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pid = getpid()
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Work]] = []

    def run(self, work: Work) -> None:
        """Starts the work, which must not raise, and returns."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            new: queue.SimpleQueue[Work] = queue.SimpleQueue()
            new.put(work)
            self.start(lambda: self._serve(new))
        else:
            inbox.put(work)

    def start(self, serve: Work) -> None:
        """Starts a thread that serves in a way of its own."""
        start_daemon(serve, self._name)

    def end_forked_child(self) -> None:
        """Ends the process where plugin code forked and let the child return, or raise: it has nobody to
        answer to."""
        if getpid() != self._pid:
            _end_forked_child()

    def _serve(self, inbox: queue.SimpleQueue[Work]) -> None:
        while True:
            work = self._next(inbox)
            if work is None:
                return
            try:
                leave_thread_clean(work)
                del work
            finally:
                self.end_forked_child()
            with self._lock:
                self._idle.append(inbox)

    def _next(self, inbox: queue.SimpleQueue[Work]) -> Optional[Work]:
        try:
            return inbox.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            pass
        with self._lock:
            if inbox in self._idle:
                self._idle.remove(inbox)
                return None
        # Taken off the list a moment ago: work is on its way.
        return inbox.get()


def leave_thread_clean(work: Work) -> None:
    """Runs work that leaves behind no event loop, which is closed or another's, and nothing that
    traces."""
    tracing, profiling = sys.gettrace(), sys.getprofile()
    try:
        work()
    finally:
        if sys.getprofile() is not profiling:
            sys.setprofile(profiling)
        if sys.gettrace() is not tracing:
            sys.settrace(tracing)
        # Without it, there is no loop.
        events = sys.modules.get("asyncio.events")
        if events is not None:
            try:
                events.set_event_loop(None)
            except Exception:  # the program's own policy, or a module that is half imported
                pass


def _end_forked_child() -> NoReturn:
    try:
        if sys.__stderr__ is not None:
            sys.__stderr__.write(
                "warpline: a forked child returned from plugin code; it was ended\n"
            )
            sys.__stderr__.flush()
    finally:
        leave(1)
