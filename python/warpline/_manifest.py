"""Checks a manifest where it is written."""

from __future__ import annotations

from json import loads
from typing import Any, Mapping

from . import _native
from ._documents import Manifest
from ._host.text import NotJsonError, plain_json_of
from .errors import InvalidDocumentError


class PluginManifest:
    """The shape of a plugin's manifest."""

    @staticmethod
    def parse(manifest: Mapping[str, Any]) -> Manifest:
        """The manifest with its defaults, and without what no manifest has.

        It is made of dictionaries, lists and plain values: of those types, not of others derived from
        them. Raises InvalidDocumentError naming every field that is wrong and the shape it must have.
        """
        try:
            text = plain_json_of(manifest)
        except NotJsonError as error:
            raise InvalidDocumentError(f"the manifest is not valid: {error}") from None
        answer = loads(_native.validate_json("plugin-manifest", text))
        if "issues" in answer:
            text = "; ".join(f"{_path(one['path'])}: {one['message']}" for one in answer["issues"])
            raise InvalidDocumentError(f"the manifest is not valid: {text}")
        parsed: Manifest = answer["value"]
        return parsed

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The shape as a JSON Schema document."""
        schema: dict[str, Any] = loads(_native.json_schema("plugin-manifest"))
        return schema


def _path(parts: list[Any]) -> str:
    return "`" + ".".join(str(part) for part in parts) + "`" if parts else "the manifest"
