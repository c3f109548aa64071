"""Answers what the engine asks. It decides nothing: it has no timer and no retry."""

from __future__ import annotations

from contextvars import Context
from inspect import isawaitable
from json import loads
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Literal, Optional, Protocol

from .._native import NativePrints
from .ambient import restore_after, watch_process
from .callers import interrupt, loop_of, tell
from .capabilities import mint
from .late import awaited, on_loop
from .modules import import_plugin_file
from .plugin_call import PluginCall, enter
from .prints import divert_prints, show_rest
from .signal import Signal
from .text import (
    NotJsonError,
    frames_of_raised,
    json_of,
    one_line,
    plain_json_of,
    text_of_raised,
)
from .threads import DaemonThreads, leave_thread_clean

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

#: Gives the context that the caller of an operation began it in.
ContextOf = Callable[[int], Context]

#: Gives where goes what is printed for a request; None where nobody waits for it any more.
PrintsOf = Callable[[dict[str, Any]], Optional[NativePrints]]


Outcome = Literal["value", "raised", "no_json"]

#: What a thread is to do: its turn, the call, what becomes of that, and the text that goes with it.
Start = tuple[int, int, Literal["start", "abort", "relief"], str]


class Asking(Protocol):
    """Who asks for plugin code to be run: the engine, or what leads to it from a worker."""

    def receive(
        self,
    ) -> Optional[tuple[int, Literal["notice", "ended", "failed"], str]]: ...
    def next_start(self, back: Optional[int], given: list[Start]) -> None: ...
    def begin(self, call: int) -> bool: ...
    def fault(self, operation: int, plugin_json: str, json: str) -> None: ...
    def complete(self, call: int, outcome: Outcome, json: str) -> None: ...


class _Call:
    """A started call that has not been answered."""

    def __init__(self, number: int) -> None:
        self.number = number
        #: What is asked for, once it was read.
        self.request: dict[str, Any] = {}
        self.signal = Signal()
        #: Where what its code prints goes before it is shown, if anywhere.
        self.prints: Optional[NativePrints] = None
        #: The plugin code that runs for it, once it does.
        self.running: Optional[PluginCall] = None
        #: The loop that its caller awaits it on, if any.
        self.loop: Optional[AbstractEventLoop] = None
        #: Whether its code goes on there, and its thread is done with it.
        self.on_loop = False


