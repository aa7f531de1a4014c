"""The last gate: what runs is what was approved, once, in whatever graph it runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

from agent.demos.model import DemoModel
from agent.engine.guard import Guard, Stop
from agent.ledger.sqlite import SqliteLedger
from agent.review import tool_messages
from agent.review.actions import Action, ActionState, Key, with_digests
from agent.review.agents import Agent
from agent.review.deliveries import Continue
from agent.review.errors import LedgerUnavailable
from agent.review.events import EventKind
from agent.review.policy import Policy, Tier, ToolPolicy
from agent.review.threads import Run, RunState
from tests.conftest import SetClock

SECRET = b"a key for tests"
AT = "2030-01-01T12:00:00.000000Z"
ARGS = {"to": "a@x.org", "copies": 1}


@dataclass
class Scene:
    """One approved call of one tool, its run, and the guard between the two."""

    ledger: SqliteLedger
    clock: SetClock
    ran: list[dict[str, Any]] = field(default_factory=list)
    raises: BaseException | None = None
    asks: bool = False

    def __post_init__(self) -> None:
        @tool
        def send(to: str, copies: int = 1) -> str:
            """Send something."""
            self.ran.append({"to": to, "copies": copies})
            if self.raises:
                raise self.raises
            if self.asks:
                return f"answered {interrupt('which?')}"
            return f"sent to {to}"

        self.tool: BaseTool = send
        self.agent = Agent("a", "A", [send], Policy({"send": ToolPolicy(Tier.ASK)}), "")
        self.run = Run("run-1", "t-1", "a", "demo", Continue(), "1-owner", 1, AT, "ana")
        with self.ledger.write() as tx:
            tx.open(self.run)
        self.guard = self.new_guard()

    def new_guard(self, **run: Any) -> Guard:
        return Guard(self.ledger, replace(self.run, **run), self.agent, SECRET, self.clock)

    def propose(
        self, call_id: str = "c1", state: ActionState = ActionState.APPROVED, **changes: Any
    ) -> Action:
        action = Action(
            key=Key("t-1", "m-1", call_id),
            agent="a",
            tool="send",
            args=ARGS,
            entered={"to": "a@x.org"},
            proposed_tool="send",
            proposed={"to": "a@x.org"},
            tier="ask",
            why="",
            summary="Send.",
            allowed=("approve",),
            policy_version="1",
            state=state,
            position=0,
        )
        action = with_digests(replace(action, **changes), SECRET)
        with self.ledger.write() as tx:
            assert tx.propose(action)
        return action

    def call(self, call_id: str | None = "c1", guard: Guard | None = None, **args: Any) -> Any:
        request = {"type": "tool_call", "id": call_id, "name": "send", "args": args or {"to": "a@x.org"}}
        return self.tool.invoke(request, {"callbacks": [guard or self.guard]})

    def action(self, call_id: str = "c1") -> Action:
        found = self.ledger.latest_action("t-1", call_id)
        assert found is not None
        return found

    def kinds(self) -> list[EventKind]:
        return [event.kind for event in self.ledger.events()]


def refused(result: ToolMessage) -> str:
    """What the model is sent of a call that did not run."""
    assert result.status == "error"
    return str(result.content)


@pytest.fixture
def scene(clock: SetClock) -> Any:
    ledger = SqliteLedger(":memory:")
    yield Scene(ledger, clock)
    ledger.shut()


def test_what_was_approved_runs(scene: Scene) -> None:
    scene.propose()
    assert scene.call().content == "sent to a@x.org"
    assert scene.action().state is ActionState.DONE


def test_the_start_is_on_record_before_the_tools_first_line(scene: Scene) -> None:
    scene.propose()
    seen: list[ActionState] = []
    scene.ran = _Watched(seen, scene)
    scene.call()
    assert seen == [ActionState.EXECUTING]


class _Watched(list[Any]):
    """Notes, at the tool's first line, what the ledger says of its action."""

    def __init__(self, seen: list[ActionState], scene: Scene) -> None:
        self._seen, self._scene = seen, scene

    def append(self, item: Any) -> None:
        self._seen.append(self._scene.action().state)


def test_a_finished_action_keeps_its_result(scene: Scene) -> None:
    scene.propose()
    scene.call()
    assert scene.action().result == "sent to a@x.org"


