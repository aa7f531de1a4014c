"""Lesson 6: a malformed answer that leaves a stock thread stuck for good, but not ours, and its repair."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from agent.demos.model import DemoModel
from agent.lessons.lesson import CheckFinding, Lesson, LessonStep
from agent.lessons.plain import PlainThread
from agent.lessons.stage import Stage
from agent.review.actions import ActionState
from agent.review.arguments.args import parse

STOCK = "A stock agent: create_agent with HumanInTheLoopMiddleware"
TO_STOCK, TO_OURS = "stock@example.com", "ours@example.com"
MALFORMED = '{"decision": "approve"}'
RIGHT = {"decisions": [{"type": "approve"}]}


def call(to: str) -> str:
    return f'/call send_email {{"to": "{to}", "subject": "Meeting", "body": "At 11."}}'


def stock_agent(tool: Any) -> Any:
    from langchain.agents import create_agent  # imported only here: it is large
    from langchain.agents.middleware import HumanInTheLoopMiddleware

    return create_agent(
        DemoModel(),
        [tool],
        middleware=[HumanInTheLoopMiddleware({tool.name: True})],
        checkpointer=InMemorySaver(),
    )


def ask(stage: Stage, given: str) -> None:
    tool = stage.console.queries.agent("mail").tools_by_name["send_email"]
    stage.plain[STOCK] = PlainThread(stock_agent(tool))
    stage.plain[STOCK].invoke({"messages": [HumanMessage(call(TO_STOCK))]})
    stage.send(call(TO_OURS))


def malformed(stage: Stage, given: str) -> None:
    answer = parse(given)
    stage.plain[STOCK].invoke(Command(resume={stage.plain[STOCK].waits_for: answer}))
    stage.try_to_decide(answer.get("decisions", answer) if isinstance(answer, dict) else answer)


def right(stage: Stage, given: str) -> None:
    stock = stage.plain[STOCK]
    stock.invoke(Command(resume={stock.waits_for: RIGHT}))
    stock.invoke(Command(resume=RIGHT))
    stage.try_to_decide(RIGHT["decisions"])


def repair(stage: Stage, given: str) -> None:
    stock = stage.plain[STOCK]
    stuck_at = stock.waits_for
    stock.invoke(None, at=stock.snapshot.config)
    stage.show("The question before, and asked again", f"{stuck_at}\n{stock.waits_for}")
    stock.invoke(Command(resume={stock.waits_for: RIGHT}))


def check(stage: Stage) -> list[CheckFinding]:
    raised = [bool(one) for one in stage.plain[STOCK].raised]
    stock, ours = stage.sent_to(TO_STOCK), stage.sent_to(TO_OURS)
    return [
        CheckFinding(raised[1:2] == [True], "The stock agent failed on the malformed answer."),
        CheckFinding(
            raised[2:4] == [True, True],
            "It failed on the right answer too, twice, because the malformed one was saved.",
        ),
        CheckFinding(
            stage.refusals == ["InvalidDecision"]
            and [one.state for one in stage.actions] == [ActionState.DONE],
            "The console refused the malformed answer, and then accepted the right one.",
        ),
        CheckFinding(ours == 1, f"The console's e-mail is in the outbox {ours} time{'s' * (ours != 1)}."),
        CheckFinding(
            raised[4:] == [False, False],
            "Asked again from the pause's own checkpoint, it accepted the answer.",
        ),
        CheckFinding(
            stock == 1,
            f"The stock agent's e-mail is in the outbox {stock} time{'s' * (stock != 1)}, only since the repair.",
        ),
    ]


LESSON = Lesson(
    name="stuck",
    title="The malformed answer that leaves a thread stuck for good, and its repair",
    text=(
        "LangGraph saves an answer before the node that asked has looked at it. If the node fails on it, every later "
        "try begins with the saved answer. Both agents below get the same request and the same answers; the "
        "first is LangChain's own, and runs here."
    ),
    steps=(
        LessonStep("Ask both for an e-mail. Both stop and ask.", "Ask both", ask, shows=(stock_agent,)),
        LessonStep(
            "Give both the same malformed answer. It is meant well; only its shape is wrong.",
            "Answer both",
            malformed,
            asks="The answer, as JSON",
            begin=MALFORMED,
        ),
        LessonStep(
            "Now the right answer to both: to the stock agent with its interrupt's id, and once more without the id.",
            "Answer both correctly",
            right,
        ),
        LessonStep(
            "Repair the stock agent's thread: run it from the pause's own checkpoint. LangGraph forks, and asks under "
            "a new id. This is what *Ask again* does in this console, for external agents too.",
            "Ask again, and answer",
            repair,
        ),
    ),
    check=check,
    ends=(
        "Check an answer before the engine gets it. If that was not done, the pause's own checkpoint is still there: fork "
        "from it."
    ),
)
