"""The use cases: the one door for pages, API and command line.

Each method checks everything it needs, records what it did in one transaction, and only then touches the
engine. None of them runs an agent itself: a run is started, and can be waited for. Whatever only reads is asked
of `queries` and `trail`; rules, notes and other clients have rooms of their own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from agent.console import closing, halts, turns
from agent.console import decisions as deciding
from agent.console.checks import check_free, check_settled, known, reviewable
from agent.console.given import GivenReviews, says_which
from agent.console.notes import Notes
from agent.console.other_clients import OtherClients
from agent.console.outcomes import Outcome, check_ended, check_outcome, unsettled
from agent.console.queries import Queries
from agent.console.rules import Rules
from agent.console.threads import found_or_started
from agent.console.trail import Trail
from agent.console.writes import Entry, open_run
from agent.ports import Anchors, Clock, Engine, Ledger, Runs, Transaction
from agent.review.actions import Action, ActionState, Review
from agent.review.attention import Seen
from agent.review.decisions import AcceptedDecision, check_decisions
from agent.review.deliveries import AnyDelivery, AskAgain, Send
from agent.review.errors import NothingToStop, ReviewError
from agent.review.events import instant
from agent.review.given import Face
from agent.review.people import NOBODY
from agent.review.threads import Run, Status, Thread, check_message, check_thread_id, check_words

log = logging.getLogger(__name__)

NOT_SEEN: Mapping[str, Seen] = MappingProxyType({})


class Console:
    """What a person does with agents, over a ledger, an engine and a clock."""

    def __init__(
        self, *, ledger: Ledger, engine: Engine, runs: Runs, anchors: Anchors, secret: bytes, clock: Clock
    ) -> None:
        """`secret` is what the digests are made with."""
        self._ledger, self._engine, self._runs = ledger, engine, runs
        self._anchors, self._secret, self._clock = anchors, secret, clock
        self.queries = Queries(ledger=ledger, engine=engine, runs=runs, secret=secret, clock=clock)
        self.trail = Trail(ledger=ledger, anchors=anchors, clock=clock)
        self.rules = Rules(ledger=ledger, engine=engine, secret=secret, clock=clock)
        self.notes = Notes(ledger=ledger, clock=clock)
        self.given = GivenReviews(ledger=ledger, secret=secret, clock=clock)
        self.other_clients = OtherClients(ledger=ledger, engine=engine, runs=runs, clock=clock)

    def send(
        self,
        text: str,
        *,
        by: str,
        thread_id: str | None = None,
        agent: str | None = None,
        model: str | None = None,
    ) -> Run:
        """Give the agent a message; an unknown or absent thread is started. Returns the run that answers it.

        Raises `InvalidMessage`, `UnknownAgent`, `UnknownModel`, `OtherThread`, `Halted`, and what `check_free` does.
        """
        check_message(text)
        thread_id = check_thread_id(thread_id) if thread_id else uuid4().hex[:12]
        self.other_clients.catch_up(thread_id, by=by)
        with self._ledger.write() as tx:
            thread = found_or_started(
                tx,
                thread_id,
                text,
                agent=agent,
                model=model,
                by=by,
                engine=self._engine,
                moment=self._clock(),
            )
            check_free(tx, thread)
            entry = self._entry(tx, thread, by)
            results = entry.answer_calls() if thread.status in turns.BROKEN else ()
            run = self._open_run(entry, Send(entry.say(text).id, text, results))
        self._runs.start(run)
        return run

    def retry(self, thread_id: str, *, by: str) -> Run:
        """Go on with a failed or stopped thread from where it is. Raises `NothingToRetry`."""
        with self._ledger.write() as tx:
            thread = known(tx, thread_id)
            run = self._open_run(self._entry(tx, thread, by), turns.brought_again(tx, thread))
        self._runs.start(run)
        return run

    def archive(self, thread_id: str, *, by: str) -> None:
        """Let the agent forget a thread: its checkpoints are deleted, its messages and its record stay.

        It takes no message any more. Raises what `check_free` does; a second time only deletes again.
        """
        with self._ledger.write() as tx:
            thread = known(tx, thread_id)
            if thread.status is not Status.ARCHIVED:
                check_free(tx, thread)
                self._entry(tx, thread, by).archive()
        self._engine.forget(thread_id)

    def stop(self, thread_id: str, *, by: str) -> None:
        """Let the thread's run stop at its next step; the thread stays resumable. Raises `NothingToStop`."""
        with self._ledger.write() as tx:
            known(tx, thread_id)
            run = tx.open_run(thread_id)
            if run is None or not tx.ask_stop(run.run_id, by):
                raise NothingToStop(thread_id)
        self._runs.stop(thread_id)

    def stop_all(self, *, by: str) -> None:
        """Stop every run at its next step, in every process, and let nothing new start until it is released."""
        with self._ledger.write() as tx:
            halted = halts.stop_all(tx, by=by, now=self._now())
        if halted:
            self._runs.stop(None)

    def release(self, *, by: str) -> None:
        """Let runs start again. What was stopped stays stopped until somebody goes on with it."""
        with self._ledger.write() as tx:
            halts.release(tx, by=by, now=self._now())

    def preview(
        self,
        thread_id: str,
        decisions: Any,
        *,
        review_id: str | None = None,
        to: str = "",
        face: Face = "python",
    ) -> list[AcceptedDecision]:
        """What these decisions would do, checked as `decide` would; changes nothing.

        With `to`, the review is noted as given to this reviewer: they see in the answer what it asks.
        """
        thread = known(self._ledger, thread_id)
        review = deciding.decidable(self._ledger, thread, review_id, secret=self._secret, now=self._now())
        accepted = self._checked(review, decisions)
        if to:
            self.given.give([review], to=to, face=face)
        return accepted

    def preview_one(self, review: Review, action: Action, decision: dict[str, Any]) -> AcceptedDecision:
        """What one decision would do, whatever is decided on the others; changes nothing. Raises `RecordDamaged`."""
        deciding.check_whole(review)
        return check_decisions([decision], [action], self._engine.agent(review.agent), self._secret)[0]

    def decide(
        self,
        thread_id: str,
        decisions: Any,
        *,
        by: str,
        review_id: str | None = None,
        face: Face = "python",
        end_turn: bool = False,
        seen: Mapping[str, Seen] = NOT_SEEN,
        after: threading.Event | None = None,
    ) -> Run:
        """Record one decision per action, all or none, and resume the agent. Returns the run.

        Decisions that name neither a review nor all the digests that were shown mean what `by` was given last through
        this face: see `GivenReviews`. Where that is not what waits, `ReviewChanged` brings the review as it is.
        With `end_turn`, where everything is rejected, the turn ends there: nothing more of it runs, nor does the model.
        The agent goes on once `after` is set, or a moment later: who draws what comes next is not held up by it.

        `seen` tells by tool call how each action was looked at; it goes on record with the decision.
        Raises what `preview` does, and `Halted`; the loser of a race is told who decided what, when.
        """
        try:
            with self._ledger.write() as tx:
                entry = self._entry(tx, known(tx, thread_id), by)
                review = deciding.decidable(tx, entry.thread, review_id, secret=self._secret, now=entry.now)
                accepted = [one.as_seen(seen) for one in self._checked(review, decisions)]
                if not says_which(decisions, review_id):
                    self.given.check(tx, review, by, face)
                agent = self._engine.agent(review.agent)
                delivery = deciding.record(entry, review, accepted, agent=agent, end_turn=end_turn)
                run = self._open_run(entry, delivery)
        except deciding.TOO_LATE as error:
            meant = review_id or self.given.meant(thread_id, by, face)
            with self._ledger.write() as tx:
                deciding.note_refusal(self._entry(tx, known(tx, thread_id), by), meant, error)
            raise
        self._runs.start(run, after)
        return run

    def close(
        self,
        thread_id: str,
        *,
        by: str,
        review_id: str | None = None,
        reason: str = "",
        after: threading.Event | None = None,
    ) -> Run:
        """End a review without deciding: the agent is told it is still open. Free calls of the turn still run.

        `after` is as for `decide`.
        """
        check_words(reason, "reason")
        with self._ledger.write() as tx:
            entry = self._entry(tx, known(tx, thread_id), by)
            if entry.thread.status is Status.STUCK:
                delivery = closing.close_stuck(entry, reason)
            else:
                review = reviewable(tx, entry.thread, review_id, entry.now)
                delivery = closing.close(entry, review, reason, secret=self._secret)
            run = self._open_run(entry, delivery)
        self._runs.start(run, after)
        return run

    def expire(self) -> None:
        """Close every review whose time is over. Nobody is there, so the model is not called."""
        if self._ledger.halt() is not None:
            return
        for review in self._ledger.expired(self._now()):
            try:
                with self._ledger.write() as tx:
                    entry = self._entry(tx, known(tx, review.thread_id), NOBODY)
                    delivery = closing.expire(entry, review)
                    run = self._open_run(entry, delivery) if delivery is not None else None
            except ReviewError as error:  # its agent is not served, say: the others still expire
                log.warning("review %s could not expire: %s", review.review_id, error)
                continue
            if run is not None:
                self._runs.start(run)

    def settle(
        self, thread_id: str, tool_call_id: str, outcome: Outcome, *, by: str, result: str = ""
    ) -> Run | None:
        """Say what became of an action whose outcome is unknown. Returns the run that goes on, once all are settled.

        Raises `NothingToSettle`, and `StillAlive` for `ask_again` while the process that started it exists.
        """
        check_outcome(outcome, result)
        with self._ledger.write() as tx:
            thread = known(tx, thread_id)
            action = unsettled(tx, thread_id, tool_call_id)
            if outcome == "ask_again":
                check_ended(action, self._runs)
            entry = self._entry(tx, thread, by)
            entry.settle(action, outcome, result, asks=not self._engine.agent(thread.agent).gates_itself)
            if tx.actions(thread_id, states=[ActionState.UNKNOWN]):
                return None
            run = self._open_run(entry, entry.settlement())
        self._runs.start(run)
        return run

    def keep_draft(self, review_id: str, reviewer: str, body: str | None) -> None:
        with self._ledger.write() as tx:
            tx.set_draft(review_id, reviewer, body)

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
                run = self._open_run(entry, closing.repeat(entry, agent=self._engine.agent(thread.agent)))
        self._runs.start(run)
        return run

    def wait(self, run: Run, seconds: float | None = None) -> bool:
        """Wait until the run pauses or ends, or this process is asked to; false if it had not after `seconds`."""
        return self._runs.wait(run.run_id, seconds)

    # What the use cases share

    def _now(self) -> str:
        return instant(self._clock())

    def _checked(self, review: Review, decisions: Any) -> list[AcceptedDecision]:
        return deciding.checked(
            decisions, review, agent=self._engine.agent(review.agent), secret=self._secret
        )

    def _entry(self, tx: Transaction, thread: Thread, by: str) -> Entry:
        return Entry(tx, thread, by, self._clock())

    def _open_run(self, entry: Entry, delivery: AnyDelivery) -> Run:
        return open_run(entry, delivery, engine=self._engine, runs=self._runs)
