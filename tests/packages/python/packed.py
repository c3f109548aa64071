"""The packed files of the Python package, and how a test works with them: without a network, a compiler or this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from pathlib import Path
from typing import Optional

from installed import ROOT

DIST = Path(os.environ.get("WARPLINE_DIST") or ROOT / "dist").resolve() / "python"
#: The environment with the tools that packed them.
TOOLS = ROOT / ".venv" / "packages" / "bin"
#: Where nothing listens: what looks for an index in spite of all fails at once.
NOWHERE = "http://127.0.0.1:9"


def one(pattern: str) -> Path:
    """The one packed file of a kind."""
    found = sorted(DIST.glob(pattern))
    assert len(found) == 1, f"`make package` leaves one {pattern} in {DIST}, found {len(found)}"
    return found[0]


def apart() -> list[str]:
    """What starts a command without any network, where this machine lets us; else nothing."""
    for words in (["unshare", "--net"], ["unshare", "--map-root-user", "--net"]):
        if shutil.which(words[0]) and not subprocess.run([*words, "true"], stderr=-3).returncode:
            return words
    return []


APART = apart()


def sealed(
    *words: object, cwd: Path, path: Optional[str] = None, code: int = 0, **extra: str
) -> str:
    """Runs a command with no network and no more programs than `path` has, and gives what it printed on standard output."""
    environment = {
        **{"HOME": str(cwd), "PATH": path or "", "LANG": "C.UTF-8", "TZ": "UTC"},
        **{"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"},
        **{"PIP_DISABLE_PIP_VERSION_CHECK": "1", "CARGO_NET_OFFLINE": "true", "UV_OFFLINE": "1"},
        **{name: NOWHERE for name in ("http_proxy", "https_proxy", "all_proxy")},
        "PYTHONDONTWRITEBYTECODE": "1",
        **extra,
    }
    command = [str(word) for word in [*APART, *words]]
    # The program that sets the network apart is none of those that the command may find.
    command[0] = shutil.which(command[0]) or command[0]
    ended = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=900
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout


def environment_with(place: Path, *packages: Path, python: Optional[str] = None) -> Path:
    """A fresh environment with these files installed by its own pip; gives its folder of programs."""
    if python is None:
        venv.create(place, with_pip=True)
    else:
        sealed(python, "-m", "venv", place, cwd=place.parent)
    programs = place / "bin"
    if packages:
        words = [programs / "python", "-m", "pip", "install", *packages]
        sealed(*words, cwd=place, path=str(programs))
    return programs
