"""The command line under Python: the program is in the engine, the process around it is here."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn, Optional, Sequence

from . import _native
from ._engine import complain, environment_json, run_operation
from ._host.text import one_line, text_of_raised

INTERRUPTED = 130

#: The plugin that `init` installs.
SEED = Path(__file__).parent / "examples" / "host-metrics"


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs one command and returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_standard_descriptors()
    # Results are written by the engine, which sets descriptor 1 aside for them; whatever Python code
    # prints here is not one.
    sys.stdout = sys.stderr
    interrupts = 0

    def on_interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            os._exit(INTERRUPTED)

    try:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.default_int_handler)
        home = _native.home_argument(environment_json(), json.dumps(words))
        if home is not None:
            os.environ["WARPLINE_HOME"] = home
        request = {"arguments": words, "seed": str(SEED)}
        return int(run_operation("cli", request, on_interrupt=on_interrupt))
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        complain(f"error: {one_line(text_of_raised(error))}")
        return 1
    finally:
        _let_go_of_standard_error()


def _prepare_standard_descriptors() -> None:
    """Leads the closed ones to nowhere: the next file that is opened would take their place, and a
    result or a message would be written into it. Standard input is empty: no command asks, and a
    plugin that did would wait for an answer that nobody knows is wanted."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest number that is free, hence this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


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
    sys.exit(code)


if __name__ == "__main__":
    _console()
