"""The programs of `python/examples/schedulers` at work, each under the real scheduler, on a home of its own.

Each is given a few ticks, one of them while another process has the lock of the home, and is stopped in
the middle of the last one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Callable

import pytest
import warpline
from conftest import ROOT, Home

EXAMPLES = ROOT / "python" / "examples" / "schedulers"
#: Where `make` keeps the packages that want versions of their own of everything.
APART = ROOT / ".venv" / "schedulers"
#: How long anything may take, in seconds: a first flow of Prefect alone takes minutes on a machine with
#: much other work.
PATIENCE = 600.0
#: Longer than any of these tests takes, in seconds.
LONG = 3600

pytestmark = pytest.mark.timeout(LONG)

#: How often a plugin that is always due is due, in hours.
ALWAYS = 0.0000001

UNTIL_STOPPED = f"""
from warpline import skill_ok

def handler(manifest, args, signal, capabilities):
    print(manifest["name"] + " has started", flush=True)
    signal.wait({LONG})
    return skill_ok("too late")
"""


def until(what: str, happens: Callable[[], Any]) -> None:
    since = time.monotonic()
    while not happens():
        assert time.monotonic() - since < PATIENCE, what
        time.sleep(0.02)


class Host:
    """A program that runs, and all that it has said."""

    def __init__(self, home: Home, command: list[str], environment: dict[str, str]) -> None:
        self.home = home
        self.path = home.path.parent / "said.txt"
        with self.path.open("w") as file:
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                text=True,
                start_new_session=True,
            )

    def said(self) -> str:
        return self.path.read_text()

    def wait_for(self, text: str, times: int = 1) -> None:
        def happens() -> bool:
            assert self.process.poll() is None or self.said().count(text) >= times, self.said()
            return self.said().count(text) >= times

        until(f"{text!r} {times} times in:\n{self.said()}", happens)

    def tick(self) -> None:
        """Tells a driver to let its scheduler run once."""
        assert self.process.stdin is not None
        self.process.stdin.write("tick\n")
        self.process.stdin.flush()

    def stop(self) -> int:
        """Tells it to end, and waits until it does. One that does not says where its threads are."""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            self.process.wait(PATIENCE)
            raise AssertionError(f"it does not end:\n{self.said()}") from None

    def end(self) -> None:
        """Ends what is left of it. A flow of Prefect that SIGTERM ends leaves its server behind, so all of
        its process group goes."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()


