"""Shows: building on several plugins. A part without data is named in the page and not left out,
and how its last run ended stands beside data that may be older than that run."""

from __future__ import annotations

from typing import Any

from digest import Upstream, digest
from warpline import Capabilities, Manifest, Signal, SkillResult, skill_ok


def handler(
    manifest: Manifest, args: dict[str, Any], signal: Signal, capabilities: Capabilities
) -> SkillResult:
    caller, dependencies = capabilities.caller, capabilities.dependencies

    def upstream(name: str) -> Upstream:
        return Upstream(dependencies.last_output(caller, name), dependencies.last_run(caller, name))

    dates: dict[str, str] = {}
    for name in manifest["dependencies"]:
        output = upstream(name).output
        if output is not None and "produced_at" in output:
            dates[name] = output["produced_at"]
    total = len(manifest["dependencies"])
    missing = total - len(dates)
    return skill_ok(
        f"{missing} of {total} parts without data" if missing else "all parts present",
        phases_completed=[manifest["name"]],
        data_freshness=dates,
        artifacts_produced=[{"type": "digest", "format": "markdown", "body": digest(upstream)}],
    )
