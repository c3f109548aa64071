"""JSON Schemas of the documents of a home, and of what the commands report.

A schema of a document says what may be written there: what has a default may be left out, and the
engine writes it out. A schema of a report says what is printed.
"""

from __future__ import annotations

from json import loads
from pathlib import Path
from typing import Any

from . import _native
from .errors import OptionError

__all__ = ["DOCUMENTS", "REPORTS", "json_schema"]

_DIRECTORY = Path(__file__).parent / "_schemas"

#: The names of the documents.
DOCUMENTS: tuple[str, ...] = tuple(_native.document_names())

#: The names of the reports: `report-` and the command.
REPORTS: tuple[str, ...] = tuple(
    f"report-{file.stem}" for file in sorted(_DIRECTORY.glob("*.json"))
)


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a document or a report. Raises OptionError for a name that is
    neither among `DOCUMENTS` nor among `REPORTS`."""
    if name in DOCUMENTS:
        text = _native.json_schema(name)
    elif name in REPORTS:
        text = (_DIRECTORY / f"{name[len('report-') :]}.json").read_text(encoding="utf-8")
    else:
        raise OptionError("there is no such schema", "see warpline.schemas.DOCUMENTS and REPORTS")
    schema: dict[str, Any] = loads(text)
    return schema
