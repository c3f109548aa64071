"""Advances and invocations as a Python host makes them."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
import warpline
from conftest import Home
from waiting import PROMPTLY

MANUAL: warpline.NotGranted = {"granted": False, "reason": "manual-run"}


def test_due_plugins_run_in_order_and_are_recorded(home: Home) -> None:
    home.plugin("second", dependencies=["first"])
    home.plugin("first")
    told: list[tuple[object, ...]] = []
    result = warpline.run_advance(
        on_plugin_start=lambda plugin: told.append(("start", plugin)),
        on_plugin_end=lambda *ended: told.append((ended[0], ended[1], type(ended[2]), ended[3])),
    )
    assert result.status == "complete"
    assert result.plugin_states == {"first": "completed", "second": "completed"}
    assert told == [
        ("start", "first"),
        ("first", "completed", int, None),
        ("start", "second"),
        ("second", "completed", int, None),
    ]
    assert home.state()["plugin_runs"]["second"]["status"] == "success"
    assert Path(result.run_log_path).is_file()
    assert warpline.plan()["due"] == []


def test_a_failure_is_told_once_and_a_hook_that_raises_loses_nothing(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.plugin("good")
    home.plugin("bad", "def handler(*_):\n    raise ValueError('no luck')\n")
    texts: list[str] = []

    def start(plugin: str) -> None:
        raise KeyError(plugin)

    result = warpline.run_advance(on_plugin_start=start, on_run_failure=texts.append)
    assert result.status == "partial"
    assert len(texts) == 1 and "`bad`" in texts[0]
    assert "a hook failed: KeyError" in capsys.readouterr().err
    entry = next(one for one in result.plugin_entries if one["plugin"] == "bad")
    assert entry["result_summary"] == "bad: ValueError: no luck (handler.py:2)"


def test_hooks_run_on_the_calling_thread(home: Home) -> None:
    home.plugin("p")
    threads: list[int] = []
    warpline.run_advance(on_plugin_start=lambda _: threads.append(threading.get_ident()))
    assert threads == [threading.get_ident()]


def test_what_is_refused_leaves_the_home_as_it_was(home: Home) -> None:
    home.plugin("p")
    before = home.files()
    with pytest.raises(warpline.PluginRootError) as root:
        warpline.run_advance(plugins_dir=home.path / "absent")
    assert root.value.code == "ERR_WARPLINE_PLUGIN_ROOT"
    assert "ENOENT" in str(root.value) and root.value.hint
    with pytest.raises(warpline.PluginRootError):
        warpline.run_advance(plugins_dir="")
    with pytest.raises(warpline.OptionError):
        warpline.run_advance(profile="hourly")  # type: ignore[arg-type]
    with pytest.raises(warpline.OptionError):
        warpline.run_advance(concurrency=0)
    with pytest.raises(TypeError):
        warpline.run_advance(dryrun=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        warpline.run_advance(on_plugin_start=1)  # type: ignore[arg-type]
    (home.path / "preferences.json").write_text('{"quiet_hours": 5}')
    with pytest.raises(warpline.InvalidDocumentError):
        warpline.run_advance()
    (home.path / "preferences.json").unlink()
    (home.path / "state").mkdir()
    (home.path / "state" / "engine-state.json").write_text("{")
    with pytest.raises(warpline.NotJsonError):
        warpline.run_advance()
    (home.path / "state" / "engine-state.json").write_text('{"schema_version": 99}')
    with pytest.raises(warpline.NewerStateError):
        warpline.run_advance()
    (home.path / "state" / "engine-state.json").unlink()
    assert home.files() == before


def test_a_second_advance_is_refused_while_one_runs(home: Home) -> None:
    home.plugin(
        "slow",
        """
        from warpline import skill_ok
        def handler(manifest, args, signal, capabilities):
            signal.wait(60)
            return skill_ok("late")
        """,
    )
    started, stop = threading.Event(), threading.Event()
    results: list[warpline.AdvanceResult] = []

    def advance() -> None:
        results.append(warpline.run_advance(signal=stop, on_plugin_start=lambda _: started.set()))

    thread = threading.Thread(target=advance)
    thread.start()
    assert started.wait(60)
    with pytest.raises(warpline.LockedError):
        warpline.run_advance()
    stop.set()
    thread.join(60)
    assert results[0].status == "interrupted"


def test_a_signal_that_is_set_interrupts_and_what_finished_is_recorded(home: Home) -> None:
    home.plugin("quick")
    home.plugin(
        "slow",
        """
        import time
        def handler(manifest, args, signal, capabilities):
            while not signal.aborted:
                time.sleep(0.01)
        """,
        dependencies=["quick"],
    )
    stop = threading.Event()
    since = time.monotonic()

    def start(plugin: str) -> None:
        if plugin == "slow":
            stop.set()

    result = warpline.run_advance(signal=stop, on_plugin_start=start)
    assert time.monotonic() - since < PROMPTLY
    assert result.status == "interrupted"
    assert home.state()["plugin_runs"]["quick"]["status"] == "success"
    log = home.json(f"runs/{result.run_id}.json")
    assert log["status"] == "interrupted" and log["completed_at"] is None
    with pytest.raises(TypeError):
        warpline.run_advance(signal=object())  # type: ignore[arg-type]


def test_a_signal_that_is_set_before_the_start_cancels_the_first_attempt(home: Home) -> None:
    home.plugin("p", "def handler(*_):\n    raise AssertionError('it was started')\n")
    stop = threading.Event()
    stop.set()
    invocation = warpline.invoke_plugin("p", witness=MANUAL, signal=stop)
    assert invocation.cancelled and invocation.attempt_count == 1
    assert invocation.final_error == "cancelled"
    assert warpline.run_advance(signal=stop).status == "interrupted"


def test_a_dry_run_writes_nothing(home: Home) -> None:
    home.plugin("p")
    home.plugin("effects", side_effects=["modifies_file"])
    before = home.files()
    result = warpline.run_advance(dry_run=True)
    assert result.plugin_states == {"p": "completed", "effects": "skipped"}
    assert result.run_log_path == ""
    assert home.files() == before


def test_an_effect_waits_for_a_grant_that_python_cannot_give(home: Home) -> None:
    home.plugin("effects", side_effects=["modifies_file"])
    assert warpline.run_advance().plugin_states == {"effects": "skipped"}
    [held] = warpline.plan()["not_due"]
    assert (held["plugin"], held["reason"]) == ("effects", "unapproved")
    assert home.cli("approve", "effects").returncode == 0
    assert warpline.run_advance().plugin_states == {"effects": "completed"}


def test_an_invocation_needs_a_witness(home: Home) -> None:
    home.plugin("effects", side_effects=["modifies_file"])
    with pytest.raises(TypeError):
        warpline.invoke_plugin("effects")  # type: ignore[call-arg]
    for nothing in (None, True, "manual-run"):
        with pytest.raises(TypeError, match=r"invoke_plugin takes a `witness`: `\{'granted': True"):
            warpline.invoke_plugin("effects", witness=nothing)  # type: ignore[arg-type]
    for witness in (
        {},
        {"granted": True},
        {"granted": False, "reason": "because"},
        {"granted": False, "reason": "no-declared-side-effects"},
        {"granted": True, "scope": "another"},
    ):
        with pytest.raises(warpline.OptionError):
            warpline.invoke_plugin("effects", witness=witness)  # type: ignore[arg-type]
    granted = warpline.invoke_plugin("effects", witness={"granted": True, "scope": "effects"})
    assert granted.result["status"] == "success"


def test_an_invocation_retries_and_tells(home: Home) -> None:
    home.plugin(
        "flaky",
        """
        from warpline import skill_failure, skill_ok
        count = 0
        def handler(manifest, args, signal, capabilities):
            global count
            count += 1
            return skill_ok("at last") if count == 3 else skill_failure("rate_limit", f"no {count}")
        """,
        max_retries=5,
    )
    told: list[tuple[object, ...]] = []
    invocation = warpline.invoke_plugin(
        "flaky",
        witness=MANUAL,
        persist_artifact=True,
        run_id="run-1",
        on_attempt_start=lambda attempt: told.append(("start", attempt)),
        on_attempt_failed=lambda *failed: told.append(failed),
    )
    assert invocation.attempt_count == 3 and invocation.retried
    assert [one["status"] for one in invocation.attempts] == ["failed", "failed", "success"]
    assert told == [("start", 1), (1, "no 1"), ("start", 2), (2, "no 2"), ("start", 3)]
    assert home.json("runs/run-1.json")["status"] == "success"


def test_arguments_configuration_and_secrets_reach_the_handler(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3cret-value")
    home.plugin(
        "p",
        """
        import os
        from warpline import skill_ok
        def handler(manifest, args, signal, capabilities):
            names = capabilities.secrets.resolved_names(capabilities.caller)
            return skill_ok(f"{sorted(args.items())} {names} {os.environ['TOKEN']}")
        """,
        inputs={
            "a": {"type": "number", "default": 1},
            "b": {"type": "string"},
        },
        secrets=["TOKEN"],
    )
    (home.path / "config").mkdir()
    (home.path / "config" / "p.json").write_text('{"b": "file"}')
    result = warpline.invoke_plugin("p", {"a": 2.0}, witness=MANUAL).result
    assert result["summary"] == "[('a', 2), ('b', 'file')] ['TOKEN'] [redacted]"


def test_capabilities_ask_who_calls_and_know_only_what_was_declared(home: Home) -> None:
    home.plugin(
        "p",
        """
        from warpline import Caller, skill_ok
        def attempt(code):
            try:
                return code()
            except Exception as error:
                said = f": {error}" if isinstance(error, LookupError) else ""
                return type(error).__name__ + said
        def handler(manifest, args, signal, capabilities):
            who, runs = capabilities.caller, capabilities.dependencies
            runs.last_output(who, "q")["body"] = "spoiled"
            capabilities.secrets.resolved_names(who).append("MORE")
            assert capabilities.secrets.resolved_names(who) == []
            members = [name for name in dir(capabilities) if not name.startswith("_")]
            assert members == ["caller", "dependencies", "secrets"]
            return skill_ok(" ".join(str(attempt(code)) for code in (
                lambda: runs.last_output(who, "q")["body"],
                lambda: runs.last_run(who, "q"),
                lambda: runs.last_run(who, "never"),
                lambda: runs.last_run(who, "other"),
                lambda: runs.last_run(Caller("p", "x"), "q"),
                lambda: runs.last_run({"plugin": "p"}, "q"),
                lambda: setattr(capabilities, "caller", None),
            )))
        """,
        dependencies=["q", "never"],
    )
    runs: dict[str, warpline.PluginRun] = {
        "q": {
            "last_run_at": "2026-01-01T00:00:00.000Z",
            "status": "success",
            "last_output": {"type": "t", "format": "text", "body": "left"},
        }
    }
    result = warpline.invoke_plugin("p", witness=MANUAL, dependency_runs=runs).result
    assert result["summary"] == (
        "left success None LookupError: plugin `p` reads `other`, which its manifest does not "
        "declare: add it to `dependencies` TypeError TypeError FrozenInstanceError"
    )


def test_manifests_load_or_say_why_not(home: Home) -> None:
    home.plugin("good", dependencies=["absent"])
    home.plugin("other-name", name="another")
    home.plugin("wrong", ttl_hours="x")
    (home.plugin("both") / "manifest.ts").write_text("export {}")
    typed = home.plugins / "typed"
    typed.mkdir()
    (typed / "manifest.ts").write_text("export const manifest = {}")
    (home.plugins / "empty").mkdir()
    (home.plugin("none") / "manifest.py").write_text("x = 1\n")
    (home.plugin("raises") / "manifest.py").write_text("import sys\n\nsys.exit('no')\n")
    (home.plugin("hides") / "manifest.py").write_text(
        "class Hides(dict):\n    def items(self):\n        return []\n\nmanifest = Hides(name='hides')\n"
    )
    (home.plugin("syntax") / "manifest.py").write_text("def\n")
    loaded = warpline.load_plugin_manifests()
    assert list(loaded.manifests) == ["good", "other-name"]
    assert loaded.manifests["good"]["timeout_ms"] > 0
    reasons = {one["plugin"]: one["error"] for one in loaded.failures}
    assert sorted(reasons) == [
        "both",
        "empty",
        "hides",
        "none",
        "raises",
        "syntax",
        "typed",
        "wrong",
    ]
    assert reasons["both"] == "the directory has both manifest.ts and manifest.py"
    assert "TypeScript plugins need" in reasons["typed"]
    assert reasons["empty"] == "the directory has no manifest.ts or manifest.py"
    assert "no `manifest`" in reasons["none"]
    assert "of type Hides, which is no plain value" in reasons["hides"]
    assert reasons["raises"] == "SystemExit: no (manifest.py:3)"
    assert reasons["syntax"].startswith("SyntaxError: invalid syntax (manifest.py, line 1)")
    assert "ttl_hours" in reasons["wrong"]
    assert len(loaded.warnings) == 2
    absent = warpline.load_plugin_manifests(home.path / "absent")
    assert absent.root_error == {"path": str(home.path / "absent"), "code": "ENOENT"}


def test_the_home_is_looked_up_at_every_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLINE_HOME", str(tmp_path / "one"))
    assert warpline.warpline_home() == tmp_path / "one"
    monkeypatch.delenv("WARPLINE_HOME")
    (tmp_path / "up" / ".warpline").mkdir(parents=True)
    (tmp_path / "up" / "down").mkdir()
    monkeypatch.chdir(tmp_path / "up" / "down")
    assert warpline.warpline_home() == tmp_path / "up" / ".warpline"


#: Declares an effect where it is read, and none where it is written, or the other way round.
HIDING = {
    "a key that is more than text": """
