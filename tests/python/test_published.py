"""What the package publishes, and that its types are what they say."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest
import warpline
from conftest import ROOT
from warpline import _native, aio, errors, reports, schemas, testing
from warpline._results import skill_failure, skill_handoff, skill_ok
from warpline.unstable_fs import atomic_write_json, json_text, read_json_or_null

VECTORS = ROOT / "tests" / "vectors"
FUNCTIONS = [
    "invoke_plugin",
    "load_plugin_manifests",
    "plan",
    "run_advance",
    "skill_failure",
    "skill_handoff",
    "skill_ok",
    "warpline_home",
]
NATIVE = [
    "NativeEngine",
    "NativePrints",
    "NativeWorker",
    "WORKER_START",
    "before_print",
    "build_result",
    "document_names",
    "error_codes",
    "home_argument",
    "json_schema",
    "json_text",
    "keep_for_ever",
    "read_text",
    "validate_json",
    "warpline_home",
    "write_atomic",
]


def test_the_published_names_are_exactly_these() -> None:
    functions = [name for name in warpline.__all__ if name[0].islower()]
    assert functions == FUNCTIONS
    assert all(hasattr(warpline, name) for name in warpline.__all__)
    assert sorted(warpline.__all__) == sorted(set(warpline.__all__))


@pytest.mark.parametrize("module", [warpline, aio, reports, schemas, testing])
def test_the_types_of_what_is_published_can_be_asked_for(module: ModuleType) -> None:
    published = [getattr(module, name) for name in module.__all__]
    classes = [each for each in published if inspect.isclass(each)]
    # Not what `dataclass` makes: it has the fields of other modules.
    members = [each for kind in classes for name, each in vars(kind).items() if name[0] != "_"]
    methods = [each for each in members if inspect.isfunction(each)]
    functions = [each for each in published if inspect.isfunction(each)]
    for each in [*functions, *classes, *methods]:
        # An alias of a type is a class as well, to 3.9 and 3.10.
        if not get_args(each):
            get_type_hints(each)


def test_the_kit_for_tests_publishes_exactly_these() -> None:
    assert testing.__all__ == ["DependencyFacts", "TestHome", "TestRun", "open_test_home"]
    methods = [name for name in vars(testing.TestHome) if name[0] != "_"]
    assert methods == ["run", "write", "read", "remove"]


def test_the_guide_names_every_exception_and_every_hook() -> None:
    guide = (ROOT / "docs" / "hosting-python.md").read_text()
    for name in warpline.__all__:
        kind = getattr(warpline, name)
        if isinstance(kind, type) and issubclass(kind, warpline.WarplineError):
            assert f"`{name}`" in guide
            assert kind is warpline.WarplineError or f"| `{name}` | `{kind.code}` |" in guide
    for call in (warpline.run_advance, warpline.invoke_plugin):
        for name in inspect.signature(call).parameters:
            assert not name.startswith("on_") or f"| `{name}` | `{call.__name__}` |" in guide


def test_the_version_is_that_of_the_workspace() -> None:
    [line] = [one for one in (ROOT / "Cargo.toml").read_text().splitlines() if "version = " in one][
        :1
    ]
    assert f'version = "{warpline.__version__}"' == line


def test_nothing_native_but_the_command_line_can_write_a_grant() -> None:
    """A new name in here has to be looked at: may it write `.session-approval`?"""
    names = [name for name in dir(_native) if name[0] != "_" and name != "panic_for_a_test"]
    assert sorted(names) == NATIVE
    engine = [name for name in dir(_native.NativeEngine) if name[0] != "_"]
    told = ["begin", "complete", "next_start", "prints", "receive"]
    assert engine == sorted([*told, "cancel", "close", "exit", "fault", "open", "release", "wait"])
    prints = [name for name in dir(_native.NativePrints) if name[0] != "_"]
    assert prints == ["anew", "print", "redact", "release"]
    worker = [name for name in dir(_native.NativeWorker) if name[0] != "_"]
    assert worker == sorted([*told, "aborted", "fault", "stray", "warn"])
    source = (ROOT / "bindings-python" / "src" / "operation.rs").read_text()
    kinds = [
        line.split('"')[1]
        for line in source.splitlines()
        if line.strip().startswith('"') and "=>" in line
    ]
    assert kinds == ["advance", "manifests", "plan", "invoke", "cli", "panic_for_a_test"]
    # What only a module built for tests can do.
    assert '#[cfg(debug_assertions)]\n            "panic_for_a_test" =>' in source


def test_every_code_of_the_catalogue_has_its_class() -> None:
    assert sorted(errors._BY_CODE) == sorted(_native.error_codes())
    published = {
        getattr(warpline, name)
        for name in warpline.__all__
        if isinstance(getattr(warpline, name), type)
        and issubclass(getattr(warpline, name), Exception)
    }
    assert published == {*errors._BY_CODE.values(), warpline.WarplineError}


def vectors(family: str) -> list[Any]:
    document = json.loads((VECTORS / f"{family}.json").read_text())
    return [
        pytest.param(case["input"], case["expect"], id=case["id"]) for case in document["cases"]
    ]


def compact(value: object) -> str:
    return _native.json_text(json.dumps(value), False)


@pytest.mark.parametrize(("given", "expect"), vectors("result-builders"))
def test_builders_build_what_the_vectors_say(
    given: dict[str, Any], expect: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLINE_HOME", given["home"])
    overrides = given.get("overrides") or {}
    built: object
    if given["builder"] == "skillOk":
        built = skill_ok(given["summary"], **overrides)
    elif given["builder"] == "skillFailure":
        built = skill_failure(given["code"], given["message"], **overrides)
    else:
        built = skill_handoff(given["task"], given["context_path"], **overrides)
    assert compact(built) == expect["json"]
    answer = json.loads(_native.validate_json("skill-result", json.dumps(built)))
    if expect["parsed"]["ok"]:
        assert compact(answer["value"]) == expect["parsed"]["json"]
    else:
        assert [issue["path"] for issue in answer["issues"]] == expect["parsed"]["paths"]


@pytest.mark.parametrize(("given", "expect"), vectors("manifest-parse"))
def test_manifests_parse_as_the_vectors_say(given: dict[str, Any], expect: dict[str, Any]) -> None:
    [value] = given.values()
    if expect["ok"]:
        assert compact(warpline.PluginManifest.parse(value)) == expect["json"]
    elif isinstance(value, dict):
        with pytest.raises(warpline.InvalidDocumentError) as refused:
            warpline.PluginManifest.parse(value)
        for path in expect["paths"]:
            text = ".".join(map(str, path)) if path else "the manifest"
            assert text in str(refused.value)


@pytest.mark.parametrize(
    ("given", "expect"), [case for case in vectors("js-json") if case.values[0]["json"] is not None]
)
def test_json_text_is_that_of_the_other_language(
    given: dict[str, Any], expect: dict[str, Any], tmp_path: Path
) -> None:
    value = json.loads(given["json"])
    assert json_text(value) == expect["compact"]
    file = tmp_path / "value.json"
    atomic_write_json(file, value)
    assert file.read_bytes() == f"{expect['pretty']}\n".encode()


def test_what_a_plugin_puts_in_the_place_of_json_changes_no_helper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shared.json"
    for name in ("dumps", "loads"):
        monkeypatch.delattr(json, name)
    atomic_write_json(file, {"a": 1})
    read = read_json_or_null(file)
    result = skill_ok("fine")
    schema = warpline.PluginManifest.json_schema()
    monkeypatch.undo()
    assert read == {"a": 1}
    assert (result["status"], schema["type"]) == ("success", "object")


def test_a_builder_refuses_what_json_does_not_have() -> None:
    with pytest.raises(ValueError, match="`overrides.artifacts_produced` is of type set"):
        skill_ok("s", artifacts_produced={1})


def run(*arguments: str) -> None:
    search = os.pathsep.join([str(ROOT / "python"), str(ROOT / "tests" / "python")])
    ended = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": search, "PYTHONPATH": search},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_package_and_its_tests_are_typed() -> None:
    run("mypy", "--strict", "python/warpline", "--exclude", "examples/")
    run("mypy", "--strict", *map(str, sorted((ROOT / "tests" / "python").glob("*.py"))))


@pytest.mark.parametrize(
    "plugin",
    sorted(path.name for path in (ROOT / "python/warpline/examples").iterdir() if path.is_dir()),
)
def test_the_examples_are_typed(plugin: str) -> None:
    directory = ROOT / "python" / "warpline" / "examples" / plugin
    search = os.pathsep.join([str(ROOT / "python"), str(directory)])
    files = [str(file) for file in sorted(directory.glob("*.py"))]
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *files],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": search},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout


def test_the_stubs_are_those_of_the_built_module(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    # Only a module built for tests can panic on demand, and it lists that among its names.
    allowed.write_text("warpline._native.panic_for_a_test\nwarpline._native.__all__\n")
    run(
        "mypy.stubtest",
        "warpline._native",
        "--allowlist",
        str(allowed),
        "--ignore-unused-allowlist",
    )
