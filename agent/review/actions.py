"""Actions, the reviews they wait in, and every state an action can be in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from agent.review.digest import call_digest, shown_digest


class ActionState(StrEnum):
    """The state of an action. A state without an entry in `MOVES` is final."""

    PROPOSED = "proposed"
    REFUSED = "refused"
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    RESPONDED = "responded"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    EXECUTING = "executing"
    LAPSED = "lapsed"
    WITHDRAWN = "withdrawn"
    BLOCKED = "blocked"
    DONE = "done"
    FAILED = "failed"
    SUSPENDED = "suspended"
    UNKNOWN = "unknown"


MOVES: Mapping[ActionState, frozenset[ActionState]] = {
    ActionState.PROPOSED: frozenset({ActionState.REFUSED, ActionState.APPROVED, ActionState.PENDING}),
    ActionState.PENDING: frozenset(
        {
            ActionState.APPROVED,
            ActionState.REJECTED,
            ActionState.RESPONDED,
            ActionState.CANCELLED,
            ActionState.EXPIRED,
            ActionState.SUPERSEDED,
        }
    ),
    ActionState.APPROVED: frozenset(
        {ActionState.EXECUTING, ActionState.LAPSED, ActionState.WITHDRAWN, ActionState.BLOCKED}
    ),
    ActionState.EXECUTING: frozenset(
        {ActionState.DONE, ActionState.FAILED, ActionState.SUSPENDED, ActionState.UNKNOWN}
    ),
    ActionState.SUSPENDED: frozenset({ActionState.EXECUTING, ActionState.FAILED, ActionState.BLOCKED}),
    ActionState.UNKNOWN: frozenset({ActionState.DONE, ActionState.FAILED, ActionState.PENDING}),
}


BEGUN = "begun"
"""The key in an attempt's notes which says that the attempt before had started the tool and was suspended to ask."""


def may_move(start: ActionState, end: ActionState) -> bool:
    """Return whether an action may go from `start` to `end`."""
    return end in MOVES.get(start, frozenset())


@dataclass(frozen=True)
class Key:
    """The identity of an action. Providers reuse call ids, so the message and the attempt belong to it."""

    thread_id: str
    message_id: str
    tool_call_id: str
    attempt: int = 1


@dataclass(frozen=True)
class Action:
    """One tool call the model proposed, and everything that happened to it."""

    key: Key
    agent: str
    tool: str
    """The tool that would run now; after an edit, the reviewer's."""
    args: dict[str, Any] | None
    """What the tool's function receives, in JSON; None if the proposal's arguments could not be accepted."""
    proposed_tool: str
    proposed: Any
    """The model's own arguments, as they came: an object, or the raw text that could not be read as one."""
    tier: str
    why: str
    summary: str
    allowed: tuple[str, ...]
    policy_version: str
    state: ActionState
    position: int
    """The call's place among its message's calls, from 0."""
    entered: dict[str, Any] | None = None
    """What is passed to the tool, in the form the model writes; None if that is `args` itself."""
    place: str = ""
    """The task that runs it or asked about it, as LangGraph's checkpoint namespace; "" for a built-in agent."""
    notes: dict[str, Any] = field(default_factory=dict)
    """How what is received differs from the proposal: `defaults`, `dropped`, `coerced`, `made_once`, `unchecked`."""
    call_digest: str = ""
    shown_digest: str = ""
    review_id: str | None = None
    decision: dict[str, Any] | None = None
    decided_by: str | None = None
    decided_at: str | None = None
    approve_by: float | None = None
    """Seconds a review with this action may wait; None waits for ever."""
    execute_by: str | None = None
    """The instant after which it may no longer start; None never lapses."""
    started_at: str | None = None
    ended_at: str | None = None
    result: str | None = None
    """The tool's result as it was, or will be, sent to the model."""
    owner: str | None = None
    """The process that started it."""
    looked_over_by: str | None = None
    """Who has looked over an action of tier `log` that ran without asking."""
    rule_id: str | None = None
    """The remembered rule that approved it in a person's place."""

    returned: bytes | None = None
    """What the tool's function returned, for a call that is entered again; None where it cannot be given again."""

    @property
    def begun(self) -> bool:
        """Whether its tool was started and then suspended to ask, so that some of it may be done already."""
        return self.state is ActionState.SUSPENDED or BEGUN in self.notes

    @property
    def tool_call_id(self) -> str:
        """The provider's own id of the call."""
        return self.key.tool_call_id

    @property
    def enters(self) -> dict[str, Any] | None:
        """What is passed to the tool, in the form the model writes."""
        return self.args if self.entered is None else self.entered


class AskedAction(NamedTuple):
    """A waiting action, reduced to what a decision on it depends on."""

    tool_call_id: str
    tool: str
    args: dict[str, Any] | None
    proposed: Any
    summary: str
    allowed: tuple[str, ...]
    shown_digest: str
    call_digest: str
    # The other fields that the digests cover.
    thread_id: str
    message_id: str
    attempt: int
    agent: str
    policy_version: str
    state: ActionState
    args_text: str
    """The arguments as their column holds them."""

    @property
    def key(self) -> Key:
        return Key(self.thread_id, self.message_id, self.tool_call_id, self.attempt)


def digests_of(action: Action | AskedAction, secret: bytes) -> tuple[str, str]:
    """Return the digests of the action as it is now: of what would run, and of what a reviewer sees of it."""
    call = call_digest(secret, agent=action.agent, **vars(action.key), tool=action.tool, args=action.args)
    shown = shown_digest(
        secret,
        call_digest=call,
        summary=action.summary,
        allowed_decisions=action.allowed,
        policy_version=action.policy_version,
    )
    return call, shown


def with_digests(action: Action, secret: bytes) -> Action:
    """Seal the action as it is now: what would run, and what a reviewer sees of it."""
    call, shown = digests_of(action, secret)
    return replace(action, call_digest=call, shown_digest=shown)


class ReviewState(StrEnum):
    OPEN = "open"
    DECIDED = "decided"
    CLOSED = "closed"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


@dataclass(frozen=True)
class Review:
    """One pause of a thread: one interrupt, with the actions that wait for decisions."""

    review_id: str
    """The interrupt's id."""
    thread_id: str
    agent: str
    state: ReviewState
    opened_at: str
    expires_at: str | None
    actions: tuple[Action, ...] = ()
    ended_at: str | None = None
    ended_by: str | None = None
    outcome: str | None = None
    """What was decided, in a few words: `approve`, or `2 approve, 1 reject`."""


class Waiting(NamedTuple):
    """An open review as the queue holds it: only what it asks and not the rest of the record, since there are many."""

    review_id: str
    thread_id: str
    agent: str
    opened_at: str
    expires_at: str | None
    actions: tuple[AskedAction, ...]
