"""Shows: reading a machine. Nothing is written and nothing declared; where the readings come from
is an input, so that a test supplies fixed ones, and a file that cannot be read is named by its
input, never by its path."""

from __future__ import annotations

import errno
import os
from datetime import datetime, timezone
from typing import Any, Callable, Literal, Optional, TypeVar

from readings import (
    Space,
    parse_cpus,
    parse_disk,
    parse_loadavg,
    parse_meminfo,
    parse_uptime,
    space,
    to_readings,
)
from warpline import Capabilities, Manifest, Signal, SkillResult, skill_failure, skill_ok
from warpline.unstable_fs import json_text

T = TypeVar("T")


class NoReading(Exception):
    """What stops this plugin without being its fault: it becomes a failed result."""

    def __init__(
        self, code: Literal["data_missing", "parse_error"], message: str, absent: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.absent = absent


def missing(what: str, error: OSError) -> NoReading:
    """Names the file and the input, never the directory: that is what an operator configured, and a
    result ends up in logs."""
    name = errno.errorcode.get(error.errno or 0, "EIO")
    return NoReading("data_missing", f"{what} cannot be read ({name})", name == "ENOENT")


def read(source: str, file: str, parse: Callable[[str], Optional[T]]) -> T:
    what = f"file `{file}` of input `source`"
    try:
        with open(os.path.join(source, file), encoding="utf-8", errors="replace") as opened:
            text = opened.read()
    except OSError as error:
        raise missing(what, error) from error
    value = parse(text)
    if value is None:
        raise NoReading("parse_error", f"{what} is not in the layout of /proc")
    return value


def read_disk(source: str, path: str) -> Space:
    try:
        return read(source, "disk", parse_disk)
    except NoReading as error:
        if not error.absent:
            raise
    try:
        stats = os.statvfs(path)
    except OSError as error:
        raise missing("input `disk_path`", error) from error
    measured = space(stats.f_blocks * stats.f_frsize, stats.f_bavail * stats.f_frsize)
    if measured is None:
        raise NoReading("data_missing", "input `disk_path` is on a file system without a size")
    return measured


def handler(
    manifest: Manifest, args: dict[str, Any], signal: Signal, capabilities: Capabilities
) -> SkillResult:
    source: str = args["source"]  # the runtime checked both against the manifest
    disk_path: str = args["disk_path"]
    try:
        load = read(source, "loadavg", parse_loadavg)
        cpus = read(source, "stat", parse_cpus)
        memory = read(source, "meminfo", parse_meminfo)
        disk = read_disk(source, disk_path)
        uptime = read(source, "uptime", parse_uptime)
    except NoReading as error:
        return skill_failure(error.code, str(error), phases_failed=[manifest["name"]])
    readings: dict[str, Any] = to_readings(load, cpus, memory, disk, uptime)
    summary = (
        f"load {json_text(load.one)}, memory {json_text(readings['memory']['used_percent'])} %, "
        f"disk {json_text(readings['disk']['used_percent'])} % used"
    )
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return skill_ok(
        summary,
        phases_completed=[manifest["name"]],
        data_freshness={"readings": now},
        artifacts_produced=[
            {"type": "host-metrics", "format": "json", "body": json_text(readings)}
        ],
    )
