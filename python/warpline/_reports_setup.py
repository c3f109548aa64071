"""What the commands report that prepare a home and its plugins, as types."""

from __future__ import annotations

from typing import Literal, Optional, TypedDict

from ._documents import (
    InputType,
)


class Finding(TypedDict):
    """Something that is wrong with a plugin."""

    level: Literal["error", "warning"]
    rule: Literal[
        "not_a_plugin",
        "unreadable",
        "syntax",
        "import_path",
        "manifest_missing",
        "manifest_computed",
        "manifest_code",
        "manifest_invalid",
        "unknown_key",
        "name_mismatch",
        "input_name",
        "dependency_missing",
        "undeclared_dependency",
        "undeclared_variable",
        "undeclared_network",
        "undeclared_handoff",
        "handler_missing",
        "handler_shape",
        "config",
    ]
    file: str
    line: Optional[int]
    message: str
    hint: Optional[str]


class CheckedPlugin(TypedDict):
    """A plugin that was read."""

    plugin: str
    findings: list[Finding]


class CheckReport(TypedDict):
    """`check --json`."""

    home: str
    plugins_dir: str
    plugins: list[CheckedPlugin]
    errors: int
    warnings: int


class MissingInput(TypedDict):
    """An input that a plugin cannot run without."""

    name: str
    type: InputType


class DeclaredSecret(TypedDict):
    """A secret, and whether it is set."""

    name: str
    set: bool


class ConfigureReport(TypedDict):
    """`configure --json`."""

    plugin: str
    path: str
    written: bool
    schema: str
    missing_inputs: list[MissingInput]
    secrets: list[DeclaredSecret]


class LeftAlone(TypedDict):
    """What lies in the place of what a home needs."""

    path: str
    because: str


class MissingSeedInput(TypedDict):
    """An input that the plugin of a new home cannot run without."""

    name: str
    type: Literal["string", "number", "boolean", "array", "object", "value"]


class InitReport(TypedDict):
    """`init --json`."""

    home: str
    created: list[str]
    mended: list[str]
    unchanged: list[str]
    left_alone: list[LeftAlone]
    seed: Optional[str]
    config: Optional[str]
    missing_inputs: list[MissingSeedInput]


_ScaffoldOrigin = TypedDict("_ScaffoldOrigin", {"from": Optional[str]})


class ScaffoldReport(_ScaffoldOrigin):
    """`scaffold --json`. `from` names the example it was begun with."""

    plugin: str
    directory: str
    language: Literal["ts", "python"]
    files: list[str]
    home: str
    created: list[str]
    mended: list[str]
    unchanged: list[str]
    left_alone: list[LeftAlone]
