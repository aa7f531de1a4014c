"""The use cases: the one door for pages, API and command line.

Each method checks everything it needs, records what it did in one transaction, and only then touches the
engine. None of them runs an agent itself: a run is started, and can be waited for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, get_args
from uuid import uuid4

from agent.console.checks import check_free, gone, known, reviewable, was_superseded
from agent.console.erasure import Erasing
from agent.console.given import Giving, says_which
from agent.console.notes import Noting
from agent.console.queries import View
from agent.console.rules import Remembering
from agent.console.writes import Entry, Outcome
from agent.ports import CatchUp, Continue, Mend, Reads, Result, Resume, Send, Transaction, deliveries
from agent.review import decisions as deciding
from agent.review import told
from agent.review.actions import Action, Key, Review, ReviewState, State
from agent.review.damage import is_damaged, review_is_damaged
from agent.review.decisions import Ruling
from agent.review.errors import (
    AlreadyDecided,
    InvalidDecision,
    NoPendingReview,
    NothingToRetry,
    NothingToSettle,
    NothingToStop,
    OtherThread,
    OutcomeUnknown,
    RecordDamaged,
    ReviewChanged,
    ReviewError,
    ReviewExpired,
    StillAlive,
    ThreadArchived,
    ThreadBusy,
    ThreadStuck,
    UnknownAgent,
    UnknownModel,
)
from agent.review.events import Fact, Kind, instant
from agent.review.given import Face, given
from agent.review.people import NOBODY
from agent.review.seen import Seen
from agent.review.threads import (
    Halt,
    Run,
    Status,
    Thread,
    check_message,
    check_thread_id,
    check_words,
    pid_of,
)

log = logging.getLogger(__name__)

OPENING = 120
NOT_SEEN: Mapping[str, Seen] = MappingProxyType({})
AT_REST = (Status.IDLE, Status.FAILED, Status.STOPPED)
TOO_LATE = (
    *(AlreadyDecided, ReviewExpired, ReviewChanged, NoPendingReview, RecordDamaged),
    *(ThreadBusy, OutcomeUnknown, ThreadStuck, ThreadArchived),
)
"""How a decision is refused for where its thread is by now, and not for what it says: that is on record."""
OWN_MODEL = "its own"
"""Stands where a thread's model does, for an agent of another make."""

__all__ = ["Console", "Outcome", "View"]


