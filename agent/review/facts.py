"""What each kind of event says: one dataclass per kind, whose fields are the keys of the event's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from agent.review.actions import Action
from agent.review.arguments.args import JSON
from agent.review.events import EventKind, UnsealedEvent
from agent.review.rules import Rule, described
from agent.review.threads import Run, Thread


class _LeftOut:
    """The value of a key that this event does not have."""


LEFT_OUT: Any = _LeftOut()


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What one event says beyond its own columns."""

    kind: ClassVar[EventKind]

    @property
    def data(self) -> dict[str, Any]:
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in found.items() if value is not LEFT_OUT}


# Threads, messages and runs.


@dataclass(frozen=True, kw_only=True)
class ThreadStartedFact(Fact):
    kind = EventKind.THREAD_STARTED
    model: str
    context: JSON = LEFT_OUT
    """What the thread adds to its external agent's context."""


@dataclass(frozen=True, kw_only=True)
class ThreadArchivedFact(Fact):
    kind = EventKind.THREAD_ARCHIVED
    messages: int
    """How many the conversation had."""


@dataclass(frozen=True, kw_only=True)
class ThreadNotedFact(Fact):
    kind = EventKind.THREAD_NOTED
    verdict: str
    text: str
    link: str


@dataclass(frozen=True, kw_only=True)
class ThreadStuckFact(Fact):
    kind = EventKind.THREAD_STUCK
    interrupts: Sequence[str]
    error: str | None = LEFT_OUT


@dataclass(frozen=True, kw_only=True)
class MessageSentFact(Fact):
    kind = EventKind.MESSAGE_SENT
    text: str
    input: Mapping[str, Any] = LEFT_OUT


@dataclass(frozen=True, kw_only=True)
class RunStartedFact(Fact):
    kind = EventKind.RUN_STARTED
    run_id: str
    model: str
    prompt_hash: str
    agent_version: str
    delivers: str
    """The kind of its delivery."""


@dataclass(frozen=True, kw_only=True)
class RunEndedFact(Fact):
    kind = EventKind.RUN_ENDED
    run_id: str
    ended: str
    """The run's last state."""
    error: str | None


@dataclass(frozen=True, kw_only=True)
class RunFailedFact(RunEndedFact):
    kind = EventKind.RUN_FAILED
    traceback: str = LEFT_OUT


@dataclass(frozen=True, kw_only=True)
class RunStoppedFact(RunEndedFact):
    kind = EventKind.RUN_STOPPED


@dataclass(frozen=True, kw_only=True)
class PolicyChangedFact(Fact):
    kind = EventKind.POLICY_CHANGED
    version: str
    before: str | None
    policy: JSON


# Actions and their reviews.


@dataclass(frozen=True, kw_only=True)
class ActionProposedFact(Fact):
    kind = EventKind.ACTION_PROPOSED
    proposed: JSON
    """The arguments as the model wrote them."""
    args: JSON
    """The arguments as the tool would receive them."""
    entered: JSON = LEFT_OUT
    place: str = LEFT_OUT
    notes: Mapping[str, Any]
    tier: str
    why: str
    summary: str
    attempt: int
    asked_by: str
    rule_id: str = LEFT_OUT


@dataclass(frozen=True, kw_only=True)
class ActionRefusedFact(Fact):
    kind = EventKind.ACTION_REFUSED
    why: str
    told: str | None


@dataclass(frozen=True, kw_only=True)
class ActionWithdrawnFact(Fact):
    kind = EventKind.ACTION_WITHDRAWN
    told: str
    rule_id: str | None = LEFT_OUT


@dataclass(frozen=True, kw_only=True)
class ActionLapsedFact(Fact):
    kind = EventKind.ACTION_LAPSED
    told: str


@dataclass(frozen=True, kw_only=True)
class ActionLookedOverFact(Fact):
    kind = EventKind.ACTION_LOOKED_OVER


@dataclass(frozen=True, kw_only=True)
class ReviewOpenedFact(Fact):
    kind = EventKind.REVIEW_OPENED
    actions: Sequence[Sequence[str]]
    """Pairs of a tool call id and its tool."""
    expires_at: str | None


@dataclass(frozen=True, kw_only=True)
class ReviewShownFact(Fact):
    kind = EventKind.REVIEW_SHOWN
    digests: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class ReviewClosedFact(Fact):
    kind = EventKind.REVIEW_CLOSED
    reason: str
    told: str


@dataclass(frozen=True, kw_only=True)
class ReviewExpiredFact(Fact):
    kind = EventKind.REVIEW_EXPIRED
    told: str


@dataclass(frozen=True, kw_only=True)
class ReviewSupersededFact(Fact):
    kind = EventKind.REVIEW_SUPERSEDED
    why: str


@dataclass(frozen=True, kw_only=True)
class DecisionMadeFact(Fact):
    kind = EventKind.DECISION_MADE
    type: str
    tool: str
    before: JSON
    after: JSON
    reason: str
    comment: str
    summary: str
    summary_after: str | None
    first_shown_at: str | None
    seconds_to_decide: float | None
    visible_seconds: float | None
    opened: Sequence[str] | None


@dataclass(frozen=True, kw_only=True)
class DecisionRefusedFact(Fact):
    kind = EventKind.DECISION_REFUSED
    why: str
    code: str
    review_id: str | None


# Executions.


@dataclass(frozen=True, kw_only=True)
class ExecutionStartedFact(Fact):
    kind = EventKind.EXECUTION_STARTED
    args: Mapping[str, Any] | None
    attempt: int
    run_id: str