def test_an_executing_action_names_the_process_that_started_it(scene: Scene) -> None:
    scene.propose()
    scene.call()
    assert scene.action().owner == "1-owner"


@pytest.mark.parametrize(
    "state", [ActionState.PENDING, ActionState.PROPOSED, ActionState.SUPERSEDED, ActionState.WITHDRAWN]
)
def test_what_is_not_approved_does_not_run(scene: Scene, state: ActionState) -> None:
    scene.propose(state=state)
    assert refused(scene.call()) == tool_messages.BLOCKED
    assert scene.ran == []
    assert scene.kinds() == [EventKind.EXECUTION_BLOCKED]


def test_what_was_rejected_does_not_run_and_is_told_so_again(scene: Scene) -> None:
    scene.propose(state=ActionState.REJECTED, result=tool_messages.REJECTED)
    assert refused(scene.call()) == tool_messages.REJECTED
    assert scene.ran == []


def test_what_was_never_proposed_does_not_run(scene: Scene) -> None:
    assert refused(scene.call()) == tool_messages.BLOCKED
    assert scene.ran == []
    assert scene.kinds() == [EventKind.EXECUTION_BLOCKED]


@pytest.mark.parametrize(
    "args", [{"to": "eve@x.org"}, {"to": "a@x.org", "copies": 2}, {"to": "a@x.org", "cc": "e"}]
)
def test_other_arguments_than_approved_do_not_run(scene: Scene, args: dict[str, Any]) -> None:
    scene.propose()
    assert refused(scene.call(**args)) == tool_messages.BLOCKED
    assert scene.ran == []
    assert scene.action().state is ActionState.BLOCKED


def test_arguments_that_the_tool_would_take_alike_are_still_not_those_that_were_approved(
    scene: Scene,
) -> None:
    scene.propose()
    assert refused(scene.call(to="a@x.org", copies="1")) == tool_messages.BLOCKED
    assert scene.ran == []


def test_an_approval_that_was_changed_in_the_ledger_does_not_run(scene: Scene) -> None:
    scene.propose()
    with scene.ledger.write() as tx:
        tx._did("UPDATE actions SET call_digest = 'forged'")
    assert refused(scene.call()) == tool_messages.BLOCKED
    assert scene.ran == []


def test_an_approval_sealed_with_another_key_does_not_run(scene: Scene) -> None:
    scene.propose()
    guard = Guard(scene.ledger, scene.run, scene.agent, b"another key", scene.clock)
    assert refused(scene.call(guard=guard)) == tool_messages.BLOCKED
    assert scene.ran == []


def test_a_finished_action_gives_its_recorded_result_and_does_not_run_again(scene: Scene) -> None:
    scene.propose()
    first = scene.call()
    assert scene.call() == first
    assert (first.content, first.status) == ("sent to a@x.org", "success")
    assert len(scene.ran) == 1


def test_a_failed_action_gives_its_recorded_error_and_does_not_run_again(scene: Scene) -> None:
    scene.propose()
    scene.raises = ValueError("no stock")
    with pytest.raises(ValueError, match="no stock"):
        scene.call()
    assert refused(scene.call()) == "Error: no stock"
    assert len(scene.ran) == 1


def test_what_is_executing_already_becomes_unknown_and_stops_the_run(scene: Scene) -> None:
    scene.propose(state=ActionState.EXECUTING)
    with pytest.raises(Stop):
        scene.call()
    assert scene.action().state is ActionState.UNKNOWN
    assert scene.ran == []


def test_what_is_unknown_stops_the_run(scene: Scene) -> None:
    scene.propose(state=ActionState.UNKNOWN)
    with pytest.raises(Stop, match="unknown"):
        scene.call()
    assert scene.action().state is ActionState.UNKNOWN


def test_a_call_without_an_id_was_never_proposed_and_does_not_run(scene: Scene) -> None:
    scene.propose()
    assert scene.tool.invoke({"to": "a@x.org"}, {"callbacks": [scene.guard]}) == tool_messages.BLOCKED
    assert scene.ran == []


def test_an_approval_that_is_too_old_lapses(scene: Scene) -> None:
    scene.propose(execute_by=AT)
    scene.clock.move(seconds=1)
    assert refused(scene.call()) == tool_messages.LAPSED
    assert (scene.action().state, scene.ran) == (ActionState.LAPSED, [])


