"""The package as it is installed works: command, files, fixture for pytest."""

from __future__ import annotations

import json
import os
from pathlib import Path

from installed import ROOT, Installed, run


def test_the_package_installs_from_a_clean_checkout_and_works(
    installed: Installed, tmp_path: Path
) -> None:
    assert installed.wheel.name.startswith("warpline_runtime-")
    assert "-cp39-abi3-" in installed.wheel.name
    python, command = installed.python, installed.command
    home = str(tmp_path / "home")
    run(command, "init", cwd=tmp_path, WARPLINE_HOME=home)
    result = json.loads(run(command, "advance", "--json", cwd=tmp_path, WARPLINE_HOME=home))
    assert result["plugin_states"] == {"metrics-rollup": "completed"}
    seed = sorted(os.listdir(Path(home) / "plugins" / "metrics-rollup"))
    assert seed == ["handler.py", "manifest.py", "rows.py"]
    place = run(python, "-c", "import warpline; print(warpline.__file__)", cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(installed.packages)
    assert (Path(place.strip()).parent / "py.typed").is_file()
    ask = "import importlib.metadata as m; print(m.distribution('warpline-runtime').entry_points)"
    plugin = "EntryPoint(name='warpline.pytest_plugin', value='warpline.pytest_plugin', group='pytest11')"
    assert plugin in run(python, "-c", ask, cwd=tmp_path)

    # pytest beside it, as an author would have it: the package registers its fixture by itself.
    project = tmp_path / "project"
    project.mkdir()
    run(command, "scaffold", "mine", cwd=project, WARPLINE_HOME=str(project / ".warpline"))
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "test_it.py").write_text(
        "def test_it(plugin_home):\n"
        "    assert plugin_home.run('mine').result['status'] == 'success'\n"
    )
    words = ["-q", "-p", "no:cacheprovider", "test_it.py", ".warpline/plugins/mine"]
    assert "3 passed" in run(python, "-m", "pytest", *words, cwd=project)


def test_the_installed_package_has_every_schema(installed: Installed, tmp_path: Path) -> None:
    ask = """
from warpline.schemas import DOCUMENTS, REPORTS, json_schema
print(len(DOCUMENTS), len(REPORTS), all(json_schema(name) for name in (*DOCUMENTS, *REPORTS)))
"""
    files = len(list((ROOT / "docs" / "schemas").glob("*.json")))
    assert run(installed.python, "-c", ask, cwd=tmp_path).split() == ["16", str(files), "True"]
