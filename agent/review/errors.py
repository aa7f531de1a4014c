"""Everything that can be refused, and what to do about it.

    ReviewError
    ├── UnknownThread · OtherThread · UnknownAgent · AgentNotLoaded · UnknownModel · ContextNeeded
    ├── InvalidMessage
    ├── ThreadBusy · ThreadStuck · ThreadArchived · OutcomeUnknown · Halted
    ├── ReviewPending · NoPendingReview · ReviewIdNeeded
    ├── AlreadyDecided · ReviewExpired · ReviewChanged · RecordDamaged
    ├── InvalidDecision · InvalidNote
    ├── ArgumentsRefused
    ├── RuleRefused · UnknownRule · RuleOver
    ├── NothingToRetry · NothingToStop · NothingToSettle · NothingToAskAgain · StillAlive
    ├── ModelFailed · CheckpointLost
    ├── LedgerUnavailable ── AnchorsUnavailable
    ├── CheckpointsUnavailable · ErasureRefused
    ├── NotIsolated · InvalidScenario · NotReplayable · PayloadUnreadable
    ├── PolicyError
    └── SettingsError

Every message is one or more plain sentences that end in a remedy. `code` is the class's name: HTTP bodies carry it,
and tables map it to a status or to a screen's words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ReviewError(Exception):
    """The root of everything the console refuses."""

    @property
    def code(self) -> str:
        return type(self).__name__


class UnknownThread(ReviewError):
    def __init__(self, thread_id: str) -> None:
        super().__init__(f"There is no thread {thread_id!r}. Check the id, or send a message to start one.")


class UnknownAgent(ReviewError):
    def __init__(self, agent: str, known: Sequence[str]) -> None:
        missing = f"There is no agent {agent!r}." if agent else "No agent could be loaded."
        doctor = (
            "Look at `python -m agent doctor` for those that are served, and for the reason where one is not."
        )
        super().__init__(f"{missing} Use one of: {', '.join(known)}." if known else f"{missing} {doctor}")


class AgentNotLoaded(ReviewError):
    def __init__(self, agent: str, reason: str) -> None:
        super().__init__(
            f"The agent {agent!r} could not be loaded: {reason}. Fix it, then restart the console."
        )


class ContextNeeded(ReviewError):
    def __init__(self, agent: str, fields: Sequence[str]) -> None:
        named = ", ".join(fields)
        super().__init__(
            f"The agent {agent!r} was not started: its context needs {named}. Set it in review.toml under "
            f"[agents.{agent}.context] and restart the console, or send it as `context` with the first message."
        )


class UnknownModel(ReviewError):
    def __init__(self, model: str, known: Sequence[str]) -> None:
        super().__init__(f"There is no model {model!r}. Use one of: {', '.join(known)}.")


class OtherThread(ReviewError):
    def __init__(self, thread_id: str, agent: str, model: str) -> None:
        super().__init__(
            f"Thread {thread_id} belongs to the agent {agent} and the model {model}. "
            "Leave agent and model out, or start another thread."
        )


class InvalidMessage(ReviewError):
    """A message, thread id or name that cannot be accepted; the text says why."""


class ThreadBusy(ReviewError):
    """A run is open. `last` describes the review that ended before it, for a caller who came too late to decide."""

    by: str | None = None
    """Who decided the review the caller means, if the run continues from it. `what` and `at` are set with it."""
    what: str | None = None
    at: str | None = None

    def __init__(self, thread_id: str, last: str = "") -> None:
        because = f" Its last review, {last}" if last else ""
        super().__init__(
            f"Thread {thread_id} is running.{because} Wait until it pauses or answers, then try again."
        )


class ThreadStuck(ReviewError):
    def __init__(self, thread_id: str) -> None:
        super().__init__(
            f"Thread {thread_id} is stuck on an answer another client gave. Use Ask again, or Close, first."
        )


class ThreadArchived(ReviewError):
    def __init__(self, thread_id: str) -> None:
        super().__init__(
            f"Thread {thread_id} was archived: it can be read, and its agent remembers nothing of it. "
            "Send the message without this thread id, and a new thread is started."
        )


class OutcomeUnknown(ReviewError):
    def __init__(self, thread_id: str, tool: str) -> None:
        super().__init__(
            f"Nobody knows whether {tool} on thread {thread_id} took effect, because it was cut off. "
            "Settle that action first: it happened, it failed, or ask again."
        )


class Halted(ReviewError):
    def __init__(self, by: str, at: str) -> None:
        super().__init__(f"Everything was stopped by {by} at {at}. Release the stop, then try again.")


class ReviewPending(ReviewError):
    def __init__(self, thread_id: str, review_id: str) -> None:
        super().__init__(
            f"Review {review_id} waits on thread {thread_id}. Decide or close it, then send the message."
        )


class NoPendingReview(ReviewError):
    def __init__(self, thread_id: str, last: str = "", *, unknown: bool = False) -> None:
        """`last` is what became of the last review; `unknown` says that there is no such thread."""
        about = (
            "There is no such thread. Check its id, or send it a message to start it."
            if unknown
            else f"{last or 'No review was opened on it yet.'} Open the thread to see where it stands."
        )
        super().__init__(f"Nothing waits for a decision on thread {thread_id}. {about}")


class ReviewIdNeeded(ReviewError):
    def __init__(self, thread_id: str, review_ids: Sequence[str]) -> None:
        super().__init__(
            f"{len(review_ids)} reviews wait on thread {thread_id}. Name one as review_id: {', '.join(review_ids)}."
        )


class AlreadyDecided(ReviewError):
    def __init__(self, review_id: str, what: str, by: str, at: str) -> None:
        super().__init__(
            f"Review {review_id} was already decided by {by} at {at}: {what}. Open the audit trail to see it."
        )
        self.what, self.by, self.at = what, by, at


class ReviewExpired(ReviewError):
    def __init__(self, review_id: str, at: str) -> None:
        super().__init__(
            f"Review {review_id} expired at {at} before anybody decided. Ask the agent again if it is still wanted."
        )


class ReviewChanged(ReviewError):
    """What waits is not what the caller saw. `review` is the pending review as it is now, or None."""

    def __init__(self, message: str, review: Any = None) -> None:
        super().__init__(f"{message} Look at the review as it is now, and decide on that.")
        self.review = review


class RecordDamaged(ReviewError):
    """The record is not what the console wrote: it was changed from outside. `review` is what it says now."""

    def __init__(self, about: str, remedy: str, review: Any = None) -> None:
        super().__init__(f"{about} was changed past the console, so nothing is run from it. {remedy}")
        self.review = review


class InvalidDecision(ReviewError):
    """A decision that cannot be accepted; the text names the action, the fault and the remedy.

    `faults` lists the same field by field, if the fault is in an edit's arguments.
    """

    def __init__(self, text: str, faults: Sequence[Any] = ()) -> None:
        super().__init__(text)
        self.faults = tuple(faults)


class ArgumentsRefused(ReviewError):
    """Arguments that cannot be accepted. `faults` says for each field what was expected and what was given."""

    def __init__(self, faults: Sequence[Any]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults) + ". Fix the fields named.")
        self.faults = tuple(faults)


class RuleRefused(ReviewError):
    """A rule that cannot be made; the text says why, and what can be done instead."""


class UnknownRule(ReviewError):
    def __init__(self, rule_id: str) -> None:
        super().__init__(f"There is no rule {rule_id!r}. Look it up in the list of rules.")


class RuleOver(ReviewError):
    def __init__(self, rule_id: str, how: str, by: str, at: str) -> None:
        super().__init__(
            f"Rule {rule_id} was {how} by {by} at {at} and allows nothing any more. There is nothing left to revoke."
        )


class NothingToRetry(ReviewError):
    def __init__(self, thread_id: str) -> None:
        super().__init__(f"Thread {thread_id} has neither failed nor stopped. Send it a message instead.")


class NothingToStop(ReviewError):
    def __init__(self, thread_id: str) -> None:
        super().__init__(f"Thread {thread_id} is not running. There is nothing to stop.")


class NothingToSettle(ReviewError):
    def __init__(self, thread_id: str, tool_call_id: str) -> None:
        super().__init__(
            f"Action {tool_call_id} on thread {thread_id} has no unknown outcome. Open the thread to see where it stands."
        )


class NothingToAskAgain(ReviewError):
    def __init__(self, thread_id: str) -> None:
        super().__init__(
            f"Thread {thread_id} is not stuck, and it has no review that ended last without a decision and could be "
            "opened again. "
            "Send it a message instead."
        )


class StillAlive(ReviewError):
    def __init__(self, tool: str, pid: int) -> None:
        super().__init__(
            f"The process that started {tool} (pid {pid}) is frozen, not dead, and could still run it. "
            "End that process first, then ask again."
        )


class ModelFailed(ReviewError):
    """The model gave no reply that can be used; the text says why and what a person can do about it."""


class CheckpointLost(ReviewError):
    """The agent's own state of a thread is gone or cannot be read; the record is intact."""

    def __init__(self, thread_id: str, reason: str) -> None:
        super().__init__(
            f"The agent's state of thread {thread_id} is lost: {reason}. Nothing was run, and the record is intact. "
            "Put the checkpoint file back from a copy and try again, or start a new thread."
        )


