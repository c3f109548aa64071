"""The four plugins of the package, on fixed readings."""

from __future__ import annotations

import json
import shutil
from typing import Any, Optional

import pytest
import warpline
from conftest import EXAMPLES, FIXTURES, Home

NONE: warpline.NotGranted = {"granted": False, "reason": "no-declared-side-effects"}


def invoke(**args: Any) -> warpline.Invocation:
    return warpline.invoke_plugin("host-metrics", args, plugins_dir=EXAMPLES, witness=NONE)


def readings(name: str) -> str:
    return str(FIXTURES / f"proc-{name}")


def configure(home: Home, plugin: str, **values: Any) -> None:
    (home.path / "config").mkdir(exist_ok=True)
    (home.path / "config" / f"{plugin}.json").write_text(json.dumps(values))


def body(home: Home, plugin: str) -> str:
    text: str = home.state()["plugin_runs"][plugin]["last_output"]["body"]
    return text


def report(home: Home) -> Any:
    return json.loads(body(home, "anomaly-watch"))


def advance() -> warpline.AdvanceResult:
    return warpline.run_advance(plugins_dir=EXAMPLES, force=True)


def error_of(result: warpline.AdvanceResult, plugin: str) -> warpline.RecordedError:
    [entry] = [entry for entry in result.plugin_entries if entry["plugin"] == plugin]
    return entry["result"]["errors"][0]


def test_fixed_readings_give_a_fixed_output(home: Home) -> None:
    [output] = invoke(source=readings("quiet")).result["artifacts_produced"]
    assert output["body"] == (
        '{"load":{"one":0.5,"five":0.3,"fifteen":0.15,"cpus":2,"one_per_cpu":0.25},'
        '"memory":{"total_bytes":8192000000,"free_bytes":6144000000,"used_percent":25},'
        '"disk":{"total_bytes":1000000000,"free_bytes":400000000,"used_percent":60},'
        '"uptime_seconds":90061.5}'
    )


def test_this_machine_can_be_read(home: Home) -> None:
    result = invoke().result
    assert result["status"] == "success", result


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ({"source": readings("malformed")}, "parse_error", "`meminfo`"),
        ({"source": readings("incomplete")}, "data_missing", "(ENOENT)"),
        ({"disk_path": "/no/such/disk"}, "data_missing", "`disk_path`"),
    ],
)
def test_what_cannot_be_read_is_named_without_its_directory(
    home: Home, args: dict[str, str], code: str, said: str
) -> None:
    invocation = invoke(**args)
    [error] = invocation.result["errors"]
    assert error["code"] == code and said in error["message"]
    [place] = args.values()
    assert place not in json.dumps(invocation.result)
    assert invocation.attempt_count == 1


def test_breaches_come_stay_and_go(home: Home) -> None:
    configure(home, "host-metrics", source=readings("quiet"))
    advance()
    assert report(home) == {"breached": [], "newly_breached": [], "cleared": []}
    configure(home, "host-metrics", source=readings("busy"))
    run_id = advance().run_id
    first = report(home)
    limits = ["load_per_cpu_max", "memory_used_max_percent", "uptime_min_seconds"]
    assert first["newly_breached"] == limits
    assert [one["reading"] for one in first["breached"]] == [4.5, 95, 120]
    assert {one["since_run"] for one in first["breached"]} == {run_id}
    advance()
    assert report(home)["breached"] == first["breached"]
    assert report(home)["newly_breached"] == []
    configure(home, "host-metrics", source=readings("quiet"))
    advance()
    assert report(home) == {"breached": [], "newly_breached": [], "cleared": limits}


@pytest.mark.parametrize(
    "text",
    ['{"disk_used_max_percent": true}', "[]", "{", '{"other": {"since": "", "since_run": ""}}'],
)
def test_a_record_that_anomaly_watch_did_not_write_stops_it(home: Home, text: str) -> None:
    configure(home, "host-metrics", source=readings("busy"))
    record = home.path / "state" / "anomaly-watch.json"
    record.parent.mkdir()
    record.write_text(text)
    result = advance()
    assert result.plugin_states["anomaly-watch"] == "failed"
    error = error_of(result, "anomaly-watch")
    assert error["code"] == "parse_error" and "state/anomaly-watch.json" in error["message"]
    assert record.read_text() == text


def test_one_note_for_each_breach_however_often_it_is_seen(home: Home) -> None:
    configure(home, "host-metrics", source=readings("busy"))
    assert home.cli("approve", "incident-note", "--plugins", str(EXAMPLES)).returncode == 0
    result = advance()
    assert result.status == "partial" and result.gated_plugins == ["incident-note"]
    assert result.plugin_states["daily-digest"] == "pending"
    notes = sorted((home.path / "notes").iterdir())
    assert [note.name.split("-")[0] for note in notes] == [
        "load_per_cpu_max",
        "memory_used_max_percent",
        "uptime_min_seconds",
    ]
    notes[0].write_text("what a person wrote")
    advance()
    assert sorted((home.path / "notes").iterdir()) == notes
    assert notes[0].read_text() == "what a person wrote"


def breach(**fields: Any) -> str:
    base = {"limit": "a", "reading": 1, "since": "2026-01-01T00:00:00.000Z", "since_run": "r"}
    return json.dumps({"breached": [{**base, **fields}]})


@pytest.mark.parametrize(
    "text",
    [
        breach(limit="../a"),
        breach(since_run="../../a"),
        breach(since_run=".a"),
        breach(limit=5),
        breach(since="soon"),
        "{}",
        "no json",
        None,
    ],
)
def test_what_another_plugin_wrote_never_becomes_a_path(home: Home, text: Optional[str]) -> None:
    shutil.copytree(EXAMPLES / "incident-note", home.plugins / "incident-note")
    artifact = {"type": "anomaly-report", "format": "json", "body": text or breach()}
    home.plugin(
        "anomaly-watch",
        f"""
        from warpline import skill_ok
        def handler(*_):
            return skill_ok("", artifacts_produced=[{artifact!r}])
        """,
    )
    assert home.cli("approve", "incident-note").returncode == 0
    result = warpline.run_advance()
    if text is None:
        assert result.plugin_states["incident-note"] == "gated"
        assert len(list((home.path / "notes").iterdir())) == 1
    else:
        assert error_of(result, "incident-note")["code"] == "parse_error"
        assert not (home.path / "notes").exists()
