"""Lesson 1: the pause is two requests, and nothing runs between them."""

from __future__ import annotations

from agent.lessons.lesson import CheckFinding, Lesson, LessonStep
from agent.lessons.stage import LESSON_THREAD, Stage
from agent.review.events import EventKind

REQUEST = "Send an e-mail to alice@example.com: The meeting moved to 10."


def ask(stage: Stage, given: str) -> None:
    stage.send(REQUEST)


def restart(stage: Stage, given: str) -> None:
    waited = stage.review.review_id if stage.review else ""
    stage.restart()
    stage.show("The review that waited before", waited)
    stage.show("The review that waits after", stage.review.review_id if stage.review else "")


def approve(stage: Stage, given: str) -> None:
    stage.decide([{"type": "approve"}])


def check(stage: Stage) -> list[CheckFinding]:
    kinds = [event.kind for event in stage.console.trail.events(thread_id=LESSON_THREAD)]
    runs, started = kinds.count(EventKind.RUN_STARTED), EventKind.EXECUTION_STARTED
    decided = kinds.index(EventKind.DECISION_MADE) if EventKind.DECISION_MADE in kinds else None
    reviews = [
        event.review_id
        for event in stage.console.trail.events(thread_id=LESSON_THREAD, kind=EventKind.REVIEW_OPENED)
    ]
    return [
        CheckFinding(runs == 2, "There were two runs: one from your message, one from your decision."),
        CheckFinding(
            decided is not None and started not in kinds[:decided], "Nothing was executed before you decided."
        ),
        CheckFinding(len(reviews) == 1, "The restart did not ask again: there was one review."),
        CheckFinding(stage.sent_to("alice@example.com") == 1, "One e-mail is in the outbox."),
    ]


LESSON = Lesson(
    name="pause",
    title="The pause: two requests, and nothing runs between them",
    text=(
        "An agent that has to ask does not wait as a program does. Its graph ends: `interrupt()` writes a checkpoint "
        "and leaves. Your decision is a second request, and may be made tomorrow."
    ),
    steps=(
        LessonStep("Ask for an e-mail. The agent may not send one unasked, so its graph stops.", "Ask", ask),
        LessonStep(
            "Look at the graph: the highlighted node is where it will go on. No thread of this server is busy with it. To see "
            "that, close the console as if its process had ended, and open it again.",
            "Close it and open it again",
            restart,
        ),
        LessonStep("The same review waits. Approve it: this is the second request.", "Approve", approve),
    ),
    check=check,
    ends="A pause is a checkpoint on disk. It costs nothing, survives a restart, and is answered by a `Command`.",
)
