"""Each plugin's modules are its own, and its directory is only read."""

from __future__ import annotations

import importlib
import os
import py_compile
import sys
from pathlib import Path

import pytest
import warpline
from conftest import OK, Home
from warpline._host.modules import import_plugin_file

MANUAL: warpline.NotGranted = {"granted": False, "reason": "manual-run"}


def summary(plugin: str) -> str:
    result = warpline.invoke_plugin(plugin, witness=MANUAL).result
    assert result["status"] == "success", result
    return result["summary"]


def test_two_plugins_with_modules_of_one_name_do_not_meet(home: Home) -> None:
    handler = """
        import helpers
        import manifest as own
        from helpers import who
        from inner.deep import depth
        import inner.deep
        from . import helpers as relative
        from .inner.deep import depth as relative_depth
        from warpline import skill_ok
        import json

        def handler(*_):
            from late import later
            assert helpers is relative and depth is relative_depth is inner.deep.depth
            return skill_ok(f"{who()} {own.manifest['name']} {later} {depth} {json.dumps({})}")
        """
    for name in ("one", "two"):
        home.plugin(
            name,
            handler,
            files={
                "helpers.py": f"def who():\n    return '{name}'\n",
                "late.py": f"later = 'late-{name}'\n",
                "inner/deep.py": "import helpers\ndepth = 'deep-' + helpers.who()\n",
            },
        )
    assert summary("one") == "one one late-one deep-one {}"
    assert summary("two") == "two two late-two deep-two {}"
    assert not {"helpers", "late", "inner", "manifest", "handler"} & set(sys.modules)


def test_no_file_of_a_plugin_stands_for_what_the_language_brings(home: Home) -> None:
    for name in ("__future__", "warpline", "sys"):
        home.plugin(name, files={f"{name}.py": "raise ValueError"})
        manifest = home.plugins / name / "manifest.py"
        manifest.write_text(
            f"from __future__ import annotations\nimport sys\n{manifest.read_text()}"
        )
        assert summary(name) == "done"


def test_a_module_that_is_imported_by_its_name_as_text_is_the_plugins_own(home: Home) -> None:
    handler = """
        import importlib
        import helpers
        from importlib import import_module
        from warpline import skill_ok

        def handler(*_):
            assert importlib.import_module("helpers") is helpers is import_module(".helpers", __package__)
            assert import_module("statistics") is importlib.import_module("statistics")
            assert import_module("json").loads("1") == 1
            return skill_ok(f"{import_module('inner.deep').depth} {helpers.again().text}")
        """
    for name in ("one", "two"):
        home.plugin(
            name,
            handler,
            files={
                "helpers.py": f"import importlib\ntext = '{name}'\n"
                "def again():\n    return importlib.import_module('helpers')\n",
                "inner/deep.py": f"depth = 'deep-{name}'\n",
            },
        )
    home.plugin(
        "three",
        "import importlib\nimportlib.import_module('helpers')\ndef handler(*_):\n    pass\n",
    )
    assert [summary("one"), summary("two")] == ["deep-one one", "deep-two two"]
    error = warpline.invoke_plugin("three", witness=MANUAL).final_error or ""
    assert "No module named 'helpers'" in error
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("helpers")
    assert not {"helpers", "inner"} & set(sys.modules)


def test_a_plugin_reaches_no_other_and_shadows_nothing_of_the_host(home: Home) -> None:
    home.plugin("one", files={"private.py": "x = 1\n", "statistics.py": "mine = True\n"})
    home.plugin("two", "import private\n\ndef handler(*_):\n    pass\n")
    home.plugin("three", "from ..one import private\n\ndef handler(*_):\n    pass\n")
    errors = {
        name: warpline.invoke_plugin(name, witness=MANUAL).final_error or ""
        for name in ("two", "three")
    }
    assert "No module named 'private'" in errors["two"]
    assert "beyond top-level package" in errors["three"]
    import statistics

    assert not hasattr(statistics, "mine")


