"""A program that uses the package as its types say. It is type-checked, not run."""

import asyncio
import threading
from pathlib import Path
from typing import Optional

import warpline
from warpline import aio, reports, schemas, testing, unstable_fs


def on_end(plugin: str, state: warpline.PluginState, elapsed: int, reason: Optional[str]) -> None:
    print(plugin, state, elapsed, reason)


def host(home: Path) -> str:
    stop = threading.Event()
    result = warpline.run_advance(
        force=True, profile="daily", plugins_dir=home, signal=stop, on_plugin_end=on_end
    )
    for entry in result.plugin_entries:
        if "result" in entry:
            for error in entry["result"]["errors"]:
                print(error["code"], error["retryable"])
    granted: warpline.Granted = {"granted": True, "scope": "*"}
    one = warpline.invoke_plugin("p", {"x": 1}, witness=granted, max_retries_override=0)
    for due in warpline.plan(profile=None)["not_due"]:
        print(due["reason"], due["side_effects"])
    loaded = warpline.load_plugin_manifests(str(home))
    for manifest in loaded.manifests.values():
        print(manifest["ttl_hours"] + 1, manifest["side_effects"])
    try:
        warpline.warpline_home().exists()
    except warpline.WarplineError as refused:
        print(refused.code, refused.hint)
    return one.result["summary"]


async def hosted() -> warpline.AdvanceStatus:
    stop = asyncio.Event()

    async def on_start(plugin: str) -> None:
        await asyncio.sleep(0)

    result = await aio.run_advance(signal=stop, on_plugin_start=on_start, on_plugin_end=on_end)
    one = await aio.invoke_plugin("p", witness={"granted": False, "reason": "manual-run"})
    print(one.attempts[0]["error"], (await aio.plan())["tier"])
    print((await aio.load_plugin_manifests()).failures)
    return result.status


def handler(
    manifest: warpline.Manifest,
    args: dict[str, object],
    signal: warpline.Signal,
    capabilities: warpline.Capabilities,
) -> warpline.SkillResult:
    last = capabilities.dependencies.last_output(capabilities.caller, "other")
    if signal.aborted or signal.wait(0.1):
        return warpline.skill_failure("timeout", "too late", retryable=True)
    if last is None:
        return warpline.skill_handoff("read it", "context.md")
    return warpline.skill_ok(manifest["name"], artifacts_produced=[{"type": "t", "body": "b"}])


def read(state: warpline.EngineState, report: reports.StatusReport) -> list[str]:
    gates = [gate["plugin_result"]["summary"] for gate in state["pending_gates"]]
    grant = report["grant"]
    print(None if grant is None else grant["scopes"], schemas.json_schema("engine-state")["type"])
    unstable_fs.atomic_write_json("x.json", unstable_fs.read_json_or_null("y.json"))
    with testing.open_test_home(".") as home:
        print(home.run("p").result["status"])
    return gates
