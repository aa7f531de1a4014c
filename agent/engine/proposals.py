"""Record proposed calls as actions, each once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from agent.engine.namespaces import graph_of
from agent.ports import Transaction
from agent.review import tool_messages
from agent.review.actions import BEGUN, Action, ActionState, with_digests
from agent.review.events import instant
from agent.review.facts import LEFT_OUT, ActionProposedFact, ActionRefusedFact, RuleAppliedFact, of_action
from agent.review.repeats import expired_before
from agent.review.rules import Rule, in_force
from agent.review.screening import ScreenedCall
from agent.review.threads import Run

LAST_MESSAGES = 100
"""How far back in a transcript to look for the message that proposed a call."""


def propose(tx: Transaction, run: Run, call: ScreenedCall, position: int, secret: bytes, now: str) -> Action:
    """Record the call as an action and return it; what is on record under its key already stays as it is."""
    rule = tx.rule(call.rule_id) if call.rule_id else None
    action = with_digests(call.as_action(run.thread_id, run.agent, position), secret)
    if rule is not None:
        action = replace(action, execute_by=_good_until(call, rule, now))
    if action.state is ActionState.REFUSED:
        action = replace(action, ended_at=now, result=call.refusal)
    if action.state is ActionState.PENDING:
        action = replace(action, notes={**action.notes, **_expired_before(tx, action)})
    if not tx.propose(action):
        return action
    tx.append(of_action(action, _proposed(action, run.started_by), now, run.started_by))
    if action.state is ActionState.REFUSED:
        tx.append(of_action(action, ActionRefusedFact(why=action.why, told=action.result), now))
    if action.rule_id is not None:
        return _apply(tx, action, rule, now)
    return action


def _expired_before(tx: Transaction, action: Action) -> dict[str, Any]:
    thread_id = action.key.thread_id
    expired = expired_before(action, tx.actions(thread_id, states=[ActionState.EXPIRED]))
    # Only then all of them are read: the same call may have been proposed, and ended otherwise, since.
    return expired and expired_before(action, tx.actions(thread_id))


def _proposed(action: Action, asked_by: str) -> ActionProposedFact:
    return ActionProposedFact(
        proposed=action.proposed,
        args=action.args,
        entered=LEFT_OUT if action.entered is None else action.entered,
        place=action.place or LEFT_OUT,
        notes=action.notes,
        tier=action.tier,
        why=action.why,
        summary=action.summary,
        attempt=action.key.attempt,
        asked_by=asked_by,
        rule_id=action.rule_id or LEFT_OUT,
    )


def propose_asked(
    tx: Transaction, run: Run, call: ScreenedCall, position: int, secret: bytes, now: str
) -> Action:
    """Record the call as an action pending without a review: as the next attempt, if it was asked about before."""
    message_id = message_named(tx, run.thread_id, call.message_id, call.tool_call_id, graph_of(call.place))
    attempts = attempts_of(tx, run.thread_id, message_id, call.tool_call_id)
    if attempts and attempts[-1].state is ActionState.PENDING and attempts[-1].review_id is None:
        return attempts[-1]
    if attempts and attempts[-1].state is ActionState.APPROVED:
        # Nothing may run on the previous attempt's approval.
        tx.withdraw(attempts[-1], tool_messages.of(attempts[-1], tool_messages.ASKED_AGAIN), now)
    last = attempts[-1].key.attempt if attempts else 0
    notes = {**call.notes, BEGUN: True} if attempts and attempts[-1].begun else call.notes
    call = replace(call, message_id=message_id, attempt=last + 1, notes=notes)
    return propose(tx, run, call, position, secret, now)


def attempts_of(tx: Transaction, thread_id: str, message_id: str, call_id: str) -> list[Action]:
    """Return every attempt at a call, in order."""
    found = [a for a in tx.actions_of(thread_id, [message_id]) if a.key.tool_call_id == call_id]
    return sorted(found, key=lambda action: action.key.attempt)


def message_named(tx: Transaction, thread_id: str, message_id: str, call_id: str, graph: str) -> str:
    """Return the unique id under which a call's message is recorded: two parallel graphs may use the same ids.

    A message that a graph passes up to the graph around it keeps its id.
    """
    known = attempts_of(tx, thread_id, message_id, call_id)
    if not known or _is_one(graph_of(known[0].place), graph):
        return message_id
    return f"{graph}/{message_id}"


def _is_one(one: str, other: str) -> bool:
    """Return whether two graphs are the same, or one is inside the other."""
    return f"{one}|".startswith(f"{other}|") or f"{other}|".startswith(f"{one}|") or not one or not other


def _apply(tx: Transaction, action: Action, rule: Rule | None, now: str) -> Action:
    """Count the rule's use. A rule that ended between the verdict and its recording no longer approves anything."""
    if rule is None or not in_force(rule, action.key.thread_id, now):
        why = tool_messages.of(action, tool_messages.RULE_OVER)
        tx.withdraw(action, why, now)
        return replace(action, state=ActionState.WITHDRAWN, ended_at=now, result=why)
    tx.count_use(rule.rule_id, now)
    tx.append(of_action(action, RuleAppliedFact(rule=rule, use=rule.uses + 1), now))
    return action


def _good_until(call: ScreenedCall, rule: Rule, now: str) -> str:
    """Return until when the call may start: while an approval is good, but not after its rule has expired."""
    if call.execute_by is None:
        return rule.expires_at
    return min(rule.expires_at, instant(datetime.fromisoformat(now) + timedelta(seconds=call.execute_by)))
