"""Readers of the command that are slow, or gone: every byte arrives, or the command ends quietly."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import Home

# Descriptor 4 is a pipe whose reader has ended before the command begins.
OUT_GONE = 'exec 4> >(:); wait $!; "$@" >&4'
ERR_GONE = 'exec 4> >(:); wait $!; "$@" 2>&4 >"$OUT"'
FAILS = """
from warpline import skill_failure
def handler(*_):
    return skill_failure("data_missing", "no")
"""

#: Every verb, with the exit code that is its own.
VERBS = [
    (0, "--help"),
    (0, "init"),
    (0, "plan"),
    (0, "plan --json"),
    (0, "advance"),
    (0, "advance --json"),
    (0, "run fine go --json"),
    (0, "approve fine"),
    (0, "deny fine"),
    (0, "deny --list --json"),
    (1, "deny --remove fine"),
    (0, "revoke"),
    (0, "board --json"),
    (0, "tasks --json"),
    (0, "ack --all"),
    (1, "ack unknown"),
    (1, "defer unknown 1h"),
    (1, "done unknown"),
    (1, "run fails go"),
    (1, "bogus"),
]


def bash(line: str, home: Home, arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash in which `"$@"` is the command."""
    words = ["bash", "-c", line, "bash", sys.executable, "-m", "warpline", *arguments.split()]
    environment = home.environment(OUT=str(home.path / "out"), WARPLINE_HOME=str(home.path))
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)


def new_home(path: Path, arguments: str = "") -> Home:
    path.mkdir()
    home = Home(path)
    home.plugin("fine")
    if "fails" in arguments:
        home.plugin("fails", FAILS)
    return home


def told_by(ended: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    return ended.returncode, re.sub(r"[0-9a-f-]{36}|/\S+", "", ended.stderr).strip()


@pytest.mark.parametrize(("expected", "arguments"), VERBS)
def test_a_reader_of_results_that_is_gone(tmp_path: Path, expected: int, arguments: str) -> None:
    homes = [new_home(tmp_path / name, arguments) for name in ("told", "gone")]
    with ThreadPoolExecutor(2) as pool:
        told, gone = pool.map(bash, ['"$@" > "$OUT"', OUT_GONE], homes, [arguments] * 2)
    assert told.returncode == expected, told.stderr
    assert told_by(gone) == told_by(told)


@pytest.mark.parametrize("arguments", ["bogus", "run unknown go", "advance --plugins absent"])
def test_a_reader_of_errors_that_is_gone(tmp_path: Path, arguments: str) -> None:
    home = new_home(tmp_path / "home")
    told = bash('"$@"', home, arguments)
    assert told.returncode != 0 and told.stderr != ""
    assert bash(ERR_GONE, home, arguments).returncode == told.returncode


def test_a_reader_that_is_slow_gets_a_megabyte_whole(home: Home) -> None:
    event = {
        "event_id": "",
        "type": "notice",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "source": "engine",
        "summary": "x" * 190,
        "severity": "info",
        "task_id": None,
        "run_id": None,
        "metadata_json": None,
    }
    (home.path / "state").mkdir()
    lines = [json.dumps({**event, "event_id": f"event-{at}"}) for at in range(3000)]
    (home.path / "state" / "events.jsonl").write_text("\n".join(lines) + "\n")
    line = '"$@" | { sleep 1; cat > "$OUT"; }; exit $PIPESTATUS'
    ended = bash(line, home, "board --all --json")
    assert (ended.returncode, ended.stderr) == (0, "")
    text = (home.path / "out").read_text()
    assert len(text) > 1_000_000
    assert len(json.loads(text)) == len(lines)
