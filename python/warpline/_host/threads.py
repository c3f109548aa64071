"""Threads that run plugin code.

They are daemon threads: a handler that never returns does not keep the interpreter alive. They are
made here and not by the engine, so that the interpreter can end them without unwinding Rust.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Callable, NoReturn, Optional

#: Seconds that an idle thread waits for more work.
IDLE_SECONDS = 10.0

Work = Callable[[], None]


class DaemonThreads:
    """Runs each piece of work at once, on an idle thread or a new one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[Work]] = []

    def run(self, work: Work) -> None:
        """Starts the work, which must not raise, and returns."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = queue.SimpleQueue()
            inbox.put(work)
            threading.Thread(
                target=self._serve, args=(inbox,), name=self._name, daemon=True
            ).start()
        else:
            inbox.put(work)

    def _serve(self, inbox: queue.SimpleQueue[Work]) -> None:
        while True:
            work = self._next(inbox)
            if work is None:
                return
            try:
                work()
                del work
            finally:
                if os.getpid() != self._pid:
                    _end_forked_child()
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


def _end_forked_child() -> NoReturn:
    """Plugin code forked and let the child return, or raise: it has nobody to answer to."""
    try:
        if sys.__stderr__ is not None:
            sys.__stderr__.write(
                "warpline: a forked child returned from plugin code; it was ended\n"
            )
            sys.__stderr__.flush()
    finally:
        os._exit(1)


class DaemonExecutor(ThreadPoolExecutor):
    """What `asyncio.to_thread` uses in an async handler: threads that do not hold up the end of the
    interpreter, and prints that count as the handler's."""

    def __init__(self, threads: DaemonThreads) -> None:
        super().__init__(max_workers=1)
        self._threads_of_plugins = threads

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        context = copy_context()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = context.run(fn, *args, **kwargs)
            except BaseException as error:  # handed to whoever awaits it
                future.set_exception(error)
            else:
                future.set_result(result)

        self._threads_of_plugins.run(work)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """There is nothing to shut down: the threads outlive a handler."""
