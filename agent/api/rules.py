"""The endpoints of remembered rules: list them, preview what one would allow, make it, revoke it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, Field

from agent.api import requests
from agent.api.errors import documented
from agent.api.links import LINKS_OF_A_RULE
from agent.api.middleware import strict_router
from agent.api.routes import At, By, Named
from agent.console import Console
from agent.review.rules import Foresight, Rule, RuleEnd, Scope, Why

router = strict_router()

_MADE = documented(400, 403, 404, 409, 413, 415, 422, 503)
RulePath = Annotated[str, Path(min_length=1, max_length=requests.MAX_NAME)]


class RuleAnswer(BaseModel):
    """A remembered rule: what it lets run unasked, who made it, when it expires, and how often it was used."""

    rule_id: str
    agent: str
    tool: str
    bound: dict[str, Any] = Field(description="Arguments that must have exactly these values.")
    free: list[str] = Field(description="Arguments that may have any value, or be absent.")
    scope: Scope
    thread_id: str | None = Field(description="The thread it applies to; null for every thread of its agent.")
    made_by: str
    made_at: str
    expires_at: str
    uses: int
    last_used_at: str | None
    ended: RuleEnd | None
    ended_by: str | None
    ended_at: str | None
    disabled: str | None = Field(description="Why it allows nothing at present, although it has not ended.")


class RulesAnswer(BaseModel):
    rules: list[RuleAnswer]


class Differing(BaseModel):
    subject: str
    why: Why


class MatchedCall(BaseModel):
    """A call that was asked about, and how it differs from what the rule allows."""

    seq: int
    at: str
    thread_id: str
    tool_call_id: str
    args: dict[str, Any]
    differences: list[Differing]


class ForesightAnswer(BaseModel):
    looked_at: int = Field(description="How many past calls of the tool were compared.")
    expires_at: str
    matches: list[MatchedCall] = Field(description="What the rule would have let run, latest first.")
    near_misses: list[MatchedCall] = Field(description="What it would not have let run, nearest first.")


@router.get("/rules", response_model=RulesAnswer, responses=documented(422, 503))
def rules(at: At, agent: Named = None) -> Any:
    """List remembered rules: those that have not ended first, and the latest first."""
    return {"rules": [_rule(at, one) for one in at.rules.all(agent)]}


@router.post("/preview-rule", response_model=ForesightAnswer, responses=_MADE)
def preview_rule(body: requests.RuleBody, at: At, by: By) -> Any:
    """Show which past calls of its tool the rule would have allowed, and which not. Changes nothing."""
    return _foreseen(at.rules.foresee(**_choices(body), by=by))


@router.post("/rules", response_model=RuleAnswer, responses={200: {"links": LINKS_OF_A_RULE}, **_MADE})
def remember(body: requests.RuleBody, at: At, by: By) -> Any:
    """Make a rule from one call: until it ends, calls like it run unasked, whatever their free arguments.

    A call that waits already goes on waiting.
    """
    return _rule(at, at.rules.make(**_choices(body), by=by))


@router.delete(
    "/rules/{rule_id}", response_model=RuleAnswer, responses=documented(403, 404, 409, 415, 422, 503)
)
def revoke(rule_id: RulePath, at: At, by: By) -> Any:
    """End a rule at once. Calls it approved that have not started are withdrawn."""
    return _rule(at, at.rules.revoke(rule_id, by=by))


def _rule(console: Console, one: Rule) -> dict[str, Any]:
    names = [name for name in RuleAnswer.model_fields if name not in ("scope", "disabled")]
    return {
        **{name: getattr(one, name) for name in names},
        "scope": "agent" if one.thread_id is None else "thread",
        "disabled": (console.rules.disabled(one) or None) if one.ended is None else None,
    }


def _foreseen(found: Foresight) -> dict[str, Any]:
    return {
        "looked_at": found.looked_at,
        "expires_at": found.rule.expires_at,
        "matches": [asdict(one) for one in found.matches],
        "near_misses": [asdict(one) for one in found.near_misses],
    }


def _choices(body: requests.RuleBody) -> dict[str, Any]:
    return body.model_dump()
