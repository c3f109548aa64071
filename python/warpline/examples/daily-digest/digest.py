"""One page out of what the three plugins before it left."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Callable, NamedTuple, Optional

from warpline import OutputRecord
from warpline.unstable_fs import json_text


class Upstream(NamedTuple):
    """What the runtime tells about a dependency: its last Output, and how its last run ended."""

    output: Optional[OutputRecord]
    run: Optional[str]


Section = Callable[[OutputRecord], Optional[list[str]]]


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _parse(body: Optional[str]) -> Any:
    try:
        return json.loads(body or "")
    except ValueError:
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def duration(seconds: float) -> str:
    days, hours, minutes = (
        math.floor(seconds / 86_400),
        math.floor(seconds / 3600) % 24,
        math.floor(seconds / 60) % 60,
    )
    return f"{days} d {hours} h {minutes} min"


def host_lines(output: OutputRecord) -> Optional[list[str]]:
    """None where the Output is not what host-metrics produces."""
    body = _parse(output.get("body"))
    load, memory, disk, uptime = readings = (
        _at(body, "load", "one_per_cpu"),
        _at(body, "memory", "used_percent"),
        _at(body, "disk", "used_percent"),
        _at(body, "uptime_seconds"),
    )
    if any(isinstance(one, bool) or not isinstance(one, (int, float)) for one in readings):
        return None
    return [
        f"- Load per processor: {_text(load)}",
        f"- Memory used: {_text(memory)} %",
        f"- Disk used: {_text(disk)} %",
        f"- Up for: {duration(uptime)}",
    ]


def limit_lines(output: OutputRecord) -> Optional[list[str]]:
    """None where the Output is not what anomaly-watch produces."""
    body = _parse(output.get("body"))
    breached, cleared = _at(body, "breached"), _at(body, "cleared")
    if not isinstance(breached, list) or not isinstance(cleared, list):
        return None
    lines = [
        f"- Breached: {_text(_at(breach, 'limit'))} ({_text(_at(breach, 'reading'))}), "
        f"since {_text(_at(breach, 'since'))}"
        for breach in breached
    ]
    lines += [f"- Cleared: {_text(limit)}" for limit in cleared]
    return lines or ["- All within their limits"]


def note_lines(output: OutputRecord) -> Optional[list[str]]:
    """None where the Output is not what incident-note produces."""
    path = output.get("path")
    return None if path is None else [f"- Latest: notes/{os.path.basename(path)}"]


SECTIONS: tuple[tuple[str, str, Section], ...] = (
    ("host-metrics", "Host", host_lines),
    ("anomaly-watch", "Limits", limit_lines),
    ("incident-note", "Notes", note_lines),
)


def _section(name: str, title: str, lines: Section, upstream: Upstream) -> list[str]:
    if upstream.output is None:
        content = [f"no data from {name}"]
    else:
        content = lines(upstream.output) or [f"unreadable data from {name}"]
    # A record stays when a later run produced none; saying how that run ended tells the reader how far to trust it.
    unsure = upstream.run not in (None, "success")
    ending = ["", f"Last run of {name}: {upstream.run}"] if unsure else []
    return [f"## {title}", "", *content, *ending, ""]


def digest(upstream: Callable[[str], Upstream]) -> str:
    """The page. A plugin nobody has data from is named, not left out."""
    page = ["# Daily digest", ""]
    for name, title, lines in SECTIONS:
        page += _section(name, title, lines, upstream(name))
    return "\n".join(page)
