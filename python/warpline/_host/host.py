"""Answers what the engine asks. It decides nothing: it has no timer and no retry."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from contextvars import Context
from typing import Any, Awaitable, Callable, Literal, Optional

from .._native import NativeEngine
from .ambient import restore_after, watch_process
from .capabilities import mint
from .modules import import_plugin_file
from .plugin_call import PluginCall, enter
from .prints import divert_prints
from .signal import Signal
from .text import NotJsonError, json_of, plain_json_of, text_of_raised
from .threads import DaemonExecutor, DaemonThreads

#: Gives the context that the caller of an operation began it in.
ContextOf = Callable[[int], Context]


class _Call:
    """A started call that has not been answered."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.signal = Signal()
        #: The plugin code that runs for it, once it does.
        self.running: Optional[PluginCall] = None


class PythonHost:
    """Runs plugin code for one engine."""

    def __init__(
        self, engine: NativeEngine, context_of: ContextOf, warn: Callable[[str], None]
    ) -> None:
        self._engine = engine
        self._context_of = context_of
        self._warn = warn
        self._threads = DaemonThreads("warpline-plugin")
        self._lock = threading.Lock()
        self._open: dict[int, _Call] = {}

    def dispatch(self) -> None:
        """Fetches what the engine asks until it asks no more. For a thread of its own, which nothing
        that goes wrong with one message may end: all later ones would wait for ever."""
        while True:
            message = self._engine.receive()
            if message is None:
                return
            number, kind, text = message
            try:
                if kind == "start":
                    self._start(number, text)
                else:
                    self._abort(number, text)
            except BaseException as error:
                self._warn(f"the host failed: {text_of_raised(error)}")

    def _start(self, number: int, request_json: str) -> None:
        call = _Call(number)
        with self._lock:
            self._open[number] = call
        try:
            divert_prints()
            watch_process()
            self._threads.run(lambda: self._serve(call, request_json))
        except BaseException as error:  # no thread could be made
            self._fail(call, text_of_raised(error))

    def _abort(self, number: int, reason: str) -> None:
        with self._lock:
            call = self._open.pop(number, None)
        if call is None:
            return
        try:
            call.signal._abort(reason)
        finally:
            if call.running is not None:
                self._end(call.running)

    def _serve(self, call: _Call, request_json: str) -> None:
        """Runs on a plugin thread, and never raises: whatever plugin code raises is its failure."""
        directory = None
        try:
            request = json.loads(request_json)
            directory = request.get("plugin", {}).get("directory")
            context = self._context_of(request["operation"]).copy()
            # What the engine has given up meanwhile must not run: it is on record as over.
            if self._engine.begin(call.number):
                context.run(self._begin, call, request)
            else:
                self._take(call)
        except BaseException as error:  # SystemExit and KeyboardInterrupt included
            self._fail(call, text_of_raised(error, directory))

    def _begin(self, call: _Call, request: dict[str, Any]) -> None:
        kind = request["kind"]
        if kind == "manifests":
            rows = ",".join(self._manifest(call, plugin) for plugin in request["plugins"])
            self._succeed(call, f"[{rows}]")
        elif kind == "handler":
            self._run(call, request, lambda: _handler(request["plugin"]))
            self._succeed(call, "null")
        else:
            self._attempt(call, request)

    def _run(
        self,
        call: _Call,
        request: dict[str, Any],
        code: Callable[[], Any],
    ) -> Any:
        """Runs plugin code in the present context; `request` has `plugin`, and `invocation` and
        `capture` where what it prints may be wanted."""
        running = PluginCall(request["plugin"]["name"], self._capture(request))
        enter(running)
        call.running = running
        if call.signal.aborted:
            self._end(running)
        try:
            return code()
        finally:
            self._end(running)

    def _manifest(self, call: _Call, plugin: dict[str, str]) -> str:
        """One row of the answer: an error of one manifest is not an error of the others."""
        name = json_of(plugin["name"])
        try:
            manifest = self._run(call, {"plugin": plugin}, lambda: plain_json_of(_manifest(plugin)))
            return f'{{"plugin":{name},"manifest":{manifest}}}'
        except BaseException as error:  # plugin code can raise anything
            text = json_of(text_of_raised(error, plugin["directory"]))
            return f'{{"plugin":{name},"error":{text}}}'

    def _attempt(self, call: _Call, request: dict[str, Any]) -> None:
        def code() -> None:
            handler = _handler(request["plugin"])
            capabilities = mint(request["context"])
            result = handler(request["manifest"], request["args"], call.signal, capabilities)
            if inspect.isawaitable(result):
                asyncio.run(self._finish(call, result, request["plugin"]["directory"]))
            else:
                self._answer(call, result)

        self._run(call, request, code)

    def _capture(self, request: dict[str, Any]) -> Optional[Callable[[str], None]]:
        """Where what is printed goes beside standard error, if anywhere."""
        if not request.get("capture"):
            return None
        invocation = request["invocation"]

        def capture(text: str) -> None:
            try:
                self._engine.print(invocation, json.dumps(text))
            except RuntimeError:
                pass  # a child that plugin code forked has no transcript

        return capture

    async def _finish(self, call: _Call, result: Awaitable[object], directory: str) -> None:
        """Awaits what an async handler returned; an abort cancels it where it awaits."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(DaemonExecutor(self._threads))
        task = asyncio.current_task()
        assert task is not None

        def cancel() -> None:
            try:
                loop.call_soon_threadsafe(task.cancel)
            except RuntimeError:
                pass  # the loop is closed: there is nothing left to cancel

        call.signal._on_abort(cancel)
        # Answered here: closing the loop may take longer than the handler's work, and an exception
        # with code of its own can keep the loop from ending at all.
        try:
            value = await result
        except BaseException as error:
            self._fail(call, text_of_raised(error, directory))
        else:
            self._answer(call, value)

    def _take(self, call: _Call) -> bool:
        """Whether the engine still waits for this call; it is answered once."""
        with self._lock:
            return self._open.pop(call.number, None) is not None

    def _answer(self, call: _Call, result: object) -> None:
        """Answers with what a handler returned. Writing it runs its code where it has methods."""
        try:
            text = json_of(result)
        except BaseException as error:
            # Of that very type, or its text is the plugin's to make.
            said = str(error) if type(error) is NotJsonError else text_of_raised(error)
            why = f"the handler's result has no JSON form: {said}"
            self._complete(call, "no_json", json_of(why))
        else:
            self._complete(call, "value", text)

    def _succeed(self, call: _Call, json_text: str) -> None:
        self._complete(call, "value", json_text)

    def _fail(self, call: _Call, text: str) -> None:
        self._complete(call, "raised", json_of(text))

    def _complete(
        self, call: _Call, outcome: Literal["value", "raised", "no_json"], json_text: str
    ) -> None:
        try:
            if call.running is not None:
                self._end(call.running)
        finally:
            if self._take(call):
                self._engine.complete(call.number, outcome, json_text)

    def _end(self, running: PluginCall) -> None:
        if running.over:
            return
        for what in restore_after(running):
            self._warn(f"plugin `{running.plugin}` changed {what}; it was put back")


def _manifest(plugin: dict[str, str]) -> object:
    module = import_plugin_file(plugin, "manifest.py")
    try:
        return module.manifest
    except AttributeError:
        raise ImportError(f"{plugin['directory']}/manifest.py has no `manifest`") from None


def _handler(plugin: dict[str, str]) -> Callable[..., object]:
    module = import_plugin_file(plugin, "handler.py")
    handler = getattr(module, "handler", None)
    if not callable(handler):
        raise ImportError(f"{plugin['directory']}/handler.py has no function `handler`")
    return handler  # type: ignore[no-any-return]
