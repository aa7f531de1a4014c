"""Lesson 4: several actions in one turn, each with its own outcome."""

from __future__ import annotations

from agent.lessons.lesson import CheckFinding, Lesson, LessonStep
from agent.lessons.stage import Stage, messages
from agent.review.actions import ActionState
from agent.review.arguments.args import parse

REQUEST = """\
/call#bob send_email {"to": "bob@example.com", "subject": "Meeting", "body": "At 11."}
/call#eve send_email {"to": "eve@example.com", "subject": "Meeting", "body": "At 11."}
/call#old archive_mail {"message_id": "m-2"}
/call#all wipe_mailbox {}"""
DECISIONS = """[
  {"type": "approve"},
  {"type": "reject", "message": "Eve knows."}
]"""


def ask(stage: Stage, given: str) -> None:
    stage.send(REQUEST)
    stage.show(
        "The policy's tier of each call", {a.key.tool_call_id: f"{a.tool}: {a.tier}" for a in stage.actions}
    )


def decide(stage: Stage, given: str) -> None:
    stage.decide(parse(given))


def look(stage: Stage, given: str) -> None:
    stage.show(
        "What became of each call", {a.key.tool_call_id: f"{a.tool}: {a.state}" for a in stage.actions}
    )
    stage.show("What the model was sent", [one for one in messages(stage.history) if one["type"] == "tool"])


def check(stage: Stage) -> list[CheckFinding]:
    fates = {action.key.tool_call_id: action.state for action in stage.actions}
    to = {"bob": "bob@example.com", "eve": "eve@example.com"}
    ran = {name: int(fates[name] is ActionState.DONE) for name in to}
    results = [one.tool_call_id for one in stage.history if one.type == "tool"]
    return [
        CheckFinding(
            len({fates["bob"], fates["eve"]}) == 2, "The two e-mails you decided on came to different ends."
        ),
        CheckFinding(
            fates["old"] is ActionState.DONE, "The archiving needed no decision, and ran with them."
        ),
        CheckFinding(
            fates["all"] is ActionState.REFUSED,
            "The wiping was refused by the policy; nobody could approve it.",
        ),
        CheckFinding(
            all(stage.sent_to(address) == ran[name] for name, address in to.items()),
            "The outbox holds exactly what ran.",
        ),
        CheckFinding(
            sorted(map(str, results)) == sorted(fates), "Each of the four calls has exactly one result."
        ),
    ]


LESSON = Lesson(
    name="several",
    title="Several actions, several outcomes",
    text=(
        "A model may propose many calls at once. They wait in one review, each gets its own decision, and the decisions "
        "are sent together. Calls that need no decision run whatever becomes of the others."
    ),
    steps=(
        LessonStep(
            "Make the demo model propose exactly four calls in one turn: two e-mails, an archiving, and a wiping of "
            "the whole mailbox.",
            "Ask",
            ask,
        ),
        LessonStep(
            "Only two of them wait. Decide on both, one to run and one not. Try one decision for two actions first: "
            "it is refused, and nothing is lost.",
            "Send the decisions",
            decide,
            asks="One decision per action that waits, in their order, as JSON",
            begin=DECISIONS,
        ),
        LessonStep("See what became of each of the four.", "Look", look),
    ),
    check=check,
    ends="One review, one decision per action, one result per call. Nothing is half decided.",
)
