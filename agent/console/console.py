"""The use cases: the one entry point for pages, API and command line.

Each method checks everything it needs, records what it did in one transaction, and only then touches the engine. None
executes an agent itself: it starts a run, which can be waited for. `queries` and `trail` hold what only reads; rules,
notes and other clients have modules of their own.
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
from agent.console.checks import check_free, check_settled, known, known_to_decide, reviewable
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
from agent.review.arguments.args import dumps
from agent.review.attention import Seen
from agent.review.decisions import AcceptedDecision, check_decisions
from agent.review.deliveries import AnyDelivery, AskAgain
from agent.review.errors import NothingToStop, ReviewError
from agent.review.events import instant
from agent.review.given import Face
from agent.review.inputs import check_input
from agent.review.people import NOBODY
from agent.review.threads import Run, Status, Thread, check_message, check_thread_id, check_words

log = logging.getLogger(__name__)

NOT_SEEN: Mapping[str, Seen] = MappingProxyType({})


class Console:
    """The actions a person can take on agents, over a ledger, an engine and a clock."""

    def __init__(
        self, *, ledger: Ledger, engine: Engine, runs: Runs, anchors: Anchors, secret: bytes, clock: Clock
    ) -> None:
        """Create the console and its parts. `secret` is the key of the digests."""
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
        context: Mapping[str, Any] | None = None,
        given: Mapping[str, Any] | None = None,
    ) -> Run:
        """Send the agent a message, on a new thread if `thread_id` is unknown or None. Returns the run that answers it.

        `context` adds to an external agent's context on a new thread. `given` is what such an agent takes in besides the
        message; the text may then be empty. Raises `InvalidMessage`, `UnknownAgent`, `UnknownModel`, `ContextNeeded`,
        `OtherThread`, `Halted`, and what `check_free` does.
        """
        says = bool(text) or given is None
        text = check_message(text) if says else dumps(dict(given or {}))
        thread_id = check_thread_id(thread_id) if thread_id else uuid4().hex[:12]
        self.other_clients.catch_up(thread_id, by=by)
        with self._ledger.write() as tx:
            thread = found_or_started(
                tx,
                thread_id,
                text,
                agent=agent,
                model=model,
                context=context,
                by=by,
                engine=self._engine,
                moment=self._clock(),
            )
            check_free(tx, thread)
            check_input(self._engine.agent(thread.agent), says=says, given=given)
            entry = self._entry(tx, thread, by)
            results = entry.answer_calls() if thread.status in turns.BROKEN else ()
            run = self._open_run(entry, entry.sent(text, results, given, says=says))
        self._runs.start(run)
        return run

    def retry(self, thread_id: str, *, by: str) -> Run:
        """Resume a failed or stopped thread from where it is. Raises `NothingToRetry`."""
        with self._ledger.write() as tx:
            thread = known(tx, thread_id)
            run = self._open_run(self._entry(tx, thread, by), turns.brought_again(tx, thread))
        self._runs.start(run)
        return run

    def archive(self, thread_id: str, *, by: str) -> None:
        """Archive a thread: delete its checkpoints, and keep its messages and its record.

        It accepts no more messages. Raises what `check_free` does. On an archived thread it only deletes again.
        """
        with self._ledger.write() as tx:
            thread = known(tx, thread_id)
            if thread.status is not Status.ARCHIVED:
                check_free(tx, thread)
                self._entry(tx, thread, by).archive()
        self._engine.forget(thread_id)

    def stop(self, thread_id: str, *, by: str) -> None:
        """Stop the thread's run at its next step; the thread stays resumable. Raises `NothingToStop`."""
        with self._ledger.write() as tx:
            known(tx, thread_id)
            run = tx.open_run(thread_id)
            if run is None or not tx.ask_stop(run.run_id, by):
                raise NothingToStop(thread_id)
        self._runs.stop(thread_id)

    def stop_all(self, *, by: str) -> None:
        """Stop every run, in every process, at its next step, and let no run start until `release`."""
        with self._ledger.write() as tx:
            halted = halts.stop_all(tx, by=by, now=self._now())
        if halted:
            self._runs.stop(None)

    def release(self, *, by: str) -> None:
        """Let runs start again. Stopped threads stay stopped until somebody retries them."""
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
        """Return what these decisions would do, checked as in `decide`; change nothing else.

        With `to`, the review is noted as given to this reviewer, because the answer shows what it asks.
        """
        thread = known_to_decide(self._ledger, thread_id)
        review = deciding.decidable(self._ledger, thread, review_id, secret=self._secret, now=self._now())
        accepted = self._checked(review, decisions)
        if to:
            self.given.give([review], to=to, face=face)
        return accepted

    def preview_one(self, review: Review, action: Action, decision: dict[str, Any]) -> AcceptedDecision:
        """Return what one decision would do, whatever is decided on the others. Raises `RecordDamaged`."""
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

        Decisions that name neither a review nor the shown digest of each action apply to the review that `by` was given
        last through this `face`: see `GivenReviews`. If another review waits now, `ReviewChanged` carries it.
        `end_turn` requires that everything is rejected, and ends the turn there: no more of its calls run, and the
        model is not called. The agent resumes once `after` is set, or after a short delay at the latest, so that it
        does not slow down a page that is being drawn.

        `seen` says for each tool call how the action was looked at; it is recorded with the decision.
        Raises what `preview` does, and `Halted`; the error for the loser of a race says who decided what, and when.
        """
        try:
            with self._ledger.write() as tx:
                entry = self._entry(tx, known_to_decide(tx, thread_id), by)
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
                if (thread := tx.thread(thread_id)) is not None:
                    deciding.note_refusal(self._entry(tx, thread, by), meant, error)
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
        """End a review without deciding: the agent learns that its question is open. The turn's free calls still run.

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
        """End every review whose time is over. The turn goes on, or ends: see `closing.expire`."""
        if self._ledger.halt() is not None:
            return
        for review in self._ledger.expired(self._now()):
            try:
                with self._ledger.write() as tx:
                    entry = self._entry(tx, known(tx, review.thread_id), NOBODY)
                    agent = self._engine.agent(review.agent)
                    delivery = closing.expire(entry, review, agent=agent, secret=self._secret)
                    run = self._open_run(entry, delivery) if delivery is not None else None
            except ReviewError as error:  # for example, its agent is not served: the others still expire
                log.warning("review %s could not expire: %s", review.review_id, error)
                continue
            if run is not None:
                self._runs.start(run)

    def settle(
        self, thread_id: str, tool_call_id: str, outcome: Outcome, *, by: str, result: str = ""
    ) -> Run | None:
        """Record what became of an action whose outcome is unknown.

        Returns the run that resumes the thread, or None while other actions are still unknown.
        Raises `NothingToSettle`, and `StillAlive` for `ask_again` while the process that started the action exists.
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
        """Ask again: what is stuck on an answer its agent cannot take, or else what last ended without a decision.

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
        """Wait until the run pauses or ends, or this process is asked to end.

        Returns false if none of these has happened after `seconds`.
        """
        return self._runs.wait(run.run_id, seconds)

    # Shared by the use cases

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
