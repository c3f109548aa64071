"""The signal that a handler is given: whether its answer is still wanted."""

from __future__ import annotations

import threading
from typing import Callable, Optional


class Signal:
    """Tells a handler that it is to stop.

    `reason` is None until then, and afterwards `timeout`, `cancelled` or `dropped`.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._reason: Optional[str] = None
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    @property
    def aborted(self) -> bool:
        """Whether the handler is to stop."""
        return self._event.is_set()

    @property
    def reason(self) -> Optional[str]:
        """Why it is to stop."""
        return self._reason

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits for it, at most `timeout` seconds; says whether it came. Not for async handlers,
        which are cancelled where they await."""
        return self._event.wait(timeout)

    def is_set(self) -> bool:
        """The same as `aborted`: a signal can be passed on as the `signal` of another advance."""
        return self._event.is_set()

    def _abort(self, reason: str) -> None:
        with self._lock:
            if self._event.is_set():
                return
            self._reason = reason
            self._event.set()
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener()

    def _on_abort(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls `listener` once it is to stop, until the returned function is called."""

        def forget() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        with self._lock:
            if not self._event.is_set():
                self._listeners.append(listener)
                return forget
        listener()
        return forget
