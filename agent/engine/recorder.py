"""What a run tells, written into the ledger: messages, proposals, the review it paused on, how it ended.

Graph nodes write nothing there, because they run again on resume. Everything here can be recorded twice with
the effect of once, and nothing is recorded for a run that another process has taken over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from agent.ports import Clock, Ledger, Proposed, Said, Transaction
from agent.review.actions import Action, Key, Review, ReviewState, State, with_digests
from agent.review.events import Fact, Kind, instant
from agent.review.screening import Call
from agent.review.threads import Run, RunState, Status

STATE_OF = {"ask": State.PENDING, "run": State.APPROVED, "answered": State.REFUSED}
KIND_OF_END = {
    RunState.FAILED: Kind.RUN_FAILED,
    RunState.STOPPED: Kind.RUN_STOPPED,
}
STATUS_OF_END = {
    RunState.PAUSED: Status.WAITING,
    RunState.ANSWERED: Status.IDLE,
    RunState.FAILED: Status.FAILED,
    RunState.STOPPED: Status.STOPPED,
    RunState.UNKNOWN: Status.UNKNOWN_OUTCOME,
}


@dataclass(frozen=True)
class End:
    """How a run ended, as far as its stream tells."""

    state: RunState
    waiting: tuple[str, ...] = ()
    error: str | None = None


class Recorder:
    """Records one process's runs."""

    def __init__(self, ledger: Ledger, secret: bytes, clock: Clock) -> None:
        self._ledger, self._secret, self._clock = ledger, secret, clock

    def record(self, run: Run, said: Sequence[Said], proposed: Sequence[Proposed]) -> None:
        """Messages that were said and calls that were proposed, before any of the calls can run."""
        with self._ledger.write() as tx:
            if _is_ours(tx, run):
                self._record(tx, run, said, proposed)

    def end(self, run: Run, said: Sequence[Said], end: End) -> None:
        """Close the run and, in the same transaction, open the review it paused on: who sees it can decide it."""
        with self._ledger.write() as tx:
            if not _is_ours(tx, run):
                return
            now = self._clock()
            self._record(tx, run, said, ())
            lost = lose_executing(tx, run, instant(now), end.error or "the run ended while it was executing")
            if lost or tx.actions(run.thread_id, states=[State.UNKNOWN]):
                end = replace(end, state=RunState.UNKNOWN, waiting=())
            for review_id in end.waiting:
                self._open_review(tx, run, review_id, now)
            tx.close(run.run_id, run.owner, end.state, instant(now), end.error)
            error = end.error if end.state in (RunState.FAILED, RunState.STOPPED) else None
            tx.set_thread(run.thread_id, STATUS_OF_END[end.state], instant(now), error)
            data = {"run_id": run.run_id, "ended": str(end.state), "error": end.error}
            tx.append(_of_run(run, KIND_OF_END.get(end.state, Kind.RUN_ENDED), instant(now), data))

    def _record(self, tx: Transaction, run: Run, said: Sequence[Said], proposed: Sequence[Proposed]) -> None:
        now = instant(self._clock())
        for one in said:
            tx.put_messages(run.thread_id, one.messages, now)
        for group in proposed:
            for position, call in enumerate(group.calls):
                self._propose(tx, run, call, position, now)

    def _propose(self, tx: Transaction, run: Run, call: Call, position: int, now: str) -> None:
        action = with_digests(_action(run, call, position), self._secret)
        if action.state is State.REFUSED:
            action = replace(action, ended_at=now, result=call.refusal)
        if not tx.propose(action):
            return
        data: dict[str, Any] = {
            "proposed": action.proposed,
            "args": action.args,
            "notes": action.notes,
            "tier": action.tier,
            "why": action.why,
            "summary": action.summary,
            "attempt": action.key.attempt,
            "asked_by": run.started_by,
        }
        tx.append(_of_action(action, Kind.ACTION_PROPOSED, now, run.started_by, data))
        if action.state is State.REFUSED:
            refusal = {"why": action.why, "told": action.result}
            tx.append(_of_action(action, Kind.ACTION_REFUSED, now, None, refusal))

    def _open_review(self, tx: Transaction, run: Run, review_id: str, now: datetime) -> None:
        actions = [a for a in tx.actions(run.thread_id, states=[State.PENDING]) if a.review_id is None]
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
        data = {
            "actions": [[action.key.tool_call_id, action.tool] for action in actions],
            "expires_at": review.expires_at,
        }
        fact = _of_run(run, Kind.REVIEW_OPENED, instant(now), data)
        tx.append(replace(fact, review_id=review_id, by=None))


def lose_executing(tx: Transaction, run: Run, now: str, why: str) -> bool:
    """Mark what was executing on the run's thread as unknown; true if anything was."""
    found = tx.actions(run.thread_id, states=[State.EXECUTING])
    for action in found:
        tx.move(action.key, State.EXECUTING, State.UNKNOWN)
        data = {"why": why, "args": action.args, "started_at": action.started_at, "owner": action.owner}
        tx.append(_of_action(action, Kind.OUTCOME_UNKNOWN, now, None, data))
    return bool(found)


def _is_ours(tx: Transaction, run: Run) -> bool:
    now = tx.run(run.run_id)
    return now is not None and now.state is RunState.OPEN and now.owner == run.owner


def _action(run: Run, call: Call, position: int) -> Action:
    return Action(
        key=Key(run.thread_id, call.message_id, call.tool_call_id, call.attempt),
        agent=run.agent,
        tool=call.tool,
        args=call.args,
        proposed_tool=call.tool,
        proposed=call.proposed,
        tier=call.tier,
        why=call.why,
        summary=call.summary,
        allowed=tuple(call.allowed),
        policy_version=call.policy_version,
        state=STATE_OF[call.fate],
        position=position,
        notes=call.notes,
        approve_by=call.approve_by,
    )


def _of_run(run: Run, kind: Kind, at: str, data: dict[str, Any]) -> Fact:
    return Fact(kind=kind, at=at, thread_id=run.thread_id, agent=run.agent, by=run.started_by, data=data)


def _of_action(action: Action, kind: Kind, at: str, by: str | None, data: dict[str, Any]) -> Fact:
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
