"""A command on a pseudo-terminal, as a person sees it and types into it."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time
from pathlib import Path
from typing import Callable, Optional, Sequence

from conftest import ROOT

LIMIT = 60.0

COMMANDS = {
    "python": [sys.executable, "-m", "warpline"],
    "node": [shutil.which("node") or "node", str(ROOT / "npm" / "bin" / "warpline.cjs")],
}


class Terminal:
    """A command on a pseudo-terminal, and what it has shown."""

    def __init__(
        self, command: Sequence[str], cwd: Path, environment: dict[str, str], columns: int
    ):
        self.text = ""
        self._seen = 0
        # What is read at once may end in the middle of a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.code: Optional[int] = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                size = struct.pack("HHHH", 24, columns, 0, 0)
                fcntl.ioctl(1, termios.TIOCSWINSZ, size)
                os.chdir(cwd)
                os.execvpe(command[0], list(command), environment)
            finally:
                os._exit(127)

    def read_until(self, there: Callable[[str], bool]) -> None:
        end = time.monotonic() + LIMIT
        while not there(self.text):
            left = end - time.monotonic()
            assert left > 0, f"not shown in time: {self.text!r}"
            assert self._read(left), f"ended before it was shown: {self.text!r}"

    def wait_for(self, text: str) -> None:
        """Reads until this stands behind all that was waited for before."""
        self.read_until(lambda shown: text in shown[self._seen :])
        self._seen = self.text.index(text, self._seen) + len(text)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self) -> int:
        while self._read(LIMIT):
            pass
        os.close(self.master)
        _, status = os.waitpid(self.pid, 0)
        self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            os.kill(self.pid, signal.SIGKILL)
            raise AssertionError(f"nothing more is shown: {self.text!r}")
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the last process has closed the other side
            return False
        self.text += self._decoder.decode(data)
        return bool(data)

    def screen(self) -> list[str]:
        """The lines as they stand there now, without colours."""
        lines = [""]
        text = re.sub(r"\x1b\[\d*m", "", self.text)
        for part in re.findall(r"\r\n|\r|\n|\x1b\[2K|[^\r\n\x1b]+", text):
            if part == "\x1b[2K":
                lines[-1] = ""
            elif part.endswith("\n"):
                lines.append("")
            elif part != "\r":
                lines[-1] += part
        return lines
