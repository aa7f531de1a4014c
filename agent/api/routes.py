"""The endpoints: each parses its request, calls the console, and waits in a separate thread pool."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from fastapi import Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import AfterValidator, AwareDatetime

from agent.api import requests, sse
from agent.api import responses as api_responses
from agent.api.errors import documented, misshapen
from agent.api.links import LINKS
from agent.api.middleware import strict_router
from agent.api.wait import off, once_ended, until_stopped
from agent.console import Console
from agent.ports import Sought
from agent.review.actions import ReviewState
from agent.review.errors import InvalidMessage, ThreadBusy
from agent.review.events import EventKind, instant, kept_anchor
from agent.review.people import ANONYMOUS, MAX_NAME, check_name
from agent.review.thread_exports import POLICY, as_html, as_json
from agent.review.threads import THREAD_ID, Run

router = strict_router()


async def console(request: Request) -> Console:
    found: Console = request.app.state.console()
    return found


async def reviewer(
    x_reviewer: Annotated[
        str | None,
        Header(
            description=f"Who decides: recorded, unverified. UTF-8, at most {MAX_NAME} characters, "
            f"none of them hidden; `{ANONYMOUS}` if absent."
        ),
    ] = None,
) -> str:
    """Return who decides, as the caller says; the record calls it unverified."""
    if x_reviewer is None:
        return ANONYMOUS
    try:
        return check_name(_as_utf8(x_reviewer))
    except InvalidMessage as error:
        raise misshapen("value_error", ["header", "X-Reviewer"], str(error)) from None


def _as_utf8(header: str) -> str:
    """Return a header as UTF-8: names are sent as that, but HTTP libraries decode headers as Latin-1."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


def _as_instant(moment: datetime) -> str:
    try:
        return instant(moment)
    except OverflowError:
        raise ValueError("is outside the calendar; use a year from 2 to 9998") from None


At = Annotated[Console, Depends(console)]
By = Annotated[str, Depends(reviewer)]
Prefer = Annotated[
    str | None,
    Header(max_length=200, description="`respond-async`: do not wait, answer 202 with the thread's URL."),
]
Since = Annotated[AwareDatetime, AfterValidator(_as_instant)]
Named = Annotated[str | None, Query(min_length=1, max_length=requests.MAX_NAME)]
ThreadPath = Annotated[str, Path(pattern=f"^{THREAD_ID.pattern}$", max_length=128)]
ThreadQuery = Annotated[str | None, Query(pattern=f"^{THREAD_ID.pattern}$", max_length=128)]

Form = Literal["json", "html"]

_EXPORTED = {"application/json": {"schema": {"type": "object"}}, "text/html": {"schema": {"type": "string"}}}
_POST = documented(403, 413, 415, 422, 503)
_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}


