"""Events of the audit trail in words."""

from __future__ import annotations

from agent.review.events import Event, Kind

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
}


OF_RULES = (Kind.RULE_MADE, Kind.RULE_APPLIED, Kind.RULE_REVOKED, Kind.RULE_EXPIRED)


def sentence(event: Event) -> str:
    """What happened, in a few words; names of people and tools are part of it."""
    data = event.data or {}
    more = {
        Kind.DECISION_MADE: f": {data.get('type')} {data.get('tool')}",
        Kind.OUTCOME_SETTLED: f": {data.get('outcome')} {event.tool}",
        **dict.fromkeys(OF_RULES, f" ({data.get('rule_id')} by {data.get('made_by')}): {event.tool}"),
        Kind.THREAD_NOTED: f": {data.get('verdict')}",
        Kind.RUN_ENDED: f": {data.get('ended')}",
        Kind.RUN_FAILED: f": {data.get('error')}",
    }.get(event.kind, f" {event.tool}" if event.tool else "")
    return f"{WORDS.get(event.kind, event.kind)}{more}"