class PythonHost:
    """Runs plugin code for one engine."""

    def __init__(
        self,
        engine: Asking,
        prints_of: PrintsOf,
        context_of: ContextOf,
        warn: Callable[[str], None],
    ) -> None:
        self._engine = engine
        self._prints_of = prints_of
        self._context_of = context_of
        self._warn = warn
        self._threads = DaemonThreads("warpline-plugin")
        #: By number. Each is taken out once, in one step.
        self._open: dict[int, _Call] = {}

    def dispatch(self) -> None:
        """Fetches what operations tell until there is no more. For a thread of its own, which nothing
        that goes wrong with one message may end: all later ones would wait for ever."""
        while True:
            try:
                message = self._engine.receive()
                if message is None:
                    return
                tell(*message)
            except BaseException as error:
                self._warn(f"the host failed: {text_of_raised(error)}")

    def add_runner(self) -> None:
        """Starts a thread that runs plugin code. It sees to others itself."""
        self._threads.start(self._run_calls)

    def _run_calls(self) -> None:
        """Runs calls one after the other: the engine gives them to another thread while one takes long.

        What code of a plugin has raised here from another thread may come once its own call is over. It
        ends neither this thread nor the call of another.
        """
        turn: Optional[int] = None
        given: list[Start] = []
        while True:
            try:
                if not given:
                    self._engine.next_start(turn, given)
                if not given:
                    return
                turn, number, kind, text = given.pop()
                if kind == "start":
                    self._start(number, text)
                elif kind == "abort":
                    self._abort(number, text)
                else:
                    self._relieve()
            except BaseException as error:
                self._warn(f"the host failed: {text_of_raised(error)}")
            finally:
                self._threads.end_forked_child()

    def _relieve(self) -> None:
        try:
            self.add_runner()
        except RuntimeError:
            pass  # no thread could be made: this one does what it can

    def _start(self, number: int, request_json: str) -> None:
        # An abort that comes before this finds no call, and the engine then says that it is over.
        call = self._open[number] = _Call(number)
        try:
            self._read(call, request_json)
            if call.request.get("load"):
                self._serve(call, self._load)
                self._threads.end_forked_child()
            if number in self._open:
                self._serve(call, self._begin)
        except BaseException as error:  # where answering failed, too
            self._fail(call, text_of_raised(error))

    def _abort(self, number: int, reason: str) -> None:
        call = self._open.pop(number, None)
        if call is None:
            return
        try:
            call.signal._abort(reason)
        finally:
            if call.running is not None:
                self._end(call.running)

    def _warn_of(self, operation: int, text: str) -> None:
        """Tells a reader of something that does not stop an operation."""
        self._warn(text)

    def _read(self, call: _Call, request_json: str) -> None:
        request = call.request = loads(request_json)
        call.loop = loop_of(request["operation"])
        # Before it is asked whether it still waits: later, it may have let go of them.
        if request["prints"]:
            call.prints = self._prints_of(request)

    def _serve(self, call: _Call, work: Callable[[_Call], None]) -> None:
        """Has the engine count the time of a piece of plugin code, in a context of its own."""
        divert_prints()
        watch_process()
        leave_thread_clean(lambda: self._do(call, work))

    def _do(self, call: _Call, work: Callable[[_Call], None]) -> None:
        """Runs on a plugin thread: whatever plugin code raises is its failure."""
        try:
            context = self._context_of(call.request["operation"]).copy()
            # What the engine has given up meanwhile must not run: it is on record as over.
            if self._engine.begin(call.number):
                context.run(work, call)
            else:
                self._take(call)
        except BaseException as error:  # SystemExit and KeyboardInterrupt included
            self._raised(call, error)

    def _begin(self, call: _Call) -> None:
        request = call.request
        kind = request["kind"]
        if kind == "manifests":
            rows = ",".join(self._manifest(call, plugin) for plugin in request["plugins"])
            self._succeed(call, f"[{rows}]")
        elif kind == "handler":
            self._load(call)
            self._succeed(call, "null")
        else:
            self._attempt(call, request)

    def _load(self, call: _Call) -> None:
        plugin = call.request["plugin"]
        self._run(call, plugin, lambda: _handler(plugin))

    def _run(
        self,
        call: _Call,
        plugin: dict[str, str],
        code: Callable[[], Any],
    ) -> Any:
        """Runs plugin code in the present context."""
        running = PluginCall(plugin["name"], call.prints, call.request["operation"])
        enter(running)
        call.running = running
        if call.signal.aborted:
            self._end(running)
        try:
            return code()
        finally:
            if not call.on_loop:
                self._end(running)

    def _manifest(self, call: _Call, plugin: dict[str, str]) -> str:
        """One row of the answer: an error of one manifest is not an error of the others."""
        name = json_of(plugin["name"])
        try:
            manifest = self._run(call, plugin, lambda: plain_json_of(_manifest(plugin)))
            return f'{{"plugin":{name},"manifest":{manifest}}}'
        except BaseException as error:  # plugin code can raise anything
            text = json_of(text_of_raised(error, plugin["directory"]))
            return f'{{"plugin":{name},"error":{text}}}'

    def _attempt(self, call: _Call, request: dict[str, Any]) -> None:
        def code() -> None:
            handler = _handler(request["plugin"])
            capabilities = mint(request["context"])
            result = handler(request["manifest"], request["args"], call.signal, capabilities)
            if isawaitable(result):
                if call.loop is None:
                    self._await(call, result)
                else:
                    self._hand_over(call, call.loop, result)
            else:
                self._answer(call, result)

        self._run(call, request["plugin"], code)

    def _hand_over(self, call: _Call, loop: AbstractEventLoop, result: Awaitable[object]) -> None:
        """Sends what an async handler returned to the loop of its caller."""

        def answer(value: object) -> None:
            self._answer(call, value)

        def fail(error: BaseException) -> None:
            self._raised(call, error)

        def gone() -> None:
            interrupt(call.request["operation"])

        work = on_loop().OnLoop(loop, result, call.signal, answer, fail, gone)
        call.on_loop = True
        try:
            work.start()
        except BaseException:
            call.on_loop = False
            raise

    def _await(self, call: _Call, result: Awaitable[object]) -> None:
        awaited().run(
            result,
            call.signal,
            self._threads,
            lambda value: self._answer(call, value),
            lambda error: self._raised(call, error),
        )

    def _take(self, call: _Call) -> bool:
        """Whether the engine still waits for this call; it is answered once."""
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

    def _raised(self, call: _Call, error: BaseException) -> None:
        """Answers with what plugin code raised."""
        try:
            self._tell_where(call, error)
        except BaseException as failed:  # the engine is told in any case
            self._warn(f"what was raised cannot be shown: {text_of_raised(failed)}")
        plugin = call.request.get("plugin", {})
        self._fail(call, text_of_raised(error, plugin.get("directory")))

    def _tell_where(self, call: _Call, error: BaseException) -> None:
        """The answer to a call has the text of what was raised alone."""
        request = call.request
        if request.get("kind") not in ("handler", "attempt") or call.number not in self._open:
            return
        parts = [text_of_raised(error), *frames_of_raised(error, request["plugin"]["directory"])]
        if request["prints"]:
            if call.prints is None:
                return
            parts = [loads(call.prints.redact(json_of(part))) for part in parts]
        text = "\n    ".join(one_line(part) for part in parts)
        plugin = json_of(request["plugin"]["name"])
        self._engine.fault(request["operation"], plugin, json_of(text))

    def _fail(self, call: _Call, text: str) -> None:
        self._complete(call, "raised", json_of(text))

    def _complete(self, call: _Call, outcome: Outcome, json_text: str) -> None:
        try:
            if call.running is not None:
                self._end(call.running)
        finally:
            if self._take(call):
                self._engine.complete(call.number, outcome, json_text)

    def _end(self, running: PluginCall) -> None:
        if running.over:
            return
        show_rest(running)
        for what in restore_after(running):
            self._warn_of(
                running.operation, f"plugin `{running.plugin}` changed {what}; it was put back"
            )


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
