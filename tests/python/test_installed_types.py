"""What type checkers find of the installed package, for its own code and for programs that use it."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Literal, get_origin

import pytest
import warpline
from installed import ROOT, Installed, run

CONSUMER = ROOT / "tests" / "python" / "consumer"
PYRIGHT = ROOT / "npm" / "node_modules" / "pyright" / "index.js"
#: The modules that others may import.
MODULES = [
    "warpline",
    "warpline.aio",
    "warpline.errors",
    "warpline.reports",
    "warpline.schemas",
    "warpline.testing",
    "warpline.unstable_fs",
]


def mypy(installed: Installed, *words: str, cwd: Path, code: int = 0) -> str:
    cache = f"--cache-dir={cwd / 'mypy'}"
    return run(installed.python, "-m", "mypy", "--strict", cache, *words, cwd=cwd, code=code)


def pyright(installed: Installed, *words: str, cwd: Path, code: int = 0) -> Any:
    # What it verifies it looks for beside the `python` that it finds.
    path = os.pathsep.join([str(Path(installed.python).parent), os.environ["PATH"]])
    words = ("node", str(PYRIGHT), "--pythonpath", installed.python, "--outputjson", *words)
    return json.loads(run(*words, cwd=cwd, code=code, PATH=path))


def every_name(directory: Path) -> Path:
    """A program that uses every name of every module that others may import."""
    lines = ["import typing", *(f"import {module}" for module in MODULES)]
    for module in MODULES:
        found = importlib.import_module(module)
        own = [name for name, one in vars(found).items() if name[0] != "_" and _is_of(one, module)]
        names = getattr(found, "__all__", own)
        assert names, module
        for name in names:
            lines.append(f"typing.cast(object, {module}.{name})")
    file = directory / "every_name.py"
    file.write_text("\n".join([*lines, "print(warpline.__version__ + '')", ""]))
    return file


def _is_of(value: object, module: str) -> bool:
    return getattr(value, "__module__", None) == module


def marked() -> list[int]:
    lines = (CONSUMER / "wrong.py").read_text().splitlines()
    return [at for at, line in enumerate(lines, 1) if line.endswith("# wrong")]


def test_mypy_takes_the_package_and_what_uses_it_rightly(
    installed: Installed, tmp_path: Path
) -> None:
    mypy(installed, *(word for module in MODULES for word in ("-m", module)), cwd=tmp_path)
    mypy(installed, str(CONSUMER / "right.py"), str(every_name(tmp_path)), cwd=tmp_path)


def test_mypy_finds_every_wrong_use_and_nothing_else(installed: Installed, tmp_path: Path) -> None:
    said = mypy(installed, str(CONSUMER / "wrong.py"), cwd=tmp_path, code=1)
    lines = sorted({int(at) for at in re.findall(r"wrong\.py:(\d+): error", said)})
    assert lines == marked(), said


def test_pyright_takes_what_uses_the_package_rightly(installed: Installed, tmp_path: Path) -> None:
    every_name(tmp_path)
    shutil.copy(CONSUMER / "right.py", tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}))
    report = pyright(installed, "--project", str(tmp_path), cwd=tmp_path)
    assert report["summary"]["filesAnalyzed"] == 2
    assert report["generalDiagnostics"] == []


def test_pyright_finds_every_wrong_use_and_nothing_else(
    installed: Installed, tmp_path: Path
) -> None:
    report = pyright(installed, str(CONSUMER / "wrong.py"), cwd=tmp_path, code=1)
    errors = [one for one in report["generalDiagnostics"] if one["severity"] == "error"]
    assert sorted({one["range"]["start"]["line"] + 1 for one in errors}) == marked(), errors


def test_every_published_symbol_has_a_type(installed: Installed, tmp_path: Path) -> None:
    # The examples are plugins, which nobody imports; their manifests are why it is not content.
    words = ("--verifytypes", "warpline", "--ignoreexternal")
    report = pyright(installed, *words, cwd=tmp_path, code=1)
    symbols = [one for one in report["typeCompleteness"]["symbols"] if one["isExported"]]
    own = [one for one in symbols if not one["name"].startswith("warpline.examples.")]
    vague = [one for one in own if not one["isTypeKnown"] or one["isTypeAmbiguous"]]
    assert vague == []
    assert {f"warpline.{name}" for name in warpline.__all__} <= {one["name"] for one in symbols}


def test_the_stubs_are_those_of_the_installed_modules(installed: Installed, tmp_path: Path) -> None:
    allowed = [
        # Only a module built for tests can panic on demand, and it lists that among its names.
        r"warpline\._native\.panic_for_a_test",
        r"warpline\._native\.__all__",
        # What lies beside an example is only found by the host.
        r"warpline\.examples\..*",
        r"warpline\._reports_home\.PlanReport",
    ]
    # The tool takes a literal with several members for a union.
    for module, found in sys.modules.items():
        if module.split(".")[0] == "warpline":
            literals = [name for name, one in vars(found).items() if get_origin(one) is Literal]
            allowed += [re.escape(f"{module}.{name}") for name in literals]
    (tmp_path / "allowed").write_text("\n".join(allowed))
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    words = ["--mypy-config-file", "mypy.ini", "--allowlist", "allowed"]
    words.append("--ignore-unused-allowlist")
    run(installed.python, "-m", "mypy.stubtest", "warpline", *words, cwd=tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        ("def document_names() -> list[str]: ...", ""),
        ("def cancel(self, operation: int)", "def cancel(self, number: int)"),
    ],
)
def test_a_stub_that_is_wrong_would_be_noticed(
    installed: Installed, tmp_path: Path, change: tuple[str, str]
) -> None:
    stub = installed.packages / "warpline" / "_native.pyi"
    kept = stub.read_text()
    assert change[0] in kept
    try:
        stub.write_text(kept.replace(*change))
        words = ["-m", "mypy.stubtest", "warpline._native"]
        assert "_native" in run(installed.python, *words, cwd=tmp_path, code=1)
    finally:
        stub.write_text(kept)
