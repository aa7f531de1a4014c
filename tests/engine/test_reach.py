"""Every tool an agent can reach is known beforehand, with the graph that calls it."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from agent.demos.model import DemoModel
from agent.engine.reach import tools_by_place


@tool
def send(to: str) -> str:
    """Send."""
    return to


@tool
def look(text: str) -> str:
    """Look."""
    return text


helper = create_agent(DemoModel(), [send, look], name="helper")


@tool
def task(description: str) -> str:
    """Give work to a helper."""
    return str(helper.invoke({"messages": [HumanMessage(description)]}))


def named(graph: Any) -> dict[str, list[str]]:
    return {place: sorted(tools) for place, tools in tools_by_place(graph).items()}


def one_node(node: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("n", node)
    graph.add_edge(START, "n")
    graph.add_edge("n", END)
    return graph.compile()


def test_the_tools_of_a_tool_node_are_called_in_its_graph() -> None:
    assert named(one_node(ToolNode([send, look]))) == {"": ["look", "send"]}


def test_the_tools_of_a_graph_inside_are_called_there() -> None:
    assert named(one_node(helper))["n"] == ["look", "send"]


def test_the_tools_of_a_graph_that_a_tool_calls_are_known_by_the_node_of_that_tool() -> None:
    boss = create_agent(DemoModel(), [task])
    assert named(boss)[""] == ["task"]
    assert named(boss)["tools"] == ["look", "send"]


def test_a_tool_that_a_node_calls_by_hand_is_found_in_its_code() -> None:
    def by_hand(state: MessagesState) -> dict[str, Any]:
        return {"messages": [send.invoke({"to": "a"})]}

    assert named(one_node(by_hand)) == {"": ["send"]}


def test_a_tool_that_an_object_keeps_is_found() -> None:
    class Desk:
        def __init__(self) -> None:
            self.hands = {"left": [look]}

        def work(self, state: MessagesState) -> dict[str, Any]:
            return {"messages": [tool.invoke({"text": "a"}) for tool in self.hands["left"]]}

    assert named(one_node(Desk().work)) == {"": ["look"]}


def test_two_tools_of_one_name_are_two_tools() -> None:
    @tool("send")
    def other(to: str, cc: str = "") -> str:
        """Send."""
        return cc

    (found,) = [tools["send"] for tools in tools_by_place(one_node(ToolNode([send]))).values()]
    assert found == [send]
    graph = StateGraph(MessagesState)
    graph.add_node("first", ToolNode([send]))
    graph.add_node("second", ToolNode([other]))
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    assert [one is send or one is other for one in tools_by_place(graph.compile())[""]["send"]] == [
        True,
        True,
    ]


def test_what_refers_to_itself_comes_to_an_end() -> None:
    circle: dict[str, Any] = {"send": send}
    circle["self"] = circle

    def node(state: MessagesState) -> dict[str, Any]:
        return circle

    assert named(one_node(node)) == {"": ["send"]}
