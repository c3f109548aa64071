"""Callers that await their operations: each is told on its own loop, by the thread that dispatches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Optional

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop


class _Caller:
    def __init__(
        self,
        loop: AbstractEventLoop,
        tell: Callable[[str, str], None],
        interrupt: Callable[[], None],
        end: Callable[[], None],
    ) -> None:
        self.loop = loop
        #: Takes what is told and its JSON, on the loop.
        self.tell = tell
        #: Interrupts the operation.
        self.interrupt = interrupt
        #: Lets go of the operation.
        self.end = end


#: By the number of the operation.
_callers: dict[int, _Caller] = {}


def listen(
    number: int,
    loop: AbstractEventLoop,
    tell: Callable[[str, str], None],
    interrupt: Callable[[], None],
    end: Callable[[], None],
) -> None:
    """Makes the caller of an operation known, before the operation is opened."""
    _callers[number] = _Caller(loop, tell, interrupt, end)


def forget(number: int) -> None:
    """Lets go of an operation that has said its last word, or could not be opened."""
    caller = _callers.pop(number, None)
    if caller is not None:
        caller.end()


def interrupt(number: int) -> None:
    """Interrupts an operation whose loop was closed, whether or not its caller is let go of as well."""
    caller = _callers.get(number)
    if caller is not None:
        caller.interrupt()


def loop_of(number: int) -> Optional[AbstractEventLoop]:
    """The loop that an operation was begun on, if it was begun on one and has not ended."""
    caller = _callers.get(number)
    return None if caller is None else caller.loop


def tell(number: int, what: str, text: str) -> None:
    """Passes on what an operation tells. A loop that is closed has nobody who would hear it: the
    operation ends all the same."""
    caller = _callers.get(number)
    if caller is None:
        return
    if what != "notice":
        forget(number)
    try:
        caller.loop.call_soon_threadsafe(caller.tell, what, text)
    except RuntimeError:
        pass


def after_fork() -> None:
    """A forked child has none of the operations of its parent."""
    _callers.clear()
