"""Awaits what async handlers return. A module of its own, which is imported when it is needed."""

from __future__ import annotations

from asyncio import current_task, get_running_loop
from asyncio import run as run_async
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Awaitable, Callable

from .signal import Signal
from .threads import DaemonThreads


def run(
    result: Awaitable[object],
    signal: Signal,
    threads: DaemonThreads,
    on_value: Callable[[object], None],
    on_raised: Callable[[BaseException], None],
) -> None:
    """Runs an event loop for it; an abort cancels it where it awaits."""

    async def finish() -> None:
        loop = get_running_loop()
        loop.set_default_executor(DaemonExecutor(threads))
        task = current_task()
        assert task is not None

        def cancel() -> None:
            try:
                loop.call_soon_threadsafe(task.cancel)
            except RuntimeError:
                pass  # the loop is closed: there is nothing left to cancel

        signal._on_abort(cancel)
        # Answered here: closing the loop may take longer than the handler's work, and an exception
        # with code of its own can keep the loop from ending at all.
        try:
            value = await result
        except BaseException as error:
            on_raised(error)
        else:
            on_value(value)

    run_async(finish())


class DaemonExecutor(ThreadPoolExecutor):
    """What `asyncio.to_thread` uses in an async handler: threads that do not hold up the end of the
    interpreter, and prints that count as the handler's."""

    def __init__(self, threads: DaemonThreads) -> None:
        super().__init__(max_workers=1)
        self._threads_of_plugins = threads

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        context = copy_context()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = context.run(fn, *args, **kwargs)
            except BaseException as error:  # handed to whoever awaits it
                future.set_exception(error)
            else:
                future.set_result(result)

        self._threads_of_plugins.run(work)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """There is nothing to shut down: the threads outlive a handler."""
