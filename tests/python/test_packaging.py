"""The package as it is installed: built from what a clean checkout holds, into an empty environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from conftest import ROOT


def run(*words: str, cwd: Path, **extra: str) -> str:
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    # Tools of this environment build the package: no network is needed.
    path = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    ended = subprocess.run(
        words, cwd=cwd, env={**environment, "PATH": path, **extra}, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_package_installs_from_a_clean_checkout_and_works(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
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
    assert wheel.name.startswith("warpline_runtime-") and "-cp39-abi3-" in wheel.name

    venv.create(tmp_path / "environment", with_pip=True)
    python = str(tmp_path / "environment" / "bin" / "python")
    run(python, "-m", "pip", "install", "--no-index", str(wheel), cwd=tmp_path)
    home = str(tmp_path / "home")
    command = str(tmp_path / "environment" / "bin" / "warpline")
    run(command, "init", cwd=tmp_path, WARPLINE_HOME=home)
    result = json.loads(run(command, "advance", "--json", cwd=tmp_path, WARPLINE_HOME=home))
    assert result["plugin_states"] == {"host-metrics": "completed"}
    seed = sorted(os.listdir(Path(home) / "plugins" / "host-metrics"))
    assert seed == ["handler.py", "manifest.py", "readings.py"]
    place = run(python, "-c", "import warpline; print(warpline.__file__)", cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(tmp_path / "environment")
    assert (Path(place.strip()).parent / "py.typed").is_file()
