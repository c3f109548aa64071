"""The rules: which reading each limit watches, and what changed since the last look."""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional

LIMITS = (
    "load_per_cpu_max",
    "memory_used_max_percent",
    "disk_used_max_percent",
    "uptime_min_seconds",
)

#: When a standing breach was first seen, and by which run: `{since, since_run}`.
Since = dict[str, str]


def is_breached(limit: str, reading: float, bound: float) -> bool:
    """A reading equal to its limit is within it."""
    return reading < bound if limit == "uptime_min_seconds" else reading > bound


def report(
    current: Mapping[str, float],
    bounds: Mapping[str, float],
    before: Mapping[str, Since],
    now: Since,
) -> dict[str, list[Any]]:
    """A breach that stood before keeps its beginning, however often it is seen again."""
    breached = [limit for limit in LIMITS if is_breached(limit, current[limit], bounds[limit])]
    return {
        # The bounds stay out: they are configuration, and a report ends up in run logs.
        "breached": [
            {"limit": limit, "reading": current[limit], **before.get(limit, now)}
            for limit in breached
        ],
        "newly_breached": [limit for limit in breached if limit not in before],
        "cleared": [limit for limit in LIMITS if limit in before and limit not in breached],
    }


def standing(result: Mapping[str, list[Any]]) -> dict[str, Since]:
    """What the next run compares with."""
    return {
        breach["limit"]: {"since": breach["since"], "since_run": breach["since_run"]}
        for breach in result["breached"]
    }


def to_current(body: Optional[str]) -> Optional[dict[str, float]]:
    """The four readings of a host-metrics Output body; None for any other text."""
    try:
        value = json.loads(body or "")
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None

    def part(key: str) -> dict[str, Any]:
        found = value.get(key)
        return found if isinstance(found, dict) else {}

    current: dict[str, Any] = {
        "load_per_cpu_max": part("load").get("one_per_cpu"),
        "memory_used_max_percent": part("memory").get("used_percent"),
        "disk_used_max_percent": part("disk").get("used_percent"),
        "uptime_min_seconds": value.get("uptime_seconds"),
    }
    found = {limit: reading for limit, reading in current.items() if is_number(reading)}
    return found if len(found) == len(LIMITS) else None


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def to_standing(value: object) -> Optional[dict[str, Since]]:
    """The record of the run before: nothing yet (`{}`), or None for a file this plugin did not write."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        return None
    known = all(
        limit in LIMITS
        and isinstance(since, dict)
        and isinstance(since.get("since"), str)
        and isinstance(since.get("since_run"), str)
        for limit, since in value.items()
    )
    return value if known else None