def test_an_approval_is_good_up_to_its_last_instant(scene: Scene) -> None:
    scene.propose(execute_by=AT)
    scene.call()
    assert scene.action().state is ActionState.DONE


def test_a_lapsed_approval_stays_lapsed_when_the_clock_is_set_back(scene: Scene) -> None:
    scene.propose(execute_by=AT)
    scene.clock.move(seconds=1)
    scene.call()
    scene.clock.move(seconds=-1)
    assert refused(scene.call()) == tool_messages.LAPSED
    assert scene.ran == []


def test_a_run_that_was_taken_over_runs_nothing_more(scene: Scene) -> None:
    scene.propose()
    with scene.ledger.write() as tx:
        assert tx.take_over("run-1", "2-other", 2)
    with pytest.raises(Stop, match="taken over"):
        scene.call()
    assert scene.action().state is ActionState.APPROVED


def test_a_run_that_was_closed_runs_nothing_more(scene: Scene) -> None:
    scene.propose()
    with scene.ledger.write() as tx:
        assert tx.close("run-1", "1-owner", RunState.STOPPED, AT)
    with pytest.raises(Stop):
        scene.call()
    assert scene.ran == []


def test_a_run_that_is_to_stop_runs_nothing_more(scene: Scene) -> None:
    scene.propose()
    with scene.ledger.write() as tx:
        assert tx.ask_stop("run-1", "bob")
    with pytest.raises(Stop, match="bob"):
        scene.call()
    assert scene.action().state is ActionState.APPROVED


def test_a_stop_that_was_swallowed_comes_again_at_the_next_tool(scene: Scene) -> None:
    scene.propose("c1", ActionState.UNKNOWN)
    scene.propose("c2")
    with pytest.raises(Stop):
        scene.call("c1")
    with pytest.raises(Stop):
        scene.call("c2")
    assert scene.ran == []


def test_a_stop_that_was_swallowed_comes_again_at_the_next_model_call(scene: Scene) -> None:
    scene.propose("c1", ActionState.UNKNOWN)
    with pytest.raises(Stop):
        scene.call("c1")
    with pytest.raises(Stop):
        DemoModel().invoke([HumanMessage("hi")], {"callbacks": [scene.guard]})


