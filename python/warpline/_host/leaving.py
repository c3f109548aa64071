"""Code that ends the process at once: what was running is recorded first."""

from __future__ import annotations

import os
from os import getpid
from typing import Callable, NoReturn, Optional

from .plugin_call import current_call

_real_exit = os._exit
_pid = 0
_record: Callable[[Optional[str]], None]
_code: Optional[Callable[[], int]] = None


def watch_exit(record: Callable[[Optional[str]], None]) -> None:
    """Calls `record` when code ends this process by `os._exit`, with the name of the plugin whose code
    it is, or None where it is the host's own. A child that was forked ends as it likes."""
    global _pid, _record
    _pid = getpid()
    _record = record
    os._exit = _exit


def own_exit_code(code: Callable[[], int]) -> None:
    """Says that the exit code of this process is not for plugin code to choose."""
    global _code
    _code = code


def leave(code: int) -> NoReturn:
    """Ends the process at once."""
    _real_exit(code)


def _exit(status: int) -> NoReturn:
    if getpid() == _pid:
        call = current_call()
        _record(call.plugin if call is not None else None)
        if _code is not None:
            status = _code()
    _real_exit(status)
