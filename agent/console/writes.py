"""Write what a use case changes: rows and the events that record them, in one transaction on one thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import uuid4

from agent.console.outcomes import TOLD_OF_OUTCOME, Outcome
from agent.console.turns import latest_calls, settlement
from agent.ports import Engine, Runs, Transaction
from agent.review import tool_messages
from agent.review.actions import Action, ActionState, Key, Review, may_move
from agent.review.agents import Agent
from agent.review.attention import as_data
from agent.review.decisions import AcceptedDecision
from agent.review.deliveries import AnswerCalls, AnyDelivery, Send, ToolResult
from agent.review.errors import Halted, ReviewChanged, ThreadBusy
from agent.review.events import instant
from agent.review.facts import (
    LEFT_OUT,
    ActionWithdrawnFact,
    DecisionMadeFact,
    ExecutionFailedFact,
    Fact,
    MessageSentFact,
    OutcomeSettledFact,
    PolicyChangedFact,
    RunStartedFact,
    ThreadArchivedFact,
    of_action,
    of_console,
    of_thread,
)
from agent.review.threads import Message, Run, Status, Thread, result_id

LAST_MESSAGES = 100
EDITED = ("tool", "args", "entered", "summary", "call_digest", "shown_digest")
"""The fields of an action that an edit changes."""


def open_run(entry: Entry, delivery: AnyDelivery, *, engine: Engine, runs: Runs) -> Run:
    """Open the thread's one run, in this process. Raises what `Entry.open_run` does, and `UnknownAgent`."""
    return entry.open_run(delivery, owner=runs.owner, agent=engine.agent(entry.thread.agent))


