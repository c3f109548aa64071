"""What the wheel and the source distribution hold: each file is known, and nothing of a checkout is among them."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

from installed import ROOT
from packed import TOOLS

[VERSION] = re.findall(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M)
NAME = f"warpline_runtime-{VERSION}"
#: The kinds of file that a wheel may bring into a Python.
IN_WHEEL = re.compile(
    r"warpline/(?:(?:_host/)?\w+\.py|_native\.pyi|__init__\.pyi|_native\.abi3\.so|py\.typed|_schemas/[\w-]+\.json|_schemas/documents/[\w-]+\.json"
    r"|examples/[a-z-]+/(?:\w+\.py|README\.md))"
    rf"|{NAME}\.dist-info/(?:METADATA|WHEEL|RECORD|entry_points\.txt|licenses/(?:LICENSE|THIRD-PARTY\.md))"
)
#: The kinds of file that the engine is compiled from.
IN_SDIST = re.compile(
    r"core/(?:src/.+\.(?:rs|py)|templates/.+\.(?:ts|mjs|json|py)|examples/host\.rs|Cargo\.toml|README\.md|LICENSE)"
    r"|bindings-python/(?:src/\w+\.rs|Cargo\.toml)"
    r"|python/(?:README\.md|warpline/.+)"
    r"|Cargo\.toml|Cargo\.lock|LICENSE|THIRD-PARTY\.md|pyproject\.toml|PKG-INFO"
)


def tracked(*folders: str) -> set[str]:
    """What a clean checkout has there."""
    words = ["git", "ls-files", "-z", *folders]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(filter(None, listed.stdout.split("\0")))


def in_wheel(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as file:
        return {entry.filename: file.read(entry) for entry in file.infolist()}


def in_sdist(sdist: Path) -> dict[str, bytes]:
    found = {}
    with tarfile.open(sdist) as file:
        for entry in file.getmembers():
            assert entry.isfile(), entry.name
            folder, _, name = entry.name.partition("/")
            assert folder == NAME, entry.name
            content = file.extractfile(entry)
            assert content is not None
            found[name] = content.read()
    return found


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(in_wheel(wheel))
    assert [name for name in sorted(names) if not IN_WHEEL.fullmatch(name)] == []
    package = {name for name in names if name.startswith("warpline/")}
    expected = {name.removeprefix("python/") for name in tracked("python/warpline")}
    assert package == {*expected, "warpline/_native.abi3.so"}
    known = ["METADATA", "WHEEL", "RECORD", "entry_points.txt"]
    known += ["licenses/LICENSE", "licenses/THIRD-PARTY.md"]
    assert names - package == {f"{NAME}.dist-info/{name}" for name in known}


def test_the_source_distribution_holds_what_is_compiled_and_nothing_else(sdist: Path) -> None:
    names = set(in_sdist(sdist))
    assert [name for name in sorted(names) if not IN_SDIST.fullmatch(name)] == []
    core = tracked("core/src", "core/templates", "core/examples/host.rs", "core/Cargo.toml")
    core |= {"core/README.md", "core/LICENSE"}
    own = tracked("bindings-python", "python/warpline") | {"python/README.md"}
    top = {"Cargo.toml", "Cargo.lock", "LICENSE", "THIRD-PARTY.md", "pyproject.toml", "PKG-INFO"}
    assert names == core | own | top


def test_each_packed_file_is_that_of_the_checkout(wheel: Path, sdist: Path) -> None:
    for name, content in in_wheel(wheel).items():
        if name.startswith("warpline/") and not name.endswith(".so"):
            assert content == (ROOT / "python" / name).read_bytes(), name
    # Their lists of members and of tests are cut down to what is there.
    written = {"PKG-INFO", "Cargo.toml", "core/Cargo.toml"}
    for name, content in in_sdist(sdist).items():
        if name not in written:
            assert content == (ROOT / name).read_bytes(), name


def test_the_licence_is_the_same_in_every_package() -> None:
    licence = (ROOT / "LICENSE").read_bytes()
    for folder in ("core", "npm"):
        assert (ROOT / folder / "LICENSE").read_bytes() == licence, folder


def test_the_packed_files_are_of_a_sensible_size(wheel: Path, sdist: Path) -> None:
    assert wheel.stat().st_size < 6_000_000
    assert sdist.stat().st_size < 1_000_000


def test_the_wheel_is_what_installers_expect(wheel: Path) -> None:
    # The examples are plugins, which nobody imports: folders called like the plugin.
    words = [TOOLS / "check-wheel-contents", "--no-config", "--ignore", "W004", wheel]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "OK" in ended.stdout
