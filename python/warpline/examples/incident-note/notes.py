"""What a note is called and what it says."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, Mapping, Optional

from warpline.unstable_fs import json_text

# Both become part of a file name, so neither may hold a separator or begin with a dot.
LIMIT = re.compile(r"[a-z][a-z0-9_]*")
RUN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


def _is_instant(text: object) -> bool:
    try:
        datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return False
    return isinstance(text, str)


def _is_breach(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    limit, reading, since_run = value.get("limit"), value.get("reading"), value.get("since_run")
    return (
        isinstance(limit, str)
        and LIMIT.fullmatch(limit) is not None
        and isinstance(reading, (int, float))
        and not isinstance(reading, bool)
        and _is_instant(value.get("since"))
        and isinstance(since_run, str)
        and RUN.fullmatch(since_run) is not None
    )


def to_breaches(body: Optional[str]) -> Optional[list[dict[str, Any]]]:
    """The breaches of an anomaly-watch Output body; None for any other text."""
    try:
        value = json.loads(body or "")
    except ValueError:
        return None
    breached = value.get("breached") if isinstance(value, dict) else None
    if isinstance(breached, list) and all(map(_is_breach, breached)):
        return breached
    return None


def note_name(breach: Mapping[str, Any]) -> str:
    """The same for as long as a breach stands, so that a second run finds the note of the first."""
    return f"{breach['limit']}-{breach['since_run']}.md"


def note_text(breach: Mapping[str, Any]) -> str:
    return "\n".join(
        [
            f"# {breach['limit']}",
            "",
            f"- First seen: {breach['since']}",
            f"- Seen by run: {breach['since_run']}",
            f"- Reading when this note was written: {json_text(breach['reading'])}",
            f"- The limit: input `{breach['limit']}` of `anomaly-watch`",
            "",
            "## What was done",
            "",
            "",
        ]
    )
