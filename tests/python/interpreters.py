"""Every CPython that is on this machine.

Looked for are the versions of pyenv, those of the system and of `make pythons`, and what WARPLINE_PYTHONS
names, separated by colons.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import lru_cache
from pathlib import Path

from installed import ROOT

TOLD = "import json, sys; print(json.dumps([sys.implementation.name, *sys.version_info[:3]]))"


@lru_cache
def interpreters() -> dict[str, str]:
    """Every CPython by version: the first one that is found."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [Path(path) for path in os.environ.get("WARPLINE_PYTHONS", "").split(":") if path]
    found += sorted(pyenv.glob("*/bin/python"))
    for folder in (Path("/usr/bin"), Path("/usr/local/bin"), ROOT / ".venv" / "pythons" / "bin"):
        found += sorted(folder.glob("python3.[0-9]*[0-9]"))
    versions: dict[str, str] = {}
    for path in found:
        told = subprocess.run([path, "-c", TOLD], capture_output=True, text=True, timeout=60)
        if told.returncode == 0:
            name, *version = json.loads(told.stdout)
            if name == "cpython":
                versions.setdefault(".".join(map(str, version)), str(path))
    return versions


def is_supported(version: str) -> bool:
    return tuple(map(int, version.split("."))) >= (3, 9)


SUPPORTED = {version: path for version, path in interpreters().items() if is_supported(version)}
TOO_OLD = {version: path for version, path in interpreters().items() if not is_supported(version)}
