"""Lesson 3: a reject, and why the call is answered rather than removed."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from agent.demos.model import DemoModel
from agent.lessons.lesson import CheckFinding, Lesson, LessonStep
from agent.lessons.stage import Stage, messages
from agent.review.actions import ActionState
from agent.review.threads import Message

REQUEST = "Send an e-mail to alice@example.com: The meeting moved to 10."
ANSWERED, REMOVED = "Answered: the model then says", "Removed: the model then says"


def ask(stage: Stage, given: str) -> None:
    stage.send(REQUEST)


def reject(stage: Stage, given: str) -> None:
    stage.decide([{"type": "reject", "message": given}])
    stage.show("The history now: what the model sees", messages(stage.history))


def model_on(stage: Stage, history: list[Message]) -> AIMessage:
    model = DemoModel().bind_tools(list(stage.console.queries.agent("mail").tools))
    return model.invoke([as_langchain(message) for message in history])


def compare(stage: Stage, given: str) -> None:
    human, proposal, result = stage.history[:3]
    stage.show(ANSWERED, _said(model_on(stage, [human, proposal, result])))
    stage.show(REMOVED, _said(model_on(stage, [human])))


def as_langchain(message: Message) -> BaseMessage:
    calls = [{"name": one.name, "args": one.args, "id": one.id} for one in message.tool_calls]
    match message.type:
        case "human":
            return HumanMessage(message.content, id=message.id)
        case "tool":
            return ToolMessage(message.content, tool_call_id=message.tool_call_id, status=message.status)
        case _:
            return AIMessage(message.content, id=message.id, tool_calls=calls)


def _said(reply: AIMessage) -> str:
    return repr({"content": reply.content, "tool_calls": reply.tool_calls})


def check(stage: Stage) -> list[CheckFinding]:
    (action,) = stage.actions
    result = stage.results().get(action.key.tool_call_id)
    reason = (action.decision or {}).get("message") or ""
    said = {one.what: one.value for one in stage.shown}
    return [
        CheckFinding(
            action.state is ActionState.REJECTED and action.started_at is None, "The call never started."
        ),
        CheckFinding(stage.world.outbox() == (), "The outbox is empty."),
        CheckFinding(
            result is not None and result.status == "error",
            "The call has a result all the same, and its status is error.",
        ),
        CheckFinding(
            bool(reason) and result is not None and reason in result.content, "The result holds your reason."
        ),
        CheckFinding(
            "'name': 'send_email'" in said[REMOVED] and "'tool_calls': []" in said[ANSWERED],
            "With the call removed the model proposed it once more; with the answer it did not.",
        ),
    ]


LESSON = Lesson(
    name="reject",
    title="Reject: why the call is answered rather than removed",
    text=(
        "A rejected call does not run. It would be easy to remove it from the history, as if it had never been "
        "proposed. Here you see what the model does in that case."
    ),
    steps=(
        LessonStep("Ask for an e-mail.", "Ask", ask),
        LessonStep(
            "Reject it. The model gets to read what you write.",
            "Reject it",
            reject,
            asks="Reason",
            begin="Alice is on leave. Ask Bob instead.",
        ),
        LessonStep(
            "Give the same model both histories: the one with the answered call, and one from which the call was "
            "removed.",
            "Ask the model twice",
            compare,
            shows=(model_on,),
        ),
    ),
    check=check,
    ends=(
        "Every call gets a result, whatever became of it: a rejected one gets an error that says who refused and why. "
        "A model that finds no trace of its call sees an open request, and makes the call again."
    ),
)
