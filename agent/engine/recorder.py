"""Write what a run reports into the ledger: messages, proposals, the review it paused on, how it ended.

Graph nodes do not write there, because they run again on resume. Recording anything here twice has the same
effect as once, and nothing is recorded for a run that another process has taken over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agent.engine.proposals import LAST_MESSAGES, propose, propose_asked
from agent.ports import Clock, Ledger, Paused, Proposed, Said, Transaction
from agent.review import tool_messages
from agent.review.actions import Action, ActionState, Review, ReviewState
from agent.review.bounds import spelt
from agent.review.events import instant
from agent.review.facts import (
    ExecutionFailedFact,
    OutcomeUnknownFact,
    ReviewOpenedFact,
    ReviewSupersededFact,
    RunEndedFact,
    RunFailedFact,
    RunStoppedFact,
    ThreadStuckFact,
    of_action,
    of_thread,
)
from agent.review.people import THE_AGENT
from agent.review.screening import ScreenedCall
from agent.review.threads import Message, Run, RunState, Status

FACT_OF_END = {RunState.FAILED: RunFailedFact, RunState.STOPPED: RunStoppedFact}
ASKS_STILL = "Its agent still asks what was closed here. Ask again, or close it."
QUESTION_GONE = "its question no longer stands in the agent's checkpoint"
STATUS_OF_END = {
    RunState.PAUSED: Status.WAITING,
    RunState.ANSWERED: Status.IDLE,
    RunState.FAILED: Status.FAILED,
    RunState.STOPPED: Status.STOPPED,
    RunState.UNKNOWN: Status.UNKNOWN_OUTCOME,
}


@dataclass(frozen=True)
class End:
    """How a run ended, as far as its stream shows."""

    state: RunState
    paused: Paused | None = None
    error: str | None = None
    traceback: str = ""
    """Where in the agent's code the error came from."""
    stuck: tuple[str, ...] = ()
    """Interrupts whose answers made the run fail, if any did."""
    calls: tuple[ScreenedCall, ...] = ()
    """The turn's calls, with the verdicts that the checkpoint holds."""
    standing: tuple[str, ...] | None = None
    """The interrupts in the checkpoint, waiting or just answered; None if they are not known."""


