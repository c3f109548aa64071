"""The rules: what a row is, which rows are kept, and what a week of them comes to."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta, timezone
from typing import Any, Optional, TypedDict, Union


class Row(TypedDict):
    at: str
    name: str
    value: float


class Week(TypedDict):
    #: Its Monday, in UTC.
    week: str
    name: str
    count: int
    sum: float
    min: float
    max: float
    mean: float


NAME = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
AT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T([01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z)?")
#: Keeps the Output far below the size that an inline body may have.
LINES = 80


def to_instant(text: object) -> Optional[str]:
    """The instant as the runtime writes instants; None for anything else than a date or a UTC time."""
    if not isinstance(text, str) or not AT.fullmatch(text):
        return None
    try:
        at = datetime.fromisoformat(text.replace("Z", ""))
    except ValueError:
        return None
    return f"{at.isoformat(timespec='milliseconds')}Z"


def _moment(at: str) -> datetime:
    return datetime.fromisoformat(at.replace("Z", "+00:00"))


def _to_row(item: object) -> Optional[Row]:
    if not isinstance(item, dict):
        return None
    at, name, number = to_instant(item.get("at")), item.get("name"), item.get("value")
    if at is None or not isinstance(name, str) or not NAME.fullmatch(name):
        return None
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return None
    try:
        value = float(number)
    except OverflowError:
        return None
    return {"at": at, "name": name, "value": value} if math.isfinite(value) else None


def to_rows(value: object) -> Union[list[Row], int, None]:
    """The rows of a list, or the number of the first item that is none, from 1; None for no list."""
    if not isinstance(value, list):
        return None
    rows: list[Row] = []
    for number, item in enumerate(value, 1):
        row = _to_row(item)
        if row is None:
            return number
        rows.append(row)
    return rows


def retain(kept: list[Row], fresh: list[Row], days: float, now: datetime) -> list[Row]:
    """One row for each moment and metric, the fresh one where both have it, none older than `days`."""
    rows = {(row["at"], row["name"]): row for row in [*kept, *fresh]}
    oldest = now - timedelta(days=days)
    return [row for key, row in sorted(rows.items()) if _moment(key[0]) >= oldest]


def sample_rows(now: datetime) -> list[Row]:
    """A row for each of the last three weeks' days, to have something to look at before there are readings."""
    days = (now.date() - timedelta(days=20 - index) for index in range(21))
    return [
        {"at": f"{day.isoformat()}T00:00:00.000Z", "name": "sample", "value": 50.0 + index}
        for index, day in enumerate(days)
    ]


def monday_of(at: str) -> str:
    day = date.fromisoformat(at[:10])
    return (day - timedelta(days=day.weekday())).isoformat()


def _total(values: list[float]) -> float:
    """One after the other; `sum` of newer versions is more exact than any other language's addition."""
    total = 0.0
    for value in values:
        total += value
    return total


def _mean(total: float, count: int) -> float:
    """Two decimals are as exact as a mean is read."""
    return math.floor(total / count * 100 + 0.5) / 100


def roll_up(rows: list[Row]) -> dict[str, Any]:
    """Newest week first, metrics by name; what is beyond the limit is counted."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        values.setdefault((monday_of(row["at"]), row["name"]), []).append(row["value"])
    weeks: list[Week] = [
        {
            "week": week,
            "name": name,
            "count": len(found),
            "sum": _total(found),
            "min": min(found),
            "max": max(found),
            "mean": _mean(_total(found), len(found)),
        }
        for (week, name), found in sorted(values.items())
    ]
    weeks.sort(key=lambda line: line["week"], reverse=True)
    return {"weeks": weeks[:LINES], "omitted": max(0, len(weeks) - LINES)}


def utc_now() -> datetime:
    return datetime.now(timezone.utc)
