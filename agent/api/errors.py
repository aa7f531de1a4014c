"""Map each error to an HTTP status, in one table, and to the body that every refusal has."""

from __future__ import annotations

import json
import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from agent.api.responses import PendingReview
from agent.review import errors, shapes

log = logging.getLogger(__name__)

STATUS: dict[type[errors.ReviewError], int] = {
    errors.UnknownThread: 404,
    errors.OtherThread: 400,
    errors.UnknownAgent: 400,
    errors.AgentNotLoaded: 409,
    errors.UnknownModel: 400,
    errors.ContextNeeded: 400,
    errors.InvalidMessage: 422,
    errors.ThreadBusy: 409,
    errors.ThreadStuck: 409,
    errors.ThreadArchived: 409,
    errors.OutcomeUnknown: 409,
    errors.Halted: 409,
    errors.ReviewPending: 400,
    errors.NoPendingReview: 400,
    errors.ReviewIdNeeded: 400,
    errors.AlreadyDecided: 409,
    errors.ReviewExpired: 409,
    errors.ReviewChanged: 409,
    errors.RecordDamaged: 409,
    errors.InvalidDecision: 400,
    errors.ArgumentsRefused: 400,
    errors.RuleRefused: 400,
    errors.UnknownRule: 404,
    errors.RuleOver: 409,
    errors.InvalidNote: 422,
    errors.InvalidScenario: 400,
    errors.NotIsolated: 400,
    errors.NotReplayable: 409,
    errors.PayloadUnreadable: 400,
    errors.NothingToRetry: 409,
    errors.NothingToStop: 409,
    errors.NothingToSettle: 409,
    errors.NothingToAskAgain: 409,
    errors.StillAlive: 409,
    errors.LedgerUnavailable: 503,
    errors.AnchorsUnavailable: 503,
    errors.ErasureRefused: 400,
    errors.CheckpointLost: 409,
    errors.CheckpointsUnavailable: 503,
}

REMEDY = {
    400: "Fix the request, then send it again.",
    404: "There is nothing under this address. See /hitl/docs for what there is.",
    405: "This address does not take that method. See /hitl/docs for the one it takes.",
}


MAX_MISFITS = 100
"""The most parts of a request that one answer names as wrong; nobody reads more."""


class Refusal(BaseModel):
    """Why nothing was done: one or more sentences, the last of them a remedy."""

    detail: str
    code: str = Field(description="The kind of refusal, such as `AlreadyDecided`.")
    by: str | None = Field(None, description="Who acted first, if somebody did.")
    what: str | None = Field(None, description="What they decided.")
    at: str | None = Field(None, description="When, in UTC.")
    pending_review: PendingReview | None = Field(
        None,
        description="For ReviewChanged: what waits now. Decisions that name its id or send its digests are accepted.",
    )


class Misfit(BaseModel):
    """One part of a request that is not of the documented shape."""

    type: str
    loc: list[str | int]
    msg: str


class Misshapen(BaseModel):
    """The parts of a request that are not of the documented shape."""

    detail: list[Misfit]
    code: str


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the refusals of an endpoint, for the OpenAPI document."""
    words = {
        400: "A rule refuses it",
        403: "From another origin",
        404: "No such thread",
        409: "Not possible in the thread's present state; with who, what and when if somebody acted first",
        413: "The body is too large",
        415: "The body is not JSON",
        422: "Not of the documented shape",
        503: "The record cannot be written or read",
    }
    return {
        status: {"model": Misshapen if status == 422 else Refusal, "description": words[status]}
        for status in statuses
    }


class AsciiJson(JSONResponse):
    """JSON in ASCII, which can repeat a lone surrogate from a request; UTF-8 cannot."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode("ascii")


def refused(status: int, detail: Any, code: str, **more: Any) -> JSONResponse:
    return AsciiJson({"detail": detail, "code": code, **more}, status_code=status)


def misshapen(kind: str, loc: list[str | int], msg: str) -> RequestValidationError:
    """Return the error to raise for a request that is not of the documented shape."""
    return RequestValidationError([{"type": kind, "loc": loc, "msg": msg}])


def register(app: FastAPI) -> None:
    """Answer every refusal and every failure in JSON, with a remedy."""
    app.add_exception_handler(errors.ReviewError, _by_rule)
    app.add_exception_handler(RequestValidationError, _by_shape)
    app.add_exception_handler(HTTPException, _by_address)
    app.add_exception_handler(Exception, _broken)


async def _by_rule(request: Request, error: Exception) -> JSONResponse:
    status = STATUS.get(type(error), 400)  # type: ignore[arg-type]  # registered for this type
    if status == 422:
        return refused(422, [{"type": "value_error", "loc": ["body"], "msg": str(error)}], _code(error))
    more: dict[str, Any] = {}
    match error:
        case errors.AlreadyDecided() | errors.ThreadBusy(by=str()):
            more = {"by": error.by, "what": error.what, "at": error.at}
        case errors.ReviewChanged() | errors.RecordDamaged() if error.review is not None:
            more = {
                "pending_review": shapes.pending_review(
                    error.review, request.app.state.console().queries.denial
                )
            }
    return refused(status, str(error), _code(error), **more)


async def _by_shape(_: Request, error: Exception) -> JSONResponse:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    # The answer does not repeat what was sent: it may be megabytes.
    faults = [
        {"type": one["type"], "loc": list(one["loc"]), "msg": one["msg"]} for one in found[:MAX_MISFITS]
    ]
    return refused(422, faults, "InvalidRequest")


async def _by_address(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for this type
    remedy = REMEDY.get(error.status_code, "See /hitl/docs.")
    answer = refused(error.status_code, f"{error.detail}. {remedy}", f"Http{error.status_code}")
    answer.headers.update(error.headers or {})
    return answer


async def _broken(_: Request, error: Exception) -> JSONResponse:
    log.error("a request failed", exc_info=error)
    detail = "The console failed on this request, and its log says why. What was recorded is kept; look at the thread before you send it again."
    return refused(500, detail, "InternalError")


def _code(error: Exception) -> str:
    return type(error).__name__
