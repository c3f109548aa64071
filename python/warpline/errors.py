"""What a caller can meet: one exception for each code of the engine's catalogue.

Plugin failures are not among them: those are results.
"""

from __future__ import annotations

from json import loads
from typing import Optional


class WarplineError(Exception):
    """An operation was refused or could not be finished."""

    #: Stable, the same in every language.
    code: str = "ERR_WARPLINE"

    def __init__(self, message: str, hint: Optional[str] = None) -> None:
        super().__init__(message)
        #: What the reader can do about it.
        self.hint = hint


class PluginRootError(WarplineError):
    """The plugin root cannot be used."""

    code = "ERR_WARPLINE_PLUGIN_ROOT"


class NotJsonError(WarplineError):
    """A document of the home is not JSON."""

    code = "ERR_WARPLINE_NOT_JSON"


class InvalidDocumentError(WarplineError, ValueError):
    """A document has the wrong shape."""

    code = "ERR_WARPLINE_INVALID"


class NewerStateError(WarplineError):
    """The state was written by a newer version."""

    code = "ERR_WARPLINE_NEWER_STATE"


class FileError(WarplineError):
    """The operating system refused to read or write a file."""

    code = "ERR_WARPLINE_FILE"


class LockedError(WarplineError):
    """Another advance is running on this home."""

    code = "ERR_WARPLINE_LOCKED"


class StateLockError(WarplineError):
    """Another process kept the state lock for too long."""

    code = "ERR_WARPLINE_STATE_LOCK"


class SharedHomeError(WarplineError):
    """Others than this user can write the home."""

    code = "ERR_WARPLINE_SHARED_HOME"


class OptionError(WarplineError, ValueError):
    """An option of a call is not usable."""

    code = "ERR_WARPLINE_OPTION"


class HostError(WarplineError):
    """The engine or its host failed."""

    code = "ERR_WARPLINE_HOST"


_BY_CODE: dict[str, type[WarplineError]] = {
    kind.code: kind
    for kind in (
        PluginRootError,
        NotJsonError,
        InvalidDocumentError,
        NewerStateError,
        FileError,
        LockedError,
        StateLockError,
        SharedHomeError,
        OptionError,
        HostError,
    )
}


def _from_native(text: str) -> WarplineError:
    """The exception that the engine's `{code, message, hint}` stands for."""
    fields = loads(text)
    return _BY_CODE.get(fields["code"], WarplineError)(fields["message"], fields["hint"])
