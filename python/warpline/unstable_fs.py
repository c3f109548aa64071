"""Files that are whole or absent, and JSON text as the runtime writes it. May change."""

from __future__ import annotations

import os
from json import dumps, loads
from typing import Any, Union

from . import _native
from ._host.text import json_of
from .errors import _from_native

PathLike = Union[str, "os.PathLike[str]"]


def json_text(value: object) -> str:
    """Compact JSON text with JavaScript's numbers: 25.0 is written as 25.

    Use it for the body of an Output that plugins of another language read or compare.
    """
    return _native.json_text(json_of(value), False)


def atomic_write_text(path: PathLike, text: str) -> None:
    """Replaces a file in one step. Missing folders are made."""
    _answer(_native.write_atomic(_absolute(path), text.encode("utf-8")))


def atomic_write_json(path: PathLike, value: object) -> None:
    """Replaces a file by JSON, indented by two blanks, with a final newline."""
    atomic_write_text(path, _native.json_text(json_of(value), True) + "\n")


def read_json_or_null(path: PathLike) -> Any:
    """The value in a JSON file; None where there is no file. Raises ValueError for text that is
    not JSON."""
    file = _absolute(path)
    text = _answer(_native.read_text(file))
    if text is None:
        return None
    try:
        return loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        # The reason may quote the content.
        raise ValueError(f"{file} is not valid JSON") from None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _absolute(path: PathLike) -> str:
    return os.path.abspath(os.fspath(path))


def _answer(text: str) -> Any:
    answer = loads(text)
    if "error" in answer:
        raise _from_native(dumps(answer["error"]))
    return answer["text"]
