"""What a run delivers to its agent: one dataclass for each kind, and how the ledger keeps them.

Each can be delivered twice with the effect of once, so a run whose process died is simply delivered again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter
from pydantic.dataclasses import dataclass as parsed

from agent.review.errors import RecordDamaged


@parsed(frozen=True)
class ToolResult:
    """A tool call's result, known without running it."""

    tool_call_id: str
    tool: str
    status: str
    text: str


@parsed(frozen=True)
class Send:
    """A person's message. Calls a broken turn left open are answered with `results` first."""

    message_id: str
    text: str
    results: tuple[ToolResult, ...] = ()
    input: dict[str, Any] | None = None
    """What the agent takes in besides the message, or in its place."""
    says: bool = True
    """Whether the text is said to the agent. Else it only tells people what the input was."""
    kind: Literal["send"] = "send"


@parsed(frozen=True)
class Resume:
    """The decisions on a review, in the wire format."""

    review_id: str
    decisions: tuple[dict[str, Any], ...]
    kind: Literal["resume"] = "resume"


@parsed(frozen=True)
class AnswerCalls:
    """Results for the open calls of a turn. With `closing` the turn ends in those words; else it goes on."""

    results: tuple[ToolResult, ...]
    closing: str | None = None
    closing_id: str = ""
    """The id of the closing message, so that it is said once."""
    ask_again: tuple[str, ...] = ()
    """Tool call ids that are asked about once more, each as the next attempt."""
    rest: str | None = None
    """The result of every open call that has none in `results`; without it those calls still run."""
    kind: Literal["mend"] = "mend"


@parsed(frozen=True)
class Continue:
    """Nothing new: go on from the last checkpoint."""

    kind: Literal["continue"] = "continue"


@parsed(frozen=True)
class AskAgain:
    """Ask once more, from the checkpoint of the pause, where a malformed answer left the thread stuck."""

    kind: Literal["ask_again"] = "ask_again"


@parsed(frozen=True)
class Repeated:
    """A call that is proposed once more as it was, under an id of its own."""

    tool_call_id: str
    tool: str
    args: dict[str, Any]


@parsed(frozen=True)
class Repeat:
    """Calls that were closed without a decision, proposed again at a person's request; no model is called."""

    message_id: str
    text: str
    """The person's message."""
    proposal_id: str
    """The id of the message that proposes them, so that it is added once."""
    calls: tuple[Repeated, ...]
    kind: Literal["repeat"] = "repeat"


@parsed(frozen=True)
class CatchUp:
    """Read the state in which another client left the thread. Nothing is run."""

    kind: Literal["catch_up"] = "catch_up"


@dataclass(frozen=True)
class UnreadableDelivery:
    """What the ledger holds of this delivery is not what a console wrote. Such a run fails."""

    kind: Literal["unreadable"] = "unreadable"


AnyDelivery = Send | Resume | AnswerCalls | Continue | AskAgain | Repeat | CatchUp
_STORED: TypeAdapter[AnyDelivery] = TypeAdapter(Annotated[AnyDelivery, Field(discriminator="kind")])


def as_json(delivery: AnyDelivery | UnreadableDelivery) -> dict[str, Any]:
    """Return the delivery as a JSON object, as the ledger keeps it."""
    if isinstance(delivery, UnreadableDelivery):
        raise ValueError("a delivery that could not be read is not written again")
    return dict(_STORED.dump_python(delivery, mode="json"))


def from_json(text: str) -> AnyDelivery | UnreadableDelivery:
    """Return the delivery that is written there, or `UnreadableDelivery` where none is."""
    try:
        return _STORED.validate_python(json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return UnreadableDelivery()


def readable(delivery: AnyDelivery | UnreadableDelivery, thread_id: str) -> AnyDelivery:
    """Return the delivery. Raises `RecordDamaged` if it could not be read."""
    if isinstance(delivery, UnreadableDelivery):
        about = f"The record of the last run of thread {thread_id}"
        raise RecordDamaged(about, "Send the thread a message instead.")
    return delivery
