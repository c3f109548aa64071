"""The engine of this process, and the operations that callers have begun on it."""

from __future__ import annotations

import atexit
import itertools
import os
import sys
import threading
from contextvars import Context, ContextVar, copy_context
from json import dumps, loads
from os import getcwd
from time import sleep
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Protocol

from . import _native
from ._host import ambient, callers, modules, plugin_call
from ._host.callers import forget, listen
from ._host.host import PythonHost
from ._host.leaving import watch_exit
from ._host.started import start_for_nobody, watch_threads
from ._host.text import json_of, one_line, text_of_raised
from ._own_kind import know_flags, own_kind
from .errors import WarplineError, _from_native

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

#: How often a caller's own signal is looked at, in milliseconds.
_LOOK_AT_SIGNAL_MS = 50
#: How long a wait lasts where there is nothing to look at; signals of the system end it earlier.
_WAIT_MS = 3_600_000
#: How long the end of the interpreter waits for the dispatching thread, in seconds.
_JOIN_SECONDS = 1.0
#: How long a call waits for the end of its process, once that is on record, in seconds.
_LEAVING_SECONDS = 60.0


class CancelSignal(Protocol):
    """What interrupts an operation once it is set: a `threading.Event`, or a handler's signal."""

    def is_set(self) -> bool:
        """Whether the operation is to end."""


class _Process:
    """The engine and the thread that answers it."""

    def __init__(self) -> None:
        know_flags()
        self.engine = _native.NativeEngine()
        #: Whether the process is about to end, with what was running on record.
        self.leaving = False
        self._host = PythonHost(
            self.engine,
            lambda request: self.engine.prints(request["invocation"]),
            _context_of,
            warn,
        )
        self.dispatcher = threading.Thread(
            target=self._host.dispatch, name="warpline-dispatch", daemon=True
        )
        #: Whether a thread that runs plugin code was started.
        self._runs = False
        watch_exit(self.record_exit)
        watch_threads()

    def start(self) -> None:
        """Starts its threads, as far as they are not there. Raises RuntimeError where one could not be
        made: whoever comes next tries again."""
        # The operations' contexts are used for plugin code; this thread's own is nobody's.
        if self.dispatcher.ident is None:
            start_for_nobody(self.dispatcher)
        if not self._runs:
            self._host.add_runner()
            self._runs = True

    def record_exit(self, plugin: Optional[str]) -> None:
        """Records what is running, where code of a plugin, or of the host, ends the process at once."""
        self.leaving = True
        if plugin is not None:
            warn(f"plugin `{plugin}` ended the process")
        try:
            running = ", ".join(self.engine.exit())
            if running:
                warn(f"the process ends while these plugins run: {running}")
        except Exception as error:
            warn(f"the run could not be recorded: {text_of_raised(error)}")


_lock = threading.Lock()
_process: Optional[_Process] = None
_contexts: dict[int, Context] = {}
_numbers = itertools.count(1)
#: How a process of this kind is started, as far as it was asked for.
_worker_command: Optional[list[str]] = None
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
        _process.start()
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
        if process.dispatcher.ident is not None:
            process.dispatcher.join(_JOIN_SECONDS)


def _after_fork() -> None:
    """A forked child starts an engine of its own: the threads of this one are not in it."""
    global _lock, _process
    _left.append(_process)
    _lock = threading.Lock()
    _process = None
    _contexts.clear()
    ambient.after_fork()
    callers.after_fork()
    modules.after_fork()
    plugin_call.after_fork()


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


#: The home of a test, for whatever code runs under it. A handler that was given up goes on after the
#: test: it must not find the home of the developer then.
test_home: ContextVar[Optional[str]] = ContextVar("warpline_test_home", default=None)


def environment_json() -> str:
    """The process as the engine sees it: `{vars, cwd}`."""
    cwd: Optional[str]
    try:
        cwd = getcwd()
    except OSError:
        # It was deleted. What its name was, or is to others now, is no place to look for a home.
        cwd = None
    variables = dict(os.environ)
    home = test_home.get()
    if home is not None:
        variables["WARPLINE_HOME"] = home
    return dumps({"vars": variables, "cwd": cwd})


def _worker(request: Mapping[str, Any]) -> Optional[list[str]]:
    """How a process of this kind is started, for a request that may start some."""
    global _worker_command
    options = request.get("options", request)
    isolates = any(word.startswith("--iso") for word in request.get("arguments", ()))
    if isolates or options.get("isolation") == "process":
        _worker_command = own_kind()
    return _worker_command


def run_operation(
    kind: str,
    request: Mapping[str, Any],
    *,
    signal: Optional[CancelSignal] = None,
    on_notice: Optional[Callable[[dict[str, Any]], object]] = None,
    on_interrupt: Optional[Callable[[], None]] = None,
) -> Any:
    """Runs one operation of the engine to its end, and returns what it came to.

    Notices come in order, on this thread. Ctrl-C, or whatever else a signal's handler raises,
    interrupts the operation: what has finished is recorded first, then it is raised.
    """
    check_signal(signal)
    request_json = json_of(request)
    environment = environment_json()
    engine = _engine()
    number = next(_numbers)
    _contexts[number] = copy_context()
    raised: Optional[BaseException] = None
    try:
        cancelled = signal is not None and signal.is_set()
        listens = on_notice is not None
        engine.open(
            number, cancelled, False, listens, kind, environment, request_json, _worker(request)
        )
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
                    _tell(loads(text), on_notice)
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
                raise failure(text)
            return loads(text)
    finally:
        _contexts.pop(number, None)
        engine.release(number)


def failure(text: str) -> WarplineError:
    """What an operation was refused for, or failed with. Where the process is about to end and all that
    ran is on record, it waits for that end: the thread that ends it chose the exit code, and what a
    caller makes of a failure must not come before."""
    if _process is not None and _process.leaving:
        sleep(_LEAVING_SECONDS)
    return _from_native(text)


def check_signal(signal: Optional[CancelSignal]) -> None:
    """Refuses what cannot be asked whether it is set."""
    if signal is not None and not callable(getattr(signal, "is_set", None)):
        raise TypeError("option `signal` must have a method `is_set`, as threading.Event has")


def start(
    kind: str,
    request: Mapping[str, Any],
    aborted: bool,
    listens: bool,
    loop: AbstractEventLoop,
    tell: Callable[[str, str], None],
) -> Callable[[], None]:
    """Begins an operation that tells what it has to say on a loop, the last word included, and gives
    what interrupts it: what has finished is recorded, then the last word comes."""
    request_json = json_of(request)
    environment = environment_json()
    engine = _engine()
    number = next(_numbers)

    def end() -> None:
        _contexts.pop(number, None)
        engine.release(number)

    def interrupt() -> None:
        try:
            engine.cancel(number)
        except (ValueError, RuntimeError):
            pass  # it has ended, or belongs to the process that forked

    _contexts[number] = copy_context()
    listen(number, loop, tell, interrupt, end)
    try:
        engine.open(
            number, aborted, True, listens, kind, environment, request_json, _worker(request)
        )
    except BaseException:
        forget(number)
        raise
    return interrupt


def _tell(notice: dict[str, Any], on_notice: Optional[Callable[[dict[str, Any]], object]]) -> None:
    """Passes a notice on. A hook that raises is reported, and loses nothing."""
    try:
        if notice["kind"] in ("warning", "stray"):
            warn(notice["text"])
        if notice["kind"] != "warning" and on_notice is not None:
            on_notice(notice)
    except Exception as error:
        warn(f"a hook failed: {text_of_raised(error)}")
