"""Find the action of a call that reaches its tool's door, by its place in the graph, its message and its id.

The tool's name alone never decides: two graphs may have tools of the same name, and a node may run something other
than what it asked about.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.messages import AIMessage

from agent.engine.door import Entering
from agent.engine.graph_messages import messages_at, open_calls
from agent.engine.namespaces import graph_of, id_of, task_of
from agent.engine.proposals import LAST_MESSAGES, attempts_of, message_named, propose
from agent.ports import Transaction
from agent.review import external, tool_messages
from agent.review.actions import Action, ActionState, Key
from agent.review.agents import Agent
from agent.review.arguments.fitting.intake import intake_of, is_json
from agent.review.arguments.fitting.json_form import json_form
from agent.review.digest import canonical
from agent.review.external import OpenCall
from agent.review.facts import ExecutionBlockedFact, of_action
from agent.review.questions import QUESTION
from agent.review.threads import Run

ENDED = (ActionState.DONE, ActionState.FAILED, ActionState.BLOCKED, ActionState.UNKNOWN)
"""States of a call that is not run again when its node runs again after a question, but returns what it returned."""
SHOWED_ANOTHER = "its node had asked about something else"
NEVER_PROPOSED = "no message proposed it, and it came while an approved call was to run"


@dataclass(frozen=True)
class Meant:
    """What is known about a call before its action is looked for."""

    tool: str
    args: dict[str, Any] | None
    received: dict[str, Any] | None
    call_id: str
    message_id: str
    """The message that proposed it; "" if unknown."""
    task: str


@dataclass
class Identifying:
    """The actions of one run's calls. What an external agent runs without asking is recorded as proposed here."""

    run: Run
    agent: Agent
    secret: bytes
    _proposed_in: dict[tuple[str, str], str] = field(default_factory=dict)
    _met: set[Key] = field(default_factory=set)
    """The actions found for the calls of this execution of the run."""
    _failed: set[Key] = field(default_factory=set)
    """Those of them that failed: calling one again is the agent's own retry."""

    def note(self, graph: str, message: AIMessage) -> None:
        """Note that a model in this graph proposed these calls in this message."""
        for call in message.tool_calls:
            if call["id"]:
                self._proposed_in[graph, call["id"]] = str(message.id)

    def action(self, tx: Transaction, entering: Entering, now: str) -> Action | None:
        """Return the call's action; None for a call of one of our own agents that was never proposed."""
        if entering.key is not None:
            key = entering.key
            found = attempts_of(tx, key.thread_id, key.message_id, key.tool_call_id)
            return found[-1] if found else None
        meant = self._meant(tx, entering)
        if not self.agent.gates_itself:
            return self._proposed(tx, meant, entering)
        action = self._known(tx, meant, entering, now)
        self._met.add(action.key)
        return action

    def ended(self, action: Action, end: ActionState) -> None:
        """Note how a call of this execution ended."""
        if end is ActionState.FAILED:
            self._failed.add(action.key)

    def asked_in_its_middle(self, tx: Transaction, action: Action) -> list[Action]:
        """Return the approvals that a tool itself asked for while it ran and that nothing inside it was run on."""
        if not self.agent.gates_itself:
            return []  # our own graphs never ask about a call twice
        return [
            one
            for one in self._later(tx, action)
            if one.state is ActionState.APPROVED and _is_same(one, action)
        ]

    def gives_what_only_code_gives(
        self, entering: Entering, action: Action, named: Mapping[str, Any]
    ) -> bool:
        """Return whether the model's value would be passed for an argument that the agent's code must supply."""
        opened = [call for _, call in open_calls(messages_at(entering.config))]
        proposed = [call["args"] for call in opened if call["id"] == action.tool_call_id]
        proposed += [action.proposed] if isinstance(action.proposed, dict) else []
        return any(
            is_json(named[name]) and named[name] == args[name]
            for args in proposed
            for name in intake_of(entering.tool).filled & args.keys() & named.keys()
        )

    def rejected_in_its_middle(self, tx: Transaction, action: Action) -> str:
        """Return with which words a person rejected what a suspended tool asked about itself; "" if nobody did."""
        if action.state is not ActionState.SUSPENDED:
            return ""
        found = [
            one
            for one in self._later(tx, action)
            if one.state is ActionState.REJECTED and _is_same(one, action)
        ]
        return (found[-1].result or tool_messages.midway(tool_messages.rejected(""))) if found else ""

    def _later(self, tx: Transaction, action: Action) -> list[Action]:
        key = action.key
        attempts = attempts_of(tx, key.thread_id, key.message_id, key.tool_call_id)
        return [one for one in attempts if one.key.attempt > key.attempt]

    def _meant(self, tx: Transaction, entering: Entering) -> Meant:
        tool, task = entering.tool.name, task_of(entering.config)
        received = entering.received if entering.reached else entering.entered
        messages = messages_at(entering.config)
        opened = open_calls(messages)
        if entering.call_id is None:
            message_id, call_id = self._unnamed(tx, entering, opened, task)
            return Meant(tool, entering.entered, received, call_id, message_id, task)
        message_id = next((one for one, call in opened if call["id"] == entering.call_id), "")
        message_id = message_id or self._proposed_in.get((graph_of(task), entering.call_id), "")
        if not message_id and not messages and entering.inside is None:
            # Not for a call inside a tool: the transcript has only the calls around it.
            message_id = self._in_transcript(tx, entering.call_id)
        return Meant(tool, entering.entered, received, entering.call_id, message_id, task)

    def _unnamed(
        self, tx: Transaction, entering: Entering, opened: list[tuple[str, Any]], task: str
    ) -> tuple[str, str]:
        """Return message id and call id of the open call that a node runs by hand, found by its arguments."""
        if entering.inside is not None or entering.entered is None:
            return "", ""
        intake, met = intake_of(entering.tool), {(key.message_id, key.tool_call_id) for key in self._met}
        for message_id, call in opened:
            named = message_named(tx, self.run.thread_id, message_id, call["id"], graph_of(task))
            same = call["name"] == entering.tool.name and canonical(
                json_form(intake.proper(call["args"]))
            ) == canonical(entering.entered)
            if same and (named, call["id"]) not in met:
                return message_id, str(call["id"])
        return "", ""

    def _in_transcript(self, tx: Transaction, call_id: str) -> str:
        """Return the id of the transcript's last message that proposed a call of this id; "" if none did."""
        for message in reversed(tx.messages(self.run.thread_id, limit=LAST_MESSAGES)):
            if any(call.id == call_id for call in message.tool_calls):
                return message.id
        return ""

    def _proposed(self, tx: Transaction, meant: Meant, entering: Entering) -> Action | None:
        """Return the action of a call of one of our own agents whose tools run outside its graph."""
        if not meant.call_id:
            return None
        if meant.message_id:
            found = attempts_of(tx, self.run.thread_id, meant.message_id, meant.call_id)
            return found[-1] if found else None
        return None if entering.inside else tx.latest_action(self.run.thread_id, meant.call_id)

    def _known(self, tx: Transaction, meant: Meant, entering: Entering, now: str) -> Action:
        if meant.message_id:
            graph = graph_of(meant.task)
            message_id = message_named(tx, self.run.thread_id, meant.message_id, meant.call_id, graph)
            meant = replace(meant, message_id=message_id)
            attempts = attempts_of(tx, self.run.thread_id, message_id, meant.call_id)
            return self._attempt(tx, meant, attempts, now)
        if before := self._ran_here(tx, meant, ENDED):
            return before
        asked = [one for one in self._asked_here(tx, meant.task) if one != entering.inside]
        if asked:
            return self._behind(tx, meant, asked, now)
        if self._is_owed(tx, meant, entering):
            return self._blocked(tx, meant, NEVER_PROPOSED, now)
        return self._by_place(tx, meant, now)

    def _is_owed(self, tx: Transaction, meant: Meant, entering: Entering) -> bool:
        """Return whether an approved call of the same graph has yet to run, which this one might replace."""
        if entering.inside is not None or not meant.task:
            return False
        waiting = [
            one
            for one in tx.actions(self.run.thread_id, states=[ActionState.APPROVED])
            if one.decided_by is not None and graph_of(one.place) == graph_of(meant.task)
        ]
        return bool(waiting) and (bool(meant.call_id) or any(one.tool == meant.tool for one in waiting))

    def _attempt(self, tx: Transaction, meant: Meant, attempts: list[Action], now: str) -> Action:
        """Return the attempt at a call that is under way, or the next one if its agent itself tries again."""
        if not attempts:
            return self._free(tx, meant, 1, now)
        suspended = next((one for one in attempts if one.state is ActionState.SUSPENDED), None)
        last = suspended or attempts[-1]
        if last.state is ActionState.FAILED and last.key in self._failed and last.decided_by is None:
            return self._free(tx, meant, attempts[-1].key.attempt + 1, now)
        return last

    def _asked_here(self, tx: Transaction, task: str) -> list[Action]:
        """Return the actions that were asked about and decided in the very task that the call comes from."""
        if not task:
            return []
        return [
            one
            for one in tx.actions(self.run.thread_id)
            if one.review_id is not None
            and one.tool != QUESTION
            and one.state is not ActionState.PENDING
            and (graph_of(one.place), id_of(one.place)) == (graph_of(task), id_of(task))
        ]

    def _behind(self, tx: Transaction, meant: Meant, asked: list[Action], now: str) -> Action:
        """Return the action of a call after its node's question: the one asked about, or one that does not run."""
        for one in asked:
            if one.key not in self._met and one.tool == meant.tool and enters(one, meant.args):
                return one
        return self._blocked(tx, meant, SHOWED_ANOTHER, now)

    def _blocked(self, tx: Transaction, meant: Meant, why: str, now: str) -> Action:
        """Record the call as an action that does not run, and return it."""
        action = self._free(tx, meant, self._next(tx, meant), now)
        if action.state is ActionState.APPROVED:
            tx.move(
                action.key,
                ActionState.APPROVED,
                ActionState.BLOCKED,
                ended_at=now,
                result=tool_messages.BLOCKED,
            )
            tx.append(of_action(action, ExecutionBlockedFact(why=why, args=action.args), now))
            action = replace(action, state=ActionState.BLOCKED, result=tool_messages.BLOCKED)
        return action

    def _by_place(self, tx: Transaction, meant: Meant, now: str) -> Action:
        """Return the action of a call without a message: one with its arguments that ran here before, or a new one."""
        return self._ran_here(tx, meant) or self._free(tx, meant, self._next(tx, meant), now)

    def _ran_here(
        self, tx: Transaction, meant: Meant, states: Collection[ActionState] = tuple(ActionState)
    ) -> Action | None:
        """Return the action of the call with these arguments in an earlier execution of this very task."""
        for one in tx.actions_of(self.run.thread_id, [self._place(meant)]):
            ours = one.tool == meant.tool and one.key.tool_call_id.startswith(meant.call_id)
            if ours and one.state in states and one.key not in self._met and enters(one, meant.args):
                return one
        return None

    def _place(self, meant: Meant) -> str:
        return meant.task or self.run.run_id

    def _next(self, tx: Transaction, meant: Meant) -> int:
        return 1 + len(attempts_of(tx, self.run.thread_id, self._place(meant), meant.call_id))

    def _free(self, tx: Transaction, meant: Meant, attempt: int, now: str) -> Action:
        message_id = meant.message_id or self._place(meant)
        call_id = meant.call_id
        if not call_id:
            count = len(tx.actions_of(self.run.thread_id, [message_id]))
            call_id, attempt = f"{id_of(message_id)[:8]}/{count + 1}", 1
        called = OpenCall(message_id, call_id, meant.tool, meant.args, meant.task)
        call = replace(external.free(self.agent, called, meant.received), attempt=attempt)
        return propose(tx, self.run, call, 0, self.secret, now)


def _is_same(one: Action, other: Action) -> bool:
    return one.tool == other.tool and enters(one, other.enters)


def enters(action: Action, entered: dict[str, Any] | None) -> bool:
    """Return whether these are the arguments that enter the tool for this action."""
    if entered is None or action.enters is None:
        return False
    return canonical(action.enters) == canonical(entered)


def differs(action: Action, tool: str, entered: dict[str, Any] | None) -> bool:
    """Return whether the tool, or the arguments it was entered with, are known not to be this action's."""
    return action.tool != tool or (None not in (entered, action.enters) and not enters(action, entered))
