"""Clocks that stand still for the code of one run, and go on for everybody else."""

from __future__ import annotations

import datetime
import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import tzinfo
from types import ModuleType
from typing import Any, Iterator, Optional

from ._host.modules import PREFIX

#: Milliseconds since 1970; unset where time goes on.
_instant: ContextVar[Optional[int]] = ContextVar("warpline_test_instant", default=None)

_real_date = datetime.date
_real_datetime = datetime.datetime
_real_time = {name: getattr(time, name) for name in ("time", "time_ns", "gmtime", "localtime")}
_real_strftime = time.strftime


def _now() -> float:
    instant = _instant.get()
    return float(_real_time["time"]()) if instant is None else instant / 1000


class _Likeness(type):
    """Makes the classes below recognise what the real ones made, and make nothing else."""

    def _meant(cls) -> type:
        # A plugin's own subclass stays what it is.
        return cls.__mro__[1] if cls in (_Date, _DateTime) else cls

    def __instancecheck__(cls, instance: object) -> bool:
        return type.__instancecheck__(cls._meant(), instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return type.__subclasscheck__(cls._meant(), subclass)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return type.__call__(cls._meant(), *args, **kwargs)


class _Date(_real_date, metaclass=_Likeness):
    @classmethod
    def today(cls) -> Any:
        return cls.fromtimestamp(_now())


class _DateTime(_real_datetime, metaclass=_Likeness):
    @classmethod
    def now(cls, tz: Optional[tzinfo] = None) -> Any:
        return cls.fromtimestamp(_now(), tz)

    @classmethod
    def today(cls) -> Any:
        return cls.fromtimestamp(_now())

    @classmethod
    def utcnow(cls) -> Any:
        return cls.fromtimestamp(_now(), datetime.timezone.utc).replace(tzinfo=None)


def _time() -> float:
    return _now()


def _time_ns() -> int:
    instant = _instant.get()
    return int(_real_time["time_ns"]()) if instant is None else instant * 1_000_000


def _gmtime(seconds: Optional[float] = None) -> Any:
    return _real_time["gmtime"](_now() if seconds is None else seconds)


def _localtime(seconds: Optional[float] = None) -> Any:
    return _real_time["localtime"](_now() if seconds is None else seconds)


def _strftime(format: str, moment: Any = None) -> str:
    return _real_strftime(format, _localtime() if moment is None else moment)


#: Module, name, what is really there, what stands in for it.
_STAND_INS: list[tuple[ModuleType, str, Any, Any]] = [
    (datetime, "date", _real_date, _Date),
    (datetime, "datetime", _real_datetime, _DateTime),
    (time, "time", _real_time["time"], _time),
    (time, "time_ns", _real_time["time_ns"], _time_ns),
    (time, "gmtime", _real_time["gmtime"], _gmtime),
    (time, "localtime", _real_time["localtime"], _localtime),
    (time, "strftime", _real_strftime, _strftime),
]


def _reach_loaded_plugins() -> None:
    """Plugins that were loaded before have taken the real things out of their modules by name."""
    for name, module in list(sys.modules.items()):
        if not name.startswith(PREFIX):
            continue
        for key, value in list(vars(module).items()):
            for _, _, real, ours in _STAND_INS:
                if value is real:
                    setattr(module, key, ours)


@contextmanager
def standing_at(instant: int) -> Iterator[None]:
    """Within, the clocks of `datetime` and `time` show one instant in this context and its copies."""
    _reach_loaded_plugins()
    token = _instant.set(instant)
    before = [getattr(module, name) for module, name, _, _ in _STAND_INS]
    for module, name, _, ours in _STAND_INS:
        setattr(module, name, ours)
    try:
        yield
    finally:
        for (module, name, _, ours), was in zip(_STAND_INS, before):
            # Somebody else may have put theirs in place meanwhile.
            if getattr(module, name) is ours:
                setattr(module, name, was)
        _instant.reset(token)
