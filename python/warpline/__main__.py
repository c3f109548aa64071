"""The command line under Python: the program is in the engine, the process around it is here."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from signal import signal as set_handler
from typing import Any, NoReturn, Optional, Sequence

from . import _native
from ._end import leave_at_exit
from ._engine import complain, environment_json, run_operation, warn
from ._host.leaving import leave, own_exit_code
from ._host.started import said_of_thread
from ._host.text import one_line, text_of_raised

INTERRUPTED = 130

#: The signals that ask a process to end, as they are called before a plugin can change anything.
ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
IGNORED = signal.SIG_IGN

#: The plugin that `init` installs.
SEED = Path(__file__).parent / "examples" / "metrics-rollup"


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs one command and returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_standard_descriptors()
    # Results are written by the engine, which sets descriptor 1 aside for them, as it does with
    # descriptor 0 for what a person answers; whatever Python code prints here is no result.
    sys.stdout = sys.stderr
    stderr = sys.stderr
    interrupts = 0
    stray = 0

    def on_interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            leave(INTERRUPTED)

    def on_thread_error(raised: threading.ExceptHookArgs) -> None:
        nonlocal stray
        stray = 1
        warn(said_of_thread(raised))

    def on_notice(notice: dict[str, Any]) -> None:
        nonlocal stray
        if notice["kind"] == "stray":
            stray = 1
        elif notice["kind"] == "fault":
            _show_fault(notice)

    own_exit_code(lambda: INTERRUPTED if interrupts else 1)
    threading.excepthook = on_thread_error
    try:
        _at_signals(signal.default_int_handler)
        home = _native.home_argument(environment_json(), json.dumps(words))
        if home is not None:
            os.environ["WARPLINE_HOME"] = home
        request = {"arguments": words, "seed": str(SEED)}
        code = run_operation("cli", request, on_notice=on_notice, on_interrupt=on_interrupt)
        return int(code) or stray
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        complain(f"error: {one_line(text_of_raised(error))}")
        return 1
    finally:
        # Whatever a plugin has put there would be flushed when the interpreter ends.
        sys.stdout = sys.stderr = stderr
        _let_go_of_standard_error()


def _show_fault(notice: dict[str, Any]) -> None:
    """What the code of a plugin threw, and where: its result has the text alone."""
    lines = f"plugin `{notice['plugin']}` threw: {notice['text']}".split("\n")
    complain("\n".join([f"warpline: {one_line(lines[0])}", *map(one_line, lines[1:])]))


def _at_signals(handler: Any) -> None:
    """Says what becomes of the signals that ask a process to end."""
    for number in ENDING:
        set_handler(number, handler)


def _prepare_standard_descriptors() -> None:
    """Leads the closed ones to nowhere: the next file that is opened would take their place, and a
    result or a message would be written into it."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest number that is free, hence this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _let_go_of_standard_error() -> None:
    """What its reader has not taken by now would fail once more when the interpreter ends, and change
    the exit code."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
        if sys.__stderr__ is not None:
            sys.__stderr__.flush()
    except Exception:  # a pipe without a reader, or whatever a plugin put in its place
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)


def _console() -> NoReturn:
    try:
        code = main()
    except KeyboardInterrupt:  # before or after what `main` guards
        code = INTERRUPTED
    own_exit_code(lambda: code)
    # All is said and recorded: a signal only ends a wait for threads that plugins left behind. After
    # that wait none may change the exit code.
    _at_signals(lambda *_: leave(code))
    leave_at_exit(code, lambda: _at_signals(IGNORED))
    raise SystemExit(code)


if __name__ == "__main__":
    _console()
