"""Uses that the types refuse: every line that ends in `# wrong` is an error, and no other is."""

import asyncio

import warpline
from warpline import aio, reports, schemas

NO: warpline.NotGranted = {"granted": False, "reason": "manual-run"}

warpline.invoke_plugin("p")  # wrong
warpline.invoke_plugin("p", witness={"granted": True})  # wrong
warpline.invoke_plugin("p", witness={"granted": False, "reason": "because"})  # wrong
warpline.invoke_plugin("p", witness=NO, persistArtifact=True)  # wrong
warpline.invoke_plugin(5, witness=NO)  # wrong
warpline.run_advance(profil="daily")  # wrong
warpline.run_advance(profile="hourly")  # wrong
warpline.run_advance("plugins")  # wrong
warpline.run_advance(signal=5)  # wrong
warpline.run_advance(on_plugin_start=lambda plugin, more: None)  # wrong
warpline.run_advance(approval_path=5)  # wrong
warpline.plan(force=True)  # wrong
warpline.plan()["dew"]  # wrong
print(warpline.run_advance().state)  # wrong
warpline.grant("p")  # wrong
warpline.Manifest(name="p")  # wrong
warpline.PluginManifest.parse("p")  # wrong
warpline.skill_ok()  # wrong
schemas.json_schema(5)  # wrong
quiet: warpline.Preferences = {"reviewgate": True}  # wrong
output: warpline.OutputRecord = {"type": "t", "format": "pdf"}  # wrong
ack: reports.RevokeReport = {"revoked": "yes"}  # wrong
result: warpline.SkillResult = {"status": "fine"}  # wrong


async def main() -> None:
    await aio.invoke_plugin("p")  # wrong
    await aio.run_advance(profile="hourly")  # wrong
    await aio.run_advance(forced=True)  # wrong
    number: int = await aio.plan()  # wrong
    print(number, aio.run_advance().status)  # wrong


asyncio.run(main())
