"""The kit with which plugins are tested: a home, a clock, facts, and what a run came to."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
import warpline
from conftest import Home
from waiting import until, within
from warpline.testing import TestHome, open_test_home

NOW = "2001-02-03T04:05:06.007Z"


@pytest.fixture
def kit(home: Home) -> Iterator[TestHome]:
    with open_test_home(home.plugins) as opened:
        yield opened


def test_a_run_is_complete(home: Home, kit: TestHome) -> None:
    home.plugin(
        "echo",
        """
        from warpline import skill_failure, skill_ok
        seen = set()

        def handler(manifest, args, signal, capabilities):
            print("asked with", args["word"])
            if capabilities.caller.run_id not in seen:
                seen.add(capabilities.caller.run_id)
                return skill_failure("rate_limit", "busy")
            return skill_ok("done", artifacts_produced=[{"type": "t", "body": args["word"]}])
        """,
        inputs={"word": {"type": "string"}},
        max_retries=1,
    )
    run = kit.run("echo", {"word": "yes"})
    assert run.result["status"] == "success"
    assert run.run_id == run.result["artifacts_produced"][0]["run_id"] == "test-1"
    assert [attempt["status"] for attempt in run.attempts] == ["failed", "success"]
    assert (
        run.transcript == "=== Attempt 1 ===\nasked with yes\n=== Attempt 2 ===\nasked with yes\n"
    )
    assert run.artifact is not None and run.artifact["attempts"] == run.attempts
    once = kit.run("echo", {"word": "no"}, retries=0, run_id="mine")
    assert (once.run_id, once.attempt_count) == ("mine", 1)


CLOCKS = """
import asyncio, datetime as whole, time as clock
from datetime import date, datetime, timezone
from time import time, time_ns
from warpline import skill_ok

class Special(datetime):
    pass

async def handler(manifest, args, signal, capabilities):
    before = time()
    await asyncio.sleep(0.02)
    facts = {
        "now": datetime.now(timezone.utc).isoformat(),
        "whole": whole.datetime.now(whole.timezone.utc).isoformat(),
        "naive": datetime.utcnow().isoformat(),
        "date": [date.today().year, whole.date.today().year, datetime.today().year],
        "time": [time(), clock.time(), time_ns(), clock.time_ns(), time() - before],
        "parts": [clock.gmtime().tm_year, clock.localtime().tm_year, clock.strftime("%Y")],
        "given": [datetime(2020, 1, 2).isoformat(), clock.gmtime(0).tm_year, date(2020, 1, 2).day],
        "parsed": datetime.fromisoformat("2020-01-02").year,
        "kinds": [
            isinstance(datetime.now(), datetime), isinstance(datetime(2020, 1, 1), date),
            isinstance(datetime(2020, 1, 1), Special), isinstance(Special.now(), Special),
            issubclass(Special, datetime),
        ],
        "special": Special.now(timezone.utc).year,
        "thread": (await asyncio.to_thread(datetime.now)).year,
    }
    return skill_ok("", artifacts_produced=[{"type": "t", "format": "json", "body": __import__("json").dumps(facts)}])
