"""The packed files in the hands of others: a person in an empty directory, every CPython of this machine, one with a compiler."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed import ROOT
from interpreters import SUPPORTED
from packed import APART, TOOLS, environment_with, sealed
from test_contents import VERSION

MANIFEST = """
manifest = {
    "name": "uptime-line", "version": "1.0.0", "description": "d", "autonomy_level": "autonomous", "ttl_hours": 1,
}
"""
HANDLER = """
from warpline import skill_ok

def handler(manifest, args, signal, capabilities):
    return skill_ok("up", phases_completed=[manifest["name"]])
"""
WORK = """
import json, sys, warpline
result = warpline.run_advance()
print(json.dumps([warpline.__version__, result.status, dict(result.plugin_states), warpline.__file__]))
"""
#: What a machine may have that cannot compile anything.
COMPILERS = ("cargo", "rustc", "cc", "gcc", "clang", "ld")


def home_with_a_plugin(place: Path) -> Path:
    home = place / "home"
    plugin = home / "plugins" / "uptime-line"
    plugin.mkdir(parents=True)
    (plugin / "manifest.py").write_text(MANIFEST)
    (plugin / "handler.py").write_text(HANDLER)
    return home


def test_a_newcomer_gets_from_an_empty_directory_to_an_advance(wheel: Path, tmp_path: Path) -> None:
    """Nothing but the file, no network, no compiler, no other program than what the environment has."""
    shutil.copy(wheel, tmp_path)
    programs = environment_with(tmp_path / "venv", tmp_path / wheel.name)
    path = str(programs)
    assert not [one for one in COMPILERS if shutil.which(one, path=path)]
    warpline = programs / "warpline"
    work = tmp_path / "work"
    work.mkdir()
    assert sealed(warpline, "--version", cwd=work, path=path).split()[-1] == VERSION
    sealed(warpline, "init", cwd=work, path=path)
    assert "metrics-rollup" in sealed(warpline, "plan", cwd=work, path=path)
    result = json.loads(sealed(warpline, "advance", "--json", cwd=work, path=path))
    assert (result["status"], result["plugin_states"]) == (
        "complete",
        {"metrics-rollup": "completed"},
    )
    again = json.loads(sealed(warpline, "plan", "--json", cwd=work, path=path))
    assert "metrics-rollup" not in json.dumps(again["due"])
    # A plugin of one's own, tested by what the scaffold wrote, is found as well.
    sealed(warpline, "scaffold", "mine", cwd=work, path=path)
    assert "mine" in sealed(programs / "python", "-m", "warpline", "plan", cwd=work, path=path)
    # Installed files are left as they came.
    said = sealed(programs / "python", "-m", "pip", "check", cwd=work, path=path)
    assert said.strip() == "No broken requirements found."
    gone = [programs / "python", "-m", "pip", "uninstall", "--yes", "warpline-runtime"]
    sealed(*gone, cwd=work, path=path)
    left = [one for one in (tmp_path / "venv").rglob("*") if "warpline" in one.name]
    assert left == []


@pytest.mark.parametrize("version", SUPPORTED)
def test_the_wheel_works_in_every_cpython(wheel: Path, tmp_path: Path, version: str) -> None:
    home = home_with_a_plugin(tmp_path)
    python, extra = SUPPORTED[version], {"WARPLINE_HOME": str(home)}
    if subprocess.run([python, "-c", "import ensurepip"], stderr=subprocess.DEVNULL).returncode:
        # It makes no environments: another installer, which asks it for the tags it takes.
        uv = Path(sys.executable).parent / "uv"
        words = [uv, "pip", "install", "--quiet", "--no-index", "--no-cache"]
        place = tmp_path / "packages"
        sealed(*words, "--python", python, "--target", place, wheel, cwd=tmp_path)
        extra["PYTHONPATH"] = str(place)
    else:
        place = tmp_path / "venv"
        python = str(environment_with(place, wheel, python=python) / "python")
    told = json.loads(sealed(python, "-c", WORK, cwd=tmp_path, **extra))
    assert told[:3] == [VERSION, "complete", {"uptime-line": "completed"}]
    assert Path(told[3]).is_relative_to(place)
    assert "within TTL" in sealed(python, "-m", "warpline", "plan", cwd=tmp_path, **extra)
    ran = json.loads((home / "state" / "engine-state.json").read_text())["plugin_runs"]
    assert ran["uptime-line"]["status"] == "success"


@pytest.mark.timeout(1800)
def test_the_source_distribution_builds_with_a_compiler(sdist: Path, tmp_path: Path) -> None:
    """pip, with a compiler and with maturin, and the crates that cargo has fetched before: no index is asked."""
    programs = environment_with(tmp_path / "venv")
    tools = sealed(
        TOOLS / "python", "-c", "import site; print(site.getsitepackages()[0])", cwd=ROOT
    )
    ask = "import site; print(site.getsitepackages()[0])"
    packages = Path(sealed(programs / "python", "-c", ask, cwd=tmp_path).strip())
    (packages / "tools.pth").write_text(tools)
    before = (ROOT / "Cargo.lock").read_text()
    words = ["-m", "pip", "install", "--no-build-isolation", "--no-deps", "--verbose"]
    said = sealed(
        *[programs / "python", *words, sdist],
        cwd=tmp_path,
        path=os.pathsep.join([str(programs), str(TOOLS), os.environ["PATH"]]),
        HOME=os.environ["HOME"],
        # What it is made of is compiled already; optimised, everything would be compiled anew.
        MATURIN_PEP517_ARGS="--profile dev",
        CARGO_TARGET_DIR=str(ROOT / "target"),
    )
    assert "Successfully installed warpline-runtime" in said
    assert (ROOT / "Cargo.lock").read_text() == before
    extra = {"WARPLINE_HOME": str(home_with_a_plugin(tmp_path))}
    told = json.loads(sealed(programs / "python", "-c", WORK, cwd=tmp_path, **extra))
    assert told[:3] == [VERSION, "complete", {"uptime-line": "completed"}]
    assert (packages / "warpline" / "py.typed").is_file()


def test_the_import_is_measured(
    wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Says what an import costs beyond an empty process; how much it may cost is no test's business."""
    python = environment_with(tmp_path / "venv", wheel) / "python"
    measure = """
import json, statistics, subprocess, sys, time
def median(source):
    taken = []
    for _ in range(9):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", source], check=True)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000
print(json.dumps([median("pass"), median("import warpline")]))
"""
    # Compiled once, as pip does it.
    extra = {"PYTHONDONTWRITEBYTECODE": ""}
    empty, imported = json.loads(sealed(python, "-c", measure, cwd=tmp_path, **extra))
    with capsys.disabled():
        where = "no network" if APART else "the network in reach, nothing to be asked"
        print(f"\n  import warpline: {imported - empty:.0f} ms over {empty:.0f} ms ({where})")
