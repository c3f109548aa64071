"""A stream that plugin code puts in the place of a standard one is there for its own call alone.

`redirect_stdout` changes `sys` for everybody, and so would take what the host and other plugins print
meanwhile, secrets included. `print` itself reads the module's dictionary, where the shared stream
stays: that one asks `replaced` on its own.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .plugin_call import current_call

#: What `replaced` gives where the running code has put nothing in place.
NOTHING: Any = object()


def replaced(name: str) -> Any:
    """What the running code has put in the place of `stdout` or `stderr`; `NOTHING` where it has not."""
    call = current_call()
    return NOTHING if call is None else call.streams.get(name, NOTHING)


def _member(name: str) -> Any:
    # Bound here: while the interpreter ends, the names of this module are gone.
    members, current, nothing = vars(sys), current_call, NOTHING

    def get(_: Any) -> Any:
        call = current()
        own = nothing if call is None else call.streams.get(name, nothing)
        if own is not nothing:
            return own
        try:
            shared = members[name]
        except KeyError:
            raise AttributeError(name) from None
        # What a plugin keeps, to write to it from its own stream, must not lead back to that.
        return shared if call is None else getattr(shared, "below", shared)

    def put(_: Any, stream: Any) -> None:
        call = current()
        if call is None:
            members[name] = stream
            return
        shared = members.get(name)
        if stream is shared or stream is getattr(shared, "below", nothing):
            call.streams.pop(name, None)
        else:
            call.streams[name] = stream

    def remove(_: Any) -> None:
        call = current()
        if call is None:
            del members[name]
        else:
            call.streams[name] = None

    return property(get, put, remove)


class _Sys(ModuleType):
    """`sys`, where each call has streams of its own."""

    stdout = _member("stdout")
    stderr = _member("stderr")


def keep_streams_apart() -> None:
    """Begins to do so. May be called again."""
    if type(sys) is ModuleType:
        sys.__class__ = _Sys
