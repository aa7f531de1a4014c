"""What other clients do to a thread behind the console's back: noticed, recorded, and put right by a person."""

from __future__ import annotations

import logging
from typing import Any
from uuid import uuid4

from agent.console.checks import check_settled, closed_last, known
from agent.console.queries import Looking
from agent.console.writes import Entry
from agent.ports import AnyDelivery, AskAgain, CatchUp, Mend, Repeat, Repeated, Sought, Transaction
from agent.review import told
from agent.review.actions import ReviewState
from agent.review.errors import NothingToAskAgain, ReviewError, ReviewPending
from agent.review.events import Kind
from agent.review.people import NOBODY
from agent.review.threads import Run, Status, Thread

log = logging.getLogger(__name__)

HEEDED = 20
"""Reviews looked after in one sweep, of each agent that gates itself."""


class Elsewhere(Looking):
    """The use cases about answers that were given elsewhere, and what all use cases share."""

    def __init__(self, *parts: Any) -> None:
        """As `Looking` is made."""
        super().__init__(*parts)
        self._heeded: dict[str, tuple[str, str] | None] = {}
        """How far the sweep over open reviews has come, by agent."""

    def ask_again(self, thread_id: str, *, by: str) -> Run:
        """Ask once more what an answer the agent cannot take has stuck, or what was closed last without deciding.

        Raises `NothingToAskAgain`.
        """
        with self._ledger.write() as tx:
            thread = known(tx, thread_id)
            entry = self._entry(tx, thread, by)
            if thread.status is Status.STUCK:
                run = self._open_run(entry, AskAgain())
            else:
                check_settled(tx, thread)
                run = self._open_run(entry, self._repeat(entry))
        self._runs.start(run)
        return run

    def heed_others(self) -> None:
        """Notice reviews that were answered elsewhere, of agents that gate themselves: a few of them each time."""
        if self._ledger.halt() is not None:
            return
        for name in self._engine.agents():
            if self._engine.agent(name).own_gating:
                for thread_id in self._next_waiting(name):
                    try:
                        self._heed(name, thread_id)
                    except ReviewError as error:  # a lost checkpoint, say: the others are heeded still
                        log.debug("thread %s was not looked after: %s", thread_id, error)

    def _next_waiting(self, agent: str) -> list[str]:
        after = self._heeded.get(agent)
        page = self._ledger.queue(limit=HEEDED, after=after, sought=Sought(agent=agent))
        more = len(page) == HEEDED
        self._heeded[agent] = (page[-1].opened_at, page[-1].review_id) if more else None
        return list(dict.fromkeys(review.thread_id for review in page))

    def _heed(self, agent: str, thread_id: str) -> None:
        if self._ledger.open_run(thread_id) is not None:
            return
        look = self._engine.look(agent, thread_id)
        if not look.exists:
            return
        there = (*look.waiting, *look.answered)
        with self._ledger.write() as tx:
            thread = known(tx, thread_id)
            if tx.open_run(thread_id) is not None or thread.status is Status.STUCK:
                return
            gone = [one for one in tx.open_reviews(thread_id) if one.review_id not in there]
            entry = self._entry(tx, thread, NOBODY)
            if look.stuck:
                tx.set_thread(thread_id, Status.STUCK, entry.now)
                entry.note(Kind.THREAD_STUCK, {"interrupts": list(look.stuck)})
            run = self._open_run(entry, CatchUp()) if gone and not look.stuck else None
        if run is not None:
            self._runs.start(run)

    def _catch_up(self, thread: Thread, by: str) -> None:
        """Before a message: if the agent asks something that is on no record, it is put on record instead.

        Raises `ReviewPending`.
        """
        waiting = self._engine.waiting(thread.agent, thread.thread_id)
        unseen = [name for name in waiting if self._ledger.review(name) is None]
        if not unseen:
            return
        with self._ledger.write() as tx:
            run = self._open_run(self._entry(tx, known(tx, thread.thread_id), by), CatchUp())
        self._runs.start(run)
        raise ReviewPending(thread.thread_id, unseen[0])

    def _close_stuck(self, entry: Entry, reason: str) -> Mend:
        """End every review of a stuck thread, and answer every open call with an error."""
        for review in entry.tx.open_reviews(entry.thread.thread_id):
            for action in review.actions:
                entry.cancel(action, told.of(action, told.CANCELLED))
            outcome = "closed without deciding"
            entry.tx.end_review(review.review_id, ReviewState.CLOSED, entry.now, entry.by, outcome)
            entry.note(Kind.REVIEW_CLOSED, {"reason": reason, "told": told.CANCELLED}, review=review)
        return Mend(entry.answer_calls(told.midway(told.CANCELLED)), rest=told.CLOSED_WITH_OTHERS)

    def _repeat(self, entry: Entry) -> Repeat:
        """The calls of the review that was closed last, to be proposed anew. Raises `NothingToAskAgain`."""
        thread = entry.thread
        closed = [] if self._engine.agent(thread.agent).own_gating else closed_last(entry.tx, thread)
        if not closed:
            raise NothingToAskAgain(thread.thread_id)
        calls = tuple(
            Repeated(f"call_{uuid4().hex[:24]}", action.proposed_tool, action.enters or {})
            for action in closed
        )
        return Repeat(entry.say(told.ASK_ME_AGAIN).id, told.ASK_ME_AGAIN, uuid4().hex, calls)

    # What the use cases share

    def _may_still_act(self, thread_id: str, owner: str) -> bool:
        """Whether a process that started an action could yet run it: another one, or this one if it was frozen."""
        return self._runs.lives(owner) or self._runs.progress(thread_id) is not None

    def _entry(self, tx: Transaction, thread: Thread, by: str) -> Entry:
        return Entry(tx, thread, by, self._clock())

    def _open_run(self, entry: Entry, delivery: AnyDelivery) -> Run:
        agent = self._engine.agent(entry.thread.agent)
        return entry.open_run(delivery, owner=self._runs.owner, agent=agent)
