"""The format of a scenario: a conversation with an agent, the decisions, and the expected results.

A scenario is written by hand or recorded from a thread. Everything here is plain data; `running` runs it.
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
    """Parse `90s`, `15m`, `24h` or `30d` as a time. The caller has checked the format."""
    return timedelta(**{UNITS[text[-1]]: int(text[:-1])})


class StrictModel(BaseModel):
    """A frozen model that refuses unknown fields, so that a misspelt one is never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Awaited(StrictModel):
    """A call that is expected to wait for a decision."""

    tool: str
    args: dict[str, Expected] | None = Field(
        default=None, description="All arguments, as the tool would receive them; absent: any."
    )
    allowed: list[Decided] | None = Field(
        default=None, description="The decisions that are allowed; absent: any."
    )


class Decision(StrictModel):
    """A decision in the wire format of LangChain's human-in-the-loop middleware."""

    # A decision may be malformed on purpose, because the scenario expects it to be refused.
    model_config = ConfigDict(extra="allow", frozen=True)

    type: str = Field(description="`approve`, `edit`, `reject` or `respond`.")
    edited_action: dict[str, Any] | None = Field(
        default=None, description="For an edit: `name` and all `args`."
    )
    message: str | None = Field(
        default=None, description="The reason of a reject, or the answer of a respond."
    )


class ScenarioStep(StrictModel):
    """The actions that are expected to wait, if any, and the one thing to do then."""

    review: list[Awaited] | None = Field(default=None, description="The actions that wait, in order.")
    decisions: list[Decision] | None = Field(default=None, description="One per action that waits, in order.")
    refused: str | None = Field(
        default=None,
        description="The code of the error expected for these decisions, such as InvalidDecision.",
    )
    close: str | None = Field(default=None, description="Close the review without deciding, for this reason.")
    wait: Annotated[str, Field(pattern=r"^\d{1,6}[smhd]$")] | None = Field(
        default=None, description="Let this much time pass without a decision, such as 25h."
    )
    message: str | None = Field(default=None, description="Send the agent another message.")
    by: str = Field(default="reviewer", description="Who acts.")

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
    """A call that is expected to have run."""

    tool: str
    args: dict[str, Expected] | None = Field(
        default=None, description="All arguments it ran with; absent: any."
    )
    ended: Literal["done", "failed", "unknown", "suspended"] | None = None
    result: Expected | None = Field(default=None, description="What the tool returned; absent: anything.")


class ExpectedResult(StrictModel):
    """The result of a call that the model is expected to have been sent."""

    tool: str
    status: Literal["success", "error"] | None = None
    text: Expected | None = None


class Never(StrictModel):
    """Calls that must not run, whatever is decided. A tool or argument that is not named may be anything.

    A review may lack such a call, since the policy may refuse it by now. If it is asked about unexpectedly, it is
    rejected; if it still waits at the end, it has not run.
    """

    tool: str | None = Field(default=None, description="Absent: any tool.")
    args: dict[str, Expected] = {}


class ExpectedEnd(StrictModel):
    """The results expected at the end. Absent fields are not checked, except the status."""

    status: Status = Status.IDLE
    review: list[Awaited] | None = Field(default=None, description="The actions that still wait, in order.")
    answer: Expected | None = Field(default=None, description="The agent's closing words.")
    executions: list[Execution] | None = Field(
        default=None, description="All calls that ran, in order, except those that must never run."
    )
    results: list[ExpectedResult] | None = Field(
        default=None, description="All results the model was sent, in order."
    )
    world: list[str] | None = Field(
        default=None, description="Every change of the demo world, in order, such as `mail_sent outbox/1`."
    )
    never: list[Never] = []


def _replayable(replies: list[RecordedReply]) -> list[RecordedReply]:
    for reply in replies:
        if not reply.text and not reply.calls:
            raise ValueError("a reply needs text or calls")
    return replies


class Scenario(StrictModel):
    """A regression test of an agent under review, replayed with its own world and record."""

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
            raise ValueError("the recorded model needs replies, and only that model has any")
        return self


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a scenario's file, with which editors complete and check it."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Scenario.model_json_schema()}
