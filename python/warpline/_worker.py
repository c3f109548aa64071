"""The process that runs plugins for an engine in another one: the same host, at the end of a pipe.

It is started by `core/src/worker/start.py`. What it imports is waited for by every plugin that has a
process of its own.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from contextvars import Context
from os import write
from select import select
from typing import IO, Any, NoReturn, Optional, cast

from ._engine import complain, warn
from ._host.host import PythonHost
from ._host.leaving import leave, watch_exit
from ._host.plugin_call import PluginCall, current_call
from ._host.started import said_of_thread, watch_threads
from ._host.text import json_of, one_line, text_of_raised
from ._native import NativePrints, NativeWorker

#: The environment as it was before plugin code, for secrets that were declared.
_VARIABLES = dict(os.environ)


class _WorkerHost(PythonHost):
    """Runs plugin code for the engine at the other end."""

    def __init__(self, worker: NativeWorker, shown: io.TextIOWrapper) -> None:
        # Every call begins in a context where nothing is set: its caller is in another process.
        super().__init__(worker, self._prints, lambda _: Context(), warn)
        self._worker = worker
        self._shown = shown

    def _prints(self, request: dict[str, Any]) -> Optional[NativePrints]:
        return self._worker.prints(request["invocation"], json_of(_secrets(request)))

    def _abort(self, number: int, reason: str) -> None:
        try:
            super()._abort(number, reason)
        finally:
            self._worker.aborted(number)

    def _warn_of(self, operation: int, text: str) -> None:
        self._worker.warn(operation, json_of(one_line(text)))

    def _end(self, running: PluginCall) -> None:
        super()._end(running)
        # Once the engine has its answer, this process may be killed.
        self._shown.flush()


def _secrets(request: dict[str, Any]) -> list[str]:
    """The values that the code of a request must not show. A manifest has not said yet which they are:
    any variable may be one."""
    if request["kind"] == "manifests":
        return list(_VARIABLES.values())
    names = request["secrets"] if request["kind"] == "handler" else request["context"]["secrets"]
    return [_VARIABLES[name] for name in names if name in _VARIABLES]


class _StandardError(io.RawIOBase):
    """Descriptor 2. It may be shared with a program that has told it not to wait."""

    name = "<stderr>"

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def isatty(self) -> bool:
        return os.isatty(2)

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        length = len(rest)
        try:
            while rest:
                try:
                    rest = rest[write(2, rest) :]
                except BlockingIOError:
                    select([], [2], [])
        except (OSError, ValueError):
            pass  # nobody reads it
        return length


def _write_to_standard_error() -> io.TextIOWrapper:
    """Leads everything that is printed there."""
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    stream = io.TextIOWrapper(
        # Nothing between them that has a lock, which a forked child could find held.
        cast("IO[bytes]", _StandardError()),
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=True,
    )
    for name in ("stdout", "__stdout__", "stderr", "__stderr__"):
        setattr(sys, name, stream)
    return stream


def main() -> NoReturn:
    """Runs plugin code until the engine goes away, and the process with it."""
    try:
        try:
            os.fstat(2)
        except OSError:  # the next file that is opened would take its place
            os.open(os.devnull, os.O_WRONLY)
        # Nothing is raised on the thread that hears the engine.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        worker, process = NativeWorker(), os.getpid()
        shown = _write_to_standard_error()

        def on_exit(plugin: Optional[str]) -> None:
            if plugin is not None:
                warn(f"plugin `{plugin}` ended its process")
            shown.flush()

        def on_thread_error(raised: threading.ExceptHookArgs) -> None:
            call, said = current_call(), said_of_thread(raised)
            if call is None or os.getpid() != process:
                warn(said)  # a child that was forked has nobody else to tell
                return
            text = json_of(one_line(said))
            worker.stray(call.operation, call.prints.redact(text) if call.prints else text)

        watch_exit(on_exit)
        threading.excepthook = on_thread_error
        watch_threads()
        host = _WorkerHost(worker, shown)
        host.add_runner()
        host.dispatch()
    except BaseException as error:
        complain(f"warpline: the worker failed: {one_line(text_of_raised(error))}")
    finally:
        leave(1)
