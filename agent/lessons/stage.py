"""What a lesson plays on: a console with a record, checkpoints and a world of its own, and plain graphs beside it."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.console import Console
from agent.demos.world import World
from agent.lessons.plain import PlainThread, Sent
from agent.ports import Inside
from agent.review import shapes
from agent.review.actions import Action, Review
from agent.review.arguments.args import dumps
from agent.review.deliveries import Resume
from agent.review.errors import ReviewError, UnknownThread
from agent.review.threads import Message, Run
from agent.sandbox import Scratch

ME = "you"
OURS = "The console's agent"
LESSON_THREAD = "lesson"
MAX_RUN_SECONDS = 30.0


@dataclass(frozen=True)
class StepOutcome:
    """What came of a step: a sentence or two, and on which wires something went over."""

    said: str
    wires: frozenset[str]


class Stage:
    """One learner's stage of one lesson. Nothing of it is left when it is closed."""

    def __init__(self) -> None:
        self._scratch = Scratch(None, "mail")
        self.turn = threading.RLock()
        """Held by whoever takes a step."""
        self.outcomes: list[StepOutcome] = []
        """What came of each step that was taken."""
        self.wire: list[Sent] = []
        """What went over the wire between the console and its graph."""
        self.plain: dict[str, PlainThread] = {}
        """Plain graphs, by what they show."""
        self.shown: list[Sent] = []
        """What a step looked up, to be looked at."""
        self.refusals: list[str] = []
        """The codes of what the console refused."""

    @property
    def done(self) -> int:
        """How many steps were taken."""
        return len(self.outcomes)

    @property
    def console(self) -> Console:
        return self._scratch.opened.console

    @property
    def world(self) -> World:
        return self._scratch.opened.world

    def close(self) -> None:
        self._scratch.close()

    def restart(self) -> None:
        """Close the console, as at the end of its process, and open it again."""
        self._scratch.reopen()

    # What a lesson does

    def send(self, text: str) -> None:
        """Send the agent a message and wait until it pauses or answers."""
        self.wire.append(Sent("To the graph", f'invoke({{"messages": [HumanMessage({text!r})]}})'))
        self._finish(self.console.send(text, by=ME, thread_id=LESSON_THREAD, agent="mail"))

    def decide(self, decisions: Any) -> None:
        """Decide the review that waits, and wait until the agent pauses or answers."""
        review = self.review
        pause = self.console.queries.inside(LESSON_THREAD).pauses.get(review.review_id) if review else None
        run = self.console.decide(
            LESSON_THREAD, decisions, by=ME, review_id=review.review_id if review else None
        )
        if isinstance(run.delivery, Resume):  # what the graph is resumed with
            answer = shapes.answer(pause or shapes.Pause("batched"), run.delivery.decisions)
            resumed = {run.delivery.review_id: answer}
            self.wire.append(Sent("To the graph", f"Command(resume={_json(resumed)})"))
        self._finish(run)

    def try_to_decide(self, decisions: Any) -> None:
        """Decide, and keep the refusal if there is one."""
        try:
            self.decide(decisions)
        except ReviewError as error:
            self.refusals.append(error.code)
            self.wire.append(
                Sent("The console refuses, before the graph is touched", f"{error.code}: {error}")
            )

    def show(self, what: str, value: Any) -> None:
        """Put something that was looked up before the learner."""
        self.shown.append(Sent(what, value if isinstance(value, str) else _json(value)))

    # What there is to look at

    @property
    def started(self) -> bool:
        """Whether the console's thread has begun."""
        try:
            self.console.queries.view(LESSON_THREAD)
        except UnknownThread:
            return False
        return True

    @property
    def review(self) -> Review | None:
        """The review that waits."""
        reviews = self.console.queries.view(LESSON_THREAD).reviews if self.started else ()
        return reviews[0] if reviews else None

    @property
    def actions(self) -> list[Action]:
        return self.console.queries.actions(LESSON_THREAD)

    @property
    def history(self) -> list[Message]:
        """The conversation as the model sees it."""
        return self.console.queries.history(LESSON_THREAD)

    def results(self) -> Mapping[str, Message]:
        """What the model was told of each call, by its id."""
        return {str(one.tool_call_id): one for one in self.history if one.type == "tool"}

    def sent_to(self, recipient: str) -> int:
        """How many e-mails stand in the outbox to this address."""
        return self.world.sent_to(recipient)

    def pictures(self) -> list[tuple[str, Inside]]:
        """Every graph of the lesson, each with the node that runs next or waits."""
        ours = [(OURS, self.console.queries.inside(LESSON_THREAD))] if self.started else []
        return [*((title, one.inside()) for title, one in self.plain.items()), *ours]

    def _finish(self, run: Run) -> None:
        if not self.console.wait(run, MAX_RUN_SECONDS):
            raise TimeoutError("The lesson's run did not come to its end. Reset the lesson and try again.")
        for interrupt_id, value in self.console.queries.inside(LESSON_THREAD).payloads.items():
            self.wire.append(Sent("The graph asks", _json({interrupt_id: value})))
        view = self.console.queries.view(LESSON_THREAD)
        if not view.reviews and self.history:
            self.wire.append(Sent("The graph has come to its end; the agent says", self.history[-1].content))


def messages(history: list[Message]) -> list[dict[str, Any]]:
    """Messages as they are shown."""
    return [shapes.message(one) for one in history]


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except (TypeError, ValueError):
        return dumps(str(value))