def _starts_a_run(path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a POST that starts a run, which the caller can await, follow as events, or leave."""
    responses: dict[int | str, dict[str, Any]] = {
        200: {
            "content": _STREAM,
            "links": LINKS,
            "description": "The run paused or ended; or its event stream",
        },
        202: {
            "model": api_responses.Accepted,
            "links": LINKS,
            "description": "The run goes on",
            "headers": {"Location": {"schema": {"type": "string"}, "description": "The thread's URL"}},
        },
        **documented(400, 404, 409),
        **_POST,
    }
    return router.post(
        path, response_model=api_responses.Answer, response_model_exclude_unset=True, responses=responses
    )


async def _started(
    request: Request, at: Console, by: str, thread_id: str | None, start: Callable[[], Run | None]
) -> Any:
    """Start a run, then wait, stream or answer at once, as the caller asked."""
    follows = "text/event-stream" in request.headers.get("accept", "").lower()
    before = await off(at.queries.history_length, thread_id) if thread_id and follows else 0
    run = await off(start)
    if run is None:
        return api_responses.RecordResponse(await off(api_responses.answer, at, str(thread_id), to=by))
    if "respond-async" in request.headers.get("prefer", "").lower():
        return _accepted(request, run)
    if follows:
        follower = await off(sse.begin, at, run, by, before)
        return StreamingResponse(
            sse.server_sent(follower),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    return api_responses.RecordResponse(
        await once_ended(at, run, lambda: api_responses.answer(at, run.thread_id, to=by))
    )


def _accepted(request: Request, run: Run) -> Response:
    url = request.scope.get("root_path", "") + str(
        request.app.url_path_for("thread", thread_id=run.thread_id)
    )
    body = {"thread_id": run.thread_id, "status": "running", "url": url}
    headers = {"Location": url, "Preference-Applied": "respond-async"}
    return JSONResponse(body, status_code=202, headers=headers)


@_starts_a_run("/chat")
async def chat(request: Request, body: requests.ChatBody, at: At, by: By, prefer: Prefer = None) -> Any:
    """Send a message and wait until the agent pauses or answers. An unknown or absent thread is started."""

    def send() -> Run:
        return at.send(
            body.message or "",
            by=by,
            thread_id=body.thread_id,
            agent=body.agent,
            model=body.model,
            context=body.context,
            given=body.input,
        )

    return await _started(request, at, by, body.thread_id, send)


@_starts_a_run("/review")
async def review(request: Request, body: requests.DecideBody, at: At, by: By, prefer: Prefer = None) -> Any:
    """Decide a review, one decision per action, and wait until the agent pauses or answers."""

    def decide() -> Run:
        try:
            return at.decide(
                body.thread_id,
                body.given(),
                by=by,
                review_id=body.review_id,
                face="http",
                end_turn=body.end_turn,
            )
        except ThreadBusy as busy:
            busy.by, busy.what, busy.at = _decided(at, body)
            raise

    return await _started(request, at, by, body.thread_id, decide)


def _decided(at: Console, body: requests.ReviewBody) -> tuple[str | None, str | None, str | None]:
    """Return who decided the review in question, what and when, if that decision is what the thread now runs on."""
    last = at.queries.view(body.thread_id).last_review
    if last is None or last.state is not ReviewState.DECIDED or body.review_id not in (None, last.review_id):
        return None, None, None
    return last.ended_by, last.outcome, last.ended_at


@_starts_a_run("/close")
async def close(request: Request, body: requests.CloseBody, at: At, by: By, prefer: Prefer = None) -> Any:
    """End a review without deciding: "not now", never "no". The agent learns that the question is still open."""

    def end() -> Run:
        return at.close(body.thread_id, by=by, review_id=body.review_id, reason=body.reason or "")

    return await _started(request, at, by, body.thread_id, end)


@_starts_a_run("/settle")
async def settle(request: Request, body: requests.SettleBody, at: At, by: By, prefer: Prefer = None) -> Any:
    """Settle the outcome of an action that was cut off. Once all of a thread are settled, its turn goes on."""

    def say() -> Run | None:
        return at.settle(body.thread_id, body.tool_call_id, body.outcome, by=by, result=body.result or "")

    return await _started(request, at, by, body.thread_id, say)


@_starts_a_run("/retry")
async def retry(request: Request, body: requests.ThreadBody, at: At, by: By, prefer: Prefer = None) -> Any:
    """Continue a failed or stopped thread from where it stopped."""
    return await _started(request, at, by, body.thread_id, lambda: at.retry(body.thread_id, by=by))


@_starts_a_run("/ask-again")
async def ask_again(
    request: Request, body: requests.ThreadBody, at: At, by: By, prefer: Prefer = None
) -> Any:
    """Ask again where another client's answer has left the thread stuck, or after a review was closed undecided."""
    return await _started(request, at, by, body.thread_id, lambda: at.ask_again(body.thread_id, by=by))


@router.post(
    "/archive",
    response_model=api_responses.Answer,
    response_model_exclude_unset=True,
    responses=documented(400, 404, 409) | _POST,
)
async def archive(body: requests.ThreadBody, at: At, by: By) -> Any:
    """Delete a thread's checkpoints, so that the agent forgets it. Its messages and its record stay."""
    await off(at.archive, body.thread_id, by=by)
    return await off(api_responses.answer, at, body.thread_id, to=by)


@router.post(
    "/stop",
    response_model=api_responses.Answer,
    response_model_exclude_unset=True,
    responses={200: {"links": LINKS}, **documented(404, 409), **_POST},
)
async def stop(body: requests.ThreadBody, at: At, by: By) -> Any:
    """Stop the thread's run at its next step. An executing tool is not cut off: `running` means not stopped yet."""

    def halt() -> dict[str, Any]:
        at.stop(body.thread_id, by=by)
        until_stopped(at, body.thread_id, time.sleep)
        return api_responses.answer(at, body.thread_id, to=by)

    return await off(halt)


@router.post(
    "/preview",
    response_model=api_responses.PreviewAnswer,
    response_model_exclude_unset=True,
    responses={**documented(400, 409), **_POST},
)
async def preview(body: requests.ReviewBody, at: At, by: By) -> Any:
    """Show what these decisions would do, checked as `/review` checks them. Changes nothing."""
    accepted = await off(
        at.preview, body.thread_id, body.given(), review_id=body.review_id, to=by, face="http"
    )
    return {"actions": [api_responses.previewed(one) for one in accepted]}


@router.get("/reviews", response_model=api_responses.QueueAnswer, responses=documented(422, 503))
def reviews(
    at: At,
    by: By,
    agent: Named = None,
    tool: Named = None,
    thread_id: ThreadQuery = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=600)] = None,
) -> Any:
    """List the reviews that wait, over all threads, oldest first."""
    sought = Sought(agent=agent or "", tool=tool or "", thread_id=thread_id or "")
    found = at.queries.queue(limit=limit + 1, after=_place(cursor) if cursor else None, sought=sought)
    page = found[:limit]
    at.given.give(page, to=by, face="http")
    more = _cursor(page[-1].opened_at, page[-1].review_id) if len(found) > limit else None
    return api_responses.RecordResponse(
        {"reviews": [api_responses.queued(at, one) for one in page], "next_cursor": more}
    )


