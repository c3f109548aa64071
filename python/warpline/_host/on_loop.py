"""Async plugin code on the loop of the host program.

It gets a task of its own there, whose cancellation is its own affair: it never reaches the caller.
"""

from __future__ import annotations

import threading
from asyncio import AbstractEventLoop, CancelledError, Task, TimerHandle
from contextvars import copy_context
from dis import opname
from inspect import iscoroutine
from types import TracebackType
from typing import Any, Awaitable, Callable, Generator, Optional
from weakref import ref

from .signal import Signal

#: How long plugin code may tidy up after it was cancelled, in seconds. Then it is closed where it
#: awaits: it would keep `asyncio.run` from returning.
TIDY_SECONDS = 5.0


class OnLoop:
    """What an async handler returned, on its way to a loop and there."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        work: Awaitable[object],
        signal: Signal,
        answer: Callable[[object], None],
        fail: Callable[[BaseException], None],
        gone: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._work = work
        self._signal = signal
        self._answer = answer
        self._fail = fail
        #: Called instead where the loop is closed under it.
        self._gone = gone
        self._begun = False
        self._task: Optional[Task[None]] = None
        self._timer: Optional[TimerHandle] = None

    def __del__(self) -> None:
        # The loop was closed before its turn came. Python would complain that nobody awaited it.
        if not self._begun:
            self._drop()

    def start(self) -> None:
        """Sends it to the loop, in the present context. Raises RuntimeError where that is closed."""
        known = ref(self)  # the loop alone keeps it

        def abort() -> None:
            work = known()
            if work is not None:
                work._abort()

        self._loop.call_soon_threadsafe(self._begin, context=copy_context())
        self._signal._on_abort(abort)

    def _begin(self) -> None:
        self._begun = True
        if self._signal.aborted:
            self._drop()  # it was given up before it began
            return
        running = self._run()
        try:
            self._task = self._loop.create_task(running)
        except BaseException as error:  # a loop can make tasks in a way of its own
            running.close()
            self._drop()
            self._fail(error)

    def _drop(self) -> None:
        if iscoroutine(self._work):
            self._work.close()

    def _abort(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._cancel)
        except RuntimeError:
            pass  # the loop is closed: there is nothing left to cancel

    def _cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._timer = self._loop.call_later(TIDY_SECONDS, self._task.cancel)
            self._task.cancel()

    async def _run(self) -> None:
        try:
            value = await _Steps(self._work, self._signal)
        except BaseException as error:  # whatever plugin code raises is its failure
            if self._loop.is_closed():
                # Nothing runs there any more: the collector has come to what the loop let go of.
                self._gone()
                raise
            self._fail(error)
            if _is_interrupt(error):
                raise
        else:
            self._answer(value)
        finally:
            if self._timer is not None:
                self._timer.cancel()


class _Steps:
    """Awaits plugin code. Once that was cancelled because it was given up, the next cancellation ends
    it, whether it likes to or not."""

    def __init__(self, work: Awaitable[object], signal: Signal) -> None:
        self._work = work
        self._signal = signal

    def __await__(self) -> Generator[Any, Any, object]:
        steps: Any = self._work.__await__()
        told = False
        step: Callable[[], Any] = lambda: next(steps)  # noqa: E731
        while True:
            try:
                awaited = step()
            except StopIteration as end:
                value: object = end.value
                return value
            try:
                sent = yield awaited
            except GeneratorExit:
                steps.close()
                raise
            except BaseException as error:
                raised = error
                if told and isinstance(raised, CancelledError):
                    _close(steps)
                    raise
                told = self._signal.aborted
                step = lambda: steps.throw(raised)  # noqa: E731, B023
            else:
                step = lambda: steps.send(sent)  # noqa: E731, B023


def _close(steps: Any) -> None:
    try:
        steps.close()
    except BaseException:  # it ignores that, too
        pass


def _is_interrupt(error: BaseException) -> bool:
    """Whether it is Ctrl-C that came while plugin code ran, and no error that the code raised."""
    if type(error) is not KeyboardInterrupt:
        return False
    innermost: Optional[TracebackType] = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None or threading.current_thread() is not threading.main_thread():
        return False
    code = innermost.tb_frame.f_code.co_code
    return opname[code[innermost.tb_lasti]] not in ("RAISE_VARARGS", "RERAISE")
