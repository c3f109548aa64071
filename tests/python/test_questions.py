"""Questions on a terminal, under both hosts: what is asked, answered, and which keys end it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import ROOT
from terminal import COMMANDS, Terminal


def start(host: str, home: Path, *arguments: str) -> Terminal:
    environment = {**os.environ, "WARPLINE_HOME": str(home), "NO_COLOR": "1", "TERM": "xterm"}
    environment["PYTHONPATH"] = str(ROOT / "python")
    return Terminal([*COMMANDS[host], *arguments], home, environment, 120)


@pytest.fixture(params=sorted(COMMANDS))
def host(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# Cases: T358, T360.
def test_init_asks_once_and_configure_proposes_what_was_answered(tmp_path: Path, host: str) -> None:
    init = start(host, tmp_path, "init")
    init.wait_for("metrics_path (string, optional)")
    init.wait_for("> ")
    init.type("rowz\x7fs.json\n")
    init.wait_for("[90]> ")
    init.type("\n")
    assert init.end() == 0, init.text
    config = tmp_path / "config" / "metrics-rollup.json"
    assert json.loads(config.read_text()) == {"metrics_path": "rows.json", "retention_days": 90}
    again = start(host, tmp_path, "init")
    assert again.end() == 0 and "> " not in again.text
    configure = start(host, tmp_path, "configure", "metrics-rollup")
    configure.wait_for("[rows.json]> ")
    configure.type("\n\n")
    assert configure.end() == 0, configure.text
    assert "holds that already" in configure.text


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 1)])
def test_a_key_that_ends_the_questions_writes_nothing(
    tmp_path: Path, host: str, key: str, code: int
) -> None:
    init = start(host, tmp_path, "init")
    init.wait_for("metrics_path (string, optional)")
    init.wait_for("> ")
    init.type(key)
    assert init.end() == code, init.text
    assert not list((tmp_path / "config").iterdir())


def test_a_plugin_cannot_take_an_answer(tmp_path: Path) -> None:
    plugin = tmp_path / "plugins" / "p"
    plugin.mkdir(parents=True)
    (plugin / "manifest.py").write_text(
        "import os\ntaken = os.read(0, 100)\n"
        "manifest = {'name': 'p', 'version': '1', 'description': '', 'ttl_hours': 1,"
        " 'autonomy_level': 'manual', 'inputs': {'a': {'type': 'string', 'default': str(len(taken))}}}\n"
    )
    configure = start("python", tmp_path, "configure", "p")
    configure.wait_for("[0]> ")
    configure.type("mine\n")
    assert configure.end() == 0, configure.text