@dataclass(frozen=True, kw_only=True)
class ExecutionFinishedFact(Fact):
    kind = EventKind.EXECUTION_FINISHED
    result: str | None
    args: JSON
    started_at: str | None
    turns: Sequence[int] = LEFT_OUT
    """How many interrupts and inner graphs of its task the call counted."""


@dataclass(frozen=True, kw_only=True)
class ExecutionFailedFact(ExecutionFinishedFact):
    kind = EventKind.EXECUTION_FAILED


@dataclass(frozen=True, kw_only=True)
class ExecutionSuspendedFact(ExecutionFinishedFact):
    kind = EventKind.EXECUTION_SUSPENDED


@dataclass(frozen=True, kw_only=True)
class EndUnknownFact(ExecutionFinishedFact):
    """The tool's function ended in a way that leaves open whether it took effect."""

    kind = EventKind.OUTCOME_UNKNOWN


@dataclass(frozen=True, kw_only=True)
class OutcomeUnknownFact(Fact):
    kind = EventKind.OUTCOME_UNKNOWN
    why: str
    args: JSON = LEFT_OUT
    started_at: str | None = LEFT_OUT
    owner: str | None = LEFT_OUT


@dataclass(frozen=True, kw_only=True)
class OutcomeSettledFact(Fact):
    kind = EventKind.OUTCOME_SETTLED
    outcome: str
    result: str
    args: JSON


@dataclass(frozen=True, kw_only=True)
class ExecutionBlockedFact(Fact):
    kind = EventKind.EXECUTION_BLOCKED
    why: str
    args: JSON = LEFT_OUT


@dataclass(frozen=True, kw_only=True)
class NotStartedFact(Fact):
    """An approved call that the guard ended before its function was called, with the result its model was sent."""

    told: str


@dataclass(frozen=True, kw_only=True)
class BlockedAtTheDoorFact(NotStartedFact):
    kind = EventKind.EXECUTION_BLOCKED


@dataclass(frozen=True, kw_only=True)
class RejectedMidwayFact(NotStartedFact):
    kind = EventKind.EXECUTION_FAILED


# Remembered rules, everything at once, and the record itself.


@dataclass(frozen=True, kw_only=True)
class AllStoppedFact(Fact):
    kind = EventKind.ALL_STOPPED


@dataclass(frozen=True, kw_only=True)
class AllReleasedFact(Fact):
    kind = EventKind.ALL_RELEASED


@dataclass(frozen=True, kw_only=True)
class FactOfRule(Fact):
    """A fact about a remembered rule. Its event also says what the rule is, so that it can be understood alone."""

    rule: Rule

    @property
    def data(self) -> dict[str, Any]:
        found = super().data
        return {**described(found.pop("rule")), **found}


@dataclass(frozen=True, kw_only=True)
class RuleMadeFact(FactOfRule):
    kind = EventKind.RULE_MADE
    lasting: str
    summary: str


@dataclass(frozen=True, kw_only=True)
class RuleAppliedFact(FactOfRule):
    kind = EventKind.RULE_APPLIED
    use: int
    """Which use of the rule this is, counted from 1."""


@dataclass(frozen=True, kw_only=True)
class RuleRevokedFact(FactOfRule):
    kind = EventKind.RULE_REVOKED
    uses: int
    withdrawn: Sequence[Sequence[str]]
    """Pairs of a thread id and a tool call id."""


@dataclass(frozen=True, kw_only=True)
class RuleExpiredFact(FactOfRule):
    kind = EventKind.RULE_EXPIRED
    uses: int


@dataclass(frozen=True, kw_only=True)
class ChainKeyedFact(Fact):
    kind = EventKind.CHAIN_KEYED
    count: int
    """How many events came before it."""
    head: str
    digest_key: str | None


@dataclass(frozen=True, kw_only=True)
class DataErasedFact(Fact):
    kind = EventKind.DATA_ERASED
    seqs: Sequence[int]
    why: str


# From facts to events.


def of_console(fact: Fact, at: str, by: str | None = None, *, agent: str | None = None) -> UnsealedEvent:
    """Return the event of a fact that belongs to no thread."""
    return UnsealedEvent(kind=fact.kind, at=at, by=by, agent=agent, data=fact.data)


def of_thread(
    about: Thread | Run, fact: Fact, at: str, by: str | None = None, *, review_id: str | None = None
) -> UnsealedEvent:
    """Return the event of a fact about a thread, about a run of it, or about a review on it."""
    return UnsealedEvent(
        kind=fact.kind,
        at=at,
        thread_id=about.thread_id,
        agent=about.agent,
        by=by,
        review_id=review_id,
        data=fact.data,
    )


def of_action(action: Action, fact: Fact, at: str, by: str | None = None) -> UnsealedEvent:
    """Return the event of a fact about an action."""
    return UnsealedEvent(
        kind=fact.kind,
        at=at,
        thread_id=action.key.thread_id,
        agent=action.agent,
        by=by,
        review_id=action.review_id,
        tool_call_id=action.key.tool_call_id,
        tool=action.tool,
        digest=action.call_digest,
        data=fact.data,
    )


def of_rule(fact: FactOfRule, at: str, by: str | None = None) -> UnsealedEvent:
    """Return the event of a fact about a rule, on the thread that the rule was made on."""
    rule = fact.rule
    return UnsealedEvent(
        kind=fact.kind,
        at=at,
        thread_id=rule.made_from.thread_id,
        agent=rule.agent,
        by=by,
        tool=rule.tool,
        data=fact.data,
    )
