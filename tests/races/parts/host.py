"""A Python host that advances several times, and says before and after each what it does: host.py OPERATION JSON."""

import json
import os
import sys
import threading
import time
from typing import Any

import warpline


def say(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def now() -> int:
    return int(time.time() * 1000)


operation, text = sys.argv[1:]
for number, asked in enumerate(json.loads(text)):
    name = f"{operation}.{number}"
    os.environ["RACE_OPERATION"] = name
    over = threading.Event()
    if asked["abortAfter"] is not None:
        timer = threading.Timer(asked["abortAfter"] / 1000, over.set)
        timer.daemon = True
        timer.start()
    say(id=name, begin=now(), force=asked["force"])
    try:
        done = warpline.run_advance(force=asked["force"], signal=over)
        say(
            id=name,
            end=now(),
            run_id=done.run_id,
            status=done.status,
            run_log_path=done.run_log_path,
            plugin_entries=done.plugin_entries,
        )
    except warpline.WarplineError as error:
        say(id=name, end=now(), code=error.code, message=str(error), hint=error.hint)
