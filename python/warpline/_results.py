"""The results that a handler returns: done, failed, handed to a model."""

from __future__ import annotations

from json import loads
from typing import Any

from . import _native
from ._documents import SkillResult
from ._engine import environment_json
from ._host.text import json_of


def skill_ok(summary: str, /, **overrides: Any) -> SkillResult:
    """A result that says: all went well.

    Keyword arguments add or replace fields of the result.
    """
    return _build({"builder": "ok", "summary": summary, "overrides": overrides})


def skill_failure(code: str, message: str, /, **overrides: Any) -> SkillResult:
    """A result that says: it failed, with one error.

    Keyword arguments add or replace fields of the result, and `impact`, `source` and `retryable` of
    the error. `impact` is `MEDIUM`, and `retryable` true for `rate_limit` and `timeout`, unless given.
    """
    return _build({"builder": "failure", "code": code, "message": message, "overrides": overrides})


def skill_handoff(task: str, context_path: str, /, **overrides: Any) -> SkillResult:
    """A result that says: a model is to go on, with the context in a file of the home.

    `context_path` is relative to the home.
    """
    return _build(
        {
            "builder": "handoff",
            "task": task,
            "context_path": context_path,
            "home": _native.warpline_home(environment_json()),
            "overrides": overrides,
        }
    )


def _build(request: dict[str, Any]) -> SkillResult:
    result: SkillResult = loads(_native.build_result(json_of(request)))
    return result
