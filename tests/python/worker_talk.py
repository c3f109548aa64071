"""What a test says to a worker in the place of an engine, and what it hears."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any, Callable, Optional

from conftest import ROOT
from warpline import _native

LIMIT = 60.0
SECRET = "hunter2-hunter2"

#: What an engine answers when nothing is remarkable.
ANSWERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "begin": lambda _: True,
    "prints": lambda _: True,
    "print": lambda ask: ask["text"].replace(SECRET, "[redacted]"),
    "release": lambda _: "",
    "redact": lambda ask: ask["text"].replace(SECRET, "[redacted]"),
}


class Worker:
    """A worker that a test drives. `answers` stand in the place of the usual ones; None withholds one."""

    def __init__(
        self,
        *arguments: str,
        answers: Optional[dict[str, Callable[[dict[str, Any]], Any]]] = None,
        stderr: Optional[int] = None,
        cwd: Optional[Path] = None,
        program: tuple[str, ...] = (sys.executable,),
        **environment: str,
    ) -> None:
        self.answers = {**ANSWERS, **(answers or {})}
        self.asked: list[dict[str, Any]] = []
        #: Everything else that was said.
        self.said: list[dict[str, Any]] = []
        self._heard: queue.SimpleQueue[Optional[dict[str, Any]]] = queue.SimpleQueue()
        self.process = subprocess.Popen(
            [*program, "-c", _native.WORKER_START, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if stderr is None else stderr,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "python"), **environment},
            cwd=cwd,
            start_new_session=True,
        )
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(LIMIT)
        self._listening.join(LIMIT)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _stream(self, stream: Optional[IO[bytes]]) -> IO[bytes]:
        assert stream is not None
        return stream

    def _listen(self) -> None:
        try:
            for line in self._stream(self.process.stdout):
                message: dict[str, Any] = json.loads(line)
                if message["kind"] == "ask":
                    self.asked.append(message)
                    answer = self.answers[message["what"]](message)
                    if answer is not WITHHELD:
                        self.answer(message, answer)
                else:
                    self.said.append(message)
                    self._heard.put(message)
        except BrokenPipeError:
            pass  # it has ended meanwhile
        finally:
            self._heard.put(None)

    def say(self, **message: Any) -> None:
        stream = self._stream(self.process.stdin)
        stream.write(json.dumps(message).encode() + b"\n")
        stream.flush()

    def answer(self, ask: dict[str, Any], value: Any) -> None:
        self.say(kind="answer", ask=ask["ask"], value=value)

    def hear(self, kind: str) -> dict[str, Any]:
        """The next message of a kind; what comes before it is passed over."""
        end = time.monotonic() + LIMIT
        while True:
            message = self._heard.get(timeout=max(end - time.monotonic(), 0.01))
            assert message is not None, f"it ended before it said `{kind}`: {self.said}"
            if message["kind"] == kind:
                return message

    def asked_for(self, what: str) -> dict[str, Any]:
        """Waits until something was asked."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            for ask in self.asked:
                if ask["what"] == what:
                    return ask
            time.sleep(0.005)
        raise AssertionError(f"`{what}` was not asked")

    def begin(self, call: int, directory: Path, **request: Any) -> None:
        """Starts an attempt, or what `kind` says."""
        plugin = {"name": directory.name, "directory": str(directory), "revision": "1"}
        caller = {"plugin": directory.name, "runId": "run"}
        secrets = request.pop("secrets", [])
        kind = request.pop("kind", "attempt")
        parts: dict[str, Any] = {
            "manifests": {"plugins": [plugin]},
            "handler": {"plugin": plugin, "secrets": secrets},
            "attempt": {
                "plugin": plugin,
                "attempt": 1,
                "manifest": {"name": directory.name},
                "args": {},
                "context": {"caller": caller, "secrets": secrets, "dependencies": {}},
            },
        }[kind]
        common = {"kind": kind, "operation": 9, "invocation": call, "prints": True}
        self.say(kind="start", call=call, request={**common, **parts, **request})

    def run(self, directory: Path, call: int = 1, **request: Any) -> dict[str, Any]:
        """Runs it to its end and gives what was said of it."""
        self.begin(call, directory, **request)
        return self.hear("complete")

    def end(self) -> tuple[int, str]:
        """Ends its input; gives how it ended and what it wrote to standard error."""
        self._stream(self.process.stdin).close()
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Waits for its end."""
        code = self.process.wait(LIMIT)
        shown = b"" if self.process.stderr is None else self.process.stderr.read()
        return code, shown.decode()


#: For an answer that does not come.
WITHHELD = object()
