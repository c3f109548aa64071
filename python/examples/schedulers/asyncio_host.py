"""A task that advances a home in a program with an event loop, which goes on turning meanwhile.

python asyncio_host.py --home /srv/monitor/.warpline --every 900
"""

from __future__ import annotations

import asyncio
import signal

import warpline
from one_advance import arguments, ended, monitor, options, refused
from warpline import aio


async def tick(stop: asyncio.Event, seconds: float) -> None:
    while not stop.is_set():
        try:
            ended(await aio.run_advance(**options(stop)))
        except warpline.WarplineError as error:
            refused(error)
        try:
            await asyncio.wait_for(stop.wait(), seconds)
        except asyncio.TimeoutError:
            pass  # time for the next one


async def main() -> None:
    given = arguments()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await tick(stop, given.every)
    monitor.info("stopped")


if __name__ == "__main__":
    asyncio.run(main())
