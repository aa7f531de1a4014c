"""Remembered rules: narrow, expiring, revocable exceptions to `ask`, each made by a person from one action.

A rule allows a call only if it is exactly like the one it was made from: the same tool, each bound argument with the
same canonical value, and no other argument except those that were set free one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Any, Literal, get_args

from agent.review.actions import Action, Key
from agent.review.agents import Agent
from agent.review.arguments.json_paths import path
from agent.review.digest import canonical
from agent.review.errors import RuleRefused
from agent.review.events import Event, instant
from agent.review.policy import Tier

Lasting = Literal["15 minutes", "today", "30 days"]
Scope = Literal["thread", "agent"]
NEAR_MISSES = 5
"""How many past calls that a rule would not allow are shown next to those it would."""


class RuleEnd(StrEnum):
    """Why a rule allows nothing any more. Both are final."""

    REVOKED = "revoked"
    EXPIRED = "expired"


@dataclass(frozen=True)
class Rule:
    """One remembered rule. Its instants are UTC, as `events.instant` writes them."""

    rule_id: str
    agent: str
    tool: str
    bound: dict[str, Any]
    """The arguments that must have exactly these values."""
    free: tuple[str, ...]
    """The arguments that may have any value, or be absent. Every other argument must be absent."""
    thread_id: str | None
    """The one thread it holds on; None means every thread of the agent."""
    schema_hash: str
    """The hash of the tool's arguments when the rule was made; once they have changed, the rule allows nothing."""
    made_from: Key
    made_by: str
    made_at: str
    expires_at: str
    uses: int = 0
    last_used_at: str | None = None
    ended: RuleEnd | None = None
    ended_by: str | None = None
    ended_at: str | None = None


@dataclass(frozen=True)
class CallForRules:
    """What a rule looks at of a call."""

    args: Mapping[str, Any]
    """What would be passed to the tool."""
    altered: bool = False
    """True if the schema dropped or converted part of the proposal: such a call is left to a person."""


class Why(StrEnum):
    """How a call differs from what a rule allows."""

    OTHER_VALUE = "has another value"
    MISSING = "is missing"
    EXTRA = "is neither bound nor free"
    ALTERED = "were changed to fit the tool"
    OTHER_THREAD = "is another one"


@dataclass(frozen=True)
class Difference:
    """One way in which a call is not what a rule allows; `subject` is the argument's name where it is one."""

    subject: str
    why: Why


def make(
    agent: Agent,
    action: Action,
    *,
    rule_id: str,
    free: Sequence[str],
    scope: Scope,
    lasting: Lasting,
    by: str,
    now: datetime,
) -> Rule:
    """Make the rule that allows calls like this action: every argument bound to its value, except the `free` ones.

    `now` is in the person's own time zone, which says when `today` ends. Raises `RuleRefused`.
    """
    if reason := forbidden(agent, action.tool):
        raise RuleRefused(f"{reason} Decide on each call.")
    args = action.args or {}
    _check_choices(agent, action, free, scope)
    return Rule(
        rule_id=rule_id,
        agent=agent.name,
        tool=action.tool,
        bound={name: value for name, value in args.items() if name not in free},
        free=tuple(sorted(set(free))),
        thread_id=action.key.thread_id if scope == "thread" else None,
        schema_hash=agent.schema_hash(action.tool),
        made_from=action.key,
        made_by=by,
        made_at=instant(now),
        expires_at=instant(end_of(lasting, now)),
    )


def end_of(lasting: Lasting, now: datetime) -> datetime:
    """Return when a rule that is made now ends; `today` is in the time zone of `now`. Raises `RuleRefused`."""
    match lasting:
        case "15 minutes":
            return now.astimezone(UTC) + timedelta(minutes=15)
        case "today":
            return datetime.combine(now.date() + timedelta(days=1), time.min, now.tzinfo)
        case "30 days":
            return now.astimezone(UTC) + timedelta(days=30)
    raise RuleRefused(f"A rule cannot last {lasting!r}. Use one of: {', '.join(get_args(Lasting))}.")


def forbidden(agent: Agent, tool: str) -> str:
    """Return why no rule may let this tool run unasked, as a sentence, or ""."""
    entry = agent.policy.tools.get(tool)
    if agent.gates_itself:
        return f"The agent {agent.name} gates itself, so no rule of this console can keep it from asking."
    if entry is None or entry.tier is Tier.DENY or not entry.may_ask:
        return f"The policy does not ask about {tool}."
    if entry.irreversible:
        return f"What {tool} does cannot be undone, so it is always asked about."
    if not entry.remember:
        return f"The policy wants {tool} to be asked about every time."
    if "approve" not in entry.allowed:
        return f"{tool} is not a call to approve: the person's answer is its result."
    return ""


def disabled(rule: Rule, agent: Agent) -> str:
    """Return why a rule that has not ended allows nothing now, as a sentence, or ""."""
    if reason := forbidden(agent, rule.tool):
        return reason
    if agent.schema_hash(rule.tool) != rule.schema_hash:
        return f"The arguments of {rule.tool} are not those the rule was made for."
    if agent.policy.tools[rule.tool].dangerous in rule.free:
        return f"The policy now holds an argument of {rule.tool} dangerous that the rule leaves free."
    return ""


