"""Shows: comparing with what was. The limits are configuration, the readings are another plugin's
Output, and a breach keeps the moment it was first seen in a file of the plugin's own."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import Any

from limits import report, standing, to_current, to_standing
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


def handler(
    manifest: Manifest, args: dict[str, Any], signal: Signal, capabilities: Capabilities
) -> SkillResult:
    name = manifest["name"]
    upstream = capabilities.dependencies.last_output(capabilities.caller, "host-metrics")
    if upstream is None:
        return skill_failure("data_missing", "no data from `host-metrics`", phases_failed=[name])
    current = to_current(upstream.get("body"))
    if current is None:
        return skill_failure(
            "parse_error",
            "the body of the last `host-metrics` Output holds no readings",
            phases_failed=[name],
        )

    # What an earlier run of this plugin found is in no capability, so the breaches that stood are kept in a file of
    # its own, at a path no input can move. Nobody else reads or owns it: memory, not an effect to ask about.
    file = os.path.join("state", f"{name}.json")
    path = warpline_home() / file
    try:
        before = to_standing(read_json_or_null(path))
    except (ValueError, WarplineError):
        before = None
    if before is None:
        return skill_failure(
            "parse_error",
            f"file `{file}` of the home is not the record that `{name}` keeps",
            phases_failed=[name],
        )

    moment = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    now = {"since": moment, "since_run": capabilities.caller.run_id}
    result = report(current, args, before, now)
    if signal.aborted:
        raise InterruptedError(f"stopped: {signal.reason}")
    atomic_write_json(path, standing(result))
    counts = {key: len(found) for key, found in result.items()}
    return skill_ok(
        f"{counts['breached']} breached, {counts['newly_breached']} newly, {counts['cleared']} cleared",
        phases_completed=[name],
        data_freshness={"host-metrics": upstream.get("produced_at", moment)},
        artifacts_produced=[
            {"type": "anomaly-report", "format": "json", "body": json_text(result)}
        ],
    )
