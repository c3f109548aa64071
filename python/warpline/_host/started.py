"""Threads that plugin code starts: what runs on them counts as the call that started them."""

from __future__ import annotations

import sys
import threading
from contextvars import copy_context
from threading import ExceptHookArgs
from typing import Any, Callable

from .plugin_call import current_call
from .text import text_of_raised

_real_start = threading.Thread.start
#: What is called where a thread raised, and where the program did.
_hooks: tuple[Any, Any] = (threading.excepthook, sys.excepthook)


def watch_threads() -> None:
    """Begins to watch the threads that are started."""
    global _hooks
    _hooks = (threading.excepthook, sys.excepthook)
    # Through setattr: to a type checker, classes do not change.
    setattr(threading.Thread, "start", _start)  # noqa: B010


def said_of_thread(raised: ExceptHookArgs) -> str:
    """What a reader is told of an exception that ended a thread."""
    call = current_call()
    who = f"plugin `{call.plugin}`" if call else "the program"
    error = raised.exc_value
    what = text_of_raised(error) if error else raised.exc_type.__name__
    return f"{who} raised in a thread: {what}"


def start_for_nobody(thread: threading.Thread) -> None:
    """Starts a thread that belongs to the host, whoever asks for it."""
    _real_start(thread)


def start_daemon(serve: Callable[[], None], name: str) -> None:
    """Starts a thread that belongs to the host, and does not keep the interpreter alive."""
    # Python makes none where code of a plugin has left nothing in the place of these.
    if threading.excepthook is None:
        threading.excepthook = _hooks[0]
    if sys.excepthook is None:
        sys.excepthook = _hooks[1]
    start_for_nobody(threading.Thread(target=serve, name=name, daemon=True))


def _start(thread: threading.Thread) -> None:
    if current_call() is not None:
        context = copy_context()
        run = thread.run

        def run_in_context() -> None:
            del thread.run
            try:
                context.run(run)
            except SystemExit:
                raise
            except BaseException:
                # Here, and not where the thread ends: whose thread it is is known.
                context.run(threading.excepthook, ExceptHookArgs([*sys.exc_info(), thread]))

        setattr(thread, "run", run_in_context)  # noqa: B010
    _real_start(thread)
