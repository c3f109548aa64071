"""What the index and installers are told of the Python package."""

from __future__ import annotations

import email.parser
import json
import re
import subprocess
from email.message import Message
from pathlib import Path

import pytest
from installed import ROOT
from packed import TOOLS
from test_contents import NAME, VERSION, in_sdist, in_wheel

#: The oldest glibc that the wheel asks for.
GLIBC = (2, 17)


def headers(text: bytes) -> Message:
    return email.parser.Parser().parsestr(text.decode())


@pytest.fixture(params=["wheel", "sdist"])
def metadata(request: pytest.FixtureRequest, wheel: Path, sdist: Path) -> Message:
    """The metadata as each of the two files has it."""
    if request.param == "wheel":
        return headers(in_wheel(wheel)[f"{NAME}.dist-info/METADATA"])
    return headers(in_sdist(sdist)["PKG-INFO"])


def test_the_metadata_is_complete(metadata: Message) -> None:
    assert metadata["Name"] == "warpline-runtime"
    assert metadata["Version"] == VERSION
    assert metadata["Requires-Python"] == ">=3.9"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE", "THIRD-PARTY.md"]
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    assert metadata.get_payload().strip() == (ROOT / "python" / "README.md").read_text().strip()
    assert 0 < len(metadata["Summary"]) <= 120
    assert len(metadata["Keywords"].split(",")) == 5
    assert metadata.get_all("Requires-Dist") is None


def test_every_classifier_is_one(metadata: Message) -> None:
    ask = "import json, trove_classifiers as t; print(json.dumps([sorted(t.classifiers), sorted(t.deprecated_classifiers)]))"
    told = subprocess.run([TOOLS / "python", "-c", ask], capture_output=True, check=True).stdout
    known, deprecated = json.loads(told)
    classifiers = metadata.get_all("Classifier") or []
    assert [one for one in classifiers if one not in known or one in deprecated] == []
    # A licence is told by its expression; an index refuses both at once.
    assert not any(one.startswith("License ::") for one in classifiers)
    minors = [one.rsplit(".", 1)[1] for one in classifiers if re.search(r":: 3\.\d+$", one)]
    assert minors == [str(minor) for minor in range(9, 16)]


def test_the_files_would_be_taken_and_their_page_shown(wheel: Path, sdist: Path) -> None:
    words = [TOOLS / "twine", "check", "--strict", wheel, sdist]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("PASSED") == 2


def test_the_wheel_says_where_it_runs(wheel: Path) -> None:
    told = headers(in_wheel(wheel)[f"{NAME}.dist-info/WHEEL"])
    platforms = ["manylinux2014_x86_64", "manylinux_2_17_x86_64"]
    assert sorted(told.get_all("Tag") or []) == [f"cp39-abi3-{one}" for one in platforms]
    assert told["Root-Is-Purelib"] == "false"
    assert wheel.name == f"{NAME}-cp39-abi3-{'.'.join(platforms)}.whl"


def test_the_command_and_the_fixture_are_registered(wheel: Path) -> None:
    text = in_wheel(wheel)[f"{NAME}.dist-info/entry_points.txt"].decode()
    assert re.findall(r"^\[(.+)\]$", text, re.M) == ["console_scripts", "pytest11"]
    assert re.findall(r"^(\S+?) ?= ?(\S+)$", text, re.M) == [
        ("warpline", "warpline.__main__:_console"),
        ("warpline.pytest_plugin", "warpline.pytest_plugin"),
    ]


def test_the_module_needs_no_newer_glibc_than_the_tag_says(wheel: Path, tmp_path: Path) -> None:
    module = tmp_path / "module.so"
    module.write_bytes(in_wheel(wheel)["warpline/_native.abi3.so"])
    # The names of versions that the module asks its libraries for.
    asked = re.findall(rb"GLIBC_(\d+)\.(\d+)", module.read_bytes())
    versions = sorted({(int(major), int(minor)) for major, minor in asked})
    assert versions and versions[-1] <= GLIBC, versions
    words = [TOOLS / "auditwheel", "show", wheel]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    consistent = re.search(
        r'consistent with the following\s+platform\s+tag:\s+"(\w+)"', ended.stdout
    )
    assert consistent and consistent[1] == "manylinux_2_17_x86_64", ended.stdout
    external = json.loads(
        subprocess.run(
            [TOOLS / "python", "-c", NEEDED, module], capture_output=True, check=True
        ).stdout
    )
    assert set(external) <= LIBRARIES, external


#: What every Linux with a glibc has; older ones have in several files what newer ones have in one.
LIBRARIES = {
    *("libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1"),
    "ld-linux-x86-64.so.2",
}
NEEDED = """
import json, sys
from elftools.elf.elffile import ELFFile
with open(sys.argv[1], "rb") as file:
    dynamic = ELFFile(file).get_section_by_name(".dynamic")
    print(json.dumps([tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]))
"""


def test_the_module_asks_for_nothing_that_a_python_of_the_floor_lacks(wheel: Path) -> None:
    words = [TOOLS / "abi3audit", "--strict", "--assume-minimum-abi3", "3.9", "--report", wheel]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [result] = json.loads(ended.stdout)["specs"].values()
    for found in result["wheel"]:
        assert found["name"] == "_native.abi3.so"
        assert found["result"]["is_abi3"] and found["result"]["non_abi3_symbols"] == []
