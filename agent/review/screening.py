"""Screen a model's proposed calls before anything runs: parse, validate, judge and summarize them.

The result is fixed when the calls are proposed: a later change of the policy does not change it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, cast

from agent.review import rules, tool_messages
from agent.review.actions import Action, ActionState, Key
from agent.review.agents import Agent
from agent.review.arguments.args import dumps, parse
from agent.review.arguments.fitting import Received
from agent.review.bounds import MAX_REFUSED, bounded, of_refused
from agent.review.digest import canonical
from agent.review.errors import ArgumentsRefused
from agent.review.policy import Policy, Tier, seconds
from agent.review.preconditions import noted
from agent.review.repeats import REJECTED_BEFORE, is_loop, same_call
from agent.review.rules import Rule

Fate = Literal["ask", "run", "answered"]
FATES: Mapping[Tier, Fate] = {Tier.AUTO: "run", Tier.LOG: "run", Tier.ASK: "ask"}
"""What each tier of a verdict leads to; any other tier is a refusal."""
STATES: Mapping[Fate, ActionState] = {
    "ask": ActionState.PENDING,
    "run": ActionState.APPROVED,
    "answered": ActionState.REFUSED,
}
"""The state in which the action of a call begins."""


@dataclass(frozen=True)
class Proposal:
    """One call as the model wrote it. `args` is an object, or raw text that has still to be parsed."""

    id: str
    tool: str
    args: Any
    fault: str = ""
    """Why the arguments are refused, if they were cut before they got here."""


@dataclass(frozen=True)
class ScreenedCall:
    """One screened call, as the agent's state keeps it."""

    message_id: str
    tool_call_id: str
    tool: str
    proposed: Any
    args: dict[str, Any] | None
    tier: str
    why: str
    allowed: list[str]
    summary: str
    policy_version: str
    approve_by: float | None
    execute_by: float | None
    fate: Fate
    """`ask` waits for a decision, `run` runs, `answered` has a result already."""
    refusal: str = ""
    """What the model was sent, if the call was refused."""
    attempt: int = 1
    notes: dict[str, Any] = field(default_factory=dict)
    rule_id: str | None = None
    """The remembered rule by which it runs without asking."""
    entered: dict[str, Any] | None = None
    """What is passed to the tool, in the form the model writes; None if that is `args` itself."""
    place: str = ""
    """The task that runs it or asked about it, as LangGraph's checkpoint namespace; "" for a built-in agent."""

    @property
    def enters(self) -> dict[str, Any] | None:
        """What is passed to the tool, in the form the model writes."""
        return self.args if self.entered is None else self.entered

    def key(self, thread_id: str) -> Key:
        """Return the key of the action this call becomes on a thread."""
        return Key(thread_id, self.message_id, self.tool_call_id, self.attempt)

    def to_state(self) -> dict[str, Any]:
        return dict(vars(self))

    def as_action(self, thread_id: str, agent: str, position: int) -> Action:
        """Return the action this call becomes on a thread, without digests; `position` is its place in the turn."""
        return Action(
            key=self.key(thread_id),
            agent=agent,
            tool=self.tool,
            args=self.args,
            entered=self.entered,
            place=self.place,
            proposed_tool=self.tool,
            proposed=self.proposed,
            tier=self.tier,
            why=self.why,
            summary=self.summary,
            allowed=tuple(self.allowed),
            policy_version=self.policy_version,
            state=STATES[self.fate],
            position=position,
            notes=self.notes,
            approve_by=self.approve_by,
            rule_id=self.rule_id,
        )

    @classmethod
    def from_state(cls, kept: Mapping[str, Any]) -> ScreenedCall:
        return cls(**kept)


def screen(
    agent: Agent,
    message_id: str,
    proposals: Sequence[Proposal],
    *,
    rejected: Mapping[str, int] = MappingProxyType({}),
    remembered: Sequence[Rule] = (),
) -> list[ScreenedCall]:
    """Judge each proposal. A malformed turn, in which ids repeat or text cannot be parsed, is refused as a whole.

    `rejected` says how often this turn's calls were rejected before, by `same_call`. A call that is among them is
    marked; after too many rejections the whole turn is refused. `remembered` are the rules in force on this thread:
    what one of them allows is not asked about.
    """
    fault, read = _read(proposals)
    if fault:
        names = unique_ids([proposal.id for proposal in proposals])
        return [
            _refused(
                agent,
                message_id,
                replace(proposal, id=name),
                "malformed",
                tool_messages.malformed_turn(fault),
            )
            for name, proposal in zip(names, proposals, strict=True)
        ]
    calls = [_marked(_judge(agent, message_id, proposal), rejected) for proposal in read]
    looping = next((call for call in calls if is_loop(call.notes)), None)
    if looping:
        return [_in_a_loop(call, looping) for call in calls]
    return [_remember(agent, call, remembered) for call in calls]


def _marked(call: ScreenedCall, rejected: Mapping[str, int]) -> ScreenedCall:
    times = rejected.get(same_call(call.tool, call.args), 0) if call.fate == "ask" else 0
    return replace(call, notes={**call.notes, REJECTED_BEFORE: times}) if times else call


def _in_a_loop(call: ScreenedCall, looping: ScreenedCall) -> ScreenedCall:
    """Return the call as refused, whatever its verdict was: the turn ends."""
    told_so = tool_messages.repeated(looping.tool, looping.notes[REJECTED_BEFORE])
    why = "The agent kept proposing what was rejected."
    return replace(call, fate="answered", allowed=[], why=why, refusal=told_so)


