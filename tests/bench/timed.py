"""Runs a command and prints as JSON {ok, wall, cpu, memory}: milliseconds, and the most it held, in KiB.

timed.py <file for its standard output> <command...>
"""

import json
import os
import sys
import time

CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def main() -> None:
    output, *command = sys.argv[1:]
    actions = [(os.POSIX_SPAWN_OPEN, 1, output, CREATE, 0o600)]
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    wall = (time.perf_counter() - start) * 1000
    cpu = (used.ru_utime + used.ru_stime) * 1000
    print(json.dumps({"ok": status == 0, "wall": wall, "cpu": cpu, "memory": used.ru_maxrss}))


main()
