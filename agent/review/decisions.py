"""Decisions: what a person may answer to an action, checked in full before anything changes.

The order of the checks is part of the format: first the number, then each decision in turn, last the digests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.review import tool_messages
from agent.review.actions import Action, ActionState, with_digests
from agent.review.agents import Agent
from agent.review.arguments.args import check
from agent.review.arguments.argument_faults import cut
from agent.review.arguments.fitting import Received
from agent.review.attention import Seen
from agent.review.edits import new_masks
from agent.review.errors import ArgumentsRefused, InvalidDecision, ReviewChanged
from agent.review.policy import DECISION_TYPES, Tier
from agent.review.questions import QUESTION, SentAnswer, answer, answer_fault
from agent.review.screening import entered_apart, notes_on, summarize
from agent.review.text.counts import counted
from agent.review.threads import text_fault

END_OF = {
    "approve": ActionState.APPROVED,
    "edit": ActionState.APPROVED,
    "reject": ActionState.REJECTED,
    "respond": ActionState.RESPONDED,
}

MOST_NAMED = 5
"""Arguments that an error names one by one."""


@dataclass(frozen=True)
class AcceptedDecision:
    """One accepted decision: the action as it will be, and what the model will be sent about it."""

    type: str
    before: Action
    after: Action
    told: str | None
    """The tool's result, if the person's decision gives it; None if the tool will run."""
    message: str = ""
    comment: str = ""
    answer: SentAnswer | None = None
    """What is sent, for a question of the agent's own."""
    seen: Seen | None = None
    """How the reviewer looked at the action, if a page reported it."""

    def as_seen(self, seen: Mapping[str, Seen]) -> AcceptedDecision:
        """Return the same decision with how its action was looked at."""
        return replace(self, seen=seen.get(self.before.key.tool_call_id))

    @property
    def wire(self) -> dict[str, Any]:
        """The decision in the form in which the interrupt is answered."""
        if self.type == "edit":
            return {"type": "edit", "edited_action": {"name": self.after.tool, "args": self.after.enters}}
        if self.answer is not None:
            return {"type": self.type, "value": self.answer.value}
        return {"type": self.type, **({"message": self.message} if self.message else {})}


def check_decisions(
    decisions: Any, actions: Sequence[Action], agent: Agent, secret: bytes
) -> list[AcceptedDecision]:
    """Check every decision and return all as accepted, or raise for the first fault.

    Raises `InvalidDecision` for a decision that cannot be accepted, and `ReviewChanged` if a given digest is not
    the one now waiting.
    """
    if not isinstance(decisions, list) or not decisions:
        raise InvalidDecision("The decisions are not a list with one decision per action. Send such a list.")
    if len(decisions) != len(actions):
        raise InvalidDecision(
            f"This review needs {counted(len(actions), 'decision')}, one per action in order, and got {len(decisions)}. "
            "Send exactly one for each."
        )
    accepted = [
        _check_one(place, raw, action, agent, secret)
        for place, (raw, action) in enumerate(zip(decisions, actions, strict=True), start=1)
    ]
    for raw, one in zip(decisions, accepted, strict=True):
        _check_seen(raw, one)
    return accepted


def outcome(accepted: Sequence[AcceptedDecision]) -> str:
    """Return what was decided, in a few words: `approve`, or `2 approve, 1 reject`."""
    counts = Counter(one.type for one in accepted)
    if len(accepted) == 1:
        return accepted[0].type
    return ", ".join(f"{counts[kind]} {kind}" for kind in DECISION_TYPES if counts[kind])


def check_all_rejected(accepted: Sequence[AcceptedDecision]) -> None:
    """Raise `InvalidDecision` unless every action was rejected: only then can the turn end with the decision."""
    if any(one.type != "reject" for one in accepted):
        raise InvalidDecision(
            "The turn ends with a decision only where every action is rejected. Reject each, or leave end_turn out."
        )


