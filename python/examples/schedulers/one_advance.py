"""One advance of a home, as each of the schedulers beside this file makes it."""

from __future__ import annotations

import argparse
import logging
import os
from pathlib import Path
from typing import Any, Callable, Optional

import warpline

monitor = logging.getLogger("monitor")


def alert(text: str) -> None:
    """Tells a person that an advance did not end complete. Put your pager or your mail in here."""
    monitor.critical("ALERT %s", text)


def one_advance(
    stop: warpline.CancelSignal, log: Any = monitor, alert: Callable[[str], object] = alert
) -> str:
    """Runs what is due until it ends, or `stop` is set. Blocks the thread that it is called on.

    Returns `complete`, `partial`, `failed` or `interrupted`; `busy` where another advance of the home
    is at work, which is no failure, as the next tick will do; `refused` where it could not begin.
    """
    try:
        return ended(warpline.run_advance(**options(stop, log, alert)), log)
    except warpline.WarplineError as error:
        return refused(error, log, alert)


def options(
    stop: warpline.CancelSignal, log: Any = monitor, alert: Callable[[str], object] = alert
) -> dict[str, Any]:
    """What an advance is told: when to stop, and to whom it tells what."""
    return {
        "signal": stop,
        "on_plugin_end": lambda plugin, state, _, why: log.info(f"{plugin} {state} {why or ''}"),
        "on_run_failure": alert,
    }


def ended(result: warpline.AdvanceResult, log: Any = monitor) -> str:
    for plugin in result.gated_plugins:
        log.warning(f"{plugin} waits for an answer: warpline approve {plugin}, or deny")
    log.info(f"run {result.run_id} is {result.status}")
    return result.status


def refused(
    error: warpline.WarplineError, log: Any = monitor, alert: Callable[[str], object] = alert
) -> str:
    if isinstance(error, warpline.LockedError):
        log.info("another advance is at work: the next tick will do")
        return "busy"
    alert(f"the advance could not begin: {error}")
    return "refused"


def prepare(home: Path, secrets: Optional[Path]) -> None:
    """Gives this process its home and, from lines such as `API_TOKEN=...`, the secrets of plugins."""
    os.environ["WARPLINE_HOME"] = str(home.resolve())
    for line in secrets.read_text().splitlines() if secrets else ():
        name, found, value = line.partition("=")
        if found and not name.startswith("#"):
            os.environ[name] = value


def arguments() -> argparse.Namespace:
    """What each of these programs is told: the home, the file of secrets, how often it ticks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--secrets", type=Path)
    parser.add_argument("--every", type=float, default=900, metavar="SECONDS")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    prepare(given.home, given.secrets)
    return given