@dataclass(frozen=True)
class Entry:
    """One transaction on one thread, by one person, at one instant."""

    tx: Transaction
    thread: Thread
    by: str
    moment: datetime

    @cached_property
    def now(self) -> str:
        return instant(self.moment)

    def note(self, fact: Fact, *, review: Review | None = None) -> None:
        """Record a fact about the thread, or about a review on it."""
        review_id = review.review_id if review else None
        self.tx.append(of_thread(self.thread, fact, self.now, self.by, review_id=review_id))

    def note_action(self, action: Action, fact: Fact) -> None:
        """Record a fact about an action of the thread."""
        self.tx.append(of_action(action, fact, self.now, self.by))

    def say(self, text: str, given: Mapping[str, Any] | None = None) -> Message:
        """Add a person's message to the transcript; on record with what was `given` to the agent besides it."""
        message = Message(id=uuid4().hex, type="human", content=text)
        self.tx.put_messages(self.thread.thread_id, [message], self.now)
        self.note(MessageSentFact(text=text, input=LEFT_OUT if given is None else given))
        return message

    def sent(
        self, text: str, results: tuple[ToolResult, ...], given: Mapping[str, Any] | None, *, says: bool
    ) -> Send:
        """Add a person's message to the transcript. Returns its delivery, with what is `given` besides it."""
        said = self.say(text, given)
        return Send(said.id, text, results, None if given is None else dict(given), says)

    def open_run(self, delivery: AnyDelivery, *, owner: str, agent: Agent) -> Run:
        """Open the thread's one run. Raises `Halted`, or `ThreadBusy` if one is open already."""
        if halt := self.tx.halt():
            raise Halted(halt.by, halt.at)
        last = self.tx.last_run(self.thread.thread_id)
        run = Run(
            run_id=uuid4().hex,
            thread_id=self.thread.thread_id,
            agent=self.thread.agent,
            model=self.thread.model,
            delivery=delivery,
            owner=owner,
            fence=last.fence + 1 if last else 1,
            started_at=self.now,
            started_by=self.by,
        )
        if not self.tx.open(run):
            raise ThreadBusy(self.thread.thread_id)
        self._note_policy(agent)
        self.tx.set_thread(self.thread.thread_id, Status.RUNNING, self.now)
        self.note(
            RunStartedFact(
                run_id=run.run_id,
                model=run.model,
                prompt_hash=agent.prompt_hash,
                agent_version=agent.version,
                delivers=delivery.kind,
            )
        )
        return run

    def _note_policy(self, agent: Agent) -> None:
        """Record the agent's policy before the first run under it, because an action names only its version."""
        if agent.gates_itself:
            return
        before = self.tx.policy_version(agent.name)
        if before != agent.policy.version:
            version, policy = agent.policy.version, agent.policy.on_record
            fact = PolicyChangedFact(version=version, before=before, policy=policy)
            self.tx.append(of_console(fact, self.now, agent=agent.name))

    def archive(self) -> None:
        """Archive the thread, and end what a broken turn left open."""
        if self.thread.status is not Status.IDLE:
            self.answer_calls()
        self.tx.set_thread(self.thread.thread_id, Status.ARCHIVED, self.now)
        self.note(ThreadArchivedFact(messages=self.tx.message_count(self.thread.thread_id)))

    def record_decision(self, review: Review, accepted: AcceptedDecision, agent: Agent) -> None:
        """Record one decision by compare-and-set. Raises `ReviewChanged` if the action no longer waits."""
        before, after = accepted.before, accepted.after
        runs = after.state is ActionState.APPROVED
        changes: dict[str, Any] = {
            "decision": {"type": accepted.type, "message": accepted.message, "comment": accepted.comment},
            "decided_by": self.by,
            "decided_at": self.now,
        }
        if accepted.type == "edit":
            changes |= {name: getattr(after, name) for name in EDITED}
        if runs:
            changes["execute_by"] = self._execute_by(after, agent)
        else:
            changes |= {"ended_at": self.now, "result": accepted.told}
        if not self.tx.move(before.key, ActionState.PENDING, after.state, **changes):
            raise ReviewChanged(f"{before.tool} no longer waits.")
        made = DecisionMadeFact(
            type=accepted.type,
            tool=after.tool,
            before=before.args,
            after=after.args if runs else {"value": accepted.answer.value} if accepted.answer else None,
            reason=accepted.message,
            comment=accepted.comment,
            summary=before.summary,
            summary_after=after.summary if accepted.type == "edit" else None,
            **self._time_to_decide(review),
            **as_data(accepted.seen),
        )
        self.note_action(after, made)

    def settle(self, action: Action, outcome: Outcome, words: str, *, asks: bool = True) -> None:
        """Record what a person says became of an action whose outcome is unknown.

        An agent that gates itself (`asks` is false) cannot be made to ask again: its model learns that nothing happened.
        """
        end = ActionState.DONE if outcome == "happened" else ActionState.FAILED
        text = TOLD_OF_OUTCOME[outcome](words)
        decision = {"type": "settle", "outcome": outcome}
        if outcome == "ask_again" and not asks:
            text, decision = tool_messages.NOT_ASKED_AGAIN, {"type": "settle", "outcome": "did_not_happen"}
        self.tx.move(action.key, ActionState.UNKNOWN, end, ended_at=self.now, result=text, decision=decision)
        self.note_action(action, OutcomeSettledFact(outcome=outcome, result=text, args=action.args))

    def answer_calls(
        self, midway: str = tool_messages.midway(tool_messages.FAILED_TURN)
    ) -> tuple[ToolResult, ...]:
        """Return a result for every call of the turn. Calls that ran keep theirs; calls that have not started end now.

        A tool that is suspended, because it asked while it ran, ends with `midway` as its result.
        """
        results = []
        for action in self._calls():
            if action.state in (ActionState.APPROVED, ActionState.PENDING):
                # Pending here means: proposed by a run that failed before its review was opened.
                end = ActionState.WITHDRAWN if action.state is ActionState.APPROVED else ActionState.CANCELLED
                results.append(self.end(action, end, tool_messages.of(action, tool_messages.FAILED_TURN)))
                self.note_action(action, ActionWithdrawnFact(told=results[-1].text))
            elif action.state is ActionState.SUSPENDED:
                results.append(self._end_midway(action, midway))
            elif action.result is not None:
                results.append(self._answer(action, action.state, action.result))
        return tuple(results)

    def end_midway(self, text: str) -> tuple[ToolResult, ...]:
        """End tools that asked while they ran, now that nobody will answer them."""
        return tuple(
            self._end_midway(one, text) for one in self._calls() if one.state is ActionState.SUSPENDED
        )

    def _calls(self) -> list[Action]:
        thread_id = self.thread.thread_id
        return latest_calls(self.tx.actions(thread_id), self.tx.last_run(thread_id))

    def _end_midway(self, action: Action, text: str) -> ToolResult:
        result = self.end(action, ActionState.FAILED, text)
        failed = ExecutionFailedFact(result=result.text, args=action.args, started_at=action.started_at)
        self.note_action(action, failed)
        return result

    def known_results(self) -> tuple[ToolResult, ...]:
        """Return the turn's results so far, because those of finished siblings may not be in the checkpoint yet."""
        return self.settlement().results

    def settlement(self) -> AnswerCalls:
        """Return what the turn resumes with, now that no outcome in it is unknown."""
        thread_id = self.thread.thread_id
        return settlement(self.tx.actions(thread_id), self.tx.last_run(thread_id))

    def end(self, action: Action, end: ActionState, text: str) -> ToolResult:
        """Move an action to a final state, and give it its result."""
        self.tx.move(action.key, action.state, end, ended_at=self.now, result=text)
        return self._answer(action, end, text)

    def end_undecided(self, action: Action, end: ActionState, text: str) -> ToolResult:
        """End an action without a decision and give it its result, even if its row's state was changed from outside."""
        possible = next((one for one in (end, ActionState.WITHDRAWN) if may_move(action.state, one)), None)
        if possible is not None:
            return self.end(action, possible, text)
        return self._answer(action, end, text)

    def _answer(self, action: Action, end: ActionState, text: str) -> ToolResult:
        """Add the action's result to the transcript, under a message id that depends only on the call.

        A call proposed in a subgraph is not in the transcript, and neither is its result.
        """
        key, status = action.key, tool_messages.status(end)
        if self.tx.message(key.thread_id, key.message_id) is None or self._has_result(key):
            return ToolResult(key.tool_call_id, action.tool, status, text)
        message = Message(
            id=result_id(key.message_id, key.tool_call_id),
            type="tool",
            content=text,
            tool_call_id=key.tool_call_id,
            status=status,
        )
        self.tx.put_messages(self.thread.thread_id, [message], self.now)
        return ToolResult(key.tool_call_id, action.tool, status, text)

    def _has_result(self, key: Key) -> bool:
        """Return whether the transcript holds a result of this call that came from the agent itself."""
        ours = result_id(key.message_id, key.tool_call_id)
        for message in reversed(self.tx.messages(self.thread.thread_id, limit=LAST_MESSAGES)):
            if message.id == key.message_id:
                break
            if message.tool_call_id == key.tool_call_id and message.id != ours:
                return True
        return False

    def _time_to_decide(self, review: Review) -> dict[str, Any]:
        seen = self.tx.shown_at(review.review_id, self.by)
        if seen is None:
            return {"first_shown_at": None, "seconds_to_decide": None}
        return {"first_shown_at": instant(seen), "seconds_to_decide": (self.moment - seen).total_seconds()}

    def _execute_by(self, action: Action, agent: Agent) -> str | None:
        entry = agent.policy.tools.get(action.tool)
        if agent.gates_itself:
            span = agent.policy.execute_by
        else:
            span = agent.policy.execute_by_of(entry) if entry else None
        return instant(self.moment + span) if span is not None else None