def _check_one(place: int, raw: Any, action: Action, agent: Agent, secret: bytes) -> AcceptedDecision:
    kind = _type_of(place, raw, action)
    message = _text(place, raw, "message", action) if kind in ("reject", "respond") else ""
    comment = _text(place, raw, "comment", action)
    if kind == "approve":
        _check_not_denied_now(place, action, agent)
    after = replace(action, state=END_OF[kind])
    if kind == "edit":
        after = with_digests(_edited(place, raw, after, agent), secret)
    answer = _answer(place, raw, message, action) if kind == "respond" else None
    if kind == "respond" and answer is None and not message.strip():
        raise InvalidDecision(
            f"Decision {place} on {action.tool} is a respond without a message. "
            "Give the message the agent is to get as the tool's result."
        )
    if answer is not None:
        message = answer.as_text
    claims_nothing = agent.gates_itself and not action.begun
    rejected = tool_messages.rejected_elsewhere if claims_nothing else tool_messages.rejected
    result = {"reject": tool_messages.of(action, rejected(message.strip())), "respond": message}.get(kind)
    return AcceptedDecision(kind, action, after, result, message, comment, answer)


def _answer(place: int, raw: Mapping[str, Any], message: str, action: Action) -> SentAnswer | None:
    """Return what is sent to an agent that asks a question of its own; None for an answer in a tool's place."""
    if action.tool != QUESTION or ("value" not in raw and not message.strip()):
        return None
    if "value" in raw and message:
        raise InvalidDecision(f"Decision {place} has both a message and a value. Send one of them.")
    try:
        found = answer(action, raw)
    except ArgumentsRefused as refused:
        raise InvalidDecision(f"Decision {place}: the value cannot be sent: {refused}") from None
    if fault := answer_fault(action, found):
        raise InvalidDecision(f"Decision {place}: the answer does not fit what the agent asks for: {fault}")
    return found


def _type_of(place: int, raw: Any, action: Action) -> str:
    if not isinstance(raw, Mapping):
        raise InvalidDecision(
            f"Decision {place} is not an object. Send {{'type': …}} with one of {', '.join(DECISION_TYPES)}."
        )
    kind = raw.get("type")
    if not isinstance(kind, str) or kind not in DECISION_TYPES:
        raise InvalidDecision(
            f"Decision {place} has the type {kind!r}. Use one of {', '.join(DECISION_TYPES)}."
        )
    if kind not in action.allowed:
        raise InvalidDecision(
            f"Decision {place}: {action.tool} does not allow {kind}. Use one of {', '.join(action.allowed)}."
        )
    return kind


def _text(place: int, raw: Mapping[str, Any], name: str, action: Action) -> str:
    value = raw.get(name)
    if value is None:
        return ""
    if fault := text_fault(value):
        raise InvalidDecision(f"Decision {place} on {action.tool}: the {name} {fault}")
    return str(value)


def _edited(place: int, raw: Mapping[str, Any], action: Action, agent: Agent) -> Action:
    edited = raw.get("edited_action")
    if not isinstance(edited, Mapping):
        raise InvalidDecision(
            f"Decision {place} on {action.tool} is an edit without edited_action. "
            "Send edited_action with the tool's name and all of its args."
        )
    name, args = edited.get("name"), edited.get("args")
    if not isinstance(name, str) or not name or not isinstance(args, Mapping):
        raise InvalidDecision(
            f"Decision {place} on {action.tool}: edited_action needs a text name and an object args. Send both."
        )
    _check_may_edit_to(place, name, action, agent)
    try:
        valid = _valid(name, args, agent, action.place)
    except ArgumentsRefused as refused:
        text = f"Decision {place} on {action.tool}, edited to {name}: {refused}"
        raise InvalidDecision(text, refused.faults) from None
    _check_unmasked(place, name, valid.args, action)
    _check_not_denied(place, name, valid.args, action, agent)
    summary = summarize(agent.policy, name, valid.args)
    return replace(
        action,
        tool=name,
        args=valid.args,
        entered=entered_apart(valid),
        summary=summary,
        notes=notes_on(valid),
    )


