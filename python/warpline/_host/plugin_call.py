"""Whose code is running: every call into a plugin runs in a context of its own."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Optional

from .._native import NativePrints


class PluginCall:
    """One call into plugin code: an import or an attempt."""

    def __init__(self, plugin: str, prints: Optional[NativePrints], operation: int) -> None:
        self.plugin = plugin
        #: The number of the operation that it is part of.
        self.operation = operation
        #: Where what is printed goes before it is shown, if anywhere.
        self.prints = prints
        #: What is over can still run code, and may no longer change the process.
        self.over = False
        #: What it changed in the process, to be undone.
        self.changed: set[str] = set()
        #: What it put in the place of standard streams, by name.
        self.streams: dict[str, Any] = {}


_current: ContextVar[Optional[PluginCall]] = ContextVar("warpline_plugin_call", default=None)


def current_call() -> Optional[PluginCall]:
    """The call whose code is running now; None for the host's own code."""
    return _current.get()


def after_fork() -> None:
    """What the child of a handler prints is for its own standard error, and no transcript."""
    call = current_call()
    if call is not None and call.prints is not None:
        call.prints = call.prints.anew()


def enter(call: PluginCall) -> None:
    """Makes everything that runs in the present context part of a call."""
    _current.set(call)
