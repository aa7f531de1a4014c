"""The use cases: the one door for pages, API and command line.

Each method checks everything it needs, records what it did in one transaction, and only then touches the
engine. None of them runs an agent itself: a run is started, and can be waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol
from uuid import uuid4

from agent.ports import (
    Clock,
    Continue,
    Engine,
    Ledger,
    Mend,
    Result,
    Resume,
    Send,
    Sought,
    Transaction,
    deliveries,
)
from agent.review import decisions as rules
from agent.review import told
from agent.review.actions import Action, Key, Review, ReviewState, State
from agent.review.agents import Agent
from agent.review.decisions import Ruling
from agent.review.errors import (
    AlreadyDecided,
    NoPendingReview,
    NothingToAskAgain,
    NothingToRetry,
    NothingToSettle,
    NothingToStop,
    OutcomeUnknown,
    ReviewChanged,
    ReviewError,
    ReviewExpired,
    ReviewIdNeeded,
    ReviewPending,
    StillAlive,
    ThreadBusy,
    ThreadStuck,
    UnknownModel,
    UnknownThread,
)
from agent.review.events import Event, Fact, Kind, Verification, instant, verify
from agent.review.threads import (
    Message,
    Progress,
    Run,
    Status,
    Thread,
    check_message,
    check_thread_id,
    check_words,
    pid_of,
    result_id,
)

OPENING = 120

Outcome = Literal["happened", "failed", "ask_again"]


class Runs(Protocol):
    """Where runs are executed."""

    @property
    def owner(self) -> str: ...
    def start(self, run: Run) -> None: ...
    def stop(self, thread_id: str) -> None: ...
    def wait(self, run_id: str, seconds: float | None) -> bool: ...
    def progress(self, thread_id: str) -> Progress | None: ...
    def lives(self, owner: str) -> bool: ...


@dataclass(frozen=True)
class View:
    """One thread as it stands: what a page draws and the API answers with."""

    thread: Thread
    reviews: tuple[Review, ...]
    """Open reviews, oldest first."""
    progress: Progress | None
    last_review: Review | None
    """The review opened last, whatever became of it."""


class Console:
    """The review console, over a ledger, an engine and a clock."""

    def __init__(self, ledger: Ledger, engine: Engine, runs: Runs, secret: bytes, clock: Clock) -> None:
        self._ledger, self._engine, self._runs = ledger, engine, runs
        self._secret, self._clock = secret, clock

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

        Raises `InvalidMessage`, `UnknownAgent`, `UnknownModel`, and whatever `_check_free` does.
        """
        check_message(text)
        thread_id = check_thread_id(thread_id) if thread_id else uuid4().hex[:12]
        with self._ledger.write() as tx:
            now = instant(self._clock())
            thread = tx.thread(thread_id) or self._start_thread(tx, thread_id, agent, model, text, by, now)
            self._check_free(tx, thread)
            results = self._withdraw(tx, thread, by, now)
            message = Message(id=uuid4().hex, type="human", content=text)
            tx.put_messages(thread_id, [message], now)
            tx.append(self._fact(Kind.MESSAGE_SENT, thread, now, by, data={"text": text}))
            run = self._open_run(tx, thread, by, now, Send(message.id, text, results))
        self._runs.start(run)
        return run

    def retry(self, thread_id: str, *, by: str) -> Run:
        """Go on with a failed or stopped thread from where it stands. Raises `NothingToRetry`."""
        with self._ledger.write() as tx:
            now = instant(self._clock())
            thread = self._thread(tx, thread_id)
            last = tx.last_run(thread_id)
            if thread.status not in (Status.FAILED, Status.STOPPED) or last is None:
                raise NothingToRetry(thread_id)
            run = self._open_run(tx, thread, by, now, deliveries.validate_python(last.delivery))
        self._runs.start(run)
        return run

    def ask_again(self, thread_id: str, *, by: str) -> Run:
        """Ask once more on a stuck thread. Raises `NothingToAskAgain`."""
        thread = self._thread(self._ledger, thread_id)
        self._check_settled(self._ledger, thread)
        raise NothingToAskAgain(thread_id)

    def stop(self, thread_id: str, *, by: str) -> None:
        """Let the thread's run stop at its next step; the thread stays resumable. Raises `NothingToStop`."""
        with self._ledger.write() as tx:
            self._thread(tx, thread_id)
            run = tx.open_run(thread_id)
            if run is None or not tx.ask_stop(run.run_id, by):
                raise NothingToStop(thread_id)
        self._runs.stop(thread_id)

    # Deciding

    def preview(self, thread_id: str, decisions: Any, *, review_id: str | None = None) -> list[Ruling]:
        """What these decisions would do, checked as `decide` would; changes nothing."""
        review = self._reviewable(self._ledger, thread_id, review_id)
        agent = self._engine.agent(review.agent)
        return rules.rule(decisions, review.actions, agent, self._secret)

    def decide(self, thread_id: str, decisions: Any, *, by: str, review_id: str | None = None) -> Run:
        """Record one decision per action, all or none, and resume the agent. Returns the run.

        Raises what `preview` does; the loser of a race is told who decided what, when.
        """
        try:
            with self._ledger.write() as tx:
                review = self._reviewable(tx, thread_id, review_id)
                rulings = rules.rule(
                    decisions, review.actions, self._engine.agent(review.agent), self._secret
                )
                run = self._record_decision(tx, review, rulings, by)
        except (AlreadyDecided, ReviewExpired, ReviewChanged) as error:
            self._record_refusal(thread_id, review_id, by, error)
            raise
        self._runs.start(run)
        return run

    def close(self, thread_id: str, *, by: str, review_id: str | None = None, reason: str = "") -> Run:
        """End a review without deciding: the agent is told it is still open. Free calls of the turn still run."""
        with self._ledger.write() as tx:
            review = self._reviewable(tx, thread_id, review_id)
            now = instant(self._clock())
            thread = self._thread(tx, thread_id)
            results = tuple(
                self._end_action(tx, a, State.CANCELLED, told.CANCELLED, now) for a in review.actions
            )
            tx.end_review(review.review_id, ReviewState.CLOSED, now, by, "closed without deciding")
            data = {"reason": reason, "told": told.CANCELLED}
            tx.append(self._fact(Kind.REVIEW_CLOSED, thread, now, by, review=review, data=data))
            run = self._open_run(tx, thread, by, now, Mend(results))
        self._runs.start(run)
        return run

    def expire(self) -> None:
        """Close every review whose time is over. Nobody is there, so the model is not called."""
        for review in self._ledger.expired(instant(self._clock())):
            with self._ledger.write() as tx:
                run = self._expire(tx, review)
            if run is not None:
                self._runs.start(run)

    def settle(
        self, thread_id: str, tool_call_id: str, outcome: Outcome, *, by: str, result: str = ""
    ) -> Run | None:
        """Say what became of an action whose outcome is unknown. Returns the run that goes on, once all are settled.

        Raises `NothingToSettle`, and `StillAlive` for `ask_again` while the process that started it exists.
        """
        check_words(result, "result")
        with self._ledger.write() as tx:
            now = instant(self._clock())
            thread = self._thread(tx, thread_id)
            action = tx.latest_action(thread_id, tool_call_id)
            if action is None or action.state is not State.UNKNOWN:
                raise NothingToSettle(thread_id, tool_call_id)
            if tx.open_run(thread_id) is not None:
                raise ThreadBusy(thread_id)
            if outcome == "ask_again" and action.owner and self._runs.lives(action.owner):
                raise StillAlive(action.tool, pid_of(action.owner))
            self._record_settlement(tx, thread, action, outcome, result, by, now)
            if tx.actions(thread_id, states=[State.UNKNOWN]):
                return None
            run = self._open_run(
                tx, thread, by, now, _settlement(tx.actions(thread_id), action.key.message_id)
            )
        self._runs.start(run)
        return run

    def look_over(self, key: Key, *, by: str) -> None:
        """Record that a person has looked at an action that ran without asking."""
        with self._ledger.write() as tx:
            action = tx.latest_action(key.thread_id, key.tool_call_id)
            if action is None or not tx.look_over(key, by):
                return
            thread, now = self._thread(tx, key.thread_id), instant(self._clock())
            tx.append(self._fact(Kind.ACTION_LOOKED_OVER, thread, now, by, action=action, data={}))

    def shown(self, review_id: str, *, to: str) -> None:
        """Record that a reviewer sees a review, the first time only: time to decide can't be filled in later."""
        with self._ledger.write() as tx:
            now = instant(self._clock())
            review = tx.review(review_id)
            if review is None or not tx.first_shown(review_id, to, now):
                return
            thread = self._thread(tx, review.thread_id)
            data = {"digests": [action.shown_digest for action in review.actions]}
            tx.append(self._fact(Kind.REVIEW_SHOWN, thread, now, to, review=review, data=data))

    # Looking

    def view(self, thread_id: str) -> View:
        """The thread as it stands. Raises `UnknownThread`."""
        thread = self._thread(self._ledger, thread_id)
        return View(
            thread=thread,
            reviews=tuple(self._ledger.open_reviews(thread_id)),
            progress=self._runs.progress(thread_id) if thread.status is Status.RUNNING else None,
            last_review=self._ledger.last_review(thread_id),
        )

    def history(self, thread_id: str, *, before: int | None = None, limit: int = 50) -> list[Message]:
        """The last messages before index `before`, in order."""
        return self._ledger.messages(thread_id, before=before, limit=limit)

    def history_length(self, thread_id: str) -> int:
        return self._ledger.message_count(thread_id)

    def actions(self, thread_id: str) -> list[Action]:
        return self._ledger.actions(thread_id)

    def threads(self, limit: int = 50) -> list[Thread]:
        """Threads, the one that moved last first."""
        return self._ledger.threads(limit=limit)

    def queue(
        self,
        *,
        limit: int = 50,
        after: tuple[str, str] | None = None,
        sought: Sought = Sought(),  # noqa: B008
    ) -> list[Review]:
        """Reviews that wait, over all threads, oldest first, narrowed to what is sought."""
        return self._ledger.queue(limit=limit, after=after, sought=sought)

    def unknown(self) -> list[Action]:
        """Actions over all threads whose outcome is unknown."""
        return self._ledger.unknown()

    def ran_without_asking(self) -> list[Action]:
        """Actions of tier `log` that nobody has looked over yet."""
        return self._ledger.not_looked_over()

    def running(self) -> list[Thread]:
        return self._ledger.running()

    def done_today(self) -> list[Action]:
        """Actions a person decided that have ended since midnight, UTC, the last first."""
        midnight = self._clock().replace(hour=0, minute=0, second=0, microsecond=0)
        return self._ledger.decided_since(instant(midnight))

    def queue_length(self) -> int:
        """How many reviews wait, over all threads."""
        return self._ledger.queue_length()

    def trail(self, **narrowed: Any) -> list[Event]:
        """Events of the audit trail, in order or newest first: see `agent.ports.Reads.events`."""
        return self._ledger.events(**narrowed)

    def whole_trail(self) -> Iterator[Event]:
        """Every event in order, read a page at a time."""
        return self._ledger.trail()

    def verify(self) -> Verification:
        """Check the chain of the whole trail, in constant memory."""
        return verify(self._ledger.trail())

    def agents(self) -> Sequence[str]:
        return self._engine.agents()

    def agent(self, name: str) -> Agent:
        return self._engine.agent(name)

    def models(self) -> Sequence[str]:
        return self._engine.models()

    def wait(self, run: Run, seconds: float | None = None) -> bool:
        """Wait until the run pauses or ends; false if it had not after `seconds`."""
        return self._runs.wait(run.run_id, seconds)

    def health(self) -> dict[str, Any]:
        """Whether the ledger answers, and how many runs are open. Raises `LedgerUnavailable`."""
        self._ledger.check()
        return {"status": "ok", "ledger": "ok", "runs": len(self._ledger.open_runs())}

    def draft(self, review_id: str, reviewer: str) -> str | None:
        """What this reviewer has written on this review and not sent."""
        return self._ledger.draft(review_id, reviewer)

    def keep_draft(self, review_id: str, reviewer: str, body: str | None) -> None:
        with self._ledger.write() as tx:
            tx.set_draft(review_id, reviewer, body)

    # What the use cases share

    def _thread(self, reads: Any, thread_id: str) -> Thread:
        found: Thread | None = reads.thread(thread_id)
        if found is None:
            raise UnknownThread(thread_id)
        return found

    def _start_thread(
        self,
        tx: Transaction,
        thread_id: str,
        agent: str | None,
        model: str | None,
        text: str,
        by: str,
        now: str,
    ) -> Thread:
        name = agent or self._engine.agents()[0]
        self._engine.agent(name)
        models = self._engine.models()
        if model is not None and model not in models:
            raise UnknownModel(model, models)
        opening = " ".join(text.split())[:OPENING]
        thread = Thread(thread_id, name, model or models[0], Status.IDLE, now, now, by, opening)
        tx.add_thread(thread)
        data = {"model": thread.model}
        tx.append(self._fact(Kind.THREAD_STARTED, thread, now, by, data=data))
        return thread

    def _check_free(self, tx: Transaction, thread: Thread) -> None:
        """Raise unless a message may be sent: `ThreadBusy`, `OutcomeUnknown`, `ThreadStuck`, `ReviewPending`."""
        self._check_settled(tx, thread)
        waiting = tx.open_reviews(thread.thread_id)
        if waiting:
            raise ReviewPending(thread.thread_id, waiting[0].review_id)

    def _check_settled(self, reads: Any, thread: Thread) -> None:
        if reads.open_run(thread.thread_id) is not None:
            raise ThreadBusy(thread.thread_id)
        unknown = reads.actions(thread.thread_id, states=[State.UNKNOWN])
        if unknown:
            raise OutcomeUnknown(thread.thread_id, unknown[0].tool)
        if thread.status is Status.STUCK:
            raise ThreadStuck(thread.thread_id)

    def _reviewable(self, reads: Any, thread_id: str, review_id: str | None) -> Review:
        """The one review these decisions are for, in the documented order of refusals."""
        thread = self._thread(reads, thread_id)
        self._check_settled(reads, thread)
        waiting: list[Review] = reads.open_reviews(thread_id)
        if review_id is not None:
            found = [review for review in waiting if review.review_id == review_id]
            if not found:
                raise _gone(reads.review(review_id), thread_id, review_id, waiting)
        else:
            found = waiting
        if not found:
            raise NoPendingReview(thread_id, _what_became(reads.last_review(thread_id)))
        if len(found) > 1:
            raise ReviewIdNeeded(thread_id, [review.review_id for review in found])
        if found[0].expires_at is not None and found[0].expires_at <= instant(self._clock()):
            raise ReviewExpired(found[0].review_id, found[0].expires_at)
        return found[0]

    def _record_decision(self, tx: Transaction, review: Review, rulings: Sequence[Ruling], by: str) -> Run:
        now = self._clock()
        thread = self._thread(tx, review.thread_id)
        for ruling in rulings:
            self._record_ruling(tx, thread, review, ruling, by)
        outcome = rules.outcome(rulings)
        if not tx.end_review(review.review_id, ReviewState.DECIDED, instant(now), by, outcome):
            raise _gone(tx.review(review.review_id), review.thread_id, review.review_id, [])
        delivery = Resume(review.review_id, tuple(ruling.wire for ruling in rulings))
        return self._open_run(tx, thread, by, instant(now), delivery)

    def _record_ruling(
        self, tx: Transaction, thread: Thread, review: Review, ruling: Ruling, by: str
    ) -> None:
        now = self._clock()
        after, before = ruling.after, ruling.before
        changes: dict[str, Any] = {
            "decision": {"type": ruling.type, "message": ruling.message, "comment": ruling.comment},
            "decided_by": by,
            "decided_at": instant(now),
        }
        if after.state is State.APPROVED:
            changes |= {
                "tool": after.tool,
                "args": after.args,
                "summary": after.summary,
                "call_digest": after.call_digest,
                "shown_digest": after.shown_digest,
                "execute_by": self._execute_by(thread, after),
            }
        else:
            changes |= {"ended_at": instant(now), "result": ruling.told}
        if not tx.move(before.key, State.PENDING, after.state, **changes):
            raise ReviewChanged(f"{before.tool} no longer waits.")
        data = {
            "type": ruling.type,
            "tool": after.tool,
            "before": before.args,
            "after": after.args if after.state is State.APPROVED else None,
            "reason": ruling.message,
            "comment": ruling.comment,
            "summary": before.summary,
            "summary_after": after.summary if ruling.type == "edit" else None,
            **self._time_to_decide(tx, review, by),
        }
        tx.append(
            self._fact(Kind.DECISION_MADE, thread, instant(now), by, review=review, action=after, data=data)
        )

    def _time_to_decide(self, tx: Transaction, review: Review, by: str) -> dict[str, Any]:
        seen = tx.shown_at(review.review_id, by)
        if seen is None:
            return {"first_shown_at": None, "seconds_to_decide": None}
        return {"first_shown_at": instant(seen), "seconds_to_decide": (self._clock() - seen).total_seconds()}

    def _execute_by(self, thread: Thread, action: Action) -> str | None:
        policy = self._engine.agent(thread.agent).policy
        span = policy.execute_by_of(policy.tools[action.tool]) if action.tool in policy.tools else None
        return instant(self._clock() + span) if span is not None else None

    def _record_settlement(
        self,
        tx: Transaction,
        thread: Thread,
        action: Action,
        outcome: Outcome,
        result: str,
        by: str,
        now: str,
    ) -> None:
        end = State.DONE if outcome == "happened" else State.FAILED
        text = {
            "happened": result or told.HAPPENED,
            "failed": told.settled_as_failed(result),
            "ask_again": told.DID_NOT_HAPPEN,
        }[outcome]
        changes = {"ended_at": now, "result": text, "decision": {"type": "settle", "outcome": outcome}}
        tx.move(action.key, State.UNKNOWN, end, **changes)
        data = {"outcome": outcome, "result": text, "args": action.args}
        tx.append(self._fact(Kind.OUTCOME_SETTLED, thread, now, by, action=action, data=data))

    def _record_refusal(self, thread_id: str, review_id: str | None, by: str, error: ReviewError) -> None:
        with self._ledger.write() as tx:
            thread = self._thread(tx, thread_id)
            fact = self._fact(
                Kind.DECISION_REFUSED,
                thread,
                instant(self._clock()),
                by,
                data={"why": str(error), "code": error.code},
            )
            tx.append(replace(fact, review_id=review_id))

    def _expire(self, tx: Transaction, review: Review) -> Run | None:
        now = instant(self._clock())
        thread = self._thread(tx, review.thread_id)
        if tx.open_run(thread.thread_id) is not None:
            return None
        if not tx.end_review(review.review_id, ReviewState.EXPIRED, now, "nobody", "nobody decided in time"):
            return None
        results = [
            self._end_action(tx, action, State.EXPIRED, told.EXPIRED, now) for action in review.actions
        ]
        tx.append(
            self._fact(Kind.REVIEW_EXPIRED, thread, now, None, review=review, data={"told": told.EXPIRED})
        )
        results += self._withdraw(tx, thread, "nobody", now)
        return self._open_run(tx, thread, "nobody", now, Mend(tuple(results), closing=told.EXPIRED_ANSWER))

    def _withdraw(self, tx: Transaction, thread: Thread, by: str, now: str) -> tuple[Result, ...]:
        """Give every call that was free to run, and will not now, its end and its result."""
        results = []
        for action in tx.actions(thread.thread_id, states=[State.APPROVED, State.PENDING]):
            # Pending here means: proposed by a run that failed before its review was opened.
            end = State.WITHDRAWN if action.state is State.APPROVED else State.CANCELLED
            results.append(self._end_action(tx, action, end, told.FAILED_TURN, now))
            data = {"told": told.FAILED_TURN}
            tx.append(self._fact(Kind.ACTION_WITHDRAWN, thread, now, by, action=action, data=data))
        return tuple(results)

    def _end_action(self, tx: Transaction, action: Action, end: State, text: str, now: str) -> Result:
        tx.move(action.key, action.state, end, ended_at=now, result=text)
        key, status = action.key, told.status(end)
        message = Message(
            id=result_id(key.message_id, key.tool_call_id),
            type="tool",
            content=text,
            tool_call_id=key.tool_call_id,
            status=status,
        )
        tx.put_messages(key.thread_id, [message], now)
        return Result(action.key.tool_call_id, action.tool, status, text)

    def _open_run(
        self, tx: Transaction, thread: Thread, by: str, now: str, delivery: Send | Resume | Mend | Continue
    ) -> Run:
        last = tx.last_run(thread.thread_id)
        run = Run(
            run_id=uuid4().hex,
            thread_id=thread.thread_id,
            agent=thread.agent,
            model=thread.model,
            delivery=deliveries.dump_python(delivery, mode="json"),
            owner=self._runs.owner,
            fence=last.fence + 1 if last else 1,
            started_at=now,
            started_by=by,
        )
        if not tx.open(run):
            raise ThreadBusy(thread.thread_id)
        tx.set_thread(thread.thread_id, Status.RUNNING, now)
        agent = self._engine.agent(run.agent)
        data = {
            "run_id": run.run_id,
            "model": run.model,
            "prompt_hash": agent.prompt_hash,
            "agent_version": agent.version,
            "delivers": delivery.kind,
        }
        tx.append(self._fact(Kind.RUN_STARTED, thread, now, by, data=data))
        return run

    def _fact(
        self,
        kind: Kind,
        thread: Thread,
        at: str,
        by: str | None,
        *,
        review: Review | None = None,
        action: Action | None = None,
        data: dict[str, Any],
    ) -> Fact:
        return Fact(
            kind=kind,
            at=at,
            thread_id=thread.thread_id,
            agent=thread.agent,
            by=by,
            review_id=review.review_id if review else action.review_id if action else None,
            tool_call_id=action.key.tool_call_id if action else None,
            tool=action.tool if action else None,
            digest=action.call_digest if action else None,
            data=data,
        )


