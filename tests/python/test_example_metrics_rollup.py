"""The plugin that `init` installs."""

from __future__ import annotations

import json
from typing import Any, Iterator

import pytest
from conftest import EXAMPLES
from warpline.testing import TestHome, TestRun, open_test_home


@pytest.fixture
def kit() -> Iterator[TestHome]:
    with open_test_home(EXAMPLES) as opened:
        yield opened


def row(at: str, name: str, value: float) -> dict[str, Any]:
    return {"at": at, "name": name, "value": value}


def roll_up(kit: TestHome, **config: Any) -> TestRun:
    whole = {"metrics_path": "metrics.json", **config}
    return kit.run("metrics-rollup", config=whole, now="2026-03-11T08:00:00Z")


def test_rows_are_summed_up_by_week(kit: TestHome) -> None:
    rows = [row("2026-03-02", "visits", 10), row("2026-03-08T23:59:59.999Z", "visits", 5)]
    kit.write("metrics.json", [*rows, row("2026-03-09", "visits", 1)])
    [output] = roll_up(kit).result["artifacts_produced"]
    assert output["body"] == (
        '{"weeks":[{"week":"2026-03-09","name":"visits","count":1,"sum":1,"min":1,"max":1,"mean":1},'
        '{"week":"2026-03-02","name":"visits","count":2,"sum":15,"min":5,"max":10,"mean":7.5}],'
        '"omitted":0}'
    )


def test_rows_stay_until_they_are_too_old(kit: TestHome) -> None:
    kit.write("metrics.json", [row("2026-03-01", "visits", 1), row("2026-03-02", "visits", 2)])
    roll_up(kit)
    kit.write("metrics.json", [])
    assert roll_up(kit).result["summary"] == "0 rows read, 2 kept"
    assert roll_up(kit, retention_days=10).result["summary"] == "0 rows read, 1 kept"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not a JSON array"),
        ("{}", "is not a JSON array"),
        ('[{"at":"2026-02-30","name":"a","value":1}]', "at position 1"),
        ('[{"at":"2026-03-02T24:00:00Z","name":"a","value":1}]', "at position 1"),
        ('[{"at":"2026-03-02","name":"A","value":1}]', "at position 1"),
        ('[{"at":"2026-03-02","name":"a","value":true}]', "at position 1"),
        ('[{"at":"2026-03-02","name":"a","value":1e400}]', "at position 1"),
        (f'[{{"at":"2026-03-02","name":"a","value":1{"0" * 400}}}]', "at position 1"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(kit: TestHome, content: str, said: str) -> None:
    kit.write("sesame.json", content)
    run = roll_up(kit, metrics_path="sesame.json")
    [error] = run.result["errors"]
    assert error["code"] == "parse_error" and said in error["message"]
    assert "sesame" not in json.dumps(run.result)


def test_what_is_not_its_own_stays(kit: TestHome) -> None:
    [error] = roll_up(kit).result["errors"]
    assert (error["code"], error["message"][-8:]) == ("data_missing", "(ENOENT)")
    kit.write("metrics.json", "[]")
    kit.write("state/metrics-rollup.json", '{"mine": true}')
    assert roll_up(kit).result["status"] == "failed"
    assert kit.read("state/metrics-rollup.json") == '{"mine": true}'
    kit.write("state/metrics-rollup.json", "[]")
    for config in ({"retention_days": 0}, {"retention_days": 1e9}, {"metrics_path": ""}):
        assert roll_up(kit, **config).result["errors"][0]["code"] == "parse_error"


def test_without_a_file_a_sample_is_summed_up_and_not_remembered(kit: TestHome) -> None:
    run = kit.run("metrics-rollup", now="2026-03-11T08:00:00Z")
    assert run.result["summary"].startswith("a sample of 21 rows: `metrics_path`")
    [output] = run.result["artifacts_produced"]
    weeks = json.loads(output["body"])["weeks"]
    assert [(week["week"], week["count"], week["min"], week["max"]) for week in weeks] == [
        ("2026-03-09", 3, 68, 70),
        ("2026-03-02", 7, 61, 67),
        ("2026-02-23", 7, 54, 60),
        ("2026-02-16", 4, 50, 53),
    ]
    assert kit.read("state/metrics-rollup.json") is None
