"""The HTTP API under `/hitl`: all that the pages do, for scripts and other services.

Handlers parse, call the console and wait. A client that goes away stops nothing: the run is the server's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from agent import bootstrap
from agent.console import Console
from agent.review import errors, shapes
from agent.review.actions import Action
from agent.review.events import Event, Kind
from agent.review.threads import MAX_MESSAGE, THREAD_ID, Run

P = ParamSpec("P")
T = TypeVar("T")

WAITERS = 256
"""Requests that may wait for a run at the same time, in a pool of their own: pages never queue behind them."""

STATUS: dict[type[errors.ReviewError], int] = {
    errors.UnknownThread: 404,
    errors.UnknownAgent: 400,
    errors.AgentNotLoaded: 409,
    errors.UnknownModel: 400,
    errors.InvalidMessage: 422,
    errors.ThreadBusy: 409,
    errors.ThreadStuck: 409,
    errors.OutcomeUnknown: 409,
    errors.Halted: 409,
    errors.ReviewPending: 400,
    errors.NoPendingReview: 400,
    errors.ReviewIdNeeded: 400,
    errors.AlreadyDecided: 409,
    errors.ReviewExpired: 409,
    errors.ReviewChanged: 409,
    errors.InvalidDecision: 400,
    errors.NothingToRetry: 409,
    errors.NothingToStop: 409,
    errors.LedgerUnavailable: 503,
}

ThreadId = Annotated[str, Field(pattern=f"^{THREAD_ID.pattern}$", max_length=128)]


class ChatBody(BaseModel):
    message: str = Field(min_length=1, max_length=MAX_MESSAGE)
    thread_id: ThreadId | None = None
    agent: str | None = None
    model: str | None = None


class EditedAction(BaseModel):
    name: str
    args: dict[str, Any]


class DecisionBody(BaseModel):
    """One decision. Fields that do not belong to its type are ignored."""

    model_config = ConfigDict(extra="ignore")

    type: Literal["approve", "edit", "reject", "respond"]
    message: str | None = None
    edited_action: Any = None
    comment: str | None = None
    shown_digest: str | None = None
    edited_digest: str | None = None


class ReviewBody(BaseModel):
    thread_id: ThreadId
    decisions: list[DecisionBody] = Field(min_length=1)
    review_id: str | None = None


def console() -> Console:
    return bootstrap.opened().console


def reviewer(x_reviewer: Annotated[str | None, Header(max_length=80)] = None) -> str:
    """Who decides, as the caller says: recorded as unverified until there is sign-in."""
    return x_reviewer or "api"


At = Annotated[Console, Depends(console)]
By = Annotated[str, Depends(reviewer)]

app = FastAPI(title="Review console", docs_url="/docs", redoc_url=None)
_waiters = CapacityLimiter(WAITERS)


async def _off(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call what may wait, in the waiters' own pool."""
    return await to_thread.run_sync(lambda: function(*args, **kwargs), limiter=_waiters)


@app.exception_handler(errors.ReviewError)
async def _refused(_: Request, error: errors.ReviewError) -> JSONResponse:
    body: dict[str, Any] = {"detail": str(error), "code": error.code}
    if isinstance(error, errors.ReviewChanged) and error.review is not None:
        body["pending_review"] = shapes.pending_review(error.review)
    return JSONResponse(body, status_code=STATUS.get(type(error), 400))


@app.post("/chat")
async def chat(body: ChatBody, at: At, by: By) -> dict[str, Any]:
    """Send a message and wait until the agent pauses or answers. An unknown or absent thread is started."""

    def send_and_wait() -> dict[str, Any]:
        run = at.send(body.message, by=by, thread_id=body.thread_id, agent=body.agent, model=body.model)
        return _ended(at, run)

    return await _off(send_and_wait)


@app.post("/review")
async def review(body: ReviewBody, at: At, by: By) -> dict[str, Any]:
    """Decide a review, one decision per action, and wait until the agent pauses or answers."""
    decisions = [one.model_dump() for one in body.decisions]

    def decide_and_wait() -> dict[str, Any]:
        return _ended(at, at.decide(body.thread_id, decisions, by=by, review_id=body.review_id))

    return await _off(decide_and_wait)


@app.get("/threads/{thread_id}")
def thread(thread_id: str, at: At) -> dict[str, Any]:
    """A thread with its messages, its open reviews and every action with its state."""
    view = at.view(thread_id)
    messages = at.history(thread_id, limit=max(1, at.history_length(thread_id)))
    return {
        **_answer(at, thread_id),
        "agent": view.thread.agent,
        "model": view.thread.model,
        "messages": [shapes.message(message) for message in messages],
        "actions": [_action(action) for action in at.actions(thread_id)],
    }


@app.get("/audit")
def audit(
    at: At,
    thread_id: str | None = None,
    kind: Kind | None = None,
    cursor: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
) -> dict[str, Any]:
    """Events of the audit trail in order, from behind `cursor`."""
    events = at.trail(thread_id=thread_id, kind=kind, after=cursor, limit=limit)
    return {
        "events": [_event(event) for event in events],
        "next_cursor": events[-1].seq if len(events) == limit else None,
    }


@app.get("/health")
def health(at: At) -> dict[str, Any]:
    """Whether the ledger answers, and how many runs are open."""
    return at.health()


def _ended(at: Console, run: Run) -> dict[str, Any]:
    at.wait(run)
    return _answer(at, run.thread_id)


def _answer(at: Console, thread_id: str) -> dict[str, Any]:
    view = at.view(thread_id)
    last = at.history(thread_id, limit=1)
    reviews = [shapes.pending_review(one) for one in view.reviews]
    spoke = bool(last) and last[-1].type == "ai" and not last[-1].tool_calls
    return {
        "thread_id": thread_id,
        "status": str(view.thread.status),
        "answer": last[-1].content if spoke and not reviews else None,
        "pending_review": reviews[0] if reviews else None,
        "pending_reviews": reviews,
    }


def _action(action: Action) -> dict[str, Any]:
    return {
        "message_id": action.key.message_id,
        "tool_call_id": action.key.tool_call_id,
        "attempt": action.key.attempt,
        "name": action.tool,
        "args": action.args,
        "proposed": {"name": action.proposed_tool, "args": action.proposed},
        "tier": action.tier,
        "state": str(action.state),
        "decided_by": action.decided_by,
        "decided_at": action.decided_at,
        "result": action.result,
    }


def _event(event: Event) -> dict[str, Any]:
    fields = {name: value for name, value in vars(event).items() if value is not None}
    return {**fields, "kind": str(event.kind)}
