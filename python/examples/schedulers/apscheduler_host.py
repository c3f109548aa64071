"""Advances a home from APScheduler 3.

python apscheduler_host.py --home /srv/monitor/.warpline --every 900
"""

from __future__ import annotations

import signal
import threading
from datetime import datetime

from apscheduler.schedulers.background import BackgroundScheduler
from one_advance import arguments, monitor, one_advance


def main() -> None:
    given = arguments()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    # With a BlockingScheduler the main thread sits inside it, and a handler of a signal would have to
    # take its locks to stop it. In the background, the main thread waits for the signal alone.
    scheduler = BackgroundScheduler()
    scheduler.add_job(
        one_advance,
        "interval",
        args=[stop],
        id="advance",
        seconds=given.every,
        next_run_time=datetime.now().astimezone(),
        max_instances=1,  # a tick during an advance is left out
        coalesce=True,  # ticks that were slept through are made up for once
        misfire_grace_time=None,  # however late that is: what is due is decided by `ttl_hours`
    )
    scheduler.start()
    # From time to time it looks for itself: another thread may have taken a signal that was sent while
    # the process stood still.
    while not stop.wait(1):
        pass
    scheduler.shutdown(wait=True)
    monitor.info("stopped")


if __name__ == "__main__":
    main()
