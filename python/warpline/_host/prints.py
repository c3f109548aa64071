"""Keeps what plugins print off standard output, and hands it to whoever keeps a transcript."""

from __future__ import annotations

import codecs
import sys
from typing import Any, Callable, Iterable, TextIO

from .plugin_call import current_call


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
        stderr = sys.stderr
        return stderr._target if isinstance(stderr, _Stream) else stderr

    def write(self, text: str) -> int:
        destination = self._destination()
        if current_call() is None:
            return destination.write(text)
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        _capture(text)
        _try_to(lambda: destination.write(text))
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

    @property
    def buffer(self) -> Any:
        destination = self._destination()
        if current_call() is None:
            return destination.buffer
        return _Binary(getattr(destination, "buffer", None), destination)


class _Binary:
    """The bytes below a stream, for code of a plugin."""

    def __init__(self, target: Any, text: TextIO) -> None:
        self._target = target
        self._text = text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def write(self, data: Any) -> int:
        written = bytes(data)
        text = self._decoder.decode(written)
        _capture(text)
        if self._target is None:
            _try_to(lambda: self._text.write(text))
            return len(written)
        # What was written as text before stays before.
        _try_to(lambda: self._text.flush())
        _try_to(lambda: self._target.write(written))
        return len(written)

    def flush(self) -> None:
        _try_to(lambda: (self._text if self._target is None else self._target).flush())


def _try_to(write: Callable[[], object]) -> None:
    """Where standard error leads nowhere, a print of a plugin is no failure of the plugin."""
    try:
        write()
    except BaseException:  # whatever stands there as a stream
        pass


def _capture(text: object) -> None:
    call = current_call()
    if call is not None and call.capture is not None and isinstance(text, str):
        call.capture(text)


def divert_prints() -> None:
    """Puts the streams in place. Called before plugin code runs: whoever replaced `sys.stdout`
    since, a test runner for example, is wrapped anew and finds their own object below."""
    if sys.stderr is not None and not isinstance(sys.stderr, _Stream):
        sys.stderr = _Stream(sys.stderr, diverts=False)
    if sys.stdout is not None and not isinstance(sys.stdout, _Stream):
        sys.stdout = _Stream(sys.stdout, diverts=True)
