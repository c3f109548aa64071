"""Operations that a coroutine waits for: on the caller's loop, without a thread of their own."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections import deque
from inspect import isawaitable
from json import loads
from typing import Any, Awaitable, Callable, Optional
from weakref import ref

from ._calls import Call, Result
from ._engine import CancelSignal, check_signal, failure, start, warn
from ._host import on_loop  # noqa: F401
from ._host.signal import Signal
from ._host.text import text_of_raised

#: How often a signal is looked at that nobody can await, in seconds.
_LOOK_AT_SIGNAL_SECONDS = 0.05

#: Longer than any operation lasts, in seconds.
_ANCHOR_SECONDS = 365 * 86_400

#: What is told: the word of the engine and its JSON; or that the caller's signal is set, or cannot be
#: asked.
_Told = tuple[str, str, Optional[BaseException]]


async def run(call: Call[Result]) -> Result:
    """Runs one operation of the engine to its end, and returns what it came to.

    Whatever interrupts this coroutine interrupts the operation: what has finished is recorded first,
    then it is raised.
    """
    check_signal(call.signal)
    loop = asyncio.get_running_loop()
    told = _Inbox(loop)
    known = ref(told)

    def tell(what: str, text: str, error: Optional[BaseException] = None) -> None:
        inbox = known()
        if inbox is not None:
            inbox.put((what, text, error))

    aborted = call.signal is not None and call.signal.is_set()
    try:
        listens = call.on_notice is not None
        interrupt = start(call.kind, call.request, aborted, listens, loop, tell)
    except SystemExit:
        # The interpreter ends, and this thread with it: nothing after this is worth a word.
        await loop.create_future()
        raise
    unwatch = _watch(loop, None if aborted else call.signal, tell)
    # The loop alone keeps the task and what it is told: once it is closed, both are let go of, and
    # the operation is interrupted.
    anchor = loop.call_later(_ANCHOR_SECONDS, _nothing, told, asyncio.current_task())
    raised: Optional[BaseException] = None
    try:
        while True:
            try:
                what, text, error = await told.get()
                if what == "notice":
                    await _tell(loads(text), call.on_notice, raised is not None)
                elif what != "signal":
                    break
                else:
                    raised = raised or error
                    interrupt()
            except (asyncio.CancelledError, KeyboardInterrupt, SystemExit) as caught:
                raised = raised or caught
                interrupt()
            except BaseException:  # GeneratorExit: nobody runs this any further
                interrupt()
                raise
    finally:
        _quietly(unwatch)
        _quietly(anchor.cancel)
    failed = failure(text) if what == "failed" else None
    if raised is not None:
        raise raised from failed
    if failed is not None:
        raise failed
    return call.result(loads(text))


class _Inbox:
    """What a coroutine is told, in order."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._told: deque[_Told] = deque()
        self._waiting: Optional[asyncio.Future[None]] = None

    def put(self, told: _Told) -> None:
        self._told.append(told)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def get(self) -> _Told:
        while not self._told:
            self._waiting = self._loop.create_future()
            await self._waiting
        return self._told.popleft()


async def _tell(
    notice: dict[str, Any],
    on_notice: Optional[Callable[[dict[str, Any]], object]],
    interrupted: bool,
) -> None:
    """Passes a notice on. A hook that raises is reported, and loses nothing. Once the caller was
    interrupted, an async hook runs until it awaits something, and is cancelled there."""
    if notice["kind"] in ("warning", "stray"):
        warn(notice["text"])
        return
    if on_notice is None:
        return
    try:
        returned = on_notice(notice)
    except (Exception, asyncio.CancelledError) as error:
        warn(f"a hook failed: {text_of_raised(error)}")
        return
    if isawaitable(returned):
        # In a task of its own: that it is cancelled does not mean that the caller is.
        hook = asyncio.ensure_future(_awaiting(returned))
        try:
            if interrupted:
                await asyncio.sleep(0)
                hook.cancel()
            await asyncio.wait([hook])
        except asyncio.CancelledError:
            hook.cancel()
            await _ended(hook)
            raise
        if not (interrupted and hook.cancelled()):
            _report(hook)


async def _awaiting(returned: Awaitable[object]) -> None:
    await returned


async def _ended(hook: asyncio.Future[None]) -> None:
    """Waits for a hook that was cancelled, and cancels it again where this is."""
    while not hook.done():
        try:
            await asyncio.wait([hook])
        except asyncio.CancelledError:
            hook.cancel()
    if not hook.cancelled():
        _report(hook)


def _report(hook: asyncio.Future[None]) -> None:
    try:
        hook.result()
    except (Exception, asyncio.CancelledError) as error:
        warn(f"a hook failed: {text_of_raised(error)}")


def _watch(
    loop: AbstractEventLoop, signal: Optional[CancelSignal], tell: Callable[..., None]
) -> Callable[[], object]:
    """Watches a signal until the returned function is called. What can be awaited, or calls back, is
    not asked again and again."""
    if signal is None:
        return _nothing
    if isinstance(signal, Signal):

        def call_back() -> None:
            _quietly(lambda: loop.call_soon_threadsafe(tell, "signal", ""))

        return signal._on_abort(call_back)
    watching = _wait(signal, tell) if isinstance(signal, asyncio.Event) else _look(signal, tell)
    return loop.create_task(watching).cancel


async def _wait(signal: asyncio.Event, tell: Callable[..., None]) -> None:
    try:
        await signal.wait()
    except Exception as error:  # an event of another loop
        tell("signal", "", error)
    else:
        tell("signal", "")


async def _look(signal: CancelSignal, tell: Callable[..., None]) -> None:
    try:
        while not signal.is_set():
            await asyncio.sleep(_LOOK_AT_SIGNAL_SECONDS)
    except Exception as error:  # the caller's own code
        tell("signal", "", error)
    else:
        tell("signal", "")


def _nothing(*_: object) -> None:
    pass


def _quietly(action: Callable[[], object]) -> None:
    try:
        action()
    except RuntimeError:
        pass  # the loop is closed
