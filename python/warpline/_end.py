"""How a command ends: as any program does, but that the interpreter is not taken down.

Threads that plugins left behind may come back to it at that moment, from whatever code they were in. The
interpreter ends them there, by unwinding them through that code, and some libraries then end the process.
"""

from __future__ import annotations

import atexit
import io
from gc import get_objects
from threading import Event, Thread
from typing import Callable

from ._host.leaving import leave
from ._host.started import start_for_nobody

#: How long it may take to write what is left in the buffers of files, in seconds.
_WRITE_SECONDS = 5.0
#: What every file object of Python is; unlike the class above it, it asks no object for its opinion.
_FILE = io.IOBase.__bases__[0]
_run_handlers = atexit._run_exitfuncs


def leave_at_exit(code: int, first: Callable[[], None]) -> None:
    """Ends the process with this code when the interpreter begins to end, after all handlers that were
    registered with `atexit`. `first` runs before those."""
    over = Event()
    # Made now: no thread can be started while the interpreter ends.
    writing = Thread(target=_write_files, args=(over,), name="warpline-end", daemon=True)
    ended = False

    def end() -> None:
        nonlocal ended
        if ended:  # as one of the handlers that are run here
            return
        ended = True
        first()
        try:
            _run_handlers()
        except BaseException:  # it has been shown
            pass
        over.set()
        writing.join(_WRITE_SECONDS)
        leave(code)

    try:
        start_for_nobody(writing)
    except RuntimeError:  # there are too many threads: the interpreter has to see to the files
        atexit.register(first)
    else:
        atexit.register(end)


def _write_files(over: Event) -> None:
    """Writes what files hold that nobody has closed, as the end of the interpreter would."""
    over.wait()
    for found in get_objects():
        if issubclass(type(found), _FILE):
            try:
                found.flush()
            except BaseException:  # it is closed, or leads nowhere
                pass
