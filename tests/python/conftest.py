"""What the tests share: a home of its own for each, and plugins in two lines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Optional

import pytest
from installed import Installed

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "python" / "warpline" / "examples"
FIXTURES = ROOT / "npm" / "examples" / "test" / "fixtures"

# What was started in the background of a shell, or by nohup, ignores these, and so would all that the
# tests start.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(
            number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL
        )

OK = """
from warpline import skill_ok

def handler(manifest, args, signal, capabilities):
    return skill_ok("done")
"""


class Home:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.plugins = path / "plugins"
        self.plugins.mkdir()

    def plugin(
        self, name: str, handler: str = OK, /, files: Optional[dict[str, str]] = None, **fields: Any
    ) -> Path:
        """Writes a plugin: the source of its handler, other files, fields of its manifest."""
        manifest = {
            "name": name,
            "version": "1.0.0",
            "description": "d",
            "autonomy_level": "autonomous",
            "ttl_hours": 1,
            "retry_delay_ms": 0,
            **fields,
        }
        directory = self.plugins / name
        directory.mkdir(exist_ok=True)
        (directory / "manifest.py").write_text(f"manifest = {manifest!r}\n")
        (directory / "handler.py").write_text(textwrap.dedent(handler))
        for file, text in (files or {}).items():
            (directory / file).parent.mkdir(exist_ok=True)
            (directory / file).write_text(textwrap.dedent(text))
        return directory

    def json(self, path: str) -> Any:
        return json.loads((self.path / path).read_text())

    def state(self) -> Any:
        return self.json("state/engine-state.json")

    def files(self) -> dict[str, bytes]:
        return {
            str(file.relative_to(self.path)): file.read_bytes()
            for file in sorted(self.path.rglob("*"))
            if file.is_file() and not file.name.endswith("lock")
        }

    def environment(self, **extra: str) -> dict[str, str]:
        path = os.pathsep.join(sys.path)
        return {**os.environ, "PYTHONPATH": path, "WARPLINE_HOME": str(self.path), **extra}

    def python(self, source: str, *, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """Runs a program of its own on this home."""
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(source)],
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def cli(self, *arguments: str, cwd: Optional[Path] = None) -> subprocess.CompletedProcess[str]:
        """Runs a command on this home."""
        return subprocess.run(
            [sys.executable, "-m", "warpline", *arguments],
            env=self.environment(),
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=300,
        )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("WARPLINE_HOME", str(path))
    return Home(path)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The package, built and installed once for all tests that ask for it."""
    return Installed(tmp_path_factory.mktemp("installed"))