class Recorder:
    """The recorder of one process's runs."""

    def __init__(self, ledger: Ledger, secret: bytes, clock: Clock) -> None:
        self._ledger, self._secret, self._clock = ledger, secret, clock

    def record(self, run: Run, said: Sequence[Said], proposed: Sequence[Proposed]) -> None:
        """Record new messages and proposed calls, before any of the calls can run."""
        with self._ledger.write() as tx:
            if _is_ours(tx, run):
                self._record(tx, run, said, proposed)

    def end(self, run: Run, said: Sequence[Said], end: End) -> None:
        """Close the run and, in the same transaction, open the review it paused on: who sees it can decide it."""
        with self._ledger.write() as tx:
            if not _is_ours(tx, run):
                return
            now = self._clock()
            self._record(tx, run, said, [Proposed(end.calls)])
            lost = lose_executing(tx, run, instant(now), end.error or "the run ended while it was executing")
            if lost or tx.actions(run.thread_id, states=[ActionState.UNKNOWN]):
                end = replace(end, state=RunState.UNKNOWN, paused=None, standing=None)
            if end.standing is not None:
                _supersede_gone(tx, run, end.standing, instant(now))
            if end.state is RunState.ANSWERED:
                left = tx.actions(run.thread_id, states=[ActionState.APPROVED, ActionState.SUSPENDED])
                approved = [action for action in left if action.state is ActionState.APPROVED]
                _withdraw(tx, approved, tool_messages.NEVER_STARTED, instant(now))
                _end_midway(tx, [action for action in left if action not in approved], instant(now))
            if end.paused is not None:
                for review_id in end.paused.waiting:
                    self._open_review(tx, run, review_id, end.paused, now)
                if not tx.open_reviews(run.thread_id):
                    # It asks what has been ended here already, and goes on asking: only asking again can open a review.
                    end = replace(end, stuck=end.paused.waiting, error=ASKS_STILL)
            tx.close(run.run_id, run.owner, end.state, instant(now), end.error)
            error = end.error if end.state in (RunState.FAILED, RunState.STOPPED) else None
            stuck = end.state is not RunState.UNKNOWN and (
                end.error == ASKS_STILL or _is_stuck(tx, end.stuck)
            )
            tx.set_thread(
                run.thread_id, Status.STUCK if stuck else STATUS_OF_END[end.state], instant(now), error
            )
            ended = FACT_OF_END.get(end.state, RunEndedFact)
            traced = {"traceback": end.traceback} if end.traceback else {}
            fact = ended(run_id=run.run_id, ended=str(end.state), error=end.error, **traced)
            tx.append(of_thread(run, fact, instant(now), run.started_by))
            if stuck:
                tx.append(
                    of_thread(run, ThreadStuckFact(interrupts=list(end.stuck), error=end.error), instant(now))
                )

    def supersede(self, run: Run, review_id: str) -> None:
        """Record that another client answered this review first, and withdraw what it approved: none of it ran."""
        with self._ledger.write() as tx:
            if not _is_ours(tx, run):
                return
            now = instant(self._clock())
            review = tx.review(review_id)
            kept = [a for a in review.actions if a.state is ActionState.APPROVED] if review else []
            _withdraw(tx, kept, tool_messages.SUPERSEDED, now)
            late = ReviewSupersededFact(why="another client had answered it before this decision arrived")
            tx.append(of_thread(run, late, now, review_id=review_id))

    def _record(self, tx: Transaction, run: Run, said: Sequence[Said], proposed: Sequence[Proposed]) -> None:
        now = instant(self._clock())
        for one in said:
            for message in one.messages:
                tx.put_messages(run.thread_id, [_in_its_place(tx, run, message)], now)
        for group in proposed:
            for position, call in enumerate(group.calls):
                if not tx.is_proposed(call.key(run.thread_id)):
                    propose(tx, run, call, position, self._secret, now)

    def _open_review(self, tx: Transaction, run: Run, review_id: str, paused: Paused, now: datetime) -> None:
        if tx.review(review_id) is not None:
            return
        asked = paused.asked.get(review_id)
        if asked is None:
            actions = [
                a for a in tx.actions(run.thread_id, states=[ActionState.PENDING]) if a.review_id is None
            ]
        else:
            actions = [
                propose_asked(tx, run, call, position, self._secret, instant(now))
                for position, call in enumerate(asked)
            ]
        spans = [action.approve_by for action in actions if action.approve_by is not None]
        review = Review(
            review_id=review_id,
            thread_id=run.thread_id,
            agent=run.agent,
            state=ReviewState.OPEN,
            opened_at=instant(now),
            expires_at=instant(now + timedelta(seconds=min(spans))) if spans else None,
        )
        if not tx.open_review(review, [action.key for action in actions]):
            return
        calls = [[action.key.tool_call_id, action.tool] for action in actions]
        opened = ReviewOpenedFact(actions=calls, expires_at=review.expires_at)
        tx.append(of_thread(run, opened, instant(now), review_id=review_id))


def lose_executing(tx: Transaction, run: Run, now: str, why: str) -> bool:
    """Mark what was executing on the run's thread as unknown; return whether anything was."""
    found = tx.actions(run.thread_id, states=[ActionState.EXECUTING])
    for action in found:
        tx.move(action.key, ActionState.EXECUTING, ActionState.UNKNOWN)
        started_at, owner = action.started_at, action.owner
        lost = OutcomeUnknownFact(why=why, args=action.args, started_at=started_at, owner=owner)
        tx.append(of_action(action, lost, now))
    return bool(found)


def _in_its_place(tx: Transaction, run: Run, message: Message) -> Message:
    """Return a call's result under the id of the one already in the transcript, and a new reply under its own id.

    The nodes of external agents give each result a new id, and may return it a second time after a crash.
    """
    if message.type == "ai":
        return _under_its_own_id(tx, run, message)
    if message.tool_call_id is None or message.id.endswith(f"/{message.tool_call_id}"):
        return message
    for kept in reversed(tx.messages(run.thread_id, limit=LAST_MESSAGES)):
        if any(call.id == message.tool_call_id for call in kept.tool_calls):
            break
        if kept.tool_call_id == message.tool_call_id:
            return replace(message, id=kept.id)
    return message


