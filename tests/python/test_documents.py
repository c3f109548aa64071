"""What the engine writes for real, held against the published schemas: no key more, and none less."""

from __future__ import annotations

import json
from typing import Any, Iterator

import jsonschema
import pytest
import warpline
from conftest import Home
from test_schemas import DOCUMENTS
from warpline import schemas


def strict(schema: Any) -> Any:
    """The schema of what the engine leaves on the disk: no key more, and none less."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(one) for key, one in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        closed["additionalProperties"] = False
        defaults = [key for key, one in schema["properties"].items() if "default" in one]
        closed["required"] = sorted({*schema.get("required", []), *defaults})
    return closed


def faults(name: str, value: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(strict(schemas.json_schema(name)))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


HANDLERS = {
    "writes": """
from warpline import skill_ok
def handler(*_):
    return skill_ok("ok", artifacts_produced=["a.md", {"type": "t", "format": "json", "body": "{}"}],
        reversible=True, undo_instruction="undo", data_freshness={"a": "b"})
""",
    "fails": """
from warpline import skill_failure
def handler(*_):
    return skill_failure("auth_failure", "no", source="s", impact="HIGH")
""",
    "hands": """
from warpline import skill_handoff
def handler(*_):
    return skill_handoff("read it", "state/context.md")
""",
    "raises": "def handler(*_):\n    raise ValueError\n",
}


def written(home: Home) -> Iterator[tuple[str, Any]]:
    """Every document of a home, with the name of its schema."""
    state = home.path / "state"
    yield "engine-state", home.json("state/engine-state.json")
    yield "last-successful-advance", home.json("state/last-successful-advance")
    yield "acknowledgements", home.json("state/acknowledgements.json")
    yield "grant", home.json(".session-approval")
    for line in (state / "events.jsonl").read_text().splitlines():
        yield "board-event", json.loads(line)
    for file in (home.path / "runs").glob("*.json"):
        document = json.loads(file.read_text())
        yield ("run-artifact" if "attempts" in document else "run-log"), document
        for entry in document.get("plugin_entries", []):
            yield "plugin-log-entry", entry
            if "result" in entry:
                yield "skill-result", entry["result"]
                for error in entry["result"]["errors"]:
                    yield "skill-error", error
                for output in entry["result"]["artifacts_produced"]:
                    yield "output-record", output
                if "needs_llm" in entry["result"]:
                    yield "needs-llm", entry["result"]["needs_llm"]
    for file in (home.path / "logs" / "runs").glob("*.jsonl"):
        for line in file.read_text().splitlines():
            yield "daily-log-line", json.loads(line)
    for manifest in warpline.load_plugin_manifests().manifests.values():
        yield "plugin-manifest", manifest
    yield "plugin-config", home.json("config/writes.json")
    yield "preferences", home.json("preferences.json")


@pytest.fixture
def used(home: Home) -> Home:
    """A home in which everything that is ever written has been written."""
    home.plugin(
        "writes",
        HANDLERS["writes"],
        inputs={"x": {"type": "string", "default": "y"}},
        outputs={"t": {"type": "t"}},
        actions={"go": {"description": "d"}},
    )
    home.plugin("fails", HANDLERS["fails"], max_retries=0)
    home.plugin("hands", HANDLERS["hands"], capabilities=["llm_required"])
    home.plugin("raises", HANDLERS["raises"])
    home.plugin("parked", autonomy_level="supervised")
    home.plugin("refused", autonomy_level="supervised", side_effects=["sends_email"])
    home.plugin("effect", side_effects=["external_api"])
    home.plugin("broken", "broken(")
    (home.path / "state").mkdir()
    (home.path / "state" / "context.md").write_text("context")
    (home.path / "config").mkdir()
    (home.path / "config" / "writes.json").write_text('{"x": "z"}')
    quiet = {"start": "00:00", "end": "00:00"}
    (home.path / "preferences.json").write_text(
        json.dumps({"max_sends_per_day": 1, "review_gate": False, "quiet_hours": quiet})
    )
    warpline.run_advance()
    home.cli("approve", "effect")
    home.cli("deny", "refused", "--note", "not now")
    state = home.state()
    state["task_aging"] = [
        {
            "task_id": f"t{n}",
            "first_flagged": "2026-01-01T00:00:00.000Z",
            "description": "d",
            "severity": "critical",
        }
        for n in (1, 2)
    ]
    (home.path / "state" / "engine-state.json").write_text(json.dumps(state))
    home.cli("defer", "t1", "1h")
    home.cli("done", "t2")
    home.cli("ack", "--all")
    warpline.run_advance(force=True)
    warpline.invoke_plugin(
        "fails", witness={"granted": False, "reason": "manual-run"}, persist_artifact=True
    )
    return home


def test_what_the_engine_writes_is_what_schemas_and_types_say(used: Home) -> None:
    met: dict[str, int] = {}
    for name, document in written(used):
        if name == "plugin-manifest":
            # Written by plugins; the parts that a default fills in are those of the parser.
            jsonschema.validate(document, schemas.json_schema(name))
        else:
            assert faults(name, document) == [], name
        met[name] = met.get(name, 0) + 1
    assert set(met) == set(DOCUMENTS)
    state = used.state()
    for part in ("plugin_runs", "deferrals", "denials", "task_aging", "completed_tasks"):
        assert state[part], part
    assert state["pending_gates"]


def test_a_key_more_or_less_would_be_noticed(used: Home) -> None:
    seen = set()
    for name, document in written(used):
        if name in seen or name in ("acknowledgements", "plugin-config", "plugin-manifest"):
            continue
        seen.add(name)
        assert faults(name, {**document, "a key of tomorrow": 1}) != [], name
        required = strict(schemas.json_schema(name))["required"]
        for key in set(document) & set(required):
            assert faults(name, {k: v for k, v in document.items() if k != key}) != [], (name, key)
    assert len(seen) == len(DOCUMENTS) - 3
    gate = used.state()
    gate["pending_gates"][0]["more"] = 1
    assert faults("engine-state", gate) != []


def test_reports_of_a_used_home_are_what_their_schemas_say(used: Home) -> None:
    for line in (
        "plan",
        "plan --explain writes",
        "status",
        "log",
        "show writes",
        "handoffs",
        "board --all",
        "tasks",
        "check",
        "deny --list",
        "deny --remove refused",
        "forget fails",
        "advance --force",
        "revoke",
    ):
        words = line.split()
        report = json.loads(used.cli(*words, "--json").stdout)
        schema = schemas.json_schema(f"report-{words[0]}")
        jsonschema.validate(report, schema)
        if isinstance(report, dict):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate({**report, "more": 1}, schema)
