"""Putting proposed calls on record, each once, as the actions they become."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from agent.engine.namespaces import graph_of
from agent.ports import Transaction
from agent.review import tool_messages
from agent.review.actions import BEGUN, Action, ActionState, with_digests
from agent.review.events import instant
from agent.review.facts import LEFT_OUT, ActionProposedFact, ActionRefusedFact, RuleAppliedFact, of_action
from agent.review.rules import Rule, in_force
from agent.review.screening import ScreenedCall
from agent.review.threads import Run

LAST_MESSAGES = 100
"""How far back in a transcript the message is sought that proposed a call."""


def propose(tx: Transaction, run: Run, call: ScreenedCall, position: int, secret: bytes, now: str) -> Action:
    """The call as an action; what is on record under its key already stays as it is."""
    rule = tx.rule(call.rule_id) if call.rule_id else None
    action = with_digests(call.as_action(run.thread_id, run.agent, position), secret)
    if rule is not None:
        action = replace(action, execute_by=_good_until(call, rule, now))
    if action.state is ActionState.REFUSED:
        action = replace(action, ended_at=now, result=call.refusal)
    if not tx.propose(action):
        return action
    tx.append(of_action(action, _proposed(action, run.started_by), now, run.started_by))
    if action.state is ActionState.REFUSED:
        tx.append(of_action(action, ActionRefusedFact(why=action.why, told=action.result), now))
    if action.rule_id is not None:
        return _apply(tx, action, rule, now)
    return action


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
    """The call as an action that waits and is in no review yet: as the next attempt, if it was asked about before."""
    message_id = message_named(tx, run.thread_id, call.message_id, call.tool_call_id, graph_of(call.place))
    attempts = attempts_of(tx, run.thread_id, message_id, call.tool_call_id)
    if attempts and attempts[-1].state is ActionState.PENDING and attempts[-1].review_id is None:
        return attempts[-1]
    if attempts and attempts[-1].state is ActionState.APPROVED:
        # Nothing may run on an approval of the attempt before.
        tx.withdraw(attempts[-1], tool_messages.of(attempts[-1], tool_messages.ASKED_AGAIN), now)
    last = attempts[-1].key.attempt if attempts else 0
    notes = {**call.notes, BEGUN: True} if attempts and attempts[-1].begun else call.notes
    call = replace(call, message_id=message_id, attempt=last + 1, notes=notes)
    return propose(tx, run, call, position, secret, now)


def attempts_of(tx: Transaction, thread_id: str, message_id: str, call_id: str) -> list[Action]:
    """Every attempt at a call, in order."""
    found = [a for a in tx.actions_of(thread_id, [message_id]) if a.key.tool_call_id == call_id]
    return sorted(found, key=lambda action: action.key.attempt)


def message_named(tx: Transaction, thread_id: str, message_id: str, call_id: str, graph: str) -> str:
    """The message of a call under the name that only it has: two graphs side by side may use the same ids.

    A message that a graph hands up to the one around it is still the same.
    """
    known = attempts_of(tx, thread_id, message_id, call_id)
    if not known or _is_one(graph_of(known[0].place), graph):
        return message_id
    return f"{graph}/{message_id}"


def _is_one(one: str, other: str) -> bool:
    """Whether one of two graphs is the other, or is inside it."""
    return f"{one}|".startswith(f"{other}|") or f"{other}|".startswith(f"{one}|") or not one or not other


def _apply(tx: Transaction, action: Action, rule: Rule | None, now: str) -> Action:
    """Count the rule's use. One that ended between the verdict and its recording approves nothing any more."""
    if rule is None or not in_force(rule, action.key.thread_id, now):
        why = tool_messages.of(action, tool_messages.RULE_OVER)
        tx.withdraw(action, why, now)
        return replace(action, state=ActionState.WITHDRAWN, ended_at=now, result=why)
    tx.count_use(rule.rule_id, now)
    tx.append(of_action(action, RuleAppliedFact(rule=rule, use=rule.uses + 1), now))
    return action


def _good_until(call: ScreenedCall, rule: Rule, now: str) -> str:
    """Until when the call may start: as long as an approval is good, and not after the rule that gave it."""
    if call.execute_by is None:
        return rule.expires_at
    return min(rule.expires_at, instant(datetime.fromisoformat(now) + timedelta(seconds=call.execute_by)))