def _under_its_own_id(tx: Transaction, run: Run, message: Message) -> Message:
    """Return the message, under another id if its model gave it the id of an earlier reply.

    A message recorded twice gets the same id both times.
    """
    first = tx.message(run.thread_id, message.id)
    if first is None or _said(first) == _said(message):
        return message
    digest = hashlib.sha256(_said(message).encode("utf-8", "surrogatepass")).hexdigest()
    own = f"{message.id}#{digest[:12]}"
    if tx.message(run.thread_id, own) is not None:
        return replace(message, id=own)
    since: list[Message] = []
    for one in reversed(tx.messages(run.thread_id, limit=LAST_MESSAGES)):
        if one.id == message.id or one.id.startswith(f"{message.id}#"):
            return replace(message, id=one.id if _is_the_same(one, message, since) else own)
        since.append(one)
    return replace(message, id=own)


def _is_the_same(kept: Message, now: Message, since: Sequence[Message]) -> bool:
    """Return whether a reply is the kept one, perhaps changed by a reviewer's edit or by its agent.

    A changed one is, if only results followed the kept one and, once there are any, both propose the same calls.
    """
    if _said(kept) == _said(now):
        return True
    same_calls = [call.id for call in kept.tool_calls] == [call.id for call in now.tool_calls]
    return all(one.type == "tool" for one in since) and (same_calls or not since)


def _said(message: Message) -> str:
    """Return all that a reply says, as a text that stays the same after a trip through the ledger."""
    return spelt([message.content, [[call.id, call.name, call.args] for call in message.tool_calls]])


def _supersede_gone(tx: Transaction, run: Run, standing: Sequence[str], now: str) -> None:
    """End every open review of the run's thread whose interrupt is gone: nobody can decide it."""
    for review in tx.open_reviews(run.thread_id):
        if review.review_id in standing:
            continue
        tx.end_review(review.review_id, ReviewState.SUPERSEDED, now, THE_AGENT, QUESTION_GONE)
        for action in review.actions:
            if action.state is ActionState.PENDING:
                tx.move(action.key, ActionState.PENDING, ActionState.SUPERSEDED, ended_at=now)
        gone = ReviewSupersededFact(why=QUESTION_GONE)
        tx.append(of_thread(run, gone, now, review_id=review.review_id))


def _withdraw(tx: Transaction, actions: Sequence[Action], why: str, now: str) -> None:
    """Withdraw these actions, which were approved but did not start."""
    for action in actions:
        tx.withdraw(action, tool_messages.of(action, why), now)


def _end_midway(tx: Transaction, actions: Sequence[Action], now: str) -> None:
    """Fail these actions, which started and then paused to ask: the turn is over, so they will not continue."""
    for action in actions:
        key = action.key
        attempts = tx.actions_of(key.thread_id, [key.message_id])
        if any(one.tool_call_id == key.tool_call_id and one.key.attempt > key.attempt for one in attempts):
            continue  # the next attempt says how it ended
        tx.move(
            key, ActionState.SUSPENDED, ActionState.FAILED, ended_at=now, result=tool_messages.NEVER_ENDED
        )
        text, started_at = tool_messages.NEVER_ENDED, action.started_at
        failed = ExecutionFailedFact(result=text, args=action.args, started_at=started_at)
        tx.append(of_action(action, failed, now))


def _is_stuck(tx: Transaction, interrupts: Sequence[str]) -> bool:
    """Return whether the answers themselves made the run fail: if one of their actions started, a retry can help."""
    reviews = [review for name in interrupts if (review := tx.review(name)) is not None]
    return bool(interrupts) and not any(action.started_at for one in reviews for action in one.actions)


def _is_ours(tx: Transaction, run: Run) -> bool:
    now = tx.run(run.run_id)
    return now is not None and now.state is RunState.OPEN and now.owner == run.owner