def test_a_folder_of_data_is_no_module_where_the_library_has_one(home: Home) -> None:
    home.plugin(
        "p",
        """
        import email
        import wave
        from warpline import skill_ok
        def handler(*_):
            return skill_ok(f"{hasattr(email, 'message_from_string')} {hasattr(wave, 'open')}")
        """,
        files={"email/a.txt": "", "wave/b.txt": ""},
    )
    assert summary("p") == "True True"


def test_a_module_called_asyncio_of_the_program_concerns_who_imports_it_alone(home: Home) -> None:
    beside = home.path / "beside"
    beside.mkdir()
    (beside / "asyncio.py").write_text("print('it runs')\n")
    (beside / "asyncio_clock.py").write_text("now = 7\n")
    home.plugin("a-plain")
    home.plugin("b-alike", f"import asyncio_clock\nfrom .asyncio_x import y\n{OK}")
    (home.plugins / "b-alike" / "asyncio_x.py").write_text("y = 1\n")
    program = f"import sys; sys.path.insert(0, {str(beside)!r}); import warpline; "
    advance = "print(warpline.run_advance().plugin_states)"
    expected = "{'a-plain': 'completed', 'b-alike': 'completed'}\n"
    assert home.python(program + advance).stdout == expected
    home.plugin("c-imports", f"import asyncio\n{OK}")
    ended = home.python(program + advance.replace("()", "(force=True)"))
    assert ended.stdout == expected.replace("}", ", 'c-imports': 'completed'}"), ended.stderr
    assert "it runs" in ended.stderr


@pytest.mark.parametrize("name", ["asyncio.log", "subprocess", "warpline._results"])
def test_a_fork_while_a_module_is_imported_late_leaves_a_child_that_works(
    home: Home, name: str
) -> None:
    home.plugin("p", f"import asyncio\n{OK}")
    ended = home.python(
        f"""
        import faulthandler, os, sys, threading, time
        faulthandler.dump_traceback_later(60, exit=True)
        import warpline
        # A flag of the interpreter, to be passed on to its like.
        sys.warnoptions.append("default")
        importing, forking = threading.Event(), threading.Event()
        # Called once the fork has the lock of logging, which asyncio waits for.
        os.register_at_fork(before=forking.set)
        import logging

        class Finder:
            def find_spec(self, name, path=None, target=None):
                if name == {name!r}:
                    importing.set()
                    forking.wait(1)
                    time.sleep(0.5)

        sys.meta_path.insert(0, Finder())
        states = []
        thread = threading.Thread(target=lambda: states.append(warpline.run_advance().plugin_states))
        thread.start()
        importing.wait()
        child = os.fork()
        if child == 0:
            import asyncio
            witness = {{"granted": False, "reason": "manual-run"}}
            done = warpline.invoke_plugin("p", witness=witness)
            os._exit(0 if done.result["status"] == "success" else 3)
        thread.join()
        print(os.waitpid(child, 0)[1], states)
        """,
        timeout=120,
    )
    assert ended.stdout == "0 [{'p': 'completed'}]\n", ended.stderr
    assert "Exception ignored" not in ended.stderr


def test_what_a_library_of_one_plugin_does_to_asyncio_changes_no_other_plugin(home: Home) -> None:
    beside = home.path / "beside"
    beside.mkdir()
    (beside / "patching.py").write_text("import asyncio\ndef apply():\n    asyncio.run = None\n")
    home.plugin("a-patches", f"import patching\npatching.apply()\n{OK}")
    home.plugin("b-awaits", OK.replace("def handler", "async def handler"))
    ended = home.python(
        f"""
        import sys
        sys.path.insert(0, {str(beside)!r})
        import warpline
        print(warpline.run_advance(concurrency=1).plugin_states)
        """
    )
    assert ended.stdout == "{'a-patches': 'completed', 'b-awaits': 'completed'}\n", ended.stderr


