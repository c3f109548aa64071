"""Manifests that are one literal are read without Python: does that give what running them gives?

`WARPLINE_SEED` begins elsewhere, `WARPLINE_MODULES` makes more of them.
"""

from __future__ import annotations

import json
import os
import random
import warnings
from typing import Optional

import warpline
from conftest import Home

SEED = int(os.environ.get("WARPLINE_SEED", "7"))
MODULES = int(os.environ.get("WARPLINE_MODULES", "400"))

TEXTS = ["", "a", "é", "😀", "#", "it's", 'say "x"', "\\", "\n", "coding", "{", "a: b", "\x7f"]
NUMBERS = ["0", "-0", "7", "30_000", "1.5", "1.", "0.5e-3", "-2E+2", "123456789012345"]
SELDOM_NUMBERS = ["0x1F", "12345678901234567890", "1e400", ".5", "1j", "0o7", "00", "-1e-400"]
#: What a module is spoilt with.
MARKS = [*";\\,()[]{}'\"#:=.-+_ \t\r\n\x0c0fé", "rb", "\n ", "\\\n", " if 1 else 2", '"""']


class Writer:
    """Writes modules by chance."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def space(self) -> str:
        return self.one("", "", "", " ", "\n", "  # note\n", "\t", "\r\n")

    def text(self) -> str:
        text = self.one(*TEXTS)
        written = self.one(repr(text), json.dumps(text))
        if self.random.random() < 0.2:
            escaped = "".join(f"\\U{ord(letter):08x}" for letter in text)
            written = self.one(f"'{escaped}'", f'"""{text}"""' if text.isalpha() else "u''")
        if self.random.random() < 0.1:
            written += self.one(" ", "", "\n") + self.text()
        return written

    def value(self, depth: int) -> str:
        kind = self.random.random()
        if depth > 3 or kind < 0.3:
            return self.text()
        if kind < 0.5:
            return self.one(*NUMBERS, *(SELDOM_NUMBERS if self.random.random() < 0.1 else []))
        if kind < 0.6:
            return self.one("True", "False", "None")
        if kind < 0.65:
            return f"({self.space()}{self.value(depth + 1)}{self.space()})"
        if kind < 0.68:
            return self.one("(1,)", "(1, 2)", "f'a'", "1 + 1", "int('3')", "[*'ab']", "not 1")
        entries = [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        if kind < 0.85:
            return self.inside("[", entries, "]")
        keyed = [f"{self.text()}{self.space()}:{self.space()}{entry}" for entry in entries]
        return self.inside("{", keyed, "}")

    def inside(self, opening: str, entries: list[str], closing: str) -> str:
        comma = f"{self.space()},{self.space()}"
        last = comma if entries and self.random.random() < 0.5 else self.space()
        return opening + self.space() + comma.join(entries) + last + closing

    def module(self, name: str) -> str:
        default = self.value(0)
        entries = [
            f'"name": "{name}"',
            '"version": "1.0.0"',
            f'"description": {self.one("", self.text())} "d"',
            '"autonomy_level": "autonomous"',
            f'"ttl_hours": {self.one("6", "0.25", "1_0")}',
            f'"inputs": {{"x": {{"type": "array", "default": [{default}]}}}}',
        ]
        manifest = self.inside("{", entries, "}")
        lines = [
            self.one("", '"""What it is."""', "# a note"),
            self.one("", "", "from __future__ import annotations"),
            self.one(
                "from warpline import Manifest, PluginManifest",
                "from warpline import (\n    PluginManifest,\n    Manifest,\n)",
                "",
            ),
            self.one("manifest", "manifest: Manifest")
            + self.one(" = ", "=", " \\\n= ")
            + self.one(manifest, f"({manifest})", f"PluginManifest.parse({manifest})"),
            self.one("", "", "# the end", "pass"),
        ]
        module = self.one("\n", "\n\n", "\r\n").join(lines) + self.one("", "\n")
        return self.spoilt(module) if self.random.random() < 0.4 else module

    def spoilt(self, module: str) -> str:
        at = self.random.randrange(len(module))
        rest = module[at + self.random.randrange(3) :]
        return module[:at] + self.one("", *MARKS) + rest


def told_by_running(source: bytes) -> Optional[str]:
    """What running a module gives, as `PluginManifest` makes it; None where it gives nothing valid."""
    scope: dict[str, object] = {"__name__": "manifest"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "manifest.py", "exec", dont_inherit=True), scope)
        parsed = warpline.PluginManifest.parse(scope["manifest"])  # type: ignore[arg-type]
    except Exception:
        return None
    return json.dumps(parsed)


def test_reading_a_literal_gives_what_running_it_gives(home: Home) -> None:
    writer = Writer(SEED)
    sources: dict[str, bytes] = {}
    for number in range(MODULES):
        name = f"plugin-{number}"
        sources[name] = writer.module(name).encode()
        (home.plugin(name) / "manifest.py").write_bytes(sources[name])
    plan = json.loads(home.cli("plan", "--no-run", "--json").stdout)
    rows = plan["due"] + plan["not_due"]
    assert {row["manifest"] for row in rows} == {"literal"}
    read = {row["plugin"] for row in rows}
    loaded = warpline.load_plugin_manifests(home.plugins)
    for name, source in sources.items():
        ran = told_by_running(source)
        assert name not in read or ran is not None, source
        got = loaded.manifests.get(name)
        assert (None if got is None else json.dumps(got)) == ran, source
    # Neither few nor all of them: these are modules of every kind.
    assert MODULES / 4 < len(read) < MODULES
