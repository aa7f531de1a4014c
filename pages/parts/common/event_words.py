"""Events of the audit trail in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.review.actions import Action
from agent.review.events import Event, EventKind
from agent.review.policy import Tier
from agent.review.text.counts import counted
from agent.review.text.secrets import masked
from pages.parts.common.words import telling

WORDS: dict[EventKind, str] = {
    EventKind.THREAD_STARTED: "started the thread",
    EventKind.THREAD_ARCHIVED: "archived the thread",
    EventKind.MESSAGE_SENT: "sent a message",
    EventKind.RUN_STARTED: "started a run",
    EventKind.RUN_ENDED: "the run paused or ended",
    EventKind.RUN_FAILED: "the run failed",
    EventKind.RUN_STOPPED: "the run was stopped",
    EventKind.ACTION_PROPOSED: "the agent proposed",
    EventKind.ACTION_REFUSED: "the policy refused",
    EventKind.REVIEW_OPENED: "a review was opened",
    EventKind.REVIEW_SHOWN: "saw the review for the first time",
    EventKind.DECISION_MADE: "decided",
    EventKind.DECISION_REFUSED: "tried to decide, and was refused",
    EventKind.REVIEW_CLOSED: "closed the review without deciding",
    EventKind.REVIEW_EXPIRED: "the review expired",
    EventKind.REVIEW_SUPERSEDED: "the review was answered elsewhere, or asked again",
    EventKind.THREAD_STUCK: "an answer stuck the thread",
    EventKind.EXECUTION_STARTED: "execution started",
    EventKind.EXECUTION_FINISHED: "execution finished",
    EventKind.EXECUTION_FAILED: "execution failed",
    EventKind.EXECUTION_SUSPENDED: "the tool itself asked",
    EventKind.EXECUTION_BLOCKED: "execution was blocked",
    EventKind.ACTION_LAPSED: "the approval came too late",
    EventKind.ACTION_WITHDRAWN: "withdrawn before it started",
    EventKind.OUTCOME_UNKNOWN: "cut off: the outcome is unknown",
    EventKind.OUTCOME_SETTLED: "settled the outcome",
    EventKind.ACTION_LOOKED_OVER: "looked it over",
    EventKind.THREAD_NOTED: "noted on the thread",
    EventKind.ALL_STOPPED: "stopped everything",
    EventKind.ALL_RELEASED: "released the stop",
    EventKind.RULE_MADE: "made a rule",
    EventKind.RULE_APPLIED: "a rule applied",
    EventKind.RULE_REVOKED: "revoked a rule",
    EventKind.RULE_EXPIRED: "a rule expired",
    EventKind.POLICY_CHANGED: "the policy changed",
    EventKind.CHAIN_KEYED: "the record was keyed from here on",
    EventKind.DATA_ERASED: "erased data",
    EventKind.UNREADABLE: "cannot be read: it was changed past the console",
}


OF_RULES = (EventKind.RULE_MADE, EventKind.RULE_APPLIED, EventKind.RULE_REVOKED, EventKind.RULE_EXPIRED)
OF_EXECUTION = (
    EventKind.EXECUTION_STARTED,
    EventKind.EXECUTION_FINISHED,
    EventKind.EXECUTION_FAILED,
    EventKind.EXECUTION_SUSPENDED,
    EventKind.EXECUTION_BLOCKED,
    EventKind.OUTCOME_UNKNOWN,
)
IN_A_RUN = (
    *OF_EXECUTION,
    EventKind.RUN_ENDED,
    EventKind.RUN_FAILED,
    EventKind.RUN_STOPPED,
    EventKind.ACTION_PROPOSED,
    EventKind.ACTION_LAPSED,
)
"""Events that nobody caused by hand: the name on them is that of the person who started the run."""
ARGUMENTS = ("after", "args", "before", "proposed", "bound")
"""The names under which an event's data holds a call's arguments, the most telling one first."""


def told(event: Event) -> str:
    """Return what happened in a few words, preceded by the person's name if a person did it."""
    by_hand = event.by and event.kind not in IN_A_RUN
    return f"{event.by} · {sentence(event)}" if by_hand else sentence(event)


def sentence(event: Event) -> str:
    """Return what happened in a few words, which may hold names of people and tools."""
    data = event.data or {}
    more = {
        EventKind.REVIEW_OPENED: f": {', '.join(str(tool) for _, tool in data.get('actions', ()))}",
        EventKind.DECISION_MADE: f": {data.get('type')} {data.get('tool')}",
        EventKind.OUTCOME_SETTLED: f": {data.get('outcome')} {event.tool}",
        **dict.fromkeys(OF_RULES, f" ({data.get('rule_id')} by {data.get('made_by')}): {event.tool}"),
        EventKind.DATA_ERASED: f" of {counted(len(data.get('seqs', ())), 'event')}: {data.get('why')}",
        EventKind.THREAD_NOTED: f": {data.get('verdict')}",
        EventKind.RUN_ENDED: f": {data.get('ended')}",
        EventKind.RUN_FAILED: f": {masked(data.get('error'))}",
    }.get(event.kind, f" {event.tool}" if event.tool else "")
    return f"{WORDS.get(event.kind, event.kind)}{more}"


def arguments_of(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the arguments of the event's call if its own data holds them, else None."""
    held = (data[name] for name in ARGUMENTS if isinstance(data.get(name), Mapping))
    return next(held, None)


def target(event: Event, action: Action | None) -> str:
    """Return the event's first argument or its message, shortened and masked; "" once its data was erased.

    `action` is the event's action, for an event that does not hold the arguments itself.
    """
    if event.data is None:
        return ""
    if event.kind is EventKind.MESSAGE_SENT:
        return telling({"text": event.data.get("text", "")})
    held = arguments_of(event.data)
    return telling(action.args if held is None and action else held)


def on_whose_word(event: Event, action: Action | None) -> str:
    """Return who let the action run, or who started the run; "" for what a person did by hand."""
    if event.kind in OF_EXECUTION and action is not None:
        if action.rule_id is not None:
            return f"allowed by rule {action.rule_id}"
        if action.decided_by is not None:
            return f"approved by {action.decided_by}"
        return "" if action.tier == Tier.ASK else "without asking"
    return f"in a run started by {event.by}" if event.by and event.kind in IN_A_RUN else ""