@contextmanager
def running(home: Home, command: list[str], **variables: str) -> Iterator[Host]:
    path = os.pathsep.join([str(ROOT / "python"), str(EXAMPLES)])
    # Nothing of the tester's own: a home, secrets and paths are what the program is told.
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = {**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    host = Host(home, command, environment)
    try:
        yield host
    finally:
        host.end()


@contextmanager
def lock_of(home: Home, tmp_path: Path) -> Iterator[None]:
    """Has the lock of a home, as an advance of another process would."""
    other = Home.__new__(Home)
    other.path, other.plugins = tmp_path / "other", tmp_path / "other" / "plugins"
    other.plugins.mkdir(parents=True)
    other.plugin("holds", UNTIL_STOPPED, ttl_hours=ALWAYS, timeout_ms=LONG * 1000)
    stop, held = threading.Event(), threading.Event()

    def hold() -> None:
        while not stop.is_set():
            try:
                warpline.run_advance(
                    plugins_dir=other.plugins, signal=stop, on_plugin_start=lambda _: held.set()
                )
            except warpline.LockedError:
                time.sleep(0.005)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(PATIENCE)
        yield
    finally:
        stop.set()
        holder.join()


def add_slow(home: Home) -> None:
    """Installs a plugin that runs until it is stopped, at one stroke: a tick may come at any time."""
    other = Home.__new__(Home)
    other.path = other.plugins = home.path
    fields: dict[str, Any] = {
        "dependencies": ["tick"],
        "ttl_hours": ALWAYS,
        "timeout_ms": LONG * 1000,
    }
    other.plugin("slow", UNTIL_STOPPED, **fields)
    (home.path / "slow").rename(home.plugins / "slow")


def logs(home: Home, plugin: str) -> list[Any]:
    """The run logs that name a plugin, in order."""
    every = [home.json(f"runs/{path.name}") for path in sorted((home.path / "runs").glob("*.json"))]
    return [
        log for log in every if any(entry["plugin"] == plugin for entry in log["plugin_entries"])
    ]


def furnish(home: Home) -> None:
    home.plugin("tick", ttl_hours=ALWAYS)
    home.plugin("page", autonomy_level="supervised", ttl_hours=1)
    secret = "import os\nfrom warpline import skill_ok\nhandler = lambda *_: skill_ok(str(len(os.environ['API_TOKEN'])))\n"
    home.plugin("token", secret, ttl_hours=1, secrets=["API_TOKEN"])
    (home.path / "secrets.env").write_text("# of the tests\nAPI_TOKEN=opensesame\n")


def check_ticks(host: Host) -> None:
    """What three ticks leave: one run log each, a parked result that is shown, and one alarm for it."""
    first, *others = logs(host.home, "tick")
    assert first["status"] == "partial" and {log["status"] for log in others} == {"complete"}
    states = {entry["plugin"]: entry["status"] for entry in first["plugin_entries"]}
    assert states == {"tick": "completed", "token": "completed", "page": "gated"}, host.said()
    assert "page waits for an answer: warpline approve page" in host.said()
    assert "is partial; waiting for approval: `page`" in host.said()


def check_stop(host: Host) -> None:
    """What a stop in the middle of an advance leaves: what ended, and that it was interrupted."""
    state = host.home.state()
    log = host.home.json(f"runs/{state['last_run_id']}.json")
    assert log["status"] == "interrupted", host.said()
    states = {entry["plugin"]: entry["status"] for entry in log["plugin_entries"]}
    assert (states["tick"], states["slow"]) == ("completed", "failed")
    assert f"run {state['last_run_id']} was interrupted" in host.said()


@pytest.mark.parametrize("name", ["thread_host", "asyncio_host", "apscheduler_host"])
def test_a_host_ticks_gives_way_and_stops(home: Home, tmp_path: Path, name: str) -> None:
    furnish(home)
    secrets = str(home.path / "secrets.env")
    told = ["--home", str(home.path), "--secrets", secrets, "--every", "0.3"]
    program = [sys.executable, "-X", "faulthandler", str(EXAMPLES / f"{name}.py")]
    with running(home, [*program, *told]) as host:
        until("three ticks", lambda: len(logs(home, "tick")) >= 3)
        check_ticks(host)
        with lock_of(home, tmp_path):
            host.wait_for("another advance is at work: the next tick will do")
        ticks = len(logs(home, "tick"))
        until("ticks after that", lambda: len(logs(home, "tick")) > ticks)
        add_slow(home)
        host.wait_for("slow has started")
        time.sleep(0.7)  # two more ticks, none of which may begin
        assert host.stop() == 0, host.said()
        assert host.said().endswith("stopped\n") and host.said().count("slow has started") == 1
        check_stop(host)
        assert host.said().count("ALERT") == 2, host.said()


PREFECT = """
import sys
from pathlib import Path
from prefect_flow import advance

for _ in sys.stdin:
    state = advance(Path(sys.argv[1]), Path(sys.argv[2]), return_state=True)
    print("flow run", state.name, state.message, flush=True)
"""

AIRFLOW = """
import sys
from airflow_dag import dag

for _ in sys.stdin:
    run = dag.test()
    [task] = run.get_task_instances()
    print("task", task.state, flush=True)
"""


def under(package: str) -> tuple[str, Path]:
    """The interpreter that has a package, and the folder with its empty database."""
    python = APART / package / "bin" / "python"
    assert python.exists(), f"{package} is not installed for the tests: make schedulers"
    return str(python), APART / f"{package}-home"


def test_a_flow_of_prefect(home: Home, tmp_path: Path) -> None:
    furnish(home)
    python, begun = under("prefect")
    shutil.copytree(begun, tmp_path / "prefect")
    variables = {
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        # None of its own limits is to be met.
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": str(int(PATIENCE)),
        "PREFECT_API_REQUEST_TIMEOUT": str(PATIENCE),
        "PREFECT_SERVER_DATABASE_TIMEOUT": str(PATIENCE),
        "PREFECT_SERVER_DATABASE_CONNECTION_TIMEOUT": str(PATIENCE),
        "DO_NOT_TRACK": "1",
    }
    told = [str(home.path), str(home.path / "secrets.env")]
    with running(home, [python, "-c", textwrap.dedent(PREFECT), *told], **variables) as host:
        host.tick()
        host.wait_for("flow run Failed the advance ended partial")
        for number in (1, 2):
            host.tick()
            host.wait_for("flow run Completed complete", number)
        check_ticks(host)
        with lock_of(home, tmp_path):
            host.tick()
            host.wait_for("flow run Skipped another advance is at work")
        add_slow(home)
        host.tick()
        host.wait_for("slow has started")
        assert host.stop() != 0, host.said()
        check_stop(host)


def test_a_dag_of_airflow(home: Home, tmp_path: Path) -> None:
    furnish(home)
    python, begun = under("airflow")
    shutil.copytree(begun, tmp_path / "airflow")
    variables = {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{tmp_path / 'airflow' / 'airflow.db'}",
        "AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLES),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(tmp_path / "airflow" / "logs"),
        "AIRFLOW_VAR_WARPLINE_HOME": str(home.path),
        "AIRFLOW_VAR_WARPLINE_SECRETS": str(home.path / "secrets.env"),
    }
    with running(home, [python, "-c", textwrap.dedent(AIRFLOW)], **variables) as host:
        host.tick()
        host.wait_for("task failed")
        for number in (1, 2):
            host.tick()
            host.wait_for("task success", number)
        check_ticks(host)
        with lock_of(home, tmp_path):
            host.tick()
            host.wait_for("task skipped")
        add_slow(home)
        host.tick()
        host.wait_for("slow has started")
        host.process.terminate()
        host.wait_for("task failed", 2)
        check_stop(host)
