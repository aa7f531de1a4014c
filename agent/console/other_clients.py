"""Notice and record what other clients do to a thread outside the console, so that a person can sort it out."""

from __future__ import annotations

import logging

from agent.console.checks import known
from agent.console.writes import Entry, open_run
from agent.ports import Clock, Engine, Ledger, Runs, Sought
from agent.review.deliveries import CatchUp
from agent.review.errors import ReviewError, ReviewPending
from agent.review.facts import ThreadStuckFact
from agent.review.people import NOBODY
from agent.review.threads import Run, Status

log = logging.getLogger(__name__)

AT_REST = (Status.IDLE, Status.FAILED, Status.STOPPED)
AT_ONCE = 20
"""Reviews checked per sweep, for each agent that gates itself."""


class OtherClients:
    """The use cases about answers that were given outside the console."""

    def __init__(self, *, ledger: Ledger, engine: Engine, runs: Runs, clock: Clock) -> None:
        self._ledger, self._engine, self._runs, self._clock = ledger, engine, runs, clock
        self._looked_after: dict[str, tuple[str, str] | None] = {}
        """The position of the sweep over open reviews, by agent."""

    def notice(self) -> None:
        """Notice reviews that were answered elsewhere, for agents that gate themselves; checks a few on each call."""
        if self._ledger.halt() is not None:
            return
        for name in self._engine.agents():
            if self._engine.agent(name).gates_itself:
                for thread_id in self._next_waiting(name):
                    try:
                        self._notice_on(name, thread_id)
                    except ReviewError as error:  # a lost checkpoint, for one: check the others
                        log.debug("thread %s could not be checked: %s", thread_id, error)

    def _next_waiting(self, agent: str) -> list[str]:
        after = self._looked_after.get(agent)
        page = self._ledger.queue(limit=AT_ONCE, after=after, sought=Sought(agent=agent))
        more = len(page) == AT_ONCE
        self._looked_after[agent] = (page[-1].opened_at, page[-1].review_id) if more else None
        return list(dict.fromkeys(review.thread_id for review in page))

    def _notice_on(self, agent: str, thread_id: str) -> None:
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
            entry = Entry(tx, thread, NOBODY, self._clock())
            if look.stuck:
                tx.set_thread(thread_id, Status.STUCK, entry.now)
                entry.note(ThreadStuckFact(interrupts=list(look.stuck)))
            run = self._open_run(entry) if gone and not look.stuck else None
        if run is not None:
            self._runs.start(run)

    def catch_up(self, thread_id: str, *, by: str) -> None:
        """Check, before a message is sent, whether the agent asks something that is not recorded, and record it.

        Raises `ReviewPending` in that case.
        """
        thread = self._ledger.thread(thread_id)
        if thread is None or thread.status not in AT_REST:
            return
        waiting = self._engine.waiting(thread.agent, thread_id)
        unseen = [name for name in waiting if self._ledger.review(name) is None]
        if not unseen:
            return
        with self._ledger.write() as tx:
            run = self._open_run(Entry(tx, known(tx, thread_id), by, self._clock()))
        self._runs.start(run)
        raise ReviewPending(thread_id, unseen[0])

    def _open_run(self, entry: Entry) -> Run:
        return open_run(entry, CatchUp(), engine=self._engine, runs=self._runs)