def unique_ids(ids: Sequence[str]) -> list[str]:
    """Return the same ids, in order, with missing and repeated ones made unique by a suffix."""
    taken = {name for name in ids if name}
    seen: set[str] = set()
    free: dict[str, int] = {}  # the first suffix of each name that is not known to be used
    result = []
    for place, name in enumerate(ids, start=1):
        candidate = name or f"call_{place}"
        base, suffix = candidate, free.get(candidate, 2)
        while candidate in seen or (candidate != name and candidate in taken):
            candidate, suffix = f"{base}#{suffix}", suffix + 1
        free[base] = suffix
        seen.add(candidate)
        result.append(candidate)
    return result


def _read(proposals: Sequence[Proposal]) -> tuple[str, list[Proposal]]:
    """Return the first thing that makes the turn malformed, or "", and the proposals with their arguments parsed.

    Text that is JSON but not within the limits stays text: that refuses one call, not the turn.
    """
    if any(not proposal.id for proposal in proposals):
        return "a call has no id", []
    repeated = [name for name, times in Counter(p.id for p in proposals).items() if times > 1]
    if repeated:
        return f"the id {repeated[0]!r} belongs to more than one call", []
    read = []
    for proposal in proposals:
        args = proposal.args
        if isinstance(args, str) and not proposal.fault and not is_object(args):
            return f"{proposal.tool}: the arguments are not one JSON object", []
        read.append(replace(proposal, args=_within_limits(args)))
    return "", read


def is_object(text: str) -> bool:
    """Return whether the text is one JSON object, whatever its size."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _within_limits(args: Any) -> Any:
    try:
        return parse(args) if isinstance(args, str) else args
    except ArgumentsRefused:
        return args


def _judge(agent: Agent, message_id: str, proposal: Proposal) -> ScreenedCall:
    tool = agent.tools_by_name.get(proposal.tool)
    if tool is None:
        refusal = tool_messages.unknown_tool(proposal.tool, agent.policy.usable)
        return _refused(agent, message_id, proposal, "The agent has no such tool.", refusal)
    entry = agent.policy.tools.get(proposal.tool)
    if entry is None or entry.tier is Tier.DENY:
        why = entry.why if entry else "No policy names this tool."
        return _refused(agent, message_id, proposal, why, tool_messages.denied(proposal.tool))
    try:
        if proposal.fault:
            raise ArgumentsRefused([proposal.fault])
        args = parse(proposal.args) if isinstance(proposal.args, str) else proposal.args
        valid = agent.received(proposal.tool, cast(dict[str, Any], args), unknown="drop")
    except ArgumentsRefused as refused:
        text = tool_messages.unfit(proposal.tool, str(refused))
        return _refused(agent, message_id, proposal, "The arguments do not fit the tool.", text)
    verdict = agent.policy.judge(proposal.tool, valid.args)
    if verdict.tier not in FATES:
        return _refused(
            agent, message_id, proposal, verdict.why, tool_messages.denied_so(proposal.tool, verdict.why)
        )
    return ScreenedCall(
        message_id=message_id,
        tool_call_id=proposal.id,
        tool=proposal.tool,
        proposed=proposal.args,
        args=valid.args,
        entered=entered_apart(valid),
        tier=str(verdict.tier),
        why=verdict.why,
        allowed=list(verdict.allowed),
        summary=summarize(agent.policy, proposal.tool, valid.args),
        policy_version=agent.policy.version,
        approve_by=seconds(agent.policy.approve_by_of(entry)),
        execute_by=seconds(agent.policy.execute_by_of(entry)),
        fate=FATES[verdict.tier],
        notes={**notes_on(valid), **noted(entry.precondition, valid.args)},
    )


def _remember(agent: Agent, call: ScreenedCall, remembered: Sequence[Rule]) -> ScreenedCall:
    """Return the call, already approved if it would be asked about and a rule allows exactly it.

    A call that a person rejected in this same turn is asked about whatever the rules say.
    """
    if call.fate != "ask" or call.args is None or REJECTED_BEFORE in call.notes:
        return call
    rule = rules.allowing(
        remembered, agent, call.tool, rules.CallForRules(call.args, rules.altered(call.notes))
    )
    return replace(call, fate="run", rule_id=rule.rule_id) if rule else call


def summarize(policy: Policy, tool: str, args: Mapping[str, Any]) -> str:
    """Return the tool's own sentence on this call; without one, or if it raises, the literal call."""
    entry = policy.tools.get(tool)
    literal = f"Call {tool} with {dumps(dict(args))}."
    if entry is None or entry.summary is None:
        return literal
    try:
        return str(entry.summary(args))
    except Exception as error:
        return f"{literal} (Its summary could not be composed: {type(error).__name__}.)"


def _refused(agent: Agent, message_id: str, proposal: Proposal, why: str, refusal: str) -> ScreenedCall:
    return ScreenedCall(
        message_id=message_id,
        tool_call_id=proposal.id,
        tool=proposal.tool,
        proposed=of_refused(proposal.args),
        args=None,
        tier=str(Tier.DENY),
        why=why,
        allowed=[],
        summary="",
        policy_version=agent.policy.version,
        approve_by=None,
        execute_by=None,
        fate="answered",
        refusal=bounded(refusal, MAX_REFUSED),
    )


def entered_apart(valid: Received) -> dict[str, Any] | None:
    """Return what is passed to the tool, or None if that is exactly what its function receives."""
    return None if canonical(valid.entered) == canonical(valid.args) else valid.entered


def notes_on(valid: Received) -> dict[str, Any]:
    """Return what a reviewer should know about how the received arguments differ from the proposal."""
    notes = {
        "defaults": list(valid.defaults),
        "dropped": list(valid.dropped),
        "coerced": [[one.path, one.before, one.after] for one in valid.coerced],
        "made_once": list(valid.made_once),
        "unchecked": valid.unchecked,
    }
    return {name: found for name, found in notes.items() if found}