class LedgerUnavailable(ReviewError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"The record cannot be used ({reason}), so nothing was done. {_remedy(reason)}, then try again."
        )

    @property
    def of_a_run(self) -> str:
        """The message for a run, of which earlier actions may have taken effect."""
        return (
            f"The record cannot be used ({self.reason}), so the run went no further. "
            f"{_remedy(self.reason)}, then retry the thread."
        )


class AnchorsUnavailable(LedgerUnavailable):
    """The file of the record's anchors cannot be read or written; nothing runs that it does not vouch for."""

    def __init__(self, path: object, reason: str) -> None:
        self.reason = reason
        self._what = f"The record's anchors cannot be kept in {path} ({reason})"
        ReviewError.__init__(
            self, f"{self._what}. Allow the console to use that file, or name another as REVIEW_ANCHOR."
        )

    @property
    def of_a_run(self) -> str:
        return (
            f"{self._what}, so the run went no further. Allow the console to use it, then retry the thread."
        )


class ErasureRefused(ReviewError):
    """Events whose data cannot be erased; the text says why."""


class CheckpointsUnavailable(ReviewError):
    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The checkpoints cannot be used ({reason}), so the run went no further. "
            f"{_remedy(reason)}, then retry the thread."
        )


def _remedy(reason: str) -> str:
    """Return what to do about a file that SQLite cannot use, judging by SQLite's own words."""
    if any(words in reason for words in ("malformed", "not a database", "decode")):
        return "Restore the data folder from a copy"
    if "newer version" in reason:
        return "Update this console, or name another folder as REVIEW_DATA"
    if "unable to open" in reason:
        return "Allow the console to open the file"
    if "is frozen" in reason:
        return "End that process"
    if "readonly" in reason:
        return "Allow the console to write to the file"
    return "Free the disk or the lock"