def test_a_loop_and_a_tracer_that_a_handler_sets_are_gone_at_the_next_call(home: Home) -> None:
    home.plugin(
        "p",
        """
        import asyncio, sys
        from warpline import skill_ok

        def handler(*_):
            try:
                loop = asyncio.get_event_loop()
            except RuntimeError:
                loop = asyncio.new_event_loop()
                asyncio.set_event_loop(loop)
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()
            found = f"{sys.gettrace()} {sys.getprofile()}"
            sys.settrace(lambda *_: None)
            sys.setprofile(lambda *_: None)
            return skill_ok(found)
        """,
    )
    ended = home.python(
        f"""
        import warpline
        for _ in range(3):
            done = warpline.invoke_plugin("p", witness={MANUAL})
            print(done.final_error or done.result["summary"])
        """
    )
    assert ended.stdout == "None None\n" * 3, ended.stderr


def test_dataclasses_and_type_hints_find_their_module(home: Home) -> None:
    home.plugin(
        "p",
        """
        from __future__ import annotations
        import dataclasses, typing
        from warpline import skill_ok

        @dataclasses.dataclass
        class Point:
            x: int
            y: typing.ClassVar[int] = 2

        def handler(*_):
            return skill_ok(f"{dataclasses.asdict(Point(1))} {typing.get_type_hints(Point)['x']}")
        """,
    )
    assert summary("p") == "{'x': 1} <class 'int'>"


def test_an_edited_plugin_is_loaded_anew_and_an_unchanged_one_is_not(home: Home) -> None:
    source = """
        import helpers
        from warpline import skill_ok
        count = 0
        def handler(*_):
            global count
            count += 1
            return skill_ok(f"{helpers.text} {count}")
        """
    directory = home.plugin("p", source, files={"helpers.py": "text = 'old'\n"})
    assert [summary("p"), summary("p")] == ["old 1", "old 2"]
    file = directory / "helpers.py"
    before = file.stat().st_ctime_ns
    # As long as before: until the clock of the file system has gone on, nothing could tell.
    while file.stat().st_ctime_ns == before:
        file.write_text("text = 'new'\n")
    assert summary("p") == "new 1"


def test_nothing_is_written_into_a_plugin_and_no_compiled_file_is_believed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    directory = home.plugin(
        "p",
        """
        import helpers
        from warpline import skill_ok
        def handler(*_):
            return skill_ok(helpers.text)
        """,
        files={"helpers.py": "text = 'compiled'\n"},
    )
    source = directory / "helpers.py"
    # One that the import system would take without a look at the source.
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compiled = py_compile.compile(str(source), doraise=True, invalidation_mode=mode)
    assert compiled is not None
    source.write_text("text = 'source'\n")
    assert summary("p") == "source"
    assert sorted(os.listdir(directory)) == [
        "__pycache__",
        "handler.py",
        "helpers.py",
        "manifest.py",
    ]
    assert os.listdir(directory / "__pycache__") == [Path(compiled).name]


def test_a_traceback_shows_the_real_file(home: Home) -> None:
    directory = home.plugin(
        "p",
        """
        import traceback
        import helpers
        from warpline import skill_ok
        def handler(*_):
            try:
                helpers.fail()
            except ZeroDivisionError:
                return skill_ok(traceback.format_exc())
        """,
        files={"helpers.py": "def fail():\n    return 1 / 0\n"},
    )
    text = summary("p")
    assert f'File "{directory / "helpers.py"}", line 2, in fail' in text
    assert "return 1 / 0" in text


def test_a_handler_that_is_not_there_says_so(home: Home) -> None:
    (home.plugin("absent") / "handler.py").unlink()
    home.plugin("other", "x = 1\n")
    home.plugin("broken", "import no_such_module\n")
    errors = {
        name: warpline.invoke_plugin(name, witness=MANUAL) for name in ("absent", "other", "broken")
    }
    assert "there is no" in (errors["absent"].final_error or "")
    assert "no function `handler`" in (errors["other"].final_error or "")
    assert "No module named 'no_such_module' (handler.py:1)" in (errors["broken"].final_error or "")
    assert {one.attempt_count for one in errors.values()} == {1}


def test_a_plugin_that_is_gone_says_so(tmp_path: Path) -> None:
    gone = {"name": "p", "directory": str(tmp_path / "gone"), "revision": "1"}
    with pytest.raises(ImportError, match="there is no .*/gone/handler.py"):
        import_plugin_file(gone, "handler.py")
