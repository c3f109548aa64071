"""What runs leave in a home, without what differs from run to run."""

from __future__ import annotations

import re
from pathlib import Path

PATTERNS = [
    (r"\d{4}-\d\d-\d\dT\d{9}Z-[0-9a-f]{8}", "RUN"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID"),
    (r'"([a-z_]*(?:elapsed|duration)[a-z_]*)":( ?)[\d.]+', r'"\1":\2N'),
    (r'"(hash|fingerprint|[a-z_]*_hash)":( ?)"[0-9a-f]+"', r'"\1":\2"HASH"'),
]


def normal(text: str) -> str:
    """A text without times, numbers of runs and durations."""
    for pattern, name in PATTERNS:
        text = re.sub(pattern, name, text)
    return text


def records(home: Path) -> dict[str, list[str]]:
    """The lines of every file but those of plugins. Of plugins that run at once, either may come first
    in what is appended: such lines are sorted."""
    found = {}
    for file in sorted(home.rglob("*")):
        name = str(file.relative_to(home))
        if not file.is_file() or name.startswith("plugins/") or "lock" in name:
            continue
        lines = normal(file.read_text()).splitlines()
        found[normal(name)] = sorted(lines) if name.endswith(".jsonl") else lines
    return found