class InvalidNote(ReviewError):
    """A tester's note that cannot be accepted; the text says why."""


class NotIsolated(ReviewError):
    def __init__(self, agent: str) -> None:
        super().__init__(
            f"What the tools of the agent {agent!r} touch cannot be kept apart from the real world, so nothing was run. "
            "Use one of the demo agents."
        )


class InvalidScenario(ReviewError):
    """A scenario's file that cannot be read. `problems` holds one line each, with its place."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        super().__init__(
            f"{name} is not a scenario:\n"
            + "\n".join(f"  {line}" for line in problems)
            + "\nFix what is named."
        )
        self.problems = tuple(problems)


class NotReplayable(ReviewError):
    def __init__(self, thread_id: str, reason: str, remedy: str) -> None:
        super().__init__(f"Thread {thread_id} cannot be made a scenario: {reason}. {remedy}")


class PayloadUnreadable(ReviewError):
    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(
            f"This cannot be read as an interrupt: {'; '.join(faults)}. Fix it there, or paste the JSON again."
        )


class PolicyError(ReviewError):
    """Policy entries that cannot mean what was intended. `problems` holds one line each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("The policy does not fit the agent:\n" + "\n".join(f"  {line}" for line in problems))
        self.problems = tuple(problems)


class SettingsError(ReviewError):
    """Settings that cannot be used. `problems` holds one line each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("The console cannot start:\n" + "\n".join(f"  {line}" for line in problems))
        self.problems = tuple(problems)
