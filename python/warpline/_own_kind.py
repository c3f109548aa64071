"""How another process of the same kind as this one is started, for a plugin that is to have its own."""

from __future__ import annotations

import os
import sys
from typing import Optional

from . import _native
from ._host.late import package

_PACKAGE = os.path.dirname(os.path.abspath(__file__))

#: The flags that few are told.
_SELDOM = (
    *("bytes_warning", "debug", "dev_mode", "ignore_environment", "isolated", "no_site"),
    *("no_user_site", "optimize", "quiet", "safe_path", "verbose"),
)

#: What this interpreter was told, once it is known: it does not change.
_known_flags: list[list[str]] = []


def own_kind() -> Optional[list[str]]:
    """The program and what it is given; None where this program is no interpreter that could be
    started once more.

    The other process has this very package, and looks for modules where this one does.
    """
    program = sys.executable
    if not _is_interpreter(program):
        return None
    modules = [path for path in sys.path if isinstance(path, str) and os.path.isabs(path)]
    return [program, *_flags(), "-c", _native.WORKER_START, _PACKAGE, *modules]


def _is_interpreter(program: Optional[str]) -> bool:
    """A program that Python was built into would take a worker's arguments for its own."""
    if not program or not os.path.isabs(program) or getattr(sys, "frozen", False):
        return False
    # Of `python3`, `pypy` and the like. What is called otherwise is asked for nothing.
    return "py" in os.path.basename(program) and os.access(program, os.X_OK)


def know_flags() -> None:
    """Takes down what this interpreter was told beside its program, such as `-O`, before plugin code can
    change what says so."""
    try:
        _flags()
    except Exception:
        # The program has another module of that name. Who starts a process hears of it.
        pass


def _flags() -> list[str]:
    if not _known_flags:
        if sys.warnoptions or sys._xoptions or any(getattr(sys.flags, one, 0) for one in _SELDOM):
            # As `multiprocessing` does. It takes long to import.
            with package:
                import subprocess

            _known_flags.append(getattr(subprocess, "_args_from_interpreter_flags")())  # noqa: B009
        else:
            _known_flags.append(["-B"] if sys.flags.dont_write_bytecode else [])
    return _known_flags[0]