"""


@pytest.mark.parametrize("loaded_before", [False, True])
def test_the_clock_stands_still_for_the_handler_and_every_record_and_for_nobody_else(
    home: Home, kit: TestHome, loaded_before: bool
) -> None:
    home.plugin("clocks", CLOCKS)
    if loaded_before:
        [output] = kit.run("clocks").result["artifacts_produced"]
        assert json.loads(output["body"])["thread"] > 2001
    real = (datetime.datetime, datetime.date, time.time, time.localtime)
    years = set()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            years.add(datetime.datetime.now().year)
            years.add(time.gmtime(time.time()).tm_year)
            time.sleep(0.001)

    looking = threading.Thread(target=look)
    looking.start()
    run = kit.run("clocks", now=NOW)
    done.set()
    looking.join()
    assert 2001 not in years
    assert real == (datetime.datetime, datetime.date, time.time, time.localtime)
    [output] = run.result["artifacts_produced"]
    assert output["produced_at"] == NOW
    seconds = 981173106.007
    facts = json.loads(output["body"])
    special = facts.pop("special")
    # What was derived from the real class before stays with it.
    assert (special > 2001) if loaded_before else (special == 2001)
    assert facts == {
        "now": "2001-02-03T04:05:06.007000+00:00",
        "whole": "2001-02-03T04:05:06.007000+00:00",
        "naive": "2001-02-03T04:05:06.007000",
        "date": [2001, 2001, 2001],
        "time": [seconds, seconds, 981173106007000000, 981173106007000000, 0],
        "parts": [2001, 2001, "2001"],
        "given": ["2020-01-02T00:00:00", 1970, 2],
        "parsed": 2020,
        "kinds": [True, True, False, True, True],
        "thread": 2001,
    }
    assert (run.duration_ms, run.attempts[0]["started_at"]) == (0, NOW)
    assert run.artifact is not None and run.artifact["completed_at"] == NOW
    moment = datetime.datetime(2001, 2, 4, tzinfo=datetime.timezone.utc)
    later = kit.run("clocks", now=moment).result["artifacts_produced"][0]
    assert later["produced_at"] == "2001-02-04T00:00:00.000Z"
    [present] = kit.run("clocks").result["artifacts_produced"]
    assert json.loads(present["body"])["date"][0] > 2001


def test_time_limits_go_by_the_real_time(home: Home, kit: TestHome) -> None:
    home.plugin(
        "slow",
        "async def handler(*_):\n    import asyncio\n    await asyncio.sleep(600)\n",
        timeout_ms=50,
    )
    run = kit.run("slow", now=NOW)
    assert run.timed_out and run.result["errors"][0]["code"] == "timeout"


def test_dependencies_have_done_what_the_test_says(home: Home, kit: TestHome) -> None:
    home.plugin(
        "reader",
        """
        import json
        from warpline import skill_ok

        def handler(manifest, args, signal, capabilities):
            caller, dependencies = capabilities.caller, capabilities.dependencies
            read = (dependencies.last_output, dependencies.last_run)
            return skill_ok(json.dumps([[ask(caller, name) for ask in read] for name in "abc"]))
        """,
        dependencies=["a", "b", "c"],
    )
    run = kit.run(
        "reader",
        now=NOW,
        dependencies={"a": {"output": {"type": "t", "body": "b"}}, "b": {"run": "failed"}},
    )
    stamped = {
        "type": "t",
        "format": "markdown",
        "body": "b",
        "run_id": "test-0",
        "produced_at": NOW,
    }
    assert json.loads(run.result["summary"]) == [[stamped, "success"], [None, "failed"], [None] * 2]
    with pytest.raises(
        ValueError, match=r"^the manifest of `reader` does not name `d` in `dependencies`$"
    ):
        kit.run("reader", dependencies={"d": {}})


def test_secrets_home_and_configuration_are_there_during_a_run_alone(
    home: Home, kit: TestHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_OTHER", "of the developer")
    home.plugin(
        "secretive",
        """
        import os
        from warpline import skill_ok

        def handler(manifest, args, signal, capabilities):
            print(os.environ["KIT_TOKEN"])
            return skill_ok(f"{args['days']} in {os.environ['WARPLINE_HOME']}")
        """,
        secrets=["KIT_TOKEN", "KIT_OTHER"],
        inputs={"days": {"type": "number"}},
    )
    before = dict(os.environ)
    secrets = {"KIT_TOKEN": "sesame", "KIT_OTHER": "of the test"}
    run = kit.run("secretive", secrets=secrets, config={"days": 3})
    assert run.result["summary"] == f"3 in {kit.path}"
    assert run.transcript == "=== Attempt 1 ===\n[redacted]\n"
    assert dict(os.environ) == before
    assert kit.read("config/secretive.json") is None

    missing = kit.run("secretive", secrets={"KIT_TOKEN": "x"}, config={"days": 3})
    assert missing.result["errors"][0]["code"] == "auth_failure"
    assert (missing.artifact, missing.transcript) == (None, "")
    assert dict(os.environ) == before
    with pytest.raises(ValueError, match=r"`PATH` in `secrets`$"):
        kit.run("secretive", secrets={"PATH": ""})
    kit.write("config/secretive.json", '{"days": 7}')
    assert kit.run("secretive", secrets=secrets, config={"days": 3}).result["summary"][0] == "3"
    assert kit.read("config/secretive.json") == '{"days": 7}'
    assert kit.run("secretive", secrets=secrets).result["summary"][0] == "7"


def test_effects_are_allowed_unless_the_test_says_otherwise(home: Home, kit: TestHome) -> None:
    home.plugin("writes", side_effects=["modifies_file"])
    home.plugin("reads")
    assert kit.run("writes").result["status"] == "success"
    with pytest.raises(warpline.OptionError):
        kit.run("writes", granted=False)
    assert kit.run("reads", granted=False).result["status"] == "success"
    assert os.listdir(kit.path) == ["runs"]


GOES_ON = """
import sys
from warpline import warpline_home