def _check_not_denied_now(place: int, action: Action, agent: Agent) -> None:
    """Raise `InvalidDecision` if the policy has come to deny the action while it waited."""
    denial = agent.denial(action.tool, action.args)
    if denial is None:
        return
    edit = "Edit its arguments, " if "edit" in action.allowed and not denial.whole else ""
    ways = [*(["reject it"] if "reject" in action.allowed else []), "close the review without deciding"]
    remedy = edit + ", or ".join(ways)
    raise InvalidDecision(
        f"Decision {place} on {action.tool}: {denial.reason} {remedy[0].upper()}{remedy[1:]}."
    )


def _check_unmasked(place: int, name: str, args: Mapping[str, Any], action: Action) -> None:
    """Raise `InvalidDecision` if an edit holds the mask of a secret, which is not a value for a tool."""
    if found := new_masks(action.args or {}, args):
        more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        raise InvalidDecision(
            f"Decision {place} on {action.tool}, edited to {name}: {', '.join(map(cut, found[:MOST_NAMED]))}{more} holds "
            "the mask of a secret in place of its value. Write the value itself, as the waiting action shows it."
        )


def _check_not_denied(place: int, name: str, args: Mapping[str, Any], action: Action, agent: Agent) -> None:
    """Raise `InvalidDecision` if the policy denies the edited call because of its arguments."""
    if agent.gates_itself:
        return
    verdict = agent.policy.judge(name, args)
    if verdict.tier is Tier.DENY:
        raise InvalidDecision(
            f"Decision {place} on {action.tool}: {name} is denied with these arguments. {verdict.why} "
            "Edit them, or reject the call."
        )


def _valid(name: str, args: Mapping[str, Any], agent: Agent, place: str) -> Received:
    if not agent.knows(name):  # an external agent hides it: nothing says what its arguments must be
        check(given := dict(args))
        return Received(given, given, unchecked=True)
    return agent.received(name, args, unknown="refuse", place=place)


def _check_may_edit_to(place: int, name: str, action: Action, agent: Agent) -> None:
    if agent.gates_itself:
        _check_may_edit_elsewhere(place, name, action, agent)
        return
    entry = agent.policy.tools.get(name)
    usable = [
        tool
        for tool, policy in agent.policy.tools.items()
        if policy.tier is not Tier.DENY and (not policy.may_ask or "edit" in policy.allowed)
    ]
    if name not in agent.tools_by_name:
        problem = f"this agent has no tool {name!r}."
    elif entry is None or entry.tier is Tier.DENY:
        problem = f"{name} is denied to this agent. {entry.why if entry else ''}".strip()
    elif name != action.proposed_tool and name not in usable:
        problem = f"{name} is asked about and does not allow edit."
    else:
        return
    remedy = f"Edit to one of: {', '.join(usable)}." if usable else "Close the review without deciding."
    raise InvalidDecision(f"Decision {place} on {action.tool}: {problem} {remedy}")


def _check_may_edit_elsewhere(place: int, name: str, action: Action, agent: Agent) -> None:
    """Raise `InvalidDecision` if an external agent does not take an edit to this tool.

    It takes any of its tools, unless it asks about each call at the place where it runs it.
    """
    usable = [action.proposed_tool]
    if not action.notes.get("same_tool"):
        usable += [tool for tool in agent.tools_by_name if tool != action.proposed_tool]
    if name not in usable:
        raise InvalidDecision(
            f"Decision {place} on {action.tool}: its agent takes no edit to {name!r}. "
            f"Edit to one of: {', '.join(usable)}."
        )


def _check_seen(raw: Mapping[str, Any], one: AcceptedDecision) -> None:
    seen = raw.get("shown_digest")
    if seen is not None and seen != one.before.shown_digest:
        raise ReviewChanged(f"What waits for {one.before.tool} is not what was on your screen.")
    confirmed = raw.get("edited_digest")
    if one.type == "edit" and confirmed is not None and confirmed != one.after.shown_digest:
        raise ReviewChanged(
            f"The edited {one.after.tool} would now show something other than what you confirmed."
        )