class Console(Remembering, Noting, Giving, Erasing):
    """The review console, over a ledger, an engine and a clock."""

    # Asking

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
        known_thread = self._ledger.thread(thread_id)
        if known_thread is not None and known_thread.status in AT_REST:
            self._catch_up(known_thread, by)
        with self._ledger.write() as tx:
            thread = tx.thread(thread_id) or self._start_thread(tx, thread_id, agent, model, text, by)
            # An agent of another make brings its own model, whichever is named.
            model = thread.model if thread.model == OWN_MODEL else model
            if (agent or thread.agent, model or thread.model) != (thread.agent, thread.model):
                raise OtherThread(thread_id, thread.agent, thread.model)
            check_free(tx, thread)
            entry = self._entry(tx, thread, by)
            broken = thread.status in (Status.FAILED, Status.STOPPED)
            results = entry.answer_calls() if broken else ()
            run = self._open_run(entry, Send(entry.say(text).id, text, results))
        self._runs.start(run)
        return run

    def retry(self, thread_id: str, *, by: str) -> Run:
        """Go on with a failed or stopped thread from where it stands. Raises `NothingToRetry`."""
        with self._ledger.write() as tx:
            thread = known(tx, thread_id)
            last = tx.last_run(thread_id)
            if thread.status not in (Status.FAILED, Status.STOPPED) or last is None:
                raise NothingToRetry(thread_id)
            try:
                delivery = deliveries.validate_python(last.delivery)
            except ValueError:
                raise RecordDamaged(
                    f"The record of the last run of thread {thread_id}", "Send the thread a message instead."
                ) from None
            if isinstance(delivery, CatchUp) or was_superseded(tx, thread_id, delivery):
                delivery = Continue()  # what another client left is all there is to go on with
            run = self._open_run(self._entry(tx, thread, by), delivery)
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
            if tx.halt() is not None:
                return
            now = instant(self._clock())
            tx.set_halt(Halt(by, now))
            for run in tx.open_runs():
                tx.ask_stop(run.run_id, by)
            tx.append(Fact(kind=Kind.ALL_STOPPED, at=now, by=by))
        self._runs.stop(None)

    def release(self, *, by: str) -> None:
        """Let runs start again. What was stopped stays stopped until somebody goes on with it."""
        with self._ledger.write() as tx:
            if tx.halt() is None:
                return
            tx.set_halt(None)
            tx.append(Fact(kind=Kind.ALL_RELEASED, at=instant(self._clock()), by=by))

    # Deciding

    def preview(
        self,
        thread_id: str,
        decisions: Any,
        *,
        review_id: str | None = None,
        to: str = "",
        face: Face = "python",
    ) -> list[Ruling]:
        """What these decisions would do, checked as `decide` would; changes nothing.

        With `to`, the review is noted as given to this reviewer: they see in the answer what it asks.
        """
        review = self._decidable(self._ledger, known(self._ledger, thread_id), review_id)
        rulings = self._rule(review, decisions)
        if to:
            self.give([review], to=to, face=face)
        return rulings

    def preview_one(self, review: Review, action: Action, decision: dict[str, Any]) -> Ruling:
        """What one decision would do, whatever is decided on the others; changes nothing. Raises `RecordDamaged`."""
        _check_whole(review)
        return deciding.rule([decision], [action], self._engine.agent(review.agent), self._secret)[0]

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
        behind: threading.Event | None = None,
    ) -> Run:
        """Record one decision per action, all or none, and resume the agent. Returns the run.

        Decisions that name neither a review nor all the digests that were shown mean what `by` was given last through
        this face: see `give`. Where that is not what waits, `ReviewChanged` brings the review as it is.
        With `end_turn`, where everything is rejected, the turn ends there: nothing more of it runs, nor does the model.
        The agent goes on once `behind` is set, or a moment later: who draws what comes next is not held up by it.

        `seen` tells by tool call how each action was looked at; it goes on record with the decision.
        Raises what `preview` does, and `Halted`; the loser of a race is told who decided what, when.
        """
        try:
            with self._ledger.write() as tx:
                entry = self._entry(tx, known(tx, thread_id), by)
                review = self._decidable(tx, entry.thread, review_id)
                rulings = [ruling.as_seen(seen) for ruling in self._rule(review, decisions)]
                if not says_which(decisions, review_id):
                    self._check_given(tx, review, by, face)
                run = self._decide(entry, review, rulings, end_turn)
        except TOO_LATE as error:
            self._note_refusal(thread_id, review_id or self._meant(thread_id, by, face), by, error)
            raise
        self._runs.start(run, behind)
        return run

    def close(
        self,
        thread_id: str,
        *,
        by: str,
        review_id: str | None = None,
        reason: str = "",
        behind: threading.Event | None = None,
    ) -> Run:
        """End a review without deciding: the agent is told it is still open. Free calls of the turn still run.

        `behind` is as for `decide`.
        """
        check_words(reason, "reason")
        with self._ledger.write() as tx:
            entry = self._entry(tx, known(tx, thread_id), by)
            if entry.thread.status is Status.STUCK:
                run = self._open_run(entry, self._close_stuck(entry, reason))
            else:
                run = self._close(entry, reviewable(tx, entry.thread, review_id, entry.now), reason)
        self._runs.start(run, behind)
        return run

    def expire(self) -> None:
        """Close every review whose time is over. Nobody is there, so the model is not called."""
        if self._ledger.halt() is not None:
            return
        for review in self._ledger.expired(self.now()):
            try:
                with self._ledger.write() as tx:
                    run = self._expire(tx, review)
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
        check_words(result, "result")
        if outcome not in get_args(Outcome):
            raise InvalidDecision(
                f"There is no outcome {outcome!r}. Use one of {', '.join(get_args(Outcome))}."
            )
        with self._ledger.write() as tx:
            thread = known(tx, thread_id)
            action = tx.latest_action(thread_id, tool_call_id)
            if action is None or action.state is not State.UNKNOWN:
                raise NothingToSettle(thread_id, tool_call_id)
            if tx.open_run(thread_id) is not None:
                raise ThreadBusy(thread_id)
            if outcome == "ask_again" and action.owner and self._may_still_act(thread_id, action.owner):
                raise StillAlive(action.tool, pid_of(action.owner))
            entry = self._entry(tx, thread, by)
            entry.settle(action, outcome, result, asks=not self._engine.agent(thread.agent).own_gating)
            if tx.actions(thread_id, states=[State.UNKNOWN]):
                return None
            run = self._open_run(entry, entry.settlement())
        self._runs.start(run)
        return run

    def look_over(self, key: Key, *, by: str) -> None:
        """Record that a person has looked at an action that ran without asking."""
        with self._ledger.write() as tx:
            action = tx.latest_action(key.thread_id, key.tool_call_id)
            if action is not None and tx.look_over(key, by):
                self._entry(tx, known(tx, key.thread_id), by).note(Kind.ACTION_LOOKED_OVER, {}, action=action)

    def shown(self, review_id: str, *, to: str) -> None:
        """Record that a reviewer sees a review, the first time only: time to decide can't be filled in later."""
        with self._ledger.write() as tx:
            review = tx.review(review_id)
            if review is not None:
                review = self._as_read(tx, review)
                tx.give(review.thread_id, to, "page", given([review]))
            if review is None or not tx.first_shown(review_id, to, self.now()):
                return
            data = {"digests": [action.shown_digest for action in review.actions]}
            self._entry(tx, known(tx, review.thread_id), to).note(Kind.REVIEW_SHOWN, data, review=review)

    def keep_draft(self, review_id: str, reviewer: str, body: str | None) -> None:
        with self._ledger.write() as tx:
            tx.set_draft(review_id, reviewer, body)

    def anchor(self) -> None:
        """Have all that was committed before this call noted outside the ledger. Raises `AnchorsUnavailable`.

        Of several that call at once, one notes the head for all.
        """
        with self._anchoring:
            head = self._ledger.head()
            if head is not None and (head.count, head.head) != (self._anchored.count, self._anchored.head):
                self._anchors.append(replace(head, keyed=self._ledger.keyed_from()))
                self._anchored = head

    # What the use cases share

    def _start_thread(
        self, tx: Transaction, thread_id: str, agent: str | None, model: str | None, text: str, by: str
    ) -> Thread:
        agents, models = self._engine.agents(), self._engine.models()
        if agent is None and not agents:
            raise UnknownAgent("", agents)
        name = self._engine.agent(agent or agents[0]).name
        if self._engine.agent(name).own_gating:
            model = OWN_MODEL
        elif model is not None and model not in models:
            raise UnknownModel(model, models)
        now, opening = self.now(), " ".join(text.split())[:OPENING]
        thread = Thread(thread_id, name, model or models[0], Status.IDLE, now, now, by, opening)
        tx.add_thread(thread)
        self._entry(tx, thread, by).note(Kind.THREAD_STARTED, {"model": thread.model})
        return thread

    def _decidable(self, reads: Reads, thread: Thread, review_id: str | None) -> Review:
        """The thread's one review that can be decided now. Raises what `reviewable` does, and `RecordDamaged`."""
        review = self._as_read(reads, reviewable(reads, thread, review_id, self.now()))
        _check_whole(review)
        return review

    def _rule(self, review: Review, decisions: Any) -> list[Ruling]:
        try:
            return deciding.rule(decisions, review.actions, self._engine.agent(review.agent), self._secret)
        except ReviewChanged as changed:
            changed.review = review
            raise

    def _decide(self, entry: Entry, review: Review, rulings: list[Ruling], end_turn: bool) -> Run:
        if end_turn:
            deciding.check_all_rejected(rulings)
        for ruling in rulings:
            entry.rule(review, ruling, self._engine.agent(review.agent))
        outcome = deciding.outcome(rulings) + (", and the turn ended" if end_turn else "")
        if not entry.tx.end_review(review.review_id, ReviewState.DECIDED, entry.now, entry.by, outcome):
            raise gone(entry.tx.review(review.review_id), review.thread_id, review.review_id, [])
        if end_turn:
            closing_id = f"closing-{review.review_id}"
            reasons = [ruling.message.strip() for ruling in rulings]
            results = entry.answer_calls(told.rejected_within(reasons))
            return self._open_run(entry, Mend(results, told.ended_answer(reasons), closing_id))
        return self._open_run(entry, Resume(review.review_id, tuple(ruling.wire for ruling in rulings)))

    def _close(self, entry: Entry, review: Review, reason: str) -> Run:
        # Of a record that was changed nobody knows which calls it left out: none of the turn's runs then.
        rest = told.CANCELLED if review_is_damaged(self._as_read(entry.tx, review)) else None
        results = [entry.cancel(action, told.of(action, told.CANCELLED)) for action in review.actions]
        entry.tx.end_review(
            review.review_id, ReviewState.CLOSED, entry.now, entry.by, "closed without deciding"
        )
        entry.note(Kind.REVIEW_CLOSED, {"reason": reason, "told": _texts(results)}, review=review)
        # Where others are open, nobody knows which of them a suspended tool waits for: it then asks once more.
        alone = not entry.tx.open_reviews(review.thread_id)
        begun = entry.end_midway(told.midway(told.CANCELLED)) if alone else ()
        return self._open_run(entry, Mend((*results, *begun, *entry.known_results()), rest=rest))

    def _note_refusal(self, thread_id: str, review_id: str | None, by: str, error: ReviewError) -> None:
        with self._ledger.write() as tx:
            entry = self._entry(tx, known(tx, thread_id), by)
            data = {"why": str(error), "code": error.code, "review_id": review_id}
            entry.note(Kind.DECISION_REFUSED, data, review=tx.review(review_id) if review_id else None)

    def _expire(self, tx: Transaction, review: Review) -> Run | None:
        entry = self._entry(tx, known(tx, review.thread_id), NOBODY)
        if tx.open_run(review.thread_id) is not None:
            return None
        if not tx.end_review(
            review.review_id, ReviewState.EXPIRED, entry.now, NOBODY, "nobody decided in time"
        ):
            return None
        for action in review.actions:
            text = told.of(action, told.EXPIRED)
            tx.move(action.key, State.PENDING, State.EXPIRED, ended_at=entry.now, result=text)
        entry.note(Kind.REVIEW_EXPIRED, {"told": told.EXPIRED}, review=review)
        closing_id = f"closing-{review.review_id}"
        results = entry.answer_calls(told.midway(told.EXPIRED))
        return self._open_run(entry, Mend(results, told.EXPIRED_ANSWER, closing_id))


def _texts(results: Sequence[Result]) -> str:
    """What the model is sent, each text once."""
    return " ".join(dict.fromkeys(result.text for result in results))


def _check_whole(review: Review) -> None:
    """Raise `RecordDamaged` if the review's record was changed past the console."""
    if not review_is_damaged(review):
        return
    tools = ", ".join(one.tool for one in review.actions if is_damaged(one)) or "its actions"
    raise RecordDamaged(
        f"The record of review {review.review_id} ({tools})",
        "Close the review without deciding: the agent is told that its question is open, and can ask again.",
        review,
    )
