"""What the commands report with which a person answers, as types."""

from __future__ import annotations

from typing import Literal, Optional, TypedDict, Union

from ._documents import (
    LoadFailure,
    RunStatus,
    SideEffect,
)
from ._home_documents import (
    ActionTaken,
    CompletedTask,
    Deferral,
    Denial,
)


class GivenAnswer(TypedDict):
    """An answer to a notice, with the notice."""

    event_id: str
    acknowledged_at: str
    action_taken: ActionTaken


class AckReport(TypedDict):
    """`ack --json`."""

    acknowledged: list[GivenAnswer]
    unchanged: list[GivenAnswer]


class RecordedAnswer(TypedDict):
    """A parked result that was accepted."""

    plugin: str
    outcome: Literal["recorded"]
    run_id: str
    side_effects: list[SideEffect]
    run_completed_at: str
    summary: str
    later_run_at: Optional[str]


class AppliedAnswer(TypedDict):
    """A result that had been accepted before; the plugin was granted instead."""

    plugin: str
    outcome: Literal["already_applied"]
    run_id: str
    side_effects: list[SideEffect]
    applied_at: str


class ExpiredAnswer(TypedDict):
    """A parked result that was too old."""

    plugin: str
    outcome: Literal["expired"]
    run_id: str
    side_effects: list[SideEffect]


class MovedAnswer(TypedDict):
    """A parked result whose dependencies ran since."""

    plugin: str
    outcome: Literal["dependency_moved"]
    run_id: str
    side_effects: list[SideEffect]
    dependencies: list[str]


class UnusableAnswer(TypedDict):
    """A parked result with a clock that cannot be read."""

    plugin: str
    outcome: Literal["unusable"]
    run_id: str
    side_effects: list[SideEffect]


class GivenGrant(TypedDict):
    """What is granted now."""

    scopes: Union[Literal["*"], list[str]]
    granted_at: str
    first_granted_at: str
    expires_at: str
    capped: bool
    extended: bool


class CoveredPlugin(TypedDict):
    """A plugin that the grant is about."""

    plugin: str
    side_effects: list[SideEffect]
    denied: bool


class ApproveReport(TypedDict):
    """`approve --json`."""

    results: list[Union[RecordedAnswer, AppliedAnswer, ExpiredAnswer, MovedAnswer, UnusableAnswer]]
    grant: Optional[GivenGrant]
    plugins: list[CoveredPlugin]
    failures: list[LoadFailure]


class DeferReport(TypedDict):
    """`defer --json`."""

    deferred: list[Deferral]


class DiscardedResult(TypedDict):
    """A parked result that a no discarded."""

    plugin: str
    run_id: str


class DenyReport(TypedDict):
    """`deny --json`."""

    recorded: list[Denial]
    discarded: list[DiscardedResult]
    unchanged: list[Denial]


class DenyRemoveReport(TypedDict):
    """`deny --remove --json`."""

    removed: list[Denial]


class DoneReport(TypedDict):
    """`done --json`."""

    completed: list[CompletedTask]


class ForgottenRun(TypedDict):
    """A run that is off the record."""

    plugin: str
    last_run_at: str
    status: RunStatus


class ForgetReport(TypedDict):
    """`forget --json`."""

    forgotten: list[ForgottenRun]


class RevokeReport(TypedDict):
    """`revoke --json`."""

    revoked: bool


#: `deny --list --json`.
DenyListReport = list[Denial]