class Key(str):
    def __hash__(self):
        return id(self)
    def __eq__(self, other):
        return self is other
manifest = {**base, "side_effects": ["modifies_file"], Key("side_effects"): []}
""",
    "a dictionary that leaves keys out": """
class Hides(dict):
    def keys(self):
        return [key for key in dict.keys(self) if key != "side_effects"]
    def __iter__(self):
        return iter(self.keys())
manifest = Hides({**base, "side_effects": ["modifies_file"]})
""",
    "a list that shows nothing": """
class Hides(list):
    def __iter__(self):
        return iter(())
manifest = {**base, "side_effects": Hides(["modifies_file"])}
""",
    "text that is more": """
class Text(str):
    pass
manifest = {**base, "description": Text("d")}
""",
}


@pytest.mark.parametrize("how", HIDING)
@pytest.mark.parametrize("parsed", [False, True])
def test_a_manifest_is_made_of_plain_values_alone(home: Home, how: str, parsed: bool) -> None:
    file = home.plugin("p") / "manifest.py"
    source = file.read_text().replace("manifest =", "base =") + HIDING[how]
    if parsed:
        source += "from warpline import PluginManifest\nmanifest = PluginManifest.parse(manifest)\n"
    file.write_text(source)
    loaded = warpline.load_plugin_manifests()
    assert loaded.manifests == {}
    [failure] = loaded.failures
    said = "a key that is Key, not text" if "key that" in how else "which is no plain value"
    assert said in failure["error"], failure
