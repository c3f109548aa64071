from __future__ import annotations

import json
from datetime import date, datetime, timezone
from typing import Any, Optional

from warpline import Capabilities, Manifest, Signal, SkillResult, skill_failure, skill_ok


def days_until(text: str, today: date) -> Optional[int]:
    """The days from one day to another; None for a text that is no date."""
    try:
        return (datetime.strptime(text, "%Y-%m-%d").date() - today).days
    except ValueError:
        return None


def countdown(name: str, text: str, now: datetime) -> SkillResult:
    """What is reported. It is told the time, so that a test can tell it as well."""
    days = days_until(text, now.date())
    if days is None:
        # Names the input and the shape, never the value: a result ends up in logs.
        message = "input `date` must be a date, YYYY-MM-DD"
        return skill_failure("parse_error", message, phases_failed=[name])
    return skill_ok(
        f"{days} days left",
        phases_completed=[name],
        data_freshness={"clock": now.isoformat()},
        artifacts_produced=[
            {"type": "countdown", "format": "json", "body": json.dumps({"days": days})}
        ],
    )


def handler(
    manifest: Manifest, args: dict[str, Any], signal: Signal, capabilities: Capabilities
) -> SkillResult:
    if signal.aborted:  # look again wherever something takes long
        raise InterruptedError(f"stopped: {signal.reason}")
    return countdown(manifest["name"], args["date"], datetime.now(timezone.utc))
