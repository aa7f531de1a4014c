"""What a lesson runs on: a console with its own record, checkpoints and world, and plain graphs next to it."""

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
    """The result of a step: a sentence or two, and the wires on which something was sent."""

    said: str
    wires: frozenset[str]


class Stage:
    """One learner's stage of one lesson; closing it deletes everything."""

    def __init__(self) -> None:
        self._scratch = Scratch(None, "mail")
        self.turn = threading.RLock()
        """Held while a step is taken."""
        self.outcomes: list[StepOutcome] = []
        """The result of each step that was taken."""
        self.wire: list[Sent] = []
        """What went over the wire between the console and its graph."""
        self.plain: dict[str, PlainThread] = {}
        """Plain graphs, by what they show."""
        self.shown: list[Sent] = []
        """What the steps looked up for the learner."""
        self.refusals: list[str] = []
        """The codes of the console's refusals."""

    @property
    def done(self) -> int:
        """The number of steps taken."""
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

    # What a step calls

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
        """Decide, and keep a refusal instead of raising it."""
        try:
            self.decide(decisions)
        except ReviewError as error:
            self.refusals.append(error.code)
            self.wire.append(
                Sent("The console refuses, before the graph is touched", f"{error.code}: {error}")
            )

    def show(self, what: str, value: Any) -> None:
        """Show the learner something that was looked up."""
        self.shown.append(Sent(what, value if isinstance(value, str) else _json(value)))

    # What pages and checks read

    @property
    def started(self) -> bool:
        """True once the console's thread exists."""
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
        """The conversation, as the model sees it."""
        return self.console.queries.history(LESSON_THREAD)

    def results(self) -> Mapping[str, Message]:
        """Return the tool result of each call, by the call's id."""
        return {str(one.tool_call_id): one for one in self.history if one.type == "tool"}

    def sent_to(self, recipient: str) -> int:
        """Return how many e-mails in the outbox are to this address."""
        return self.world.sent_to(recipient)

    def pictures(self) -> list[tuple[str, Inside]]:
        """Return every graph of the lesson, each with the node that runs next or waits."""
        ours = [(OURS, self.console.queries.inside(LESSON_THREAD))] if self.started else []
        return [*((title, one.inside()) for title, one in self.plain.items()), *ours]

    def _finish(self, run: Run) -> None:
        if not self.console.wait(run, MAX_RUN_SECONDS):
            raise TimeoutError("The lesson's run did not end. Reset the lesson and try again.")
        for interrupt_id, value in self.console.queries.inside(LESSON_THREAD).payloads.items():
            self.wire.append(Sent("The graph asks", _json({interrupt_id: value})))
        view = self.console.queries.view(LESSON_THREAD)
        if not view.reviews and self.history:
            self.wire.append(Sent("The graph has come to its end; the agent says", self.history[-1].content))


def messages(history: list[Message]) -> list[dict[str, Any]]:
    """Return messages in the form in which they are shown."""
    return [shapes.message(one) for one in history]


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except (TypeError, ValueError):
        return dumps(str(value))
