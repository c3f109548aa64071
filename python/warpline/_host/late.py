"""What takes long to import, or is seldom needed: imported once somebody asks for it.

That happens before code of a plugin can change what is in there, and never while the process forks: the
child would wait for ever for the end of an import that went on at that moment.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


class _Apart:
    """Keeps imports and forks apart."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._watching = False
        #: Whether a fork that goes on keeps the lock.
        self._forking = False

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *raised: object) -> None:
        self._lock.release()

    def watch(self) -> None:
        """Begins to, once."""
        with self:
            if not self._watching and hasattr(os, "register_at_fork"):
                self._watching = True
                os.register_at_fork(
                    before=self._before_fork,
                    after_in_parent=self._after_fork_in_parent,
                    after_in_child=self._after_fork,
                )

    def _before_fork(self) -> None:
        self._lock.acquire()
        self._forking = True

    def _after_fork_in_parent(self) -> None:
        if self._forking:  # or it was begun to be called in the middle of a fork
            self._forking = False
            self._lock.release()

    def _after_fork(self) -> None:
        """The lock belongs to a thread that has another number in the child."""
        self._forking = False
        self._lock = threading.RLock()


#: For modules of the package, and others that import nothing which has to do with forks.
package = _Apart()
package.watch()

#: What a plugin that awaits something imports itself, and from the package.
ASYNC = ("asyncio", "warpline.aio")

_async = _Apart()
#: Whether a plugin has had it imported, or has tried to.
_asked = False


def awaited() -> ModuleType:
    """The module that runs what async handlers return on a loop of its own."""
    _watch_forks()
    with _async:
        from . import awaited

        return awaited


def on_loop() -> ModuleType:
    """The module that runs it on the loop of the caller."""
    _watch_forks()
    with _async:
        from . import on_loop

        return on_loop


def before_import(name: str) -> None:
    """Called before a plugin imports a module by this name, which is none of its own."""
    if not _asked and (name.partition(".")[0] == ASYNC[0] or name == ASYNC[1]):
        _ask()


def after_import() -> None:
    """Called after that. What was imported may have imported others in its turn."""
    if not _asked and ASYNC[0] in sys.modules:
        _ask()


def _ask() -> None:
    global _asked
    _asked = True
    try:
        awaited()
        on_loop()
    except Exception:
        # The program has another module of that name: no concern of a plugin that awaits nothing.
        pass


def _watch_forks() -> None:
    """Begins to keep forks apart from imports of `asyncio`, once.

    What is called before a fork comes in the reverse order of its registration. These two modules
    register locks, one of which `asyncio` waits for while it is imported: that a fork waits here has to
    come before it takes those. And none may be registered while it waits, to be released without.
    """
    import concurrent.futures.thread  # noqa: F401
    import logging  # noqa: F401

    _async.watch()
