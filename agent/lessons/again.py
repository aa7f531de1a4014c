"""Lesson 5: a resumed node runs again from its first line, so whatever precedes its question happens twice."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from agent.demos.world import Ref, World
from agent.lessons.lesson import CheckFinding, Lesson, LessonStep
from agent.lessons.plain import PlainThread
from agent.lessons.stage import Stage

TWICE, ONCE = "Notified in the node that asks", "Notified in a node of its own"
TO_TWICE, TO_ONCE, TO_OURS = "twice@example.com", "once@example.com", "ours@example.com"
TEXT = "Somebody has to look at this."

Notify = Callable[[str], object]


class State(TypedDict):
    text: str
    answer: str


def in_one_node(notify: Notify) -> Any:
    def ask(state: State) -> dict[str, Any]:
        notify(state["text"])
        return {"answer": interrupt({"question": state["text"]})}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return graph.compile(checkpointer=InMemorySaver())


def in_two_nodes(notify: Notify) -> Any:
    def tell(state: State) -> None:
        notify(state["text"])

    def ask(state: State) -> dict[str, Any]:
        return {"answer": interrupt({"question": state["text"]})}

    graph = StateGraph(State)
    graph.add_node("tell", tell)
    graph.add_node("ask", ask)
    graph.add_edge(START, "tell")
    graph.add_edge("tell", "ask")
    graph.add_edge("ask", END)
    return graph.compile(checkpointer=InMemorySaver())


def notification(world: World, to: str, text: str) -> None:
    world.send(to, "Please look", text, Ref("lesson", ""))


def start_one(stage: Stage, given: str) -> None:
    stage.plain[TWICE] = PlainThread(in_one_node(partial(notification, stage.world, TO_TWICE)))
    stage.plain[TWICE].invoke({"text": given})


def resume_one(stage: Stage, given: str) -> None:
    thread = stage.plain[TWICE]
    thread.invoke(Command(resume={thread.waits_for: "Seen."}))


def two(stage: Stage, given: str) -> None:
    stage.plain[ONCE] = thread = PlainThread(in_two_nodes(partial(notification, stage.world, TO_ONCE)))
    thread.invoke({"text": TEXT})
    thread.invoke(Command(resume={thread.waits_for: "Seen."}))


def ours(stage: Stage, given: str) -> None:
    stage.send(f'/call send_email {{"to": "{TO_OURS}", "subject": "Please look", "body": "{TEXT}"}}')
    stage.decide([{"type": "approve"}])


def check(stage: Stage) -> list[CheckFinding]:
    twice, once, own = (stage.sent_to(to) for to in (TO_TWICE, TO_ONCE, TO_OURS))
    answered = [thread.snapshot.values.get("answer") for thread in stage.plain.values()]
    return [
        CheckFinding(answered == ["Seen.", "Seen."], "Both plain graphs got their one answer."),
        CheckFinding(twice == 2, f"The first one notified {twice} times: its node ran again from its top."),
        CheckFinding(
            once == 1,
            f"The second one notified {once} time: its node had ended before the question.",
        ),
        CheckFinding(
            own == 1, f"The console's agent sent {own}: it acts only after the question, and through a guard."
        ),
    ]


LESSON = Lesson(
    name="again",
    title="The node runs again: a notification sent twice, then once",
    text=(
        "`interrupt()` leaves its node by an exception. A resume does not go on after it: the node runs again from its "
        "first line, and this time `interrupt()` returns your answer. The code below is plain LangGraph, and runs here."
    ),
    steps=(
        LessonStep(
            "Run a graph whose one node notifies somebody and then asks.",
            "Start it",
            start_one,
            asks="What it says",
            begin=TEXT,
            shows=(in_one_node,),
        ),
        LessonStep(
            "One e-mail is in the outbox. Give the answer the node waits for.", "Resume it", resume_one
        ),
        LessonStep(
            "Two e-mails, for one question. Now the same with the notification in a node of its own.",
            "Start and resume the second",
            two,
            shows=(in_two_nodes,),
        ),
        LessonStep(
            "Last, the console's own agent: the node that asks does nothing else.",
            "Ask and approve",
            ours,
        ),
    ),
    check=check,
    ends="Before an `interrupt()`, only read. Code with an effect belongs after the answer, or in a node of its own.",
)
