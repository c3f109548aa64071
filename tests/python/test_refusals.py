"""The catalogue of refused calls: every code, met through the package, with its class, message and hint."""

from __future__ import annotations

import fcntl
import os
import re
import threading
from typing import Callable, Optional

import pytest
import warpline
from conftest import Home
from warpline import errors
from warpline._engine import run_operation

MEND = "mend the file by hand; nothing was written"


def with_state(home: Home, text: str) -> None:
    (home.path / "state").mkdir()
    (home.path / "state" / "engine-state.json").write_text(text)
    warpline.run_advance()


def no_root(home: Home) -> None:
    warpline.run_advance(plugins_dir="/nowhere")


def not_json(home: Home) -> None:
    with_state(home, "{")


def invalid(home: Home) -> None:
    with_state(home, '{"plugin_runs":7}')


def newer(home: Home) -> None:
    with_state(home, '{"schema_version":2}')


def file(home: Home) -> None:
    (home.path / "state" / "engine-state.json").mkdir(parents=True)
    warpline.run_advance()


def locked(home: Home) -> None:
    wait = "def handler(manifest, args, signal, capabilities):\n    signal.wait(60)\n"
    home.plugin("slow", wait)
    started, stop = threading.Event(), threading.Event()

    def advance() -> None:
        warpline.run_advance(signal=stop, on_plugin_start=lambda _: started.set())

    first = threading.Thread(target=advance)
    first.start()
    try:
        assert started.wait(60)
        warpline.run_advance()
    finally:
        stop.set()
        first.join()


def state_locked(home: Home) -> None:
    (home.path / "state").mkdir()
    with open(home.path / "state" / ".state.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        warpline.run_advance()


def shared(home: Home) -> None:
    home.path.chmod(0o777)
    warpline.run_advance()


def option(home: Home) -> None:
    warpline.run_advance(concurrency=0)


def host(home: Home) -> None:
    run_operation("panic_for_a_test", {})


Row = tuple[type[errors.WarplineError], Callable[[Home], None], str, Optional[str]]

ROWS: list[Row] = [
    (
        errors.PluginRootError,
        no_root,
        "cannot read plugin root /nowhere: ENOENT",
        "create the directory, or name another one with --plugins",
    ),
    (
        errors.NotJsonError,
        not_json,
        r"\S+engine-state\.json is not valid JSON at line 1, column 2",
        MEND,
    ),
    (
        errors.InvalidDocumentError,
        invalid,
        r"\S+engine-state\.json is not valid: `plugin_runs`: expected an object",
        MEND,
    ),
    (
        errors.NewerStateError,
        newer,
        r"\S+engine-state\.json has schema_version 2, and this build predates it: "
        "the newest it reads is 1",
        "upgrade warpline; nothing was written",
    ),
    (
        errors.FileError,
        file,
        r"cannot read \S+engine-state\.json: .*",
        "something else lies in its place; move it away",
    ),
    (
        errors.LockedError,
        locked,
        rf"another advance is running on this home: run \S+, process {os.getpid()}, "
        r"since \S+ \(\S+/\.lock\)",
        "wait for it to end, or stop that process",
    ),
    (
        errors.StateLockError,
        state_locked,
        r"\S+\.state\.lock was held by another process for 10 seconds",
        "try again; nothing was written",
    ),
    (
        errors.SharedHomeError,
        shared,
        r"\S+ can be written by others \(mode 0777\); run `chmod go-w \S+`",
        "or set WARPLINE_ALLOW_SHARED_HOME=1, if all who can write there may decide what runs; "
        "nothing was written",
    ),
    (
        errors.OptionError,
        option,
        "option `concurrency` must be an integer of at least 1",
        None,
    ),
    (errors.HostError, host, "the plugin host failed: the engine panicked: asked for", None),
]


def test_every_class_has_a_row_and_a_code_of_its_own() -> None:
    assert [kind for kind, *_ in ROWS] == list(errors._BY_CODE.values())
    names = [getattr(warpline, name) for name in warpline.__all__]
    published = [kind for kind in names if isinstance(kind, type)]
    derived = {kind for kind in published if issubclass(kind, errors.WarplineError)}
    assert derived == {errors.WarplineError, *errors._BY_CODE.values()}


@pytest.mark.parametrize("row", ROWS, ids=[kind.code for kind, *_ in ROWS])
def test_every_code_is_met_with_its_class_message_and_hint(home: Home, row: Row) -> None:
    kind, provoke, message, hint = row
    home.plugin("p")
    with pytest.raises(warpline.WarplineError) as raised:
        provoke(home)
    assert type(raised.value) is kind
    assert raised.value.code == kind.code
    assert re.fullmatch(message, str(raised.value)), str(raised.value)
    assert raised.value.hint == hint
