"""Whose code is running: every call into a plugin runs in a context of its own."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Callable, Optional


class PluginCall:
    """One call into plugin code: an import or an attempt."""

    def __init__(self, plugin: str, capture: Optional[Callable[[str], None]]) -> None:
        self.plugin = plugin
        #: Takes what is printed, where it is wanted.
        self.capture = capture
        #: What is over can still run code, and may no longer change the process.
        self.over = False
        #: What it changed in the process, to be undone.
        self.changed: set[str] = set()


_current: ContextVar[Optional[PluginCall]] = ContextVar("warpline_plugin_call", default=None)


def current_call() -> Optional[PluginCall]:
    """The call whose code is running now; None for the host's own code."""
    return _current.get()


def enter(call: PluginCall) -> None:
    """Makes everything that runs in the present context part of a call."""
    _current.set(call)
