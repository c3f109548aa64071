"""The package as it is installed, into an empty environment: a wheel that is there, or one from what a clean checkout holds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Optional

ROOT = Path(__file__).parents[2]


def run(*words: str, cwd: Path, code: int = 0, **extra: str) -> str:
    """Runs a command without this checkout's package in sight, and gives what it printed."""
    hidden = ("PYTHONPATH", "MYPYPATH")
    environment = {name: text for name, text in os.environ.items() if name not in hidden}
    # Tools of this environment build the package: no network is needed.
    path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    ended = subprocess.run(
        words, cwd=cwd, env={**environment, "PATH": path, **extra}, capture_output=True, text=True
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout


class Installed:
    """An environment with the package, which sees the tools of this one behind its own packages."""

    def __init__(self, place: Path, wheel: Optional[Path] = None) -> None:
        self.wheel = wheel or _built(place)
        venv.create(place / "environment")
        self.python = str(place / "environment" / "bin" / "python")
        self.command = str(place / "environment" / "bin" / "warpline")
        # By the pip of this environment: to give the other one its own takes longer than all the rest.
        pip = [sys.executable, "-m", "pip", "--python", self.python]
        run(*pip, "install", "--no-index", str(self.wheel), cwd=place)
        ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
        self.packages = Path(run(self.python, "-c", ask, cwd=place).strip())
        (self.packages / "tools.pth").write_text(sysconfig.get_paths()["purelib"])


def _built(place: Path) -> Path:
    checkout = place / "checkout"
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(
        *[*pip, "wheel", ".", "--no-deps", "--no-index", "--no-build-isolation", "-w", "wheels"],
        cwd=checkout,
        # The compiled crates are there already; an optimised build would compile them all anew.
        CARGO_TARGET_DIR=str(ROOT / "target"),
        MATURIN_PEP517_ARGS="--profile dev",
    )
    [wheel] = (checkout / "wheels").iterdir()
    return wheel
