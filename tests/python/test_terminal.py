"""The command line on a terminal, under both hosts: colours, and the line that tells what runs."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Optional

import pytest
from conftest import ROOT
from terminal import COMMANDS, LIMIT, Terminal

ERASE = "\r\x1b[2K"

#: Prints half a line, ends it, and goes on until the test lets it end.
HANDLERS = {
    "python": (
        "handler.py",
        "import os, pathlib, sys, time\n"
        "from warpline import skill_ok\n"
        "GO = pathlib.Path(os.environ['GO'])\n"
        "def until(name):\n"
        "    while not (GO / name).exists():\n"
        "        time.sleep(0.02)\n"
        "def handler(manifest, args, signal, capabilities):\n"
        "    until('begin')\n"
        "    sys.stdout.write('half ')\n"
        "    sys.stdout.flush()\n"
        "    until('line')\n"
        "    print('and half')\n"
        "    until('end')\n"
        "    return skill_ok('done')\n",
    ),
    "node": (
        "handler.ts",
        "import { existsSync } from 'node:fs'\n"
        "import { setTimeout } from 'node:timers/promises'\n"
        "import { skillOk } from 'warpline/unstable-result'\n"
        "const until = async (name: string) => {\n"
        "  while (!existsSync(`${process.env.GO}/${name}`)) await setTimeout(20)\n"
        "}\n"
        "export const handler = async () => {\n"
        "  await until('begin')\n"
        "  process.stdout.write('half ')\n"
        "  await until('line')\n"
        "  console.log('and half')\n"
        "  await until('end')\n"
        "  return skillOk('done')\n"
        "}\n",
    ),
}


class Stage:
    def __init__(self, host: str, path: Path, language: Optional[str] = None) -> None:
        self.host = host
        language = language or host
        self.path = path
        self.home = path / ".warpline"
        self.go = path / "go"
        self.go.mkdir()
        file, handler = HANDLERS[language]
        plugin = self.home / "plugins" / "slow"
        plugin.mkdir(parents=True)
        (plugin / file).write_text(handler)
        manifest = {
            "name": "slow",
            "version": "1.0.0",
            "description": "d",
            "autonomy_level": "autonomous",
            "ttl_hours": 1,
        }
        if language == "python":
            (plugin / "manifest.py").write_text(f"manifest = {manifest!r}\n")
        else:
            text = f"export const manifest = {json.dumps(manifest)}\n"
            (plugin / "manifest.ts").write_text(text)

    def command(self, *arguments: str) -> list[str]:
        return [*COMMANDS[self.host], *arguments]

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {name: text for name, text in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        own = {
            "WARPLINE_HOME": str(self.home),
            "PYTHONPATH": str(ROOT / "python"),
            "GO": str(self.go),
            "WARPLINE_PYTHON": sys.executable,
        }
        return {**kept, **own, "TERM": "xterm", **variables}

    def start(self, *arguments: str, columns: int = 80, **variables: str) -> Terminal:
        return Terminal(self.command(*arguments), self.path, self.environment(**variables), columns)

    def let(self, name: str) -> None:
        (self.go / name).touch()


@pytest.fixture(params=sorted(COMMANDS))
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return Stage(request.param, tmp_path)


def test_what_runs_is_shown_around_prints_and_gone_at_the_end(stage: Stage) -> None:
    shown_around_prints(stage)


@pytest.mark.parametrize(
    ("host", "language", "flags"),
    [("node", "python", []), ("node", "node", ["--isolate"]), ("python", "python", ["--isolate"])],
)
def test_prints_of_other_processes_do_not_meet_the_line(
    host: str, language: str, flags: list[str], tmp_path: Path
) -> None:
    shown_around_prints(Stage(host, tmp_path, language), *flags)


def shown_around_prints(stage: Stage, *flags: str) -> None:
    terminal = stage.start("advance", *flags)
    terminal.read_until(lambda text: len(re.findall(r"running: slow \d+s", text)) >= 2)
    stage.let("begin")
    terminal.read_until(lambda text: "half " in text)
    assert terminal.screen() == ["half "]
    drawn = terminal.text.count("running:")
    time.sleep(1.5)
    stage.let("line")
    terminal.read_until(lambda text: "and half" in text)
    # What comes behind may have been read with it.
    until_its_end = terminal.text.partition("and half")[0]
    assert until_its_end.count("running:") == drawn, "no line is drawn into a line"
    terminal.read_until(lambda text: text.count("running:") > drawn)
    stage.let("end")
    assert terminal.end() == 0
    shown = terminal.screen()
    assert shown[0] == "half and half"
    assert re.fullmatch(r"Run \S+: complete", shown[1])
    assert re.fullmatch(r"  completed  slow — done \(\d+ ms\)", shown[2])
    assert "running:" not in "\n".join(shown)
    assert "\x1b[32mcomplete\x1b[0m" in terminal.text


def test_an_interruption_takes_the_line_away_at_once(stage: Stage) -> None:
    terminal = stage.start("advance", "--json")
    terminal.read_until(lambda text: "running: slow" in text)
    os.write(terminal.master, b"\x03")
    assert terminal.end() == 130
    shown = "\n".join(terminal.screen())
    assert "running:" not in shown
    assert '"status": "interrupted"' in shown
    assert terminal.text.rindex("running:") < terminal.text.rindex(ERASE)


def test_a_narrow_terminal_is_never_filled(stage: Stage) -> None:
    terminal = stage.start("advance", columns=12, NO_COLOR="1")
    terminal.read_until(lambda text: text.count("running:") >= 2)
    for name in ("begin", "line", "end"):
        stage.let(name)
    assert terminal.end() == 0
    assert set(re.findall(r"running:[^\r\n\x1b]*", terminal.text)) == {"running: s…"}
    assert not re.search(r"\x1b\[\d*m", terminal.text), "NO_COLOR leaves the line and no colour"


def test_a_terminal_that_can_do_nothing_is_sent_nothing_special(stage: Stage) -> None:
    terminal = stage.start("advance", TERM="dumb")
    for name in ("begin", "line"):
        stage.let(name)
    terminal.read_until(lambda text: "and half" in text)
    time.sleep(1.2)
    stage.let("end")
    assert terminal.end() == 0
    assert "\x1b" not in terminal.text and "running:" not in terminal.text


def test_a_pipe_is_told_nothing_of_what_runs(stage: Stage) -> None:
    shell = f"{' '.join(stage.command('advance'))} 2> err > out"
    terminal = Terminal(["sh", "-c", shell], stage.path, stage.environment(), 80)
    for name in ("begin", "line"):
        stage.let(name)
    err = stage.path / "err"
    end = time.monotonic() + LIMIT
    while not (err.exists() and "and half" in err.read_text()):
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(1.2)
    stage.let("end")
    assert terminal.end() == 0
    assert err.read_text() == "half and half\n"
    assert "\x1b" not in (stage.path / "out").read_text()
    assert terminal.text == ""
