"""Turns whatever plugin code returns or raises into text, without ever failing."""

from __future__ import annotations

import re
from json import dumps
from math import isfinite
from types import TracebackType
from typing import Any, Iterator, Optional

#: The longest JSON text of a value that a plugin hands over, in characters.
JSON_LIMIT = 32 * 1024 * 1024

#: The deepest nesting of lists and dictionaries in such a value. Where the interpreter would give up,
#: or crash, depends on its version and on a limit that plugin code can move.
DEPTH_LIMIT = 900

#: The most lists and dictionaries of a value that needs no closer look; below the deepest nesting.
SIMPLE_LIMIT = 500

#: The most parts of such a value: a list of many that is in it many times would be held as many times.
PARTS_LIMIT = 1_000_000

#: The longest text of an error, in characters.
ERROR_LIMIT = 16_384

#: The most calls shown of the way to an error.
FRAMES_LIMIT = 8

#: The longest place shown, in characters.
PLACE_LIMIT = 200

#: Beyond this many bits an integer has no double.
DOUBLE_BITS = 1024


#: What would move the cursor, colour, hide or reorder text on a terminal, or end the line.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]")

#: The types that a manifest is made of.
PLAIN = (dict, list, tuple, str, int, float, bool, type(None))


class NotJsonError(ValueError):
    """A value has no JSON form. The text names its place and type, never the value."""


def json_of(value: object) -> str:
    """The JSON text of a value, all ASCII.

    Only what JSON has is taken: a dictionary with text for keys, a list or tuple, text, a finite
    number that a double can hold, a boolean, None. Raises NotJsonError for anything else.
    """
    return _json_of(value, plain=False)


def _json_of(value: object, plain: bool) -> str:
    if not _is_simple(value):
        _check(value, plain)
    try:
        text = dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise NotJsonError("the value is nested too deeply for JSON") from None
    if len(text) > JSON_LIMIT:
        raise NotJsonError(f"the value is longer than {JSON_LIMIT} characters as JSON")
    return text


def plain_json_of(value: object) -> str:
    """The JSON text of a value made of the plain types alone.

    A subclass can show its reader one thing and say another when it is written; so can a key that is
    more than text. A side effect that a manifest leaves out would be one that nobody is asked about.
    """
    return _json_of(value, plain=True)


def one_line(text: str) -> str:
    """Text for one line of a terminal: what could play tricks there is shown as an escape."""
    return UNSAFE.sub(lambda unsafe: f"\\u{{{ord(unsafe[0]):x}}}", text)


def _is_simple(root: object) -> bool:
    """Whether a value has a JSON form beyond doubt, as nearly every one: few parts, of the plain types.

    What is none may have one all the same. One that contains itself has too many parts.
    """
    values: list[Any] = [root]
    containers = size = 0
    for value in values:  # which grows meanwhile
        kind = type(value)
        if kind is str:
            size += len(value)
        elif kind is dict:
            for key in value:
                if type(key) is not str:
                    return False
                size += len(key)
            values.extend(value.values())
            containers += 1
        elif kind is list or kind is tuple:
            values.extend(value)
            containers += 1
        elif kind is int:
            if value.bit_length() > DOUBLE_BITS:
                return False
        elif kind is float:
            if not isfinite(value):
                return False
        elif value is not None and kind is not bool:
            return False
        if containers > SIMPLE_LIMIT or len(values) > PARTS_LIMIT:
            return False
    return size + 2 * len(values) <= JSON_LIMIT


