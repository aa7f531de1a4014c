"""The last gate before a tool's first line: what runs is what was approved, once, or it does not run.

A LangChain callback handler given to every run sees each tool start, whatever graph it is in. It commits
`approved → executing` to the ledger before the tool begins, and the end before the graph goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import LLMResult
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.prebuilt.tool_node import ToolInvocationError

from agent.engine.proposing import about_to_start
from agent.ports import Clock, Ledger, Transaction
from agent.review import told
from agent.review.actions import Action, State, with_digests
from agent.review.agents import Agent
from agent.review.errors import ArgumentsRefused, LedgerUnavailable
from agent.review.events import Fact, Kind, instant
from agent.review.fitting import validate
from agent.review.foreign import OpenCall, taken
from agent.review.threads import Run, RunState


class Refused(ToolInvocationError):
    """The tool is not run; the call gets this text as its result. No graph retries it or dies of it."""

    def __init__(self, text: str, status: str = "error") -> None:
        Exception.__init__(self, text)
        self.message = self.text = text
        self.status = status


class Stop(GraphBubbleUp):
    """The run may not go on. No node's error handling of LangGraph's own catches it."""


@dataclass(frozen=True)
class Entry:
    """What the gate found: exactly one of these says what happens next."""

    started: Action | None = None
    refusal: Refused | None = None
    stop: str = ""


class Guard(BaseCallbackHandler):
    """One run's guard. `raise_error` lets it stop what it watches; `run_inline` makes it run before it."""

    raise_error = True
    run_inline = True

    def __init__(
        self,
        ledger: Ledger,
        run: Run,
        agent: Agent,
        secret: bytes,
        clock: Clock,
        told_of: Callable[[str, str], None] = lambda tool, what: None,
    ) -> None:
        """`told_of(tool, "started" | "finished")` lets a watcher follow along; it must not raise."""
        self._ledger, self._run, self._agent = ledger, run, agent
        self._secret, self._clock, self._told_of = secret, clock, told_of
        self._running: dict[UUID, Action] = {}
        self._proposed_in: dict[str, str] = {}
        self._latch = ""

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self._check_latch()

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        """Note which message proposes which call, in graphs inside the graph too: providers reuse call ids."""
        for generation in (one for several in response.generations for one in several):
            message = getattr(generation, "message", None)
            if isinstance(message, AIMessage) and message.id:
                self._proposed_in |= {call["id"]: message.id for call in message.tool_calls if call["id"]}

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, Any] | None = None,
        tool_call_id: str | None = None,
        **_: Any,
    ) -> None:
        self._check_latch()
        tool = serialized.get("name") or ""
        if not tool_call_id:
            raise self._stop(f"{tool} was started without a call id, so nobody can tell what was approved.")
        try:
            with self._ledger.write() as tx:
                entry = self._enter(tx, tool, tool_call_id, inputs or {})
        except LedgerUnavailable as error:
            raise self._stop(error.of_a_run) from error
        if entry.stop:
            raise self._stop(entry.stop)
        if entry.refusal:
            raise entry.refusal
        if entry.started:
            self._running[run_id] = entry.started
            self._told_of(tool, "started")

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        failed = isinstance(output, ToolMessage) and output.status == "error"
        text = str(output.text) if isinstance(output, ToolMessage) else str(output)
        self._leave(run_id, State.FAILED if failed else State.DONE, text)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        if isinstance(error, GraphInterrupt):
            self._leave(run_id, State.SUSPENDED, None)
        elif isinstance(error, GraphBubbleUp):
            self._leave(run_id, State.UNKNOWN, None)
        else:
            self._leave(run_id, State.FAILED, told.failed(error))

    def _check_latch(self) -> None:
        if self._latch:
            raise Stop(self._latch)

    def _stop(self, why: str) -> Stop:
        """A user's own `except` may swallow a stop once; latched, it comes again at the next start."""
        self._latch = why
        return Stop(why)

    def _enter(self, tx: Transaction, tool: str, call_id: str, inputs: dict[str, Any]) -> Entry:
        run = tx.run(self._run.run_id)
        if run is None or run.state is not RunState.OPEN or run.owner != self._run.owner:
            return Entry(stop="This run was taken over by another process.")
        if halt := tx.halt():
            return Entry(stop=f"{halt.by} stopped everything.")
        if run.stop_by:
            return Entry(stop=f"{run.stop_by} stopped this run.")
        action = self._action(tx, tool, call_id, inputs)
        if action is None:
            tx.append(
                self._fact(Kind.EXECUTION_BLOCKED, None, tool, call_id, {"why": "it was never proposed"})
            )
            return Entry(refusal=Refused(told.BLOCKED))
        match action.state:
            case State.APPROVED | State.SUSPENDED:
                return self._start(tx, action, tool, inputs)
            case State.EXECUTING:
                tx.move(action.key, State.EXECUTING, State.UNKNOWN)
                tx.append(self._fact(Kind.OUTCOME_UNKNOWN, action, tool, call_id, {"why": "entered twice"}))
                return Entry(stop=f"{tool} was entered while it was executing already.")
            case State.UNKNOWN:
                return Entry(stop=f"The outcome of {tool} is unknown.")
            case State.DONE if self._agent.own_gating:
                return Entry(refusal=Refused(told.ran_before(action.result or "")))
            case _ if action.result is not None:
                return Entry(refusal=Refused(action.result, told.status(action.state)))
        tx.append(
            self._fact(
                Kind.EXECUTION_BLOCKED, action, tool, call_id, {"why": f"the action is {action.state}"}
            )
        )
        return Entry(refusal=Refused(told.BLOCKED))

    def _action(self, tx: Transaction, tool: str, call_id: str, inputs: dict[str, Any]) -> Action | None:
        """The action that is about to start; what an agent of another make did not ask about is proposed here."""
        if not self._agent.own_gating:
            return tx.latest_action(self._run.thread_id, call_id)
        meant = OpenCall(self._proposed_in.get(call_id, ""), call_id, tool, inputs)
        now = instant(self._clock())
        return about_to_start(tx, self._run, self._agent, meant, self._secret, now)

    def _start(self, tx: Transaction, action: Action, tool: str, inputs: dict[str, Any]) -> Entry:
        now = instant(self._clock())
        starts = action.state is State.APPROVED  # else it is entered again, after it asked in its middle
        if starts and action.execute_by is not None and now > action.execute_by:
            return self._not_run(tx, action, State.LAPSED, Kind.ACTION_LAPSED, told.LAPSED, now)
        if starts and action.decided_by is None and (denial := self._agent.denial(action.tool, action.args)):
            # A rule or the policy let it run, and the policy has come to deny it since.
            end, kind = State.WITHDRAWN, Kind.ACTION_WITHDRAWN
            return self._not_run(tx, action, end, kind, denial.for_model, now)
        args = self._as_handed_over(tool, inputs)
        what = with_digests(replace(action, tool=tool, args=args), self._secret)
        if args is None or what.call_digest != action.call_digest:
            return self._not_run(tx, action, State.BLOCKED, Kind.EXECUTION_BLOCKED, told.BLOCKED, now)
        if not tx.move(action.key, action.state, State.EXECUTING, started_at=now, owner=self._run.owner):
            return Entry(stop=f"{tool} was started elsewhere at the same moment.")
        data = {"args": args, "attempt": action.key.attempt, "run_id": self._run.run_id}
        tx.append(self._fact(Kind.EXECUTION_STARTED, action, tool, action.key.tool_call_id, data))
        return Entry(started=replace(action, state=State.EXECUTING, started_at=now))

    def _not_run(self, tx: Transaction, action: Action, end: State, kind: Kind, text: str, now: str) -> Entry:
        text = told.of(action, text)
        tx.move(action.key, action.state, end, ended_at=now, result=text)
        tx.append(self._fact(kind, action, action.tool, action.key.tool_call_id, {"told": text}))
        return Entry(refusal=Refused(text))

    def _as_handed_over(self, tool: str, inputs: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments as the tool's schema makes them: callbacks see them before it does."""
        if self._agent.own_gating:
            return taken(self._agent, tool, inputs)[0]
        known = self._agent.tools_by_name.get(tool)
        if known is None:
            return None
        try:
            return validate(known.tool_call_schema, inputs, unknown="refuse").args
        except ArgumentsRefused:
            return None

    def _leave(self, run_id: UUID, end: State, text: str | None) -> None:
        action = self._running.pop(run_id, None)
        if action is None:
            return
        now = self._clock()
        kind = {
            State.DONE: Kind.EXECUTION_FINISHED,
            State.FAILED: Kind.EXECUTION_FAILED,
            State.SUSPENDED: Kind.EXECUTION_SUSPENDED,
            State.UNKNOWN: Kind.OUTCOME_UNKNOWN,
        }[end]
        data = {"result": text, "args": action.args, "started_at": action.started_at}
        try:
            with self._ledger.write() as tx:
                moved = tx.move(action.key, State.EXECUTING, end, ended_at=instant(now), result=text)
                if moved:
                    tx.append(self._fact(kind, action, action.tool, action.key.tool_call_id, data))
        except LedgerUnavailable as error:
            why = f"How {action.tool} ended could not be recorded ({error.reason})."
            raise self._stop(f"{why} Look whether it took effect, then settle it.") from error
        self._told_of(action.tool, "finished")
        if not moved:
            raise self._stop(f"{action.tool} was taken for lost and is being settled elsewhere.")

    def _fact(self, kind: Kind, action: Action | None, tool: str, call_id: str, data: dict[str, Any]) -> Fact:
        return Fact(
            kind=kind,
            at=instant(self._clock()),
            thread_id=self._run.thread_id,
            agent=self._run.agent,
            by=self._run.started_by,
            review_id=action.review_id if action else None,
            tool_call_id=call_id,
            tool=tool,
            digest=action.call_digest if action else None,
            data=data,
        )
