"""Where the home of a program or a plugin is."""

from __future__ import annotations

from pathlib import Path

from . import _native
from ._engine import environment_json


def warpline_home() -> Path:
    """The home: `WARPLINE_HOME`, or the nearest `.warpline` upwards, or one to be made here.

    Looked up at every call.
    """
    return Path(_native.warpline_home(environment_json()))