@router.get(
    "/threads/{thread_id}",
    response_model=api_responses.ThreadAnswer,
    response_model_exclude_unset=True,
    responses=documented(404, 422, 503),
)
def thread(thread_id: ThreadPath, at: At, by: By) -> Any:
    """Return a thread with its messages, its open reviews and every action with its state."""
    return api_responses.RecordResponse(api_responses.thread(at, thread_id, to=by))


@router.get(
    "/threads/{thread_id}/export",
    response_class=Response,
    responses={200: {"content": _EXPORTED}, **documented(404, 422, 503)},
)
def export(thread_id: ThreadPath, at: At, form: Annotated[Form, Query(alias="format")] = "json") -> Response:
    """Export a complete thread as one file for a bug report, secrets masked: JSON, or HTML without scripts."""
    whole = at.queries.whole_thread(thread_id)
    text, kind = (as_html(whole), "text/html") if form == "html" else (as_json(whole), "application/json")
    headers = {
        "Content-Disposition": f'attachment; filename="thread-{thread_id}.{form}"',
        "Content-Security-Policy": f"sandbox; {POLICY}",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(text, media_type=kind, headers=headers)


@router.get(
    "/audit",
    response_model=api_responses.TrailAnswer,
    response_model_exclude_unset=True,
    responses=documented(422, 503),
)
def audit(
    at: At,
    thread_id: ThreadQuery = None,
    kind: EventKind | None = None,
    since: Since | None = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
    cursor: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> Any:
    """List events of the audit trail in order, starting after `cursor`."""
    found = at.trail.events(
        thread_id=thread_id, kind=kind, since=cast("str | None", since), after=cursor, limit=limit + 1
    )
    page = found[:limit]
    after = page[-1].seq if len(found) > limit else None
    return api_responses.RecordResponse(
        {"events": [api_responses.event(one) for one in page], "next_cursor": after}
    )


@router.get("/audit/verify", response_model=api_responses.VerifyAnswer, responses=documented(422, 503))
def verify(
    at: At,
    anchor: Annotated[
        list[str], Query(max_length=100, description="Lines from `/audit/anchor` that were kept elsewhere.")
    ] = [],  # noqa: B006  FastAPI copies it
) -> Any:
    """Check the chain of the complete trail; this finds any edited, removed, inserted or reordered event."""
    try:
        kept = [kept_anchor(line) for line in anchor]
    except ValueError as error:
        raise misshapen("value_error", ["query", "anchor"], str(error)) from None
    return vars(at.trail.verify(kept=kept))


@router.get("/audit/anchor", response_model=api_responses.AnchorAnswer, responses=documented(503))
def anchor(at: At) -> Any:
    """Return the present end of the trail, as a line to keep elsewhere and give to `/audit/verify` later."""
    head = at.trail.head()
    return {"anchor": str(head) if head else None}


@router.get("/agents", response_model=api_responses.AgentsAnswer, responses=documented(503))
def agents(at: At) -> Any:
    """List the agents that are served, and what each takes in besides messages."""
    return {"agents": [api_responses.served(at.queries.agent(name)) for name in at.queries.agents()]}


@router.get("/health", response_model=api_responses.HealthAnswer, responses=documented(503))
def health(at: At) -> Any:
    """Say whether the ledger answers, and how many runs are open."""
    return at.queries.health()


def _cursor(opened_at: str, review_id: str) -> str:
    return base64.urlsafe_b64encode(f"{opened_at} {review_id}".encode()).decode("ascii")


def _place(cursor: str) -> tuple[str, str]:
    try:
        opened_at, _, review_id = (
            base64.urlsafe_b64decode(cursor.encode("ascii")).decode("utf-8").partition(" ")
        )
    except (binascii.Error, UnicodeError):
        raise misshapen(
            "value_error", ["query", "cursor"], "Not a cursor of this list. Start without one."
        ) from None
    return opened_at, review_id
