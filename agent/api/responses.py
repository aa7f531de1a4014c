"""What the API answers: every documented shape, and how it is built from the console's records."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.responses import Response

from agent.console import Console
from agent.review import shapes
from agent.review.actions import MOVES, Action, ActionState, Waiting
from agent.review.agents import Agent
from agent.review.decisions import AcceptedDecision
from agent.review.events import Event, EventKind
from agent.review.given import Face
from agent.review.text.secrets import masked
from agent.review.threads import Message, Status


class RecordResponse(Response):
    """JSON built from the console's own records, sent without validation: it has the documented shape already."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return to_json(content, inf_nan_mode="null")


DecisionType = Literal["approve", "edit", "reject", "respond"]


RECEIVED = "What the tool's function receives, where that differs from `args`."


class OfferedAnswer(BaseModel):
    label: str
    value: Any = Field(description="What to send as the decision's `value`.")


class ActionRequest(BaseModel):
    name: str
    args: dict[str, Any] | None = Field(
        description="As the agent proposed them; an edit writes its arguments in the same form."
    )
    received: dict[str, Any] | None = Field(default=None, description=RECEIVED)
    description: str
    tool_call_id: str
    shown_digest: str
    choices: list[OfferedAnswer] | None = Field(
        None, description="The answers that a question offers. Absent where it offers none."
    )
    denied: str | None = Field(
        None, description="Why it cannot be approved: the policy denies it by now. Absent if it can."
    )


class ReviewConfig(BaseModel):
    action_name: str
    allowed_decisions: list[DecisionType]


class PendingReview(BaseModel):
    """A pause: the actions that wait for one decision each, in the order of the agent's calls."""

    review_id: str
    action_requests: list[ActionRequest]
    review_configs: list[ReviewConfig]


class Answer(BaseModel):
    """The state of a thread after a run."""

    thread_id: str
    status: Status
    answer: str | None = Field(description="The agent's closing words, once it has answered.")
    pending_review: PendingReview | None = Field(description="The oldest of `pending_reviews`.")
    pending_reviews: list[PendingReview]
    error: str | None = Field(None, description="Why the run failed or stopped; absent if it did not.")


class Accepted(BaseModel):
    """The run was started and goes on; follow it under `url`."""

    thread_id: str
    status: Status
    url: str


class ToolCallAnswer(BaseModel):
    id: str
    name: str
    args: Any


class MessageAnswer(BaseModel):
    id: str
    type: Literal["human", "ai", "tool", "system"]
    content: str
    tool_calls: list[ToolCallAnswer] = []
    tool_call_id: str | None = None
    status: str | None = None
    at: str


class ProposedCall(BaseModel):
    name: str
    args: Any


class ActionAnswer(BaseModel):
    message_id: str
    tool_call_id: str
    attempt: int
    name: str
    args: dict[str, Any] | None
    proposed: ProposedCall
    tier: str
    state: ActionState
    summary: str
    review_id: str | None
    rule_id: str | None = Field(description="The remembered rule that approved it instead of a person.")
    decided_by: str | None
    decided_at: str | None
    started_at: str | None
    ended_at: str | None
    result: str | None


class ThreadAnswer(Answer):
    agent: str
    model: str
    messages: list[MessageAnswer]
    actions: list[ActionAnswer]
    output: dict[str, Any] | None = Field(
        None, description="What an external agent's state gives back besides messages. Absent if nothing."
    )


class WouldRun(BaseModel):
    name: str
    args: dict[str, Any] | None
    received: dict[str, Any] | None = Field(default=None, description=RECEIVED)


class PreviewedAction(BaseModel):
    tool_call_id: str
    type: DecisionType
    would_run: WouldRun | None = Field(description="The call that would run, or null if none would.")
    summary: str
    shown_digest: str = Field(
        description="The digest of this card; for an edit, the value for `edited_digest`."
    )
    told: str | None = Field(
        description="What the agent would get as the result; null if the tool itself would answer."
    )
    sends: Any = Field(
        None, description="Exactly what a question would be answered with. Absent for anything else."
    )


class PreviewAnswer(BaseModel):
    actions: list[PreviewedAction]


class QueuedReview(BaseModel):
    review_id: str
    thread_id: str
    agent: str
    opened_at: str
    expires_at: str | None
    pending_review: PendingReview


class QueueAnswer(BaseModel):
    reviews: list[QueuedReview]
    next_cursor: str | None = Field(description="Send it as `cursor` for the next page; null at the end.")


class EventAnswer(BaseModel):
    """One line of the audit trail. Fields that do not apply are absent."""

    seq: int
    at: str
    kind: EventKind
    thread_id: str | None = None
    agent: str | None = None
    by: str | None = None
    review_id: str | None = None
    tool_call_id: str | None = None
    tool: str | None = None
    digest: str | None = None
    data: dict[str, Any] | None = Field(None, description="With secrets masked. Absent if it was erased.")
    masked: bool = Field(False, description="True if something in `data` is masked; else absent.")
    salt: str | None = Field(None, description="Absent if something in `data` is masked.")
    commitment: str
    hash: str


class TrailAnswer(BaseModel):
    events: list[EventAnswer]
    next_cursor: int | None = Field(description="Send it as `cursor` for the next page; null at the end.")


