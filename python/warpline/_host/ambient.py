"""Undoes what plugin code changes in the process: working directory, environment, file mode mask.

A change belongs to the call in whose context it was made; it lasts until the last call that made it
is over. What the host changes stays, whenever it does.
"""

from __future__ import annotations

import os
import threading
from os import getcwd
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from .plugin_call import PluginCall, current_call

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

#: Stands for the working directory among the names of variables, which are never empty.
_DIRECTORY = ""

#: Stands for the mask of file modes. No name of a variable has this sign.
_MASK = "="


class _Change:
    def __init__(self, original: Any) -> None:
        self.original = original
        self.writers: set[PluginCall] = set()


_changes: dict[str, _Change] = {}
_lock = threading.RLock()
_watching = False
_real_chdir = os.chdir
_real_fchdir = os.fchdir
_real_umask = os.umask


class _Environment(os._Environ[str]):
    """The process's environment, which remembers whose change is whose."""

    def __setitem__(self, key: str, value: str) -> None:
        with _lock:
            if _allowed(key, lambda: _variable(key)):
                super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        with _lock:
            if _allowed(key, lambda: _variable(key)):
                super().__delitem__(key)


class _BinaryEnvironment(os._Environ[bytes]):
    """The same variables under their bytes."""

    def __setitem__(self, key: bytes, value: bytes) -> None:
        with _lock:
            if _allowed(name := os.fsdecode(key), lambda: _variable(name)):
                super().__setitem__(key, value)

    def __delitem__(self, key: bytes) -> None:
        with _lock:
            if _allowed(name := os.fsdecode(key), lambda: _variable(name)):
                super().__delitem__(key)


def watch_process() -> None:
    """Begins to watch the process, once."""
    global _watching
    with _lock:
        if not _watching:
            _watching = True
            os.environ.__class__ = _Environment
            if os.supports_bytes_environ:
                os.environb.__class__ = _BinaryEnvironment
            os.chdir = _chdir
            os.fchdir = _fchdir
            os.umask = _umask


def after_fork() -> None:
    """The lock may have been held by a thread that is not in the child."""
    global _lock
    _lock = threading.RLock()


def _chdir(path: Union[int, str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> None:
    with _lock:
        if _allowed(_DIRECTORY, _directory):
            _real_chdir(path)


def _fchdir(fd: FileDescriptorLike) -> None:
    with _lock:
        if _allowed(_DIRECTORY, _directory):
            _real_fchdir(fd)


def _umask(mask: int) -> int:
    with _lock:
        before = _real_umask(mask)
        if not _allowed(_MASK, lambda: before):
            _real_umask(before)
        return before


def restore_after(call: PluginCall) -> list[str]:
    """Ends a call: puts back what it had left changed, and says in words what that was."""
    words = []
    with _lock:
        call.over = True
        for key in sorted(call.changed):
            change = _changes.get(key)
            if change is None:
                continue
            change.writers.discard(call)
            if change.writers:
                continue
            del _changes[key]
            word = _restore(key, change.original)
            if word is not None:
                words.append(word)
        call.changed.clear()
    return words


def _restore(key: str, original: Any) -> Optional[str]:
    """Puts one thing back, and says in words what was put back, if anything was."""
    if key == _MASK:
        return None if _real_umask(original) == original else "the mask of file modes"
    if key == _DIRECTORY:
        if _directory() == original:
            return None
        try:
            _real_chdir(original or "/")
            return "the working directory"
        except OSError:
            return "the working directory (it could not be restored)"
    if _variable(key) == original:
        return None
    if original is None:
        os._Environ.__delitem__(os.environ, key)
    else:
        os._Environ.__setitem__(os.environ, key, original)
    return f"the environment variable `{key}`"


def _allowed(key: str, current: Callable[[], object]) -> bool:
    """Whether the running code may change `key`; remembers whose change it is."""
    call = current_call()
    if call is None:
        # The host's word is final: nothing is put back over it.
        _changes.pop(key, None)
        return True
    if call.over:
        return False
    change = _changes.get(key)
    if change is None:
        change = _changes[key] = _Change(current())
    change.writers.add(call)
    call.changed.add(key)
    return True


def _variable(key: str) -> Optional[str]:
    try:
        return os.environ[key]
    except (KeyError, TypeError, ValueError):
        return None


def _directory() -> Optional[str]:
    try:
        return getcwd()
    except OSError:
        return None
