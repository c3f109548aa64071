"""A thread that advances a home until the process is told to stop, beside whatever else it does.

python thread_host.py --home /srv/monitor/.warpline --every 900
"""

from __future__ import annotations

import signal
import threading

from one_advance import arguments, monitor, one_advance


def tick(stop: threading.Event, seconds: float) -> None:
    while not stop.is_set():
        one_advance(stop)
        stop.wait(seconds)


def main() -> None:
    given = arguments()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    # No daemon: the process must not end before the advance that was interrupted is recorded.
    ticking = threading.Thread(target=tick, args=(stop, given.every), name="advances")
    ticking.start()
    # The main thread is free, and hears the signals.
    # From time to time it looks for itself: another thread may have taken a signal that was sent while
    # the process stood still.
    while not stop.wait(1):
        pass
    ticking.join()
    monitor.info("stopped")


if __name__ == "__main__":
    main()