def handler(manifest, args, signal, capabilities):
    sys.late_began = True
    signal.wait(60)
    sys.late_home = warpline_home()
"""


def test_a_handler_that_goes_on_does_not_find_the_home_of_the_developer(
    home: Home, kit: TestHome
) -> None:
    def run(limit: int) -> None:
        home.plugin("late", GOES_ON, timeout_ms=limit)
        assert kit.run("late").timed_out

    within(run, lambda: hasattr(sys, "late_began"))
    assert until(lambda: getattr(sys, "late_home", None)) == kit.path
    assert warpline.warpline_home() == home.path


def test_a_home_holds_its_files_and_is_gone_afterwards(home: Home) -> None:
    with open_test_home(home.plugins) as kit:
        kit.write("state/any.json", {"rows": [1]})
        assert json.loads(kit.read("state/any.json") or "") == {"rows": [1]}
        assert kit.read("state/none.json") is None
        for outside in ["..", "../x", "/etc/passwd", "", "state/../.."]:
            with pytest.raises(ValueError):
                kit.read(outside)
            with pytest.raises(ValueError):
                kit.write(outside, "")
    kit.remove()
    with pytest.raises(RuntimeError, match="^the test home has been removed$"):
        kit.run("any")
    with pytest.raises(RuntimeError, match="^the test home has been removed$"):
        kit.write("x", "")
    assert not kit.path.exists()


def test_what_cannot_be_is_refused_in_words(home: Home, kit: TestHome) -> None:
    home.plugin("any")
    home.plugin("broken", ttl_hours=0)
    wrong: Any
    for wrong in ["soon", "2001-02-03", "2001-02-03T04:05:06", datetime.datetime(2001, 2, 3), 5]:
        with pytest.raises(ValueError, match=r"^option `now` must be an instant: "):
            kit.run("any", now=wrong)
    for option in ["args", "config", "secrets", "dependencies"]:
        wrong = {option: ["a"]}
        with pytest.raises(TypeError, match=f"^option `{option}` must be a mapping$"):
            kit.run("any", **wrong)
    wrong = "false"
    with pytest.raises(TypeError, match="^option `granted` must be True or False$"):
        kit.run("any", granted=wrong)
    for wrong in [11, -1, 0.5, "1", True]:
        with pytest.raises(ValueError, match="^option `retries` must be an integer from 0 to 10$"):
            kit.run("any", retries=wrong)
    home.plugin("reads", dependencies=["any"])
    for wrong in [None, "success", {"outptu": {}}]:
        with pytest.raises(TypeError, match="^dependency `any` must be a mapping of "):
            kit.run("reads", dependencies={"any": wrong})
    wrong = {"any": {"output": "text"}}
    with pytest.raises(TypeError, match="^the `output` of dependency `any` must be a mapping$"):
        kit.run("reads", dependencies=wrong)
    with pytest.raises(
        LookupError, match=r"there is no plugin `an` in .*; there is `any`, `reads`$"
    ):
        kit.run("an")
    with pytest.raises(LookupError, match=r"^plugin `broken` does not load: .*`ttl_hours`"):
        kit.run("broken")
    with open_test_home("/nowhere/at/all") as nowhere:  # noqa: SIM117
        with pytest.raises(LookupError, match=r"/nowhere/at/all cannot be read \(ENOENT\)$"):
            nowhere.run("any")


def test_pytest_has_a_home_for_each_test(home: Home, tmp_path: Path) -> None:
    home.plugin("any")
    project = tmp_path / "project"
    project.mkdir()
    (project / "pytest.ini").write_text(f"[pytest]\nwarpline_plugins = {home.plugins}\n")
    source = """
        import pytest
        from warpline.testing import TestHome, TestRun

        @pytest.mark.parametrize("turn", [1, 2])
        def test_any(plugin_home: TestHome, turn: int) -> None:
            run: TestRun = plugin_home.run("any")
            assert run.run_id == "test-1"
            (plugin_home.path.parent / f"{plugin_home.path.name}.seen").touch()
            print(plugin_home.path)
    """
    (project / "test_it.py").write_text(textwrap.dedent(source))
    words = ["-p", "warpline.pytest_plugin", "-W", "error", "-q", "-s"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=project,
        env=home.environment(TMPDIR=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0 and "2 passed" in ended.stdout, ended.stdout + ended.stderr
    left = [one.name for one in tmp_path.iterdir() if one.name.startswith("warpline-test-")]
    assert len(left) == 2 and all(name.endswith(".seen") for name in left), left
