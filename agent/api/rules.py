"""The endpoints of remembered rules: list them, foresee what one would allow, make it, revoke it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from agent.api import answers, bodies
from agent.api.gate import StrictJson
from agent.api.refusals import documented
from agent.api.routes import At, By, Named

router = APIRouter(route_class=StrictJson)

_MADE = documented(400, 403, 404, 409, 413, 415, 422, 503)
RulePath = Annotated[str, Path(min_length=1, max_length=bodies.MAX_NAME)]


@router.get("/rules", response_model=answers.RulesAnswer, responses=documented(422, 503))
def rules(at: At, agent: Named = None) -> Any:
    """Remembered rules: those that have not ended first, the last made first."""
    return {"rules": [answers.rule(at, one) for one in at.rules(agent)]}


@router.post("/preview-rule", response_model=answers.ForesightAnswer, responses=_MADE)
def preview_rule(body: bodies.RuleBody, at: At, by: By) -> Any:
    """What the rule would have allowed among past calls of its tool, and what not; changes nothing."""
    return answers.foreseen(at.foresee(**_choices(body), by=by))


@router.post("/rules", response_model=answers.RuleAnswer, responses=_MADE)
def remember(body: bodies.RuleBody, at: At, by: By) -> Any:
    """Make a rule from one call: calls exactly like it, but for the free arguments, are not asked about until it ends.

    A call that waits already goes on waiting.
    """
    return answers.rule(at, at.remember(**_choices(body), by=by))


@router.delete(
    "/rules/{rule_id}", response_model=answers.RuleAnswer, responses=documented(403, 404, 409, 415, 422, 503)
)
def revoke(rule_id: RulePath, at: At, by: By) -> Any:
    """End a rule at once. What it approved and has not started is withdrawn."""
    return answers.rule(at, at.revoke(rule_id, by=by))


def _choices(body: bodies.RuleBody) -> dict[str, Any]:
    return body.model_dump()
