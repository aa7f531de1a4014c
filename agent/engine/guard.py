"""The gate before a tool's function: what runs is what was approved, once, or it does not run.

It stands at the door of every tool of its run (`agent.engine.door`). It commits `approved → executing` to the ledger
before the function is called, and how it ended before the graph goes on. As a callback handler it also notices a tool
that came past its door.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.outputs import LLMResult
from langgraph.errors import GraphBubbleUp, GraphInterrupt

from agent.engine import outcomes
from agent.engine.door import Entering, Go, NotRun, Turns, announce, error_result
from agent.engine.identifying import Identifying, differs
from agent.engine.namespaces import graph_of
from agent.engine.proposals import attempts_of
from agent.ports import Clock, Ledger, Transaction
from agent.review import tool_messages
from agent.review.actions import Action, ActionState, with_digests
from agent.review.agents import Agent
from agent.review.arguments.fitting.intake import intake_of
from agent.review.digest import canonical
from agent.review.errors import LedgerUnavailable
from agent.review.events import EventKind, instant
from agent.review.facts import (
    LEFT_OUT,
    ActionLapsedFact,
    ActionWithdrawnFact,
    BlockedAtTheDoorFact,
    EndUnknownFact,
    ExecutionBlockedFact,
    ExecutionFailedFact,
    ExecutionFinishedFact,
    ExecutionStartedFact,
    ExecutionSuspendedFact,
    Fact,
    NotStartedFact,
    OutcomeUnknownFact,
    RejectedMidwayFact,
    of_action,
    of_thread,
)
from agent.review.threads import Run, RunState


class Stop(GraphBubbleUp):
    """The run may not go on. No node's error handling of LangGraph's own catches it."""


FACT_OF_END = {
    ActionState.DONE: ExecutionFinishedFact,
    ActionState.FAILED: ExecutionFailedFact,
    ActionState.SUSPENDED: ExecutionSuspendedFact,
    ActionState.UNKNOWN: EndUnknownFact,
}


@dataclass(frozen=True)
class Admission:
    """What the gate found: exactly one of these says what happens next."""

    start: Go | None = None
    refusal: str | None = None
    """The call does not run, and this is what the model is sent as an error."""
    repeat: Action | None = None
    """The call ran before: it gets what it returned then."""
    stop: str = ""
    action: Action | None = None
    """The one it is, where its function is not called."""


class Guard(BaseCallbackHandler):
    """One run's gate. `raise_error` lets the handler stop what it watches; `run_inline` makes it run before it."""

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
        self._calls = Identifying(run, agent, secret)
        self._models: dict[UUID, str] = {}
        self._latch = ""

    # The handler

    def on_chat_model_start(
        self, *_: Any, run_id: UUID, metadata: Mapping[str, Any] | None = None, **__: Any
    ) -> None:
        self._check_latch()
        self._models[run_id] = graph_of(str((metadata or {}).get("langgraph_checkpoint_ns") or ""))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Note which message proposes which call, for nodes that call their model and its tools in one go."""
        graph = self._models.pop(run_id, "")
        for generation in (one for several in response.generations for one in several):
            message = getattr(generation, "message", None)
            if isinstance(message, AIMessage) and message.id:
                self._calls.note(graph, message)

    def on_tool_start(self, serialized: dict[str, Any], *_: Any, **__: Any) -> None:
        self._check_latch()
        if announce() is None:
            raise self._stop(f"{serialized.get('name')} was started past the gate, so it was not let run.")

    # The gate

    def enter(self, entering: Entering, named: Mapping[str, Any]) -> Go | NotRun:
        self._check_latch()
        try:
            with self._ledger.write() as tx:
                found = self._enter(tx, entering, named)
                if found.start is None and found.action is not None:
                    self._skip_turns(tx, entering, found.action)
        except LedgerUnavailable as error:
            raise self._stop(error.of_a_run) from error
        tool = entering.tool
        if found.start:
            self._told_of(tool.name, "started")
            return found.start
        if found.refusal is not None:
            return NotRun(error_result(tool, entering.call_id, found.refusal))
        if found.repeat:
            return NotRun(self._again(entering, found.repeat))
        raise self._stop(found.stop)

    def left(self, action: Action, returned: Any, turns: Turns, *, paired: bool) -> Any:
        limit = self._agent.policy.max_result_of(action.tool)
        cleaned, text = outcomes.recorded(returned, limit, paired=paired)
        state = ActionState.FAILED if outcomes.is_error(cleaned) else ActionState.DONE
        self._leave(action, state, text, turns, outcomes.kept(cleaned, text, limit))
        return cleaned

    def raised(self, action: Action, error: BaseException, turns: Turns) -> None:
        if isinstance(error, GraphInterrupt):
            self._leave(action, ActionState.SUSPENDED, None, turns)
        elif isinstance(error, GraphBubbleUp | CancelledError):
            # An asynchronous tool that is cancelled in its middle may have had its effect by then.
            self._leave(action, ActionState.UNKNOWN, None, turns)
        else:
            limit = self._agent.policy.max_result_of(action.tool)
            self._leave(
                action, ActionState.FAILED, outcomes.recordable(tool_messages.failed(error), limit), turns
            )

    def never_reached(self, entering: Entering, outcome: Any) -> None:
        """Record as failed what the tool's own checks refused, if it might have run at all."""
        if isinstance(outcome, GraphBubbleUp | CancelledError) or self._latch:
            return
        text = (
            tool_messages.failed(outcome) if isinstance(outcome, BaseException) else outcomes.text_of(outcome)
        )
        try:
            with self._ledger.write() as tx:
                action = self._calls.action(tx, entering, instant(self._clock()))
                if action is not None and action.state is ActionState.APPROVED and self._may_go_on(tx) == "":
                    self._begin(tx, action, entering.entered or {})
                    limit = self._agent.policy.max_result_of(action.tool)
                    self._end(tx, action, ActionState.FAILED, outcomes.recordable(text, limit), None)
                    self._calls.ended(action, ActionState.FAILED)
        except LedgerUnavailable as error:
            raise self._stop(error.of_a_run) from error

    def _check_latch(self) -> None:
        if self._latch:
            raise Stop(self._latch)

    def _stop(self, why: str) -> Stop:
        """Latch a stop: a user's own `except` may swallow it once, and it is raised again at the next start."""
        self._latch = why
        return Stop(why)

    def _may_go_on(self, tx: Transaction) -> str:
        """Why this run may start nothing more; "" if it may."""
        run = tx.run(self._run.run_id)
        if run is None or run.state is not RunState.OPEN or run.owner != self._run.owner:
            return "This run was taken over by another process."
        if halt := tx.halt():
            return f"{halt.by} stopped everything."
        return f"{run.stop_by} stopped this run." if run.stop_by else ""

    def _enter(self, tx: Transaction, entering: Entering, named: Mapping[str, Any]) -> Admission:
        if why := self._may_go_on(tx):
            return Admission(stop=why)
        tool, now = entering.tool.name, instant(self._clock())
        action = self._calls.action(tx, entering, now)
        if action is None:
            fact = ExecutionBlockedFact(why="it was never proposed", args=entering.entered)
            event = of_thread(self._run, fact, now, self._run.started_by)
            tx.append(replace(event, tool=tool, tool_call_id=entering.call_id))
            return Admission(refusal=tool_messages.BLOCKED)
        match action.state:
            case ActionState.APPROVED | ActionState.SUSPENDED:
                return self._start(tx, action, entering, named, now)
            case ActionState.EXECUTING | ActionState.DONE | ActionState.FAILED if differs(
                action, tool, entering.entered
            ):
                fact = ExecutionBlockedFact(why="another call of the same id was run", args=entering.entered)
                self._note(tx, action, fact, tool)
                return Admission(refusal=tool_messages.of_one_id(action.result))
            case ActionState.EXECUTING:
                tx.move(action.key, ActionState.EXECUTING, ActionState.UNKNOWN)
                self._note(tx, action, OutcomeUnknownFact(why="entered twice"), tool)
                return Admission(stop=f"{tool} was entered while it was executing already.")
            case ActionState.UNKNOWN:
                return Admission(stop=f"The outcome of {tool} is unknown.")
            case ActionState.DONE:
                return Admission(repeat=action, action=action)
            case _ if action.result is not None:
                return Admission(refusal=action.result, action=action)
        self._note(tx, action, ExecutionBlockedFact(why=f"the action is {action.state}"), tool)
        return Admission(refusal=tool_messages.BLOCKED)

    def _start(
        self, tx: Transaction, action: Action, entering: Entering, named: Mapping[str, Any], now: str
    ) -> Admission:
        # A suspended action does not start: it is entered again, after it asked in its middle.
        starts = action.state is ActionState.APPROVED
        if rejected := self._calls.rejected_in_its_middle(tx, action):
            return self._end_as(tx, action, ActionState.FAILED, RejectedMidwayFact(told=rejected), now)
        if starts and action.execute_by is not None and now > action.execute_by:
            lapsed = tool_messages.of(action, tool_messages.LAPSED)
            return self._end_as(tx, action, ActionState.LAPSED, ActionLapsedFact(told=lapsed), now)
        if starts and action.decided_by is None and (denial := self._agent.denial(action.tool, action.args)):
            # A rule or the policy let it run, and the policy has come to deny it since.
            denied = tool_messages.of(action, denial.for_model)
            return self._end_as(tx, action, ActionState.WITHDRAWN, ActionWithdrawnFact(told=denied), now)
        args = self._handed(action, entering, named)
        if args is None:
            blocked = tool_messages.of(action, tool_messages.BLOCKED)
            return self._end_as(tx, action, ActionState.BLOCKED, BlockedAtTheDoorFact(told=blocked), now)
        if not self._begin(tx, action, action.args):
            return Admission(stop=f"{entering.tool.name} was started elsewhere at the same moment.")
        return Admission(start=Go(replace(action, state=ActionState.EXECUTING, started_at=now), args))

    def _handed(
        self, action: Action, entering: Entering, named: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Return what the function is called with; None where that would not be what was approved.

        What entered the tool has to be what was approved. What the tool made of it may differ from what was shown,
        where it makes it otherwise each time: then the function gets what was shown.
        """
        entered = entering.entered
        if entered is None or action.args is None or canonical(entered) != canonical(action.enters):
            return None
        sealed = with_digests(replace(action, tool=entering.tool.name), self._secret)
        if sealed.call_digest != action.call_digest:
            return None
        if self._calls.gives_what_only_code_gives(entering, action, named):
            return None
        if entering.received is not None and canonical(entering.received) == canonical(action.args):
            return named
        if "unfit" in action.notes:
            return None  # what was shown was never made by the tool's own checks
        intake = intake_of(entering.tool)
        own = intake.proper(named)
        rebuilt = intake.rebuild(action.args, own)
        if rebuilt is None:
            return None
        return {name: value for name, value in named.items() if name not in own} | rebuilt

    def _end_as(
        self,
        tx: Transaction,
        action: Action,
        end: ActionState,
        fact: NotStartedFact | ActionLapsedFact | ActionWithdrawnFact,
        now: str,
    ) -> Admission:
        tx.move(action.key, action.state, end, ended_at=now, result=fact.told)
        self._note(tx, action, fact)
        return Admission(refusal=fact.told, action=action)

    def _again(self, entering: Entering, action: Action) -> Any:
        """Return what the call returned the first time. Raises `Stop` if that was not kept."""
        settled = (action.decision or {}).get("type") == "settle"
        try:
            found = outcomes.again(action.returned, action.result or "", settled=settled)
        except Exception:  # bytes that were changed past the console
            found = None
        if found is None:
            raise self._stop(
                f"{action.tool} ran before, and what it returned cannot be given again. Close or stop this turn."
            )
        limit = self._agent.policy.max_result_of(action.tool)
        _, text = outcomes.recorded(found.value, limit, paired=entering.is_paired)
        if not settled and {text, self._result_on_record(action)} != {action.result}:
            raise self._stop(
                f"{action.tool} ran before, and what is kept of its result is not what the record says. "
                "Close or stop this turn, and run `audit verify`."
            )
        if settled and entering.tool.response_format == "content_and_artifact":
            return found.value, None
        return found.value

    def _result_on_record(self, action: Action) -> str | None:
        """Return the result as the event of its end has it; as the action has it, where that event was erased."""
        key = action.key
        for event in self._ledger.events(
            thread_id=key.thread_id, tool_call_id=key.tool_call_id, newest_first=True
        ):
            if (
                event.kind is EventKind.EXECUTION_FINISHED
                and event.digest == action.call_digest
                and event.data
            ):
                return str(event.data.get("result"))
        return action.result

    def _begin(self, tx: Transaction, action: Action, args: Mapping[str, Any] | None) -> bool:
        now = instant(self._clock())
        if not tx.move(
            action.key, action.state, ActionState.EXECUTING, started_at=now, owner=self._run.owner
        ):
            return False
        attempt, run_id = action.key.attempt, self._run.run_id
        self._note(tx, action, ExecutionStartedFact(args=args, attempt=attempt, run_id=run_id))
        return True

    def _leave(
        self, action: Action, end: ActionState, text: str | None, turns: Turns, returned: bytes | None = None
    ) -> None:
        try:
            with self._ledger.write() as tx:
                moved = self._end(tx, action, end, text, returned, turns)
                if moved and end in (ActionState.DONE, ActionState.FAILED):
                    self._calls.ended(action, end)
                    for inner in self._calls.asked_in_its_middle(tx, action):
                        self._begin(tx, inner, inner.args)
                        self._end(tx, inner, end, text, returned)
        except LedgerUnavailable as error:
            why = f"How {action.tool} ended could not be recorded ({error.reason})."
            raise self._stop(f"{why} Look whether it took effect, then settle it.") from error
        self._told_of(action.tool, "finished")
        if not moved:
            raise self._stop(f"{action.tool} was taken for lost and is being settled elsewhere.")

    def _end(
        self,
        tx: Transaction,
        action: Action,
        end: ActionState,
        text: str | None,
        returned: bytes | None,
        turns: Turns | None = None,
    ) -> bool:
        now = instant(self._clock())
        moved = tx.move(action.key, ActionState.EXECUTING, end, ended_at=now, result=text, returned=returned)
        if moved:
            counted = turns is not None and (turns.asked or turns.inside)
            ended = FACT_OF_END[end](
                result=text,
                args=action.args,
                started_at=action.started_at,
                turns=[turns.asked, turns.inside] if turns is not None and counted else LEFT_OUT,
            )
            self._note(tx, action, ended)
        return moved

    def _skip_turns(self, tx: Transaction, entering: Entering, action: Action) -> None:
        """Have the turns taken that the call took when its function was called, as it is not called now."""
        if not self._agent.gates_itself:
            return  # a graph of ours runs each call once in its task
        key = action.key
        ends = (EventKind.EXECUTION_FINISHED, EventKind.EXECUTION_FAILED, EventKind.EXECUTION_SUSPENDED)
        attempts = attempts_of(tx, key.thread_id, key.message_id, key.tool_call_id)
        digests = {one.call_digest for one in attempts}
        for event in reversed(
            tx.events(thread_id=key.thread_id, tool_call_id=key.tool_call_id, limit=10_000)
        ):
            if event.kind in ends and event.digest in digests and "turns" in (event.data or {}):
                entering.turns.skip(*(event.data or {})["turns"])
                return

    def _note(self, tx: Transaction, action: Action, fact: Fact, tool: str | None = None) -> None:
        """Record a fact about an action; `tool` is what entered in its place, if it is another."""
        event = of_action(action, fact, instant(self._clock()), self._run.started_by)
        tx.append(replace(event, tool=tool or action.tool))