def _check(root: object, plain: bool) -> None:
    """Looks at every part of a value, without recursion."""
    path: list[str] = []
    active: set[int] = set()
    frames: list[tuple[int, Iterator[tuple[str, object]]]] = [(0, iter([("", root)]))]
    size = 0
    while frames:
        owner, items = frames[-1]
        entry = next(items, None)
        if entry is None:
            frames.pop()
            active.discard(owner)
            if path:
                path.pop()
            continue
        name, value = entry
        size += 2
        if plain and type(value) not in PLAIN:
            raise NotJsonError(
                f"{_place(path, name)} is of type {_kind(value)}, which is no plain value"
            )
        if value is None or value is True or value is False:
            continue
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, int):
            if value.bit_length() > DOUBLE_BITS:
                raise NotJsonError(f"{_place(path, name)} is an integer too large for a double")
        elif isinstance(value, float):
            if not isfinite(value):
                raise NotJsonError(f"{_place(path, name)} is not a finite number")
        elif isinstance(value, (dict, list, tuple)):
            if id(value) in active:
                raise NotJsonError(f"{_place(path, name)} contains itself")
            if len(frames) > DEPTH_LIMIT:
                raise NotJsonError(f"the value is nested deeper than {DEPTH_LIMIT} levels")
            if isinstance(value, dict):
                for key in value:
                    if type(key) is not str and (plain or not isinstance(key, str)):
                        raise NotJsonError(
                            f"{_place(path, name)} has a key that is {_kind(key)}, not text"
                        )
                    size += len(key)
                members = iter([(f".{key}", member) for key, member in value.items()])
            else:
                members = iter([(f"[{at}]", member) for at, member in enumerate(value)])
            active.add(id(value))
            path.append(name)
            frames.append((id(value), members))
        else:
            raise NotJsonError(
                f"{_place(path, name)} is of type {_kind(value)}, which JSON does not have"
            )
        if size > JSON_LIMIT:
            raise NotJsonError(f"the value is longer than {JSON_LIMIT} characters as JSON")


def _place(path: list[str], name: str) -> str:
    place = "".join([*path, name]).lstrip(".")
    if not place:
        return "the value"
    return f"`{place[:PLACE_LIMIT]}`"


def text_of_raised(error: BaseException, directory: Optional[str] = None) -> str:
    """What an operator reads of an error: its type, its text, and where in the plugin it arose.

    None of the error's own code is trusted: it runs where its text is made, and nowhere else.
    """
    try:
        text = f"{_kind(error)}: {_message(error)}".rstrip(": ")
        if len(text) > ERROR_LIMIT:
            text = f"{text[:ERROR_LIMIT]}… (cut)"
        if directory is None or issubclass(type(error), SyntaxError):
            return text
        where = _where(_TRACEBACK.__get__(error), directory)
        return f"{text} ({where})" if where else text
    except BaseException:  # no memory, or no stack
        return "an error that cannot be described"


def frames_of_raised(error: BaseException, directory: str) -> list[str]:
    """Where in the plugin an error arose: the innermost calls, the last of them last."""
    try:
        frames = []
        prefix = directory.rstrip("/") + "/"
        traceback: Optional[TracebackType] = _TRACEBACK.__get__(error)
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename.startswith(prefix):
                frames.append(
                    f'File "{code.co_filename}", line {traceback.tb_lineno}, in {code.co_name}'
                )
            traceback = traceback.tb_next
        return frames[-FRAMES_LIMIT:]
    except BaseException:  # no memory, or no stack
        return []


#: Reads a traceback where a class has a property of that name.
_TRACEBACK = vars(BaseException)["__traceback__"]


def _kind(value: object) -> str:
    try:
        # The name of a class can be of a class of its own.
        return str.__str__(type(value).__name__)
    except BaseException:  # a metaclass can do anything
        return "an unknown type"


def _message(error: BaseException) -> str:
    try:
        return str.__str__(str(error))
    except BaseException:  # the error's own code
        return "its text cannot be read"


def _where(traceback: Optional[TracebackType], directory: str) -> Optional[str]:
    """The innermost frame that lies in the plugin, as `file:line`."""
    found = None
    prefix = directory.rstrip("/") + "/"
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file.startswith(prefix):
            found = f"{file[len(prefix) :]}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found
