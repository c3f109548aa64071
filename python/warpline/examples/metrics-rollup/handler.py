"""Shows: a plugin with a memory. The rows it has seen stay in a file of its own for as long as the
operator wants, whatever becomes of the file they came from, and the Output is derived from them anew
each time."""

from __future__ import annotations

import errno
import json
from typing import Any, Optional

from rows import Row, retain, roll_up, sample_rows, to_instant, to_rows, utc_now
from warpline import (
    Capabilities,
    Manifest,
    Signal,
    SkillResult,
    WarplineError,
    skill_failure,
    skill_ok,
    warpline_home,
)
from warpline.unstable_fs import atomic_write_json, json_text, read_json_or_null


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def handler(
    manifest: Manifest, args: dict[str, Any], signal: Signal, capabilities: Capabilities
) -> SkillResult:
    name = manifest["name"]
    days: float = args["retention_days"]  # the runtime checked both types against the manifest
    source: Optional[str] = args.get("metrics_path")
    now = utc_now()

    if source == "":
        message = "input `metrics_path` must not be empty"
        return skill_failure("parse_error", message, phases_failed=[name])
    if not 0 < days <= 3660:
        message = "input `retention_days` must be above 0 and at most 3660"
        return skill_failure("parse_error", message, phases_failed=[name])

    def report(summary: str, rows: list[Row]) -> SkillResult:
        newest = rows[-1]["at"] if rows else to_instant(f"{now:%Y-%m-%dT%H:%M:%S}Z")
        body = json_text(roll_up(rows))
        return skill_ok(
            summary,
            phases_completed=[name],
            data_freshness={"metrics": newest or ""},
            artifacts_produced=[{"type": "metrics-rollup", "format": "json", "body": body}],
        )

    if source is None:
        # Not remembered: these rows are nobody's.
        rows = sample_rows(now)
        return report(f"a sample of {len(rows)} rows: `metrics_path` names no file yet", rows)

    try:
        text = (warpline_home() / source).read_text(encoding="utf-8")
    except OSError as error:
        # The system's own text would show the path, which is the operator's.
        code = errno.errorcode.get(error.errno or 0, "unknown")
        message = f"the file of input `metrics_path` cannot be read ({code})"
        return skill_failure("data_missing", message, phases_failed=[name])
    except ValueError:
        text = ""  # no UTF-8, hence no JSON
    fresh = to_rows(_parse(text))
    if not isinstance(fresh, list):
        what = (
            "is not a JSON array"
            if fresh is None
            else f"has no `{{at, name, value}}` at position {fresh} of its array"
        )
        message = f"the file of input `metrics_path` {what}"
        return skill_failure("parse_error", message, phases_failed=[name])

    file = f"state/{name}.json"
    try:
        memory = read_json_or_null(warpline_home() / file)
        kept = [] if memory is None else to_rows(memory)
    except (ValueError, WarplineError):
        kept = None
    if not isinstance(kept, list):
        message = f"file `{file}` of the home is not the record that `{name}` keeps"
        return skill_failure("parse_error", message, phases_failed=[name])
    if signal.aborted:
        raise InterruptedError(f"stopped: {signal.reason}")
    rows = retain(kept, fresh, days, now)
    atomic_write_json(warpline_home() / file, rows)
    return report(f"{len(fresh)} rows read, {len(rows)} kept", rows)
