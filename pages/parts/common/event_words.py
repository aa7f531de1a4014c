"""Events of the audit trail in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.review.actions import Action
from agent.review.events import Event, Kind
from agent.review.policy import Tier
from agent.review.text.secrets import masked
from pages.parts.common.words import telling

WORDS: dict[Kind, str] = {
    Kind.THREAD_STARTED: "started the thread",
    Kind.THREAD_ARCHIVED: "archived the thread",
    Kind.MESSAGE_SENT: "sent a message",
    Kind.RUN_STARTED: "started a run",
    Kind.RUN_ENDED: "the run paused or ended",
    Kind.RUN_FAILED: "the run failed",
    Kind.RUN_STOPPED: "the run was stopped",
    Kind.ACTION_PROPOSED: "the agent proposed",
    Kind.ACTION_REFUSED: "the policy refused",
    Kind.REVIEW_OPENED: "a review was opened",
    Kind.REVIEW_SHOWN: "saw the review for the first time",
    Kind.DECISION_MADE: "decided",
    Kind.DECISION_REFUSED: "tried to decide, and was refused",
    Kind.REVIEW_CLOSED: "closed the review without deciding",
    Kind.REVIEW_EXPIRED: "the review expired",
    Kind.REVIEW_SUPERSEDED: "the review was answered elsewhere, or asked anew",
    Kind.THREAD_STUCK: "an answer stuck the thread",
    Kind.EXECUTION_STARTED: "execution started",
    Kind.EXECUTION_FINISHED: "execution finished",
    Kind.EXECUTION_FAILED: "execution failed",
    Kind.EXECUTION_SUSPENDED: "the tool itself asked",
    Kind.EXECUTION_BLOCKED: "execution was blocked",
    Kind.ACTION_LAPSED: "the approval came too late",
    Kind.ACTION_WITHDRAWN: "withdrawn before it started",
    Kind.OUTCOME_UNKNOWN: "cut off: the outcome is unknown",
    Kind.OUTCOME_SETTLED: "settled the outcome",
    Kind.ACTION_LOOKED_OVER: "looked it over",
    Kind.THREAD_NOTED: "noted on the thread",
    Kind.ALL_STOPPED: "stopped everything",
    Kind.ALL_RELEASED: "released the stop",
    Kind.RULE_MADE: "made a rule",
    Kind.RULE_APPLIED: "a rule applied",
    Kind.RULE_REVOKED: "revoked a rule",
    Kind.RULE_EXPIRED: "a rule expired",
    Kind.POLICY_CHANGED: "the policy changed",
    Kind.CHAIN_KEYED: "the record was keyed from here on",
    Kind.DATA_ERASED: "erased data",
    Kind.UNREADABLE: "cannot be read: it was changed past the console",
}


OF_RULES = (Kind.RULE_MADE, Kind.RULE_APPLIED, Kind.RULE_REVOKED, Kind.RULE_EXPIRED)
OF_EXECUTION = (
    Kind.EXECUTION_STARTED,
    Kind.EXECUTION_FINISHED,
    Kind.EXECUTION_FAILED,
    Kind.EXECUTION_SUSPENDED,
    Kind.EXECUTION_BLOCKED,
    Kind.OUTCOME_UNKNOWN,
)
IN_A_RUN = (
    *OF_EXECUTION,
    Kind.RUN_ENDED,
    Kind.RUN_FAILED,
    Kind.RUN_STOPPED,
    Kind.ACTION_PROPOSED,
    Kind.ACTION_LAPSED,
)
"""What nobody did by hand: the name on such an event is that of who started the run."""
ARGUMENTS = ("after", "args", "before", "proposed", "bound")
"""Where an event's data holds a call's arguments, the one that says most first."""


def told(event: Event) -> str:
    """What happened, in a few words, after the name of the person who did it, if one did."""
    by_hand = event.by and event.kind not in IN_A_RUN
    return f"{event.by} · {sentence(event)}" if by_hand else sentence(event)


def sentence(event: Event) -> str:
    """What happened, in a few words; names of people and tools are part of it."""
    data = event.data or {}
    more = {
        Kind.REVIEW_OPENED: f": {', '.join(str(tool) for _, tool in data.get('actions', ()))}",
        Kind.DECISION_MADE: f": {data.get('type')} {data.get('tool')}",
        Kind.OUTCOME_SETTLED: f": {data.get('outcome')} {event.tool}",
        **dict.fromkeys(OF_RULES, f" ({data.get('rule_id')} by {data.get('made_by')}): {event.tool}"),
        Kind.DATA_ERASED: f" of {len(data.get('seqs', ()))} events: {data.get('why')}",
        Kind.THREAD_NOTED: f": {data.get('verdict')}",
        Kind.RUN_ENDED: f": {data.get('ended')}",
        Kind.RUN_FAILED: f": {masked(data.get('error'))}",
    }.get(event.kind, f" {event.tool}" if event.tool else "")
    return f"{WORDS.get(event.kind, event.kind)}{more}"


def arguments_of(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The arguments of the call an event is about, where its own data holds them."""
    held = (data[name] for name in ARGUMENTS if isinstance(data.get(name), Mapping))
    return next(held, None)


def target(event: Event, action: Action | None) -> str:
    """What it was done to, or what was said, shortened and without secrets; "" once the event's data was erased.

    `action` is the one the event is about, for an event that does not hold its arguments.
    """
    if event.data is None:
        return ""
    if event.kind is Kind.MESSAGE_SENT:
        return telling({"text": event.data.get("text", "")})
    held = arguments_of(event.data)
    return telling(action.args if held is None and action else held)


def on_whose_word(event: Event, action: Action | None) -> str:
    """Who let an action run, or in whose run something happened by itself; "" for what a person did by hand."""
    if event.kind in OF_EXECUTION and action is not None:
        if action.rule_id is not None:
            return f"allowed by rule {action.rule_id}"
        if action.decided_by is not None:
            return f"approved by {action.decided_by}"
        return "" if action.tier == Tier.ASK else "without asking"
    return f"in a run started by {event.by}" if event.by and event.kind in IN_A_RUN else ""