def in_force(rule: Rule, thread_id: str, now: str) -> bool:
    """Return whether the rule holds on this thread at this instant.

    A rule made later than `now` does not hold: the clock was set back, which must not extend the rule.
    """
    return (
        rule.ended is None and rule.made_at <= now < rule.expires_at and rule.thread_id in (None, thread_id)
    )


def differences(rule: Rule, call: CallForRules) -> tuple[Difference, ...]:
    """Return every way in which this call of the rule's tool is not what the rule allows; () if the rule allows it."""
    found = []
    for name, value in rule.bound.items():
        if name not in call.args:
            found.append(Difference(name, Why.MISSING))
        elif canonical(call.args[name]) != canonical(value):
            found.append(Difference(name, Why.OTHER_VALUE))
    for name in call.args:
        if name not in rule.bound and name not in rule.free:
            found.append(Difference(name, Why.EXTRA))
    if call.altered:
        found.append(Difference("the arguments", Why.ALTERED))
    return tuple(found)


def allowing(rules: Iterable[Rule], agent: Agent, tool: str, call: CallForRules) -> Rule | None:
    """Return the first of these rules, all in force on the call's thread, that lets it run unasked, or None."""
    for rule in rules:
        same = rule.agent == agent.name and rule.tool == tool
        if same and not differences(rule, call) and not disabled(rule, agent):
            return rule
    return None


def described(rule: Rule) -> dict[str, Any]:
    """Return the rule as an event records it, so that the event can be understood alone."""
    return {
        "rule_id": rule.rule_id,
        "bound": rule.bound,
        "free": list(rule.free),
        "scope": "agent" if rule.thread_id is None else "thread",
        "made_from": asdict(rule.made_from),
        "made_by": rule.made_by,
        "made_at": rule.made_at,
        "expires_at": rule.expires_at,
    }


@dataclass(frozen=True)
class PastCall:
    """A call that was asked about, and how it differs from what a rule allows."""

    seq: int
    """The `seq` of the event that records its proposal."""
    at: str
    thread_id: str
    tool_call_id: str
    args: Mapping[str, Any]
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Foresight:
    """What a rule would have done in the past."""

    rule: Rule
    looked_at: int
    matches: tuple[PastCall, ...]
    """What it would have let run unasked, newest first."""
    near_misses: tuple[PastCall, ...]
    """What it would not have, closest first; at most `NEAR_MISSES`."""


def foresee(rule: Rule, proposals: Iterable[Event]) -> Foresight:
    """Return what the rule would have allowed among its tool's proposals, newest first, and what it would not."""
    past = [_past(rule, event) for event in proposals if _was_asked(event)]
    missed = [one for one in past if one.differences]
    nearest = sorted(missed, key=lambda one: len(one.differences))[:NEAR_MISSES]
    return Foresight(rule, len(past), tuple(one for one in past if not one.differences), tuple(nearest))


def given(action: Action) -> tuple[str, ...]:
    """Return the arguments that the proposal itself gave, without those that the tool's defaults filled in."""
    # After an edit to another tool, the notes on the proposal do not describe the arguments.
    noted = action.notes.get("defaults", ()) if action.tool == action.proposed_tool else ()
    return tuple(name for name in action.args or {} if path((name,)) not in noted)


def _check_choices(agent: Agent, action: Action, free: Sequence[str], scope: str) -> None:
    tool, args = action.tool, action.args or {}
    if scope not in get_args(Scope):
        raise RuleRefused(f"A rule cannot hold for {scope!r}. Use one of: {', '.join(get_args(Scope))}.")
    if unknown := [name for name in free if name not in args]:
        raise RuleRefused(
            f"The call has no argument {unknown[0]!r} that could be free. Name only arguments that it has."
        )
    if free and not set(given(action)) - set(free):
        raise RuleRefused(_too_free(given(action)))
    if agent.policy.tools[tool].dangerous in free:
        raise RuleRefused(f"The dangerous argument of {tool} cannot be free. Leave it as it is.")


def _too_free(names: Sequence[str]) -> str:
    if not names:
        return (
            "The call gave no argument itself, so a rule with any of them free would allow anything. "
            "Leave each as it is."
        )
    return (
        "A rule that leaves free all that the call itself gave would allow anything; a default that the tool filled in "
        f"says nothing of the call. Leave at least one as it is: {', '.join(names)}."
    )


def _was_asked(event: Event) -> bool:
    data = event.data or {}
    return data.get("tier") == Tier.ASK and isinstance(data.get("args"), dict)


def _past(rule: Rule, event: Event) -> PastCall:
    data = event.data or {}
    found = differences(rule, CallForRules(data["args"], altered(data.get("notes") or {})))
    if rule.thread_id not in (None, event.thread_id):
        found = (Difference("the thread", Why.OTHER_THREAD), *found)
    return PastCall(event.seq, event.at, event.thread_id or "", event.tool_call_id or "", data["args"], found)


def altered(notes: Mapping[str, Any]) -> bool:
    """Return whether the schema dropped or converted part of the proposal, according to an action's notes."""
    return bool(notes.get("dropped") or notes.get("coerced"))
