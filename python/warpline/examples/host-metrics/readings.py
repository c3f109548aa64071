"""Text of /proc in, numbers out. Every parser answers None for a text it does not recognise."""

from __future__ import annotations

import math
import re
from typing import NamedTuple, Optional


class Load(NamedTuple):
    one: float
    five: float
    fifteen: float


class Space(NamedTuple):
    total_bytes: float
    free_bytes: float


def _decimal(text: str) -> Optional[float]:
    return float(text) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) else None


def _round(number: float) -> int:
    """To the nearest integer, halves upwards."""
    return math.floor(number + 0.5)


def parse_loadavg(text: str) -> Optional[Load]:
    """`0.08 0.18 0.11 2/92 10706`: the averages over one, five and fifteen minutes."""
    averages = [_decimal(field) for field in text.split()[:3]]
    found = [average for average in averages if average is not None]
    return Load(*found) if len(found) == 3 else None


def parse_meminfo(text: str) -> Optional[Space]:
    """Lines like `MemTotal:       24684092 kB`. Free is what the kernel says a new program could get."""

    def bytes_of(key: str) -> Optional[float]:
        found = re.search(rf"^{key}:\s+([0-9]+) kB$", text, re.MULTILINE)
        return int(found[1]) * 1024 if found else None

    return space(bytes_of("MemTotal"), bytes_of("MemAvailable"))


def parse_uptime(text: str) -> Optional[float]:
    """`841.89 1558.91`: seconds since the start, seconds spent idle."""
    fields = text.split()
    return _decimal(fields[0]) if fields else None


def parse_cpus(text: str) -> Optional[int]:
    """One line `cpu0 ...` for each processor that the load averages are spread over."""
    return len(re.findall(r"^cpu[0-9]+ ", text, re.MULTILINE)) or None


def parse_disk(text: str) -> Optional[Space]:
    """`total_bytes free_bytes`, for a source that is not a live machine."""
    fields = text.split()
    return space(_decimal(fields[0]), _decimal(fields[1])) if len(fields) == 2 else None


def space(total: Optional[float], free: Optional[float]) -> Optional[Space]:
    """None for what cannot be a space: nothing at all, or more free than there is."""
    if total is None or free is None or total <= 0 or free > total:
        return None
    return Space(total, free)


def used_percent(part: Space) -> float:
    """One decimal is as exact as a limit ever needs."""
    return _round((1 - part.free_bytes / part.total_bytes) * 1000) / 10


def to_readings(
    load: Load, cpus: int, memory: Space, disk: Space, uptime: float
) -> dict[str, object]:
    """Puts the parts together and adds what is derived from them."""
    per_cpu = _round(load.one / cpus * 100) / 100
    return {
        "load": {**load._asdict(), "cpus": cpus, "one_per_cpu": per_cpu},
        "memory": {**memory._asdict(), "used_percent": used_percent(memory)},
        "disk": {**disk._asdict(), "used_percent": used_percent(disk)},
        "uptime_seconds": uptime,
    }
