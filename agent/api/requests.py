"""What a caller may send. Any other shape is answered with 422 before anything is looked up."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.review.rules import Lasting, Scope
from agent.review.threads import MAX_MESSAGE, THREAD_ID

MAX_NAME = 128
"""Characters of an agent's, a model's, a tool's or a reviewer's name, and of an id."""
MAX_DIGEST = 128
MAX_DECISIONS = 10_000
"""The most decisions on one review: a body could hold a million invalid ones, and each would be reported."""

ThreadId = Annotated[str, Field(pattern=f"^{THREAD_ID.pattern}$", max_length=128)]
# A bound on its length also makes pydantic refuse half of a surrogate pair, which no answer could repeat.
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Words = Annotated[str, Field(max_length=MAX_MESSAGE)]


class Body(BaseModel):
    """A frozen object that ignores unknown fields, so that an older console accepts a newer caller."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ChatBody(Body):
    message: Annotated[str, Field(min_length=1, max_length=MAX_MESSAGE)] | None = Field(
        None,
        description="What the agent should do. Needed, except where an external agent gets `input` alone.",
        examples=["Send an e-mail to alice@example.com: The meeting moved to 10."],
    )
    thread_id: ThreadId | None = Field(None, description="The conversation; an unknown id starts a new one.")
    input: dict[str, Any] | None = Field(
        None,
        description="What an external agent takes in besides the message, or in its place: see `/agents`.",
    )
    agent: Name | None = Field(None, description="The agent of a new thread; the first one served if absent.")
    model: Name | None = Field(None, description="The model of a new thread; the default if absent.")
    context: dict[str, Any] | None = Field(
        None, description="Values of an external agent's context, for a new thread."
    )


class EditedAction(Body):
    """The call to run instead, with all its arguments, not only the changed ones."""

    name: Annotated[str, Field(max_length=MAX_NAME)]
    args: dict[str, Any]


class AnyDecision(Body):
    """What a decision of any type may carry besides its own fields."""

    comment: Words | None = Field(None, description="For the record only.")
    shown_digest: Annotated[str, Field(max_length=MAX_DIGEST)] | None = Field(
        None,
        description="The digest of what was on screen; if something else waits by now, the answer is 409.",
    )


class Approve(AnyDecision):
    """Run it as shown."""

    type: Literal["approve"]


class Edit(AnyDecision):
    """Run this instead."""

    type: Literal["edit"]
    edited_action: EditedAction | None = None
    edited_digest: Annotated[str, Field(max_length=MAX_DIGEST)] | None = Field(
        None, description="The digest that the preview gave for the edited call."
    )


class Reject(AnyDecision):
    """Do not run it."""

    type: Literal["reject"]
    message: Words | None = Field(None, description="The reason, which is sent to the agent.")


class Respond(AnyDecision):
    """Answer in the tool's place."""

    type: Literal["respond"]
    message: Words | None = Field(
        None, description="What the agent gets as the tool's result. To a question, it is sent as text."
    )
    value: Any = Field(
        None, description="To a question, in place of `message`: any JSON, sent as exactly this value."
    )


Decision = Annotated[Approve | Edit | Reject | Respond, Field(discriminator="type")]


class ThreadBody(Body):
    thread_id: ThreadId


class ReviewBody(ThreadBody):
    decisions: list[Decision] = Field(
        min_length=1,
        max_length=MAX_DECISIONS,
        description="One per action, in the order of `action_requests`.",
    )
    review_id: Name | None = Field(None, description="Which review; needed if several wait.")

    def given(self) -> list[dict[str, Any]]:
        """Return the decisions with only the fields that were sent, as the rules read them."""
        return [one.model_dump(exclude_unset=True) for one in self.decisions]


class DecideBody(ReviewBody):
    end_turn: bool = Field(
        False,
        description="Only with every action rejected: end the turn here, without calling the model again.",
    )


class CloseBody(ThreadBody):
    review_id: Name | None = None
    reason: Words | None = Field(None, description="For the record.")


class SettleBody(ThreadBody):
    tool_call_id: Name
    outcome: Literal["happened", "failed", "ask_again"] = Field(
        description="It took effect; it failed; or it did not happen, and a reviewer should be asked again."
    )
    result: Words | None = Field(None, description="What the agent gets as the tool's result.")


class RuleBody(ThreadBody):
    """A rule to make from one call: calls like it then run unasked."""

    tool_call_id: Name
    free: list[Annotated[str, Field(max_length=MAX_NAME)]] = Field(
        [],
        description="Arguments that may have any value; all others must be exactly as in this call. The others must include at least one that the call itself gave, not a default that was filled in.",
    )
    scope: Scope = Field("thread", description="This thread alone, or every thread of its agent.")
    lasting: Lasting = Field("15 minutes", description="How long; `today` ends at midnight, UTC.")
    shown_digest: Annotated[str, Field(max_length=MAX_DIGEST)] | None = Field(
        None,
        description="The digest of the call that was on screen; if the call is another by now, the answer is 409.",
    )
