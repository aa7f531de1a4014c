"""A scenario: a conversation with an agent, decided as written, and what has to come of it.

It is written by hand or made from a thread. Everything here is plain data; `running` plays it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agent.review.replies import RecordedReply
from agent.review.threads import Status
from agent.scenarios.matching import Expected

Decided = Literal["approve", "edit", "reject", "respond"]
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def span(text: str) -> timedelta:
    """`90s`, `15m`, `24h` or `30d` as a time. The caller has checked that it is one."""
    return timedelta(**{UNITS[text[-1]]: int(text[:-1])})


class StrictModel(BaseModel):
    """What is misspelt is refused, never left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Awaited(StrictModel):
    """A call that is to wait for a decision."""

    tool: str
    args: dict[str, Expected] | None = Field(
        default=None, description="All arguments, as they would be handed to the tool; absent: any."
    )
    allowed: list[Decided] | None = Field(
        default=None, description="The decisions that are allowed; absent: any."
    )


class Decision(StrictModel):
    """A decision in the wire format of LangChain's human-in-the-loop middleware."""

    # What is malformed on purpose goes through as it is: that it is refused may be the very point.
    model_config = ConfigDict(extra="allow", frozen=True)

    type: str = Field(description="`approve`, `edit`, `reject` or `respond`.")
    edited_action: dict[str, Any] | None = Field(
        default=None, description="For an edit: `name` and all `args`."
    )
    message: str | None = Field(
        default=None, description="The reason of a reject, or the answer of a respond."
    )


class ScenarioStep(StrictModel):
    """What is expected to wait, if anything, and the one thing that is done then."""

    review: list[Awaited] | None = Field(default=None, description="The actions that wait, in order.")
    decisions: list[Decision] | None = Field(default=None, description="One per action that waits, in order.")
    refused: str | None = Field(
        default=None, description="The code of the error these decisions end in, such as InvalidDecision."
    )
    close: str | None = Field(default=None, description="Close the review without deciding, for this reason.")
    wait: Annotated[str, Field(pattern=r"^\d{1,6}[smhd]$")] | None = Field(
        default=None, description="Let this much time pass with nobody there, such as 25h."
    )
    message: str | None = Field(default=None, description="Send the agent a further message.")
    by: str = Field(default="reviewer", description="Who does it.")

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        given = [
            name for name in ("decisions", "close", "wait", "message") if getattr(self, name) is not None
        ]
        if len(given) != 1:
            raise ValueError("a step does exactly one of: decisions, close, wait, message")
        if self.refused is not None and self.decisions is None:
            raise ValueError("only decisions can be refused")
        return self


class Execution(StrictModel):
    """A call that is to have run."""

    tool: str
    args: dict[str, Expected] | None = Field(
        default=None, description="All arguments it ran with; absent: any."
    )
    ended: Literal["done", "failed", "unknown", "suspended"] | None = None
    result: Expected | None = Field(default=None, description="What the tool gave back; absent: anything.")


class ExpectedResult(StrictModel):
    """What the model is to have been told of a call."""

    tool: str
    status: Literal["success", "error"] | None = None
    text: Expected | None = None


class Never(StrictModel):
    """Calls that must not run, whatever is decided. What is not named may be anything.

    A review may lack such a call, as it may be refused by now. One that is asked about unexpectedly is rejected, and one
    that still waits at the end has not run.
    """

    tool: str | None = Field(default=None, description="Absent: any tool.")
    args: dict[str, Expected] = {}


class ExpectedEnd(StrictModel):
    """What has to have come of it at the end. What is absent is not looked at, but for the status."""

    status: Status = Status.IDLE
    review: list[Awaited] | None = Field(default=None, description="The actions that still wait, in order.")
    answer: Expected | None = Field(default=None, description="The agent's closing words.")
    executions: list[Execution] | None = Field(
        default=None, description="Everything that ran, in order; what must never run is not counted."
    )
    results: list[ExpectedResult] | None = Field(
        default=None, description="Everything the model was told, in order."
    )
    world: list[str] | None = Field(
        default=None, description="Every change of the demo world, in order, such as `mail_sent outbox/1`."
    )
    never: list[Never] = []


def _replayable(replies: list[RecordedReply]) -> list[RecordedReply]:
    for reply in replies:
        if not reply.text and not reply.calls:
            raise ValueError("a reply has text or calls")
    return replies


class Scenario(StrictModel):
    """A regression test of an agent under review, replayed on a world and a record of its own."""

    scenario: str = Field(min_length=1, description="What it shows, as a sentence.")
    agent: str
    model: Literal["demo", "recorded"] = Field(
        default="demo",
        description="`demo` understands plain requests and /call lines; `recorded` gives `replies`.",
    )
    message: str = Field(min_length=1, description="The message that opens the thread.")
    replies: Annotated[list[RecordedReply], AfterValidator(_replayable)] = Field(
        default=[], description="The recorded model's replies, in order."
    )
    steps: list[ScenarioStep] = []
    expect: ExpectedEnd = ExpectedEnd()

    @model_validator(mode="after")
    def _recorded_with_replies(self) -> Self:
        if (self.model == "recorded") != bool(self.replies):
            raise ValueError("the recorded model needs replies, and only that one has any")
        return self


def json_schema() -> dict[str, Any]:
    """The schema of a scenario's file, by which editors complete and check it."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Scenario.model_json_schema()}
