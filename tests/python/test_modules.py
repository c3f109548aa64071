"""Each plugin's modules are its own, and its directory is only read."""

from __future__ import annotations

import importlib
import os
import py_compile
import sys
from pathlib import Path

import pytest
import warpline
from conftest import Home

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
    (directory / "helpers.py").write_text("text = 'new'\n")
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