def test_nothing_starts_that_could_not_be_recorded(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.propose()
    monkeypatch.setattr(SqliteLedger, "write", _locked)
    with pytest.raises(Stop, match="locked") as stopped:
        scene.call()
    assert "nothing was done" not in str(stopped.value)  # what ran before in the same turn was
    assert scene.ran == []


def _locked(_: SqliteLedger) -> Any:
    raise LedgerUnavailable("database is locked")


def test_an_end_that_could_not_be_recorded_stops_the_run(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.propose()
    scene.guard._told_of = lambda *_: monkeypatch.setattr(SqliteLedger, "write", _locked)
    with pytest.raises(Stop, match="could not be recorded") as stopped:
        scene.call()
    assert "nothing was done" not in str(stopped.value)
    monkeypatch.undo()
    assert scene.action().state is ActionState.EXECUTING


def test_an_end_that_came_after_a_takeover_is_not_recorded(scene: Scene) -> None:
    scene.propose()

    def lose() -> None:
        with scene.ledger.write() as tx:
            (action,) = tx.actions("t-1", states=[ActionState.EXECUTING])
            tx.move(action.key, ActionState.EXECUTING, ActionState.UNKNOWN)

    scene.guard._told_of = lambda tool, what: lose() if what == "started" else None
    with pytest.raises(Stop):
        scene.call()
    assert scene.action().state is ActionState.UNKNOWN


def test_an_attempt_of_its_own_is_what_runs(scene: Scene) -> None:
    scene.propose(state=ActionState.FAILED, result="cut off")
    scene.propose(key=Key("t-1", "m-1", "c1", 2))
    scene.call()
    assert [action.state for action in scene.ledger.actions("t-1")] == [ActionState.FAILED, ActionState.DONE]


def test_a_call_id_used_before_names_the_latest_call(scene: Scene) -> None:
    scene.propose(key=Key("t-1", "m-0", "c1"), state=ActionState.DONE, result="an old result")
    scene.propose()
    assert scene.call().content == "sent to a@x.org"


# In other people's graphs.


def in_tool_node(scene: Scene, *call_ids: str, **node: Any) -> list[ToolMessage]:
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([scene.tool], **node))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    calls = [{"name": "send", "args": {"to": "a@x.org"}, "id": name} for name in call_ids]
    messages: list[AnyMessage] = [HumanMessage("go"), AIMessage("", tool_calls=calls, id="m-1")]
    state = graph.compile().invoke({"messages": messages}, {"callbacks": [scene.guard]})
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def test_an_approved_call_runs_in_langgraphs_own_tool_node(scene: Scene) -> None:
    scene.propose()
    (message,) = in_tool_node(scene, "c1")
    assert (message.status, message.content) == ("success", "sent to a@x.org")


def test_calls_side_by_side_in_langgraphs_own_tool_node_each_run_once(scene: Scene) -> None:
    names = [f"c{number}" for number in range(8)]
    for name in names:
        scene.propose(name)
    in_tool_node(scene, *names)
    assert [scene.action(name).state for name in names] == [ActionState.DONE] * 8
    assert len(scene.ran) == 8


def test_a_refused_call_is_an_error_result_in_langgraphs_own_tool_node(scene: Scene) -> None:
    (message,) = in_tool_node(scene, "c1")
    assert (message.status, message.content) == ("error", tool_messages.BLOCKED)


def test_a_stop_ends_a_run_of_langgraphs_own_tool_node(scene: Scene) -> None:
    scene.propose(state=ActionState.UNKNOWN)
    with pytest.raises(Stop):
        in_tool_node(scene, "c1")


@pytest.mark.parametrize(
    "handling", [True, "something went wrong", (Exception,)], ids=["all", "words", "types"]
)
def test_no_error_handling_of_a_tool_node_swallows_a_stop(scene: Scene, handling: Any) -> None:
    scene.propose(state=ActionState.UNKNOWN)
    with pytest.raises(Stop):
        in_tool_node(scene, "c1", handle_tool_errors=handling)


class InOneMessage(DemoModel):
    """The demo model, whose messages all have the id that the scene's actions name."""

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(*args, **kwargs)
        result.generations[0].message.id = "m-1"
        return result


def ask_agent(scene: Scene, text: str = '/call#c1 send {"to": "a@x.org"}') -> list[Any]:
    agent = create_agent(InOneMessage(), [scene.tool])
    state = agent.invoke({"messages": [HumanMessage(text)]}, {"callbacks": [scene.guard]})
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def test_an_approved_call_runs_in_langchains_agent(scene: Scene) -> None:
    scene.propose()
    (message,) = ask_agent(scene)
    assert (message.status, message.content) == ("success", "sent to a@x.org")
    assert scene.action().state is ActionState.DONE


def test_an_unapproved_call_is_an_error_result_in_langchains_agent(scene: Scene) -> None:
    scene.propose(state=ActionState.PENDING)
    (message,) = ask_agent(scene)
    assert (message.status, message.content) == ("error", tool_messages.BLOCKED)
    assert scene.ran == []


def test_a_stop_ends_a_run_of_langchains_agent(scene: Scene) -> None:
    scene.propose(state=ActionState.EXECUTING)
    with pytest.raises(Stop):
        ask_agent(scene)
    assert scene.ran == []


def test_a_tool_that_asks_is_suspended_and_entered_again_on_purpose(scene: Scene) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    scene.propose()
    scene.asks = True
    agent = create_agent(InOneMessage(), [scene.tool], checkpointer=InMemorySaver())
    config: Any = {"callbacks": [scene.guard], "configurable": {"thread_id": "t-1"}}
    agent.invoke({"messages": [HumanMessage('/call#c1 send {"to": "a@x.org"}')]}, config)
    assert scene.action().state is ActionState.SUSPENDED
    agent.invoke(Command(resume="the first"), config)
    assert (scene.action().state, scene.action().result) == (ActionState.DONE, "answered the first")


@pytest.mark.parametrize(
    "change",
    ["result = 'sent to nobody'", "returned = x'6a756e6b'", "result = 'x', returned = x''"],
    ids=["its text", "what was kept", "both"],
)
def test_a_result_that_was_changed_in_the_ledger_is_not_given_again(scene: Scene, change: str) -> None:
    scene.propose()
    scene.call()
    with scene.ledger._lent() as conn:
        conn.execute(f"UPDATE actions SET {change}")
    with pytest.raises(Stop, match="Close or stop this turn"):
        scene.call(guard=scene.new_guard())
    assert len(scene.ran) == 1
