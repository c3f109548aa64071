"""Shows: an effect that is asked about twice. It needs a grant to write files and its result waits
for an answer; a file that is there already may hold what a person added, and stays."""

from __future__ import annotations

from typing import Any

from notes import note_name, note_text, to_breaches
from warpline import (
    Capabilities,
    Manifest,
    Signal,
    SkillResult,
    skill_failure,
    skill_ok,
    warpline_home,
)
from warpline.unstable_fs import atomic_write_text


def handler(
    manifest: Manifest, args: dict[str, Any], signal: Signal, capabilities: Capabilities
) -> SkillResult:
    name = manifest["name"]
    upstream = capabilities.dependencies.last_output(capabilities.caller, "anomaly-watch")
    if upstream is None:
        return skill_failure("data_missing", "no data from `anomaly-watch`", phases_failed=[name])
    breaches = to_breaches(upstream.get("body"))
    if breaches is None:
        return skill_failure(
            "parse_error",
            "the body of the last `anomaly-watch` Output holds no breaches",
            phases_failed=[name],
        )

    folder = warpline_home() / "notes"
    paths: list[str] = []
    written = 0
    stopped = False
    try:
        for breach in breaches:
            if signal.aborted:
                raise InterruptedError(f"stopped: {signal.reason}")
            path = folder / note_name(breach)
            # A note that is there already may hold what a person added since.
            if not path.exists():
                atomic_write_text(path, note_text(breach))
                written += 1
            paths.append(str(path))
    except Exception:
        # Nothing was changed: an ordinary failure. Otherwise the notes that exist must stay on record.
        if written == 0:
            raise
        stopped = True

    result = skill_ok(
        f"{written} written, {len(paths) - written} there before, of {len(breaches)} breached",
        phases_completed=[name],
        data_freshness={"anomaly-watch": upstream.get("produced_at", "")},
        artifacts_produced=[{"type": "incident-note", "path": path} for path in paths],
    )
    if paths:
        # Every standing note, not only today's: a later result takes the place of one that still waits for an answer.
        result["reversible"] = True
        result["undo_instruction"] = f"delete {', '.join(paths)}"
    if stopped:
        result["status"] = "partial"
        result["phases_completed"] = []
        result["phases_failed"] = [name]
    return result