def _settlement(actions: Sequence[Action], message_id: str) -> Mend:
    """Results for all calls of the turn at once: a finished sibling's is in the ledger, not in the checkpoint."""
    last = {action.key.tool_call_id: action for action in actions if action.key.message_id == message_id}
    again = [a for a in last.values() if a.decision and a.decision.get("outcome") == "ask_again"]
    results = [
        Result(action.key.tool_call_id, action.tool, told.status(action.state), action.result)
        for action in last.values()
        if action.result is not None and action not in again
    ]
    return Mend(tuple(results), ask_again=tuple(action.key.tool_call_id for action in again))


def _what_became(review: Review | None) -> str:
    if review is None:
        return ""
    return f"The last one, {review.review_id}, was ended by {review.ended_by} at {review.ended_at}: {review.outcome}."


def _gone(found: Review | None, thread_id: str, review_id: str, waiting: Sequence[Review]) -> ReviewError:
    """Why a review that was named cannot be decided."""
    if found is None or found.thread_id != thread_id:
        return ReviewChanged(
            f"Thread {thread_id} has no review {review_id}.", waiting[0] if waiting else None
        )
    if found.state is ReviewState.EXPIRED:
        return ReviewExpired(review_id, found.ended_at or "")
    return AlreadyDecided(review_id, found.outcome or "", found.ended_by or "", found.ended_at or "")
