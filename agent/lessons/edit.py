"""Lesson 2: an edit, and what the history and the model get to see after it."""

from __future__ import annotations

from agent.lessons.lesson import CheckFinding, Lesson, LessonStep
from agent.lessons.stage import Stage, messages
from agent.review.arguments.args import parse

REQUEST = "Send an e-mail to alice@example.com: The meeting moved to 10."
EDITED = '{"to": "bob@example.com", "subject": "Meeting", "body": "It is at 11."}'


def ask(stage: Stage, given: str) -> None:
    stage.send(REQUEST)
    stage.show("What the model proposed", messages(stage.history)[-1])


def edit(stage: Stage, given: str) -> None:
    stage.decide([{"type": "edit", "edited_action": {"name": "send_email", "args": parse(given)}}])


def look(stage: Stage, given: str) -> None:
    (action,) = stage.actions
    stage.show("The history now: what the model sees", messages(stage.history)[1:3])
    stage.show("The record: what was proposed", action.proposed)
    stage.show("The record: what ran", action.args)


def check(stage: Stage) -> list[CheckFinding]:
    (action,) = stage.actions
    proposal = next(one for one in stage.history if one.tool_calls)
    (call,) = proposal.tool_calls
    told = stage.results()[call.id].content
    (sent,) = stage.world.outbox() or (None,)
    ran = {"to": sent.recipient, "subject": sent.subject, "body": sent.body} if sent else None
    return [
        CheckFinding(action.args != action.proposed, "What ran is not what the model proposed."),
        CheckFinding(ran == action.args, "The e-mail in the outbox is the one you wrote."),
        CheckFinding(call.args == action.args, "The history has your call in place of the model's."),
        CheckFinding(
            proposal.id == action.key.message_id and call.id == action.key.tool_call_id,
            "It has the same message id and the same call id.",
        ),
        CheckFinding(
            sent is not None and sent.recipient in told, "The model's tool result says what was really done."
        ),
    ]


LESSON = Lesson(
    name="edit",
    title="Edit: what the history says, and what the model sees",
    text=(
        "An edit runs other arguments than the model's. The history then has to say what ran; otherwise the model "
        "believes that its own call went through, and goes on from there."
    ),
    steps=(
        LessonStep("Ask for an e-mail.", "Ask", ask),
        LessonStep(
            "Write all arguments as they should be, not only those that change. Try some that do not fit, too: "
            "an edit is checked before anything is touched.",
            "Approve and run the edited call",
            edit,
            asks="All arguments of send_email, as JSON",
            begin=EDITED,
        ),
        LessonStep("Compare the three places that show this call now.", "Look", look),
    ),
    check=check,
    ends=(
        "An edit replaces the call in the history under the same ids. The model's proposal stays in the record, where "
        "people can see it, but not in the history, where the model would."
    ),
)
