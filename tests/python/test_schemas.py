"""Types, JSON Schemas and what the engine writes are the same thing three times."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import jsonschema
import pytest
import warpline
from conftest import ROOT
from warpline import _documents, _home_documents, reports, schemas

#: The type of each document, and whether it says what is written by whoever writes it, or what the
#: engine leaves on the disk: there, no key that has a default is missing.
DOCUMENTS: dict[str, tuple[Any, bool]] = {
    "plugin-manifest": (warpline.Manifest, True),
    "skill-result": (warpline.RecordedResult, True),
    "skill-error": (warpline.RecordedError, True),
    "output-record": (warpline.RecordedOutput, True),
    "needs-llm": (warpline.NeedsLlm, True),
    "engine-state": (warpline.EngineState, True),
    "run-log": (warpline.RunLog, True),
    "plugin-log-entry": (warpline.PluginEntry, True),
    "board-event": (warpline.BoardEvent, True),
    "acknowledgements": (warpline.Acknowledgements, True),
    "plugin-config": (warpline.PluginConfig, True),
    "run-artifact": (warpline.RunArtifact, True),
    "preferences": (warpline.Preferences, False),
    "grant": (warpline.Grant, True),
    "last-successful-advance": (warpline.LastSuccessfulAdvance, True),
    "daily-log-line": (warpline.DailyLogLine, True),
}
#: What handlers return has the same shapes, with every default left out if they like.
RETURNED: dict[str, Any] = {
    "skill-result": warpline.SkillResult,
    "skill-error": warpline.SkillError,
    "output-record": warpline.OutputRecord,
}
REPORTS: dict[str, Any] = {
    "report-ack": reports.AckReport,
    "report-advance": reports.AdvanceReport,
    "report-approve": reports.ApproveReport,
    "report-board": reports.BoardReport,
    "report-check": reports.CheckReport,
    "report-configure": reports.ConfigureReport,
    "report-defer": reports.DeferReport,
    "report-deny": Union[reports.DenyReport, reports.DenyListReport, reports.DenyRemoveReport],
    "report-done": reports.DoneReport,
    "report-forget": reports.ForgetReport,
    "report-handoffs": reports.HandoffsReport,
    "report-init": reports.InitReport,
    "report-log": reports.LogReport,
    "report-log-follow": reports.LogFollowLine,
    "report-plan": Union[reports.PlanReport, reports.ExplainReport],
    "report-revoke": reports.RevokeReport,
    "report-run": reports.RunReport,
    "report-scaffold": reports.ScaffoldReport,
    "report-show": reports.ShowReport,
    "report-status": reports.StatusReport,
    "report-tasks": reports.TasksReport,
}
PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def alternatives(schema: dict[str, Any], root: dict[str, Any]) -> list[dict[str, Any]]:
    """A schema as the list of what it lets pass."""
    if "$ref" in schema:
        return alternatives(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema and "properties" not in schema:
            return [one for part in schema[keyword] for one in alternatives(part, root)]
    if isinstance(schema.get("type"), list):
        return [{**schema, "type": kind} for kind in schema["type"]]
    if None in schema.get("enum", []):
        others = [one for one in schema["enum"] if one is not None]
        return [{"enum": others}, {"type": "null"}]
    return [schema]


def members(hint: Any) -> list[Any]:
    return [*get_args(hint)] if get_origin(hint) is Union else [hint]


def unlike(
    hint: Any, schema: dict[str, Any], root: dict[str, Any], recorded: bool, at: str = ""
) -> list[str]:
    """Where a type and a schema differ."""
    hints, left = members(hint), alternatives(schema, root)
    if hints == [dict[str, Any]] and all(one.get("type") == "object" for one in left):
        return []  # said more loosely, by purpose: the facts of a reason
    said = []
    for one in hints:
        found = [differences(one, part, root, recorded, at) for part in left]
        if [] in found:
            del left[found.index([])]
        else:
            said += found[0] if found else [f"{at}: no {one}"]
    return said + [f"{at}: {part} has no type" for part in left if not said]


def differences(
    hint: Any, schema: dict[str, Any], root: dict[str, Any], recorded: bool, at: str
) -> list[str]:
    kind = schema.get("type")
    if hint is Any:
        return [] if not set(schema) - {"default", "description"} else [f"{at}: Any"]
    if get_origin(hint) is Literal:
        values = schema.get("enum", [schema.get("const")])
        return [] if set(get_args(hint)) == set(values) else [f"{at}: {hint} and {values}"]
    if "enum" in schema or "const" in schema:
        return [f"{at}: {hint} is no Literal"]
    if hint in PLAIN:
        return [] if PLAIN[hint] == kind else [f"{at}: {hint} and {kind}"]
    if get_origin(hint) is list:
        if kind != "array":
            return [f"{at}: {hint} and {kind}"]
        return unlike(get_args(hint)[0], schema["items"], root, recorded, f"{at}[]")
    if kind != "object":
        return [f"{at}: {hint} and {kind}"]
    if get_origin(hint) is dict:
        if "properties" in schema:
            return [f"{at}: {hint} and {sorted(schema['properties'])}"]
        values = schema.get("additionalProperties", {})
        return unlike(get_args(hint)[1], values, root, recorded, f"{at}.*")
    properties = {key: one for key, one in schema.get("properties", {}).items() if one is not False}
    must = set(schema.get("required", []))
    if recorded:
        must |= {key for key, one in properties.items() if "default" in one}
    said = []
    fields = get_type_hints(hint)
    if set(fields) != set(properties):
        said.append(f"{at}: keys {sorted(set(fields) ^ set(properties))}")
    if hint.__required_keys__ != must:
        said.append(f"{at}: required {sorted(hint.__required_keys__ ^ must)}")
    for key in set(fields) & set(properties):
        said += unlike(fields[key], properties[key], root, recorded, f"{at}.{key}")
    return said


def difference(name: str, hint: Any, recorded: bool) -> list[str]:
    schema = schemas.json_schema(name)
    if name == "skill-result" and recorded:
        # A bare path that a handler returns is recorded as an Output.
        entry = schema["properties"]["artifacts_produced"]["items"]
        entry["anyOf"] = [one for one in entry["anyOf"] if one.get("type") != "string"]
    elif recorded:
        schema = recorded_outputs(schema)
    return unlike(hint, schema, schema, recorded)


def recorded_outputs(schema: Any) -> Any:
    if isinstance(schema, dict):
        schema = {key: recorded_outputs(one) for key, one in schema.items()}
        entry = schema.get("artifacts_produced", {}).get("items", {})
        if "anyOf" in entry:
            entry["anyOf"] = [one for one in entry["anyOf"] if one.get("type") != "string"]
    elif isinstance(schema, list):
        schema = [recorded_outputs(one) for one in schema]
    return schema


def test_every_schema_has_its_type() -> None:
    assert set(DOCUMENTS) == set(schemas.DOCUMENTS)
    assert set(REPORTS) == set(schemas.REPORTS)
    files = {file.stem for file in (ROOT / "docs" / "schemas" / "documents").glob("*.json")}
    assert files == set(DOCUMENTS)
    files = {f"report-{file.stem}" for file in (ROOT / "docs" / "schemas").glob("*.json")}
    assert files == set(REPORTS)


@pytest.mark.parametrize("name", [*schemas.DOCUMENTS, *schemas.REPORTS])
def test_the_package_gives_the_schemas_of_the_documentation(name: str) -> None:
    place = f"documents/{name}" if name in schemas.DOCUMENTS else name[len("report-") :]
    file = ROOT / "docs" / "schemas" / f"{place}.json"
    schema = schemas.json_schema(name)
    assert schema == json.loads(file.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)


def test_another_name_is_refused() -> None:
    for name in ["", "report-", "../advance", "report-../../errors"]:
        with pytest.raises(warpline.OptionError):
            schemas.json_schema(name)


@pytest.mark.parametrize("name", schemas.DOCUMENTS)
def test_the_type_of_a_document_is_its_schema(name: str) -> None:
    hint, recorded = DOCUMENTS[name]
    assert difference(name, hint, recorded) == []


@pytest.mark.parametrize("name", RETURNED)
def test_the_type_of_what_is_returned_is_its_schema(name: str) -> None:
    assert difference(name, RETURNED[name], False) == []


@pytest.mark.parametrize("name", schemas.REPORTS)
def test_the_type_of_a_report_is_its_schema(name: str) -> None:
    assert difference(name, REPORTS[name], False) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda schema: schema["properties"].pop("revoked"),
        lambda schema: schema["properties"].update(more={"type": "string"}),
        lambda schema: schema["required"].clear(),
        lambda schema: schema["properties"].update(revoked={"type": "string"}),
        lambda schema: schema["properties"].update(revoked={"type": ["boolean", "null"]}),
        lambda schema: schema["properties"].update(revoked={"enum": ["yes", "no"]}),
    ],
)
def test_a_type_that_is_not_its_schema_is_noticed(change: Any) -> None:
    schema = schemas.json_schema("report-revoke")
    change(schema)
    assert unlike(reports.RevokeReport, schema, schema, False) != []


def test_every_type_is_published() -> None:
    for module, public in ((_documents, warpline), (_home_documents, warpline)):
        for name, value in vars(module).items():
            if isinstance(value, type) and name[0] != "_" and value.__module__ == module.__name__:
                assert name in public.__all__, name
    assert all(hasattr(reports, name) for name in reports.__all__)


def test_the_files_of_the_package_are_what_the_package_reads() -> None:
    package = Path(str(sys.modules["warpline"].__file__)).parent
    assert len(list((package / "_schemas").glob("*.json"))) == len(REPORTS)
