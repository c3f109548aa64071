"""Plays what `behaviour.json` beside a plugin's modules says, for plugins in Python."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any, Callable


def play(module: str) -> Callable[..., Any]:
    """The handler of the plugin that this module belongs to."""
    directory = Path(module).parent

    async def handler(manifest: Any, args: Any, signal: Any, capabilities: Any) -> Any:
        behaviour = json.loads((directory / "behaviour.json").read_text(encoding="utf-8"))
        called = Path(behaviour["calls"], behaviour["name"])
        called.parent.mkdir(parents=True, exist_ok=True)
        with called.open("a") as calls:
            calls.write(".")
        size, does = called.stat().st_size, behaviour["does"]
        now = does[min(size, len(does)) - 1]
        for line in now.get("prints", []):
            print(line)
        for path, text in now.get("writes", {}).items():
            Path(os.environ["WARPLINE_HOME"], path).write_text(text, encoding="utf-8")
        if "sleeps" in now:
            await asyncio.sleep(now["sleeps"] / 1000)
        holds = now.get("holds", [])
        marks = [called.with_name(mark) for mark in ([holds] if isinstance(holds, str) else holds)]
        while not all(mark.exists() for mark in marks):
            await asyncio.sleep(0.01)
        if now.get("waits"):
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                if now.get("tells"):
                    called.with_name(f"{called.name}.aborted").touch()
                if not now.get("deaf"):
                    raise

        def fill(text: str) -> str:
            def value(found: re.Match[str]) -> str:
                kind, _, key = found[1].partition(".")
                return FILLERS[kind](key, args, capabilities)

            return re.sub(r"\$\{(\w+(?:\.[^}]*)?)\}", value, text)

        if "throws" in now:
            upset(fill(now["throws"]))
        return None if now.get("nothing") else _filled(now["returns"], fill)

    return handler


def upset(text: str) -> None:
    """Raises `Kind: message`, so that the text of what is raised is just this."""
    kind, _, message = text.partition(": ")
    raise type(kind, (Exception,), {})(message)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _shown(value: object) -> str:
    return value if isinstance(value, str) else _compact(value)


def _output(key: str, _: Any, capabilities: Any) -> str:
    output = capabilities.dependencies.last_output(capabilities.caller, key)
    return "null" if output is None else output.get("body", output.get("path"))


#: What `${kind.key}` in a text of a result stands for.
FILLERS: dict[str, Callable[[str, Any, Any], str]] = {
    "arg": lambda key, args, _: _shown(args.get(key)),
    "args": lambda _, args, __: _compact(args),
    "bytes": lambda key, _, __: "x" * int(key),
    "output": _output,
    "plugin": lambda _, __, given: given.caller.plugin,
    "run": lambda key, _, given: _shown(given.dependencies.last_run(given.caller, key)),
    "secret": lambda key, _, __: os.environ[key],
    "secrets": lambda _, __, given: " ".join(given.secrets.resolved_names(given.caller)),
}


def _filled(value: Any, fill: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return fill(value)
    if isinstance(value, list):
        return [_filled(item, fill) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, fill) for key, item in value.items()}
    return value
