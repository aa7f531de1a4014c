"""Putting proposed calls on record, each once, as the actions they become."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from agent.ports import Transaction
from agent.review import told
from agent.review.actions import BEGUN, Action, State, with_digests
from agent.review.agents import Agent
from agent.review.events import Fact, Kind, instant
from agent.review.foreign import OF_AN_INTERRUPT, OpenCall, free, taken
from agent.review.rules import Rule, described, in_force
from agent.review.screening import Call
from agent.review.threads import Run

LAST_MESSAGES = 100
"""How far back the message is sought that proposed a call which is about to start."""


def propose(tx: Transaction, run: Run, call: Call, position: int, secret: bytes, now: str) -> Action:
    """The call as an action; what is on record under its key already stays as it is."""
    rule = tx.rule(call.rule_id) if call.rule_id else None
    action = with_digests(call.as_action(run.thread_id, run.agent, position), secret)
    if rule is not None:
        action = replace(action, execute_by=_good_until(call, rule, now))
    if action.state is State.REFUSED:
        action = replace(action, ended_at=now, result=call.refusal)
    if not tx.propose(action):
        return action
    data: dict[str, Any] = {
        "proposed": action.proposed,
        "args": action.args,
        "notes": action.notes,
        "tier": action.tier,
        "why": action.why,
        "summary": action.summary,
        "attempt": action.key.attempt,
        "asked_by": run.started_by,
        **({"rule_id": action.rule_id} if action.rule_id else {}),
    }
    tx.append(fact_of(action, Kind.ACTION_PROPOSED, now, run.started_by, data))
    if action.state is State.REFUSED:
        refusal = {"why": action.why, "told": action.result}
        tx.append(fact_of(action, Kind.ACTION_REFUSED, now, None, refusal))
    if action.rule_id is not None:
        return _apply(tx, action, rule, now)
    return action


def propose_asked(tx: Transaction, run: Run, call: Call, position: int, secret: bytes, now: str) -> Action:
    """The call as an action that waits and is in no review yet: as the next attempt, if it was asked about before."""
    attempts = _attempts(tx, run.thread_id, call.message_id, call.tool_call_id)
    if attempts and attempts[-1].state is State.PENDING and attempts[-1].review_id is None:
        return attempts[-1]
    if attempts and attempts[-1].state is State.APPROVED:
        # Nothing may run on an approval of the attempt before.
        withdraw(tx, attempts[-1], told.ASKED_AGAIN, now)
    last = attempts[-1].key.attempt if attempts else 0
    notes = {**call.notes, BEGUN: True} if attempts and attempts[-1].begun else call.notes
    return propose(tx, run, replace(call, attempt=last + 1, notes=notes), position, secret, now)


def about_to_start(
    tx: Transaction,
    run: Run,
    agent: Agent,
    meant: OpenCall,
    secret: bytes,
    now: str,
) -> Action:
    """The action of a call that an agent of another make starts now; one it did not ask about is proposed by this.

    A call that an interrupt asked about without saying which it is, is found by its tool and arguments.
    """
    message_id = meant.message_id or _proposing(tx, run.thread_id, meant.tool_call_id)
    if message_id:
        known = _attempts(tx, run.thread_id, message_id, meant.tool_call_id)[-1:]
    else:
        latest = tx.latest_action(run.thread_id, meant.tool_call_id)
        known = [latest] if latest else []
    asked = known or _asked_without_id(tx, run, agent, meant)
    if asked:
        return asked[0]
    call = free(agent, replace(meant, message_id=message_id or run.run_id))
    return propose(tx, run, call, 0, secret, now)


def _apply(tx: Transaction, action: Action, rule: Rule | None, now: str) -> Action:
    """Count the rule's use. One that ended between the verdict and its recording approves nothing any more."""
    if rule is None or not in_force(rule, action.key.thread_id, now):
        withdraw(tx, action, told.RULE_OVER, now)
        return replace(action, state=State.WITHDRAWN, ended_at=now, result=told.RULE_OVER)
    tx.count_use(rule.rule_id, now)
    tx.append(fact_of(action, Kind.RULE_APPLIED, now, None, {**described(rule), "use": rule.uses + 1}))
    return action


def _good_until(call: Call, rule: Rule, now: str) -> str:
    """Until when the call may start: as long as an approval is good, and not after the rule that gave it."""
    if call.execute_by is None:
        return rule.expires_at
    return min(rule.expires_at, instant(datetime.fromisoformat(now) + timedelta(seconds=call.execute_by)))


def withdraw(tx: Transaction, action: Action, why: str, now: str) -> None:
    """Take back an approval that nothing has started on."""
    why = told.of(action, why)
    tx.move(action.key, State.APPROVED, State.WITHDRAWN, ended_at=now, result=why)
    tx.append(fact_of(action, Kind.ACTION_WITHDRAWN, now, None, {"told": why}))


def fact_of(action: Action, kind: Kind, at: str, by: str | None, data: dict[str, Any]) -> Fact:
    """An event about this action."""
    return Fact(
        kind=kind,
        at=at,
        thread_id=action.key.thread_id,
        agent=action.agent,
        by=by,
        review_id=action.review_id,
        tool_call_id=action.key.tool_call_id,
        tool=action.tool,
        digest=action.call_digest,
        data=data,
    )


def _attempts(tx: Transaction, thread_id: str, message_id: str, call_id: str) -> list[Action]:
    found = [a for a in tx.actions_of(thread_id, [message_id]) if a.key.tool_call_id == call_id]
    return sorted(found, key=lambda action: action.key.attempt)


def _proposing(tx: Transaction, thread_id: str, call_id: str) -> str:
    """The last message of the transcript that proposed a call of this id; "" if none did."""
    for message in reversed(tx.messages(thread_id, limit=LAST_MESSAGES)):
        if any(call.id == call_id for call in message.tool_calls):
            return message.id
    return ""


def _asked_without_id(tx: Transaction, run: Run, agent: Agent, meant: OpenCall) -> list[Action]:
    """Approved actions this call may be: those with its arguments first, else any of its tool, which then blocks."""
    waiting = [
        action
        for action in tx.actions(run.thread_id, states=[State.APPROVED])
        if action.key.message_id.startswith(OF_AN_INTERRUPT) and action.tool == meant.tool
    ]
    args, _ = taken(agent, meant.tool, meant.args)
    return sorted(waiting, key=lambda action: action.args != args)
