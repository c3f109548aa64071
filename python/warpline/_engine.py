"""The engine of this process, and the operations that callers have begun on it."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import sys
import threading
from contextvars import Context, copy_context
from typing import Any, Callable, Optional, Protocol

from . import _native
from ._host import ambient, modules
from ._host.host import PythonHost
from ._host.text import json_of, one_line, text_of_raised
from .errors import _from_native

#: How often a caller's own signal is looked at, in milliseconds.
_LOOK_AT_SIGNAL_MS = 50
#: How long a wait lasts where there is nothing to look at; signals of the system end it earlier.
_WAIT_MS = 3_600_000
#: How long the end of the interpreter waits for the dispatching thread, in seconds.
_JOIN_SECONDS = 1.0


class CancelSignal(Protocol):
    """What interrupts an operation once it is set: a `threading.Event`, or a handler's signal."""

    def is_set(self) -> bool:
        """Whether the operation is to end."""


class _Process:
    """The engine and the thread that answers it."""

    def __init__(self) -> None:
        self.engine = _native.NativeEngine()
        host = PythonHost(self.engine, _context_of, warn)
        self.dispatcher = threading.Thread(
            target=host.dispatch, name="warpline-dispatch", daemon=True
        )
        # The operations' contexts are used for plugin code; this thread's own is nobody's.
        self.dispatcher.start()


_lock = threading.Lock()
_process: Optional[_Process] = None
_contexts: dict[int, Context] = {}
_numbers = itertools.count(1)
#: What a fork left behind. Kept: nothing in it may be touched.
_left: list[Optional[_Process]] = []


def warn(text: str) -> None:
    """Writes a line about the runtime to standard error."""
    complain(f"warpline: {one_line(text)}")


def complain(line: str) -> None:
    """Writes a line to standard error, if that leads anywhere. Where it does not, nothing is raised:
    no work may end because nobody reads about it."""
    for stream in (sys.stderr, sys.__stderr__):
        try:
            if stream is not None:
                stream.write(f"{line}\n")
                return
        except BaseException as error:  # a pipe without a reader, or whatever was put in its place
            # What the handler of a signal raises comes on the main thread, and is for the caller.
            on_main = threading.current_thread() is threading.main_thread()
            if on_main and not issubclass(type(error), Exception):
                raise


def _engine() -> _native.NativeEngine:
    global _process
    with _lock:
        if _process is None:
            _process = _Process()
        return _process.engine


def _context_of(operation: int) -> Context:
    context = _contexts.get(operation)
    return copy_context() if context is None else context


def _close() -> None:
    """The interpreter ends: interrupts what is running and waits until it is recorded."""
    process = _process
    if process is not None:
        # A handler that was given up may still read there. The interpreter would close the stream
        # under it, cannot, and would abort the process.
        for stream in (sys.stdin, sys.__stdin__):
            _native.keep_for_ever(stream)
        if not process.engine.close():
            warn("an advance was still running when the interpreter ended")
        process.dispatcher.join(_JOIN_SECONDS)


def _after_fork() -> None:
    """A forked child starts an engine of its own: the threads of this one are not in it."""
    global _lock, _process
    _left.append(_process)
    _lock = threading.Lock()
    _process = None
    _contexts.clear()
    ambient.after_fork()
    modules.after_fork()


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def environment_json() -> str:
    """The process as the engine sees it: `{vars, cwd}`."""
    try:
        cwd = os.getcwd()
    except OSError:
        # A directory that was deleted keeps its name here: what is relative to it is then not found.
        cwd = os.environ.get("PWD", "/")
    return json.dumps({"vars": dict(os.environ), "cwd": cwd})


def run_operation(
    kind: str,
    request: object,
    *,
    signal: Optional[CancelSignal] = None,
    on_notice: Optional[Callable[[dict[str, Any]], None]] = None,
    on_interrupt: Optional[Callable[[], None]] = None,
) -> Any:
    """Runs one operation of the engine to its end, and returns what it came to.

    Notices come in order, on this thread. Ctrl-C, or whatever else a signal's handler raises,
    interrupts the operation: what has finished is recorded first, then it is raised.
    """
    if signal is not None and not callable(getattr(signal, "is_set", None)):
        raise TypeError("option `signal` must have a method `is_set`, as threading.Event has")
    request_json = json_of(request)
    environment = environment_json()
    engine = _engine()
    number = next(_numbers)
    _contexts[number] = copy_context()
    raised: Optional[BaseException] = None
    try:
        cancelled = signal is not None and signal.is_set()
        engine.open(number, cancelled, kind, environment, request_json)
        while True:
            try:
                if signal is not None and not cancelled and signal.is_set():
                    cancelled = True
                    engine.cancel(number)
                watching = signal is not None and not cancelled
                told = engine.wait(number, _LOOK_AT_SIGNAL_MS if watching else _WAIT_MS)
                if told is None:
                    continue
                what, text = told
                if what == "notice":
                    _tell(json.loads(text), on_notice)
                    continue
            except BaseException as error:
                if raised is None:
                    raised = error
                    engine.cancel(number)
                elif not isinstance(error, KeyboardInterrupt):
                    raise raised from None
                if on_interrupt is not None:
                    on_interrupt()
                continue
            if raised is not None and on_interrupt is None:
                raise raised
            if what == "failed":
                raise _from_native(text)
            return json.loads(text)
    finally:
        _contexts.pop(number, None)


def _tell(notice: dict[str, Any], on_notice: Optional[Callable[[dict[str, Any]], None]]) -> None:
    """Passes a notice on. A hook that raises is reported, and loses nothing."""
    try:
        if notice["kind"] == "warning":
            warn(notice["text"])
        elif on_notice is not None:
            on_notice(notice)
    except Exception as error:
        warn(f"a hook failed: {text_of_raised(error)}")
