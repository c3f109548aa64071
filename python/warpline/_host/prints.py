"""Keeps what plugins print off standard output, and their secrets out of it."""

from __future__ import annotations

import codecs
import sys
import threading
from json import dumps, loads
from operator import is_
from types import ModuleType
from typing import Any, Callable, Iterable, Optional, TextIO, cast
from weakref import WeakKeyDictionary

from .. import _native
from .own_streams import NOTHING, keep_streams_apart, replaced
from .plugin_call import PluginCall, current_call


class _Stream:
    """Stands for a standard stream: what the host prints passes as it came."""

    def __init__(self, target: TextIO, diverts: bool) -> None:
        self._target = target
        self._diverts = diverts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._destination(), name)

    def __iter__(self) -> Any:
        return iter(self._destination())

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *raised: object) -> None:
        self.flush()

    def _destination(self) -> TextIO:
        """Where the running code's text goes; never this object again."""
        if not self._diverts or current_call() is None:
            return self._target
        return _standard_error()

    def write(self, text: str) -> int:
        destination = self._destination()
        if current_call() is None:
            if isinstance(text, str):
                _native.before_print(text.endswith("\n"))
            return destination.write(text)
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        shown = _shown(text)
        _show(destination, text if shown is None else shown)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        destination = self._destination()
        if current_call() is None:
            destination.flush()
        else:
            _try_to(lambda: destination.flush())

    def close(self) -> None:
        # The stream is everybody's: a plugin that is done with it cannot end it for the others.
        self.flush()
        if current_call() is None:
            self._target.close()

    def detach(self) -> Any:
        # For the same reason, what lies below is lent to a plugin, not given away.
        return cast(Any, self._target).detach() if current_call() is None else self.buffer

    def reconfigure(self, **options: Any) -> None:
        if current_call() is None:
            cast(Any, self._target).reconfigure(**options)

    @property
    def buffer(self) -> Any:
        destination = self._destination()
        if current_call() is None:
            return destination.buffer
        return _Binary(getattr(destination, "buffer", None), destination)


#: What each thread has used last of what stands in `sys`, by name. `print` only borrows it: were it let
#: go of between two writes of one print, because another stream is put in its place, the second would
#: go to an object that is gone.
_used = threading.local()


class _Shared(_Stream):
    """What stands in `sys` for everybody: it leads the running code to the stream of its own, if any."""

    def __init__(self, target: TextIO, name: str) -> None:
        super().__init__(target, diverts="stdout" in name)
        self._name = name
        self.below = _Stream(target, diverts="stdout" in name)

    def __getattr__(self, name: str) -> Any:
        setattr(_used, self._name, self)
        return super().__getattr__(name)

    def write(self, text: str) -> int:
        setattr(_used, self._name, self)
        own = replaced(self._name)
        if own is NOTHING:
            return super().write(text)
        # `print` passes over a stream that is None.
        return len(text) if own is None else own.write(text)

    def flush(self) -> None:
        setattr(_used, self._name, self)
        own = replaced(self._name)
        if own is NOTHING:
            super().flush()
        elif own is not None:
            own.flush()


class _Binary:
    """The bytes below a stream, for code of a plugin."""

    def __init__(self, target: Any, text: TextIO) -> None:
        self._target = target
        self._text = text

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def __enter__(self) -> _Binary:
        return self

    def __exit__(self, *raised: object) -> None:
        self.flush()

    @property
    def raw(self) -> _Binary:
        return self

    def detach(self) -> _Binary:
        return self

    def close(self) -> None:
        self.flush()

    def write(self, data: Any) -> int:
        written = bytes(data)
        text = _decoder().decode(written)
        shown = _shown(text)
        if self._target is None or shown is not None:
            _show(self._text, text if shown is None else shown)
            return len(written)
        _native.before_print(written.endswith(b"\n"))
        # What was written as text before stays before.
        _try_to(lambda: self._text.flush())
        _try_to(lambda: self._target.write(written))
        return len(written)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        _try_to(lambda: (self._text if self._target is None else self._target).flush())


#: A character may come in pieces, whichever way each is written.
_decoders: WeakKeyDictionary[PluginCall, codecs.IncrementalDecoder] = WeakKeyDictionary()


def _decoder() -> codecs.IncrementalDecoder:
    """Makes text of the bytes that the running code prints."""
    new = codecs.getincrementaldecoder("utf-8")("replace")
    call = current_call()
    return new if call is None else _decoders.setdefault(call, new)


def _try_to(write: Callable[[], object]) -> None:
    """Where standard error leads nowhere, a print of a plugin is no failure of the plugin."""
    try:
        write()
    except BaseException:  # whatever stands there as a stream
        pass


def _show(stream: TextIO, text: str) -> None:
    if text:
        _native.before_print(text.endswith("\n"))
        _try_to(lambda: stream.write(text))


def _standard_error() -> TextIO:
    """Where the text of plugins goes."""
    stderr = vars(sys).get("stderr")
    return cast(TextIO, stderr._target if isinstance(stderr, _Stream) else stderr)


def _shown(text: str) -> Optional[str]:
    """What may be shown now of what the running code printed; None where that is the text as it is."""
    call = current_call()
    if call is None or call.prints is None:
        return None
    shown = call.prints.print(dumps(text))
    return None if shown is None else str(loads(shown))


def show_rest(call: PluginCall) -> None:
    """Shows what was kept back of a call's prints, as the beginning of a secret that did not follow."""
    if call.prints is None:
        return
    rest = loads(call.prints.release())
    _show(_standard_error(), rest)


#: Where the streams are that are put in place.
STREAMS = ("stderr", "stdout", "__stderr__", "__stdout__")

#: What was left there last.
_diverted: list[Any] = [sys] * len(STREAMS)


def divert_prints() -> None:
    """Puts the streams in place. Called before plugin code runs: whoever replaced `sys.stdout`
    since, a test runner for example, is wrapped anew and finds their own object below."""
    global _diverted
    members = vars(sys)
    standing = [members.get(name) for name in STREAMS]
    if type(sys) is not ModuleType and all(map(is_, standing, _diverted)):
        return
    keep_streams_apart()
    for name in ("stderr", "stdout"):
        stream = members.get(name)
        if stream is not None and not (isinstance(stream, _Shared) and stream._name == name):
            target = stream._target if isinstance(stream, _Stream) else stream
            members[name] = _Shared(target, name)
        first = members.get(f"__{name}__")
        if first is not None and not isinstance(first, _Stream):
            shared = members.get(name)
            if isinstance(shared, _Shared) and shared._target is first:
                members[f"__{name}__"] = shared.below
            else:
                members[f"__{name}__"] = _Stream(first, name == "stdout")
    _diverted = [members.get(name) for name in STREAMS]