class VerifyAnswer(BaseModel):
    ok: bool
    count: int
    head: str = Field(description="The last event's hash.")
    first_fault: str | None
    masked: int = Field(
        description="How many events had their data erased; the chain still covers the rest of each."
    )
    unkeyed: int = Field(description="How many events, at the start, are from before the chain had a key.")


class AnchorAnswer(BaseModel):
    anchor: str | None = Field(
        description="Count, hash and time of the last event; null if there are no events."
    )


class ServedAgent(BaseModel):
    name: str
    title: str
    takes_messages: bool
    input: dict[str, Any] | None = Field(
        description="The JSON Schema of what it takes in besides messages; null if that is nothing."
    )


class AgentsAnswer(BaseModel):
    agents: list[ServedAgent]


class HealthAnswer(BaseModel):
    status: str
    ledger: str
    runs: int


def served(agent: Agent) -> dict[str, Any]:
    schema = agent.needs.further_schema
    return {
        "name": agent.name,
        "title": agent.title,
        "takes_messages": agent.needs.converses,
        "input": None if schema is None else dict(schema),
    }


def answer(console: Console, thread_id: str, *, to: str, face: Face = "http") -> dict[str, Any]:
    """Return the thread's state, and note its reviews as given to this reviewer. Raises `UnknownThread`."""
    view = console.queries.view(thread_id)
    console.given.give(view.reviews, to=to, face=face)
    last = console.queries.history(thread_id, limit=1)
    reviews = [shapes.pending_review(one, console.queries.denial) for one in view.reviews]
    spoke = view.thread.status is Status.IDLE and bool(last) and last[-1].type == "ai"
    found = {
        "thread_id": thread_id,
        "status": view.thread.status,
        "answer": last[-1].content if spoke else None,
        "pending_review": reviews[0] if reviews else None,
        "pending_reviews": reviews,
    }
    return found if view.thread.error is None else {**found, "error": view.thread.error}


def thread(console: Console, thread_id: str, *, to: str) -> dict[str, Any]:
    """Return the thread with all its messages and actions, and note its reviews as given. Raises `UnknownThread`.

    Secrets are masked in messages and in actions that have ended; what can still be decided is exact.
    """
    about = console.queries.view(thread_id).thread
    messages = console.queries.history(thread_id, limit=max(1, console.queries.history_length(thread_id)))
    state = answer(console, thread_id, to=to)
    return {
        **state,
        **{name: masked(state[name]) for name in ("answer", "error") if name in state},
        "agent": about.agent,
        "model": about.model,
        "messages": [_message(message) for message in messages],
        "actions": [_action(action) for action in console.queries.actions(thread_id)],
        **({"output": output} if (output := console.queries.output(thread_id)) else {}),
    }


def previewed(accepted: AcceptedDecision) -> dict[str, Any]:
    runs, after = accepted.after.state is ActionState.APPROVED, accepted.after
    written = after.enters if accepted.type == "edit" else after.proposed
    would_run = {"name": after.tool, **shapes.arguments(written, after.args)}
    return {
        "tool_call_id": accepted.after.key.tool_call_id,
        "type": accepted.type,
        "would_run": would_run if runs else None,
        "summary": accepted.after.summary,
        "shown_digest": accepted.after.shown_digest,
        "told": accepted.told,
        **({"sends": accepted.answer.value} if accepted.answer is not None else {}),
    }


def queued(console: Console, review: Waiting) -> dict[str, Any]:
    return {
        "review_id": review.review_id,
        "thread_id": review.thread_id,
        "agent": review.agent,
        "opened_at": review.opened_at,
        "expires_at": review.expires_at,
        "pending_review": shapes.pending_review(review, console.queries.denial),
    }


def event(one: Event) -> dict[str, Any]:
    """Return an event with secrets masked; without its salt if any are, since a short secret could be guessed by it."""
    found = {name: value for name, value in vars(one).items() if value is not None}
    shown = masked(one.data)
    if shown == one.data:
        return found
    found.pop("salt", None)
    return {**found, "data": shown, "masked": True}


def _message(message: Message) -> dict[str, Any]:
    found = shapes.message(message)
    calls = [{**call, "args": masked(call["args"])} for call in found.get("tool_calls", ())]
    return {**found, "content": masked(found["content"]), **({"tool_calls": calls} if calls else {})}


def _action(action: Action) -> dict[str, Any]:
    found = _exact(action)
    if action.state in MOVES:  # it may still be decided on, or run
        return found
    proposed = {**found["proposed"], "args": masked(action.proposed)}
    return {
        **found,
        "proposed": proposed,
        **{name: masked(found[name]) for name in ("args", "summary", "result")},
    }


def _exact(action: Action) -> dict[str, Any]:
    names = ("args", "tier", "state", "summary", "review_id", "rule_id", "decided_by", "decided_at")
    return {
        "message_id": action.key.message_id,
        "tool_call_id": action.key.tool_call_id,
        "attempt": action.key.attempt,
        "name": action.tool,
        "proposed": {"name": action.proposed_tool, "args": action.proposed},
        **{name: getattr(action, name) for name in names},
        "started_at": action.started_at,
        "ended_at": action.ended_at,
        "result": action.result,
    }
