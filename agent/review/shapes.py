"""The wire formats of a pause and of its answer.

Ours is LangChain's human-in-the-loop format, JSON only. The pauses of other agents are read into the same
requests, and each is answered in the format it came in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent.review import tool_messages
from agent.review.actions import Action, AskedAction, Review, Waiting
from agent.review.agents import Denial
from agent.review.digest import canonical
from agent.review.policy import DECISION_TYPES
from agent.review.questions import offered
from agent.review.screening import ScreenedCall
from agent.review.threads import Message

Shape = Literal["batched", "per_call", "legacy", "typed", "free"]
Decided = Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """One action that an interrupt asks about."""

    name: str
    args: dict[str, Any]
    allowed: tuple[str, ...]
    description: str = ""
    tool_call_id: str | None = None
    rejected_as: Literal["ignore", "response"] = "ignore"
    """How a rejection is sent to a legacy inbox: if the request cannot be ignored, as an answer with the reason."""


@dataclass(frozen=True)
class Pause:
    """A parsed interrupt. `typed` and `free` are questions that are not about a call and hold no request."""

    shape: Shape
    requests: tuple[Request, ...] = ()
    alone: bool = False
    """A legacy request that is in no list is answered in none."""
    camel: bool = False
    """True if the request came in camel case, in which it is answered too."""


# Ours.


def interrupt_value(calls: Iterable[ScreenedCall]) -> dict[str, Any]:
    """Return the value an interrupt carries: one request and one config per call, in the calls' order."""
    waiting = list(calls)
    return {
        "action_requests": [
            {"name": call.tool, **arguments(call.proposed, call.args), "description": call.summary}
            for call in waiting
        ],
        "review_configs": [{"action_name": call.tool, "allowed_decisions": call.allowed} for call in waiting],
    }


Denies = Callable[[str, Action | AskedAction], Denial | None]
"""Returns why an agent's policy, as it is now, denies one of its waiting actions; None if it does not."""


def pending_review(review: Review | Waiting, denies: Denies) -> dict[str, Any]:
    """Return the same fields as the interrupt's value, with the ids and digests that a decision refers to.

    An action that the policy has come to deny says so under `denied`.
    """
    actions: tuple[Action | AskedAction, ...] = review.actions
    return {
        "review_id": review.review_id,
        "action_requests": [_request(action, denies(review.agent, action)) for action in actions],
        "review_configs": [
            {"action_name": action.tool, "allowed_decisions": list(action.allowed)} for action in actions
        ],
    }


def _request(action: Action | AskedAction, denial: Denial | None) -> dict[str, Any]:
    denied = {"denied": denial.reason} if denial else {}
    choices = [{"label": one.label, "value": one.value} for one in offered(action)]
    return {
        "name": action.tool,
        **arguments(action.proposed, action.args),
        "description": action.summary,
        "tool_call_id": action.tool_call_id,
        "shown_digest": action.shown_digest,
        **({"choices": choices} if choices else {}),
        **denied,
    }


def arguments(proposed: Any, received: dict[str, Any] | None) -> dict[str, Any]:
    """Return the arguments in the form the model writes and, if the tool's function receives others, those too."""
    if received is None or not isinstance(proposed, Mapping) or _is_alike(proposed, received):
        return {"args": received}
    return {"args": proposed, "received": received}


def _is_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one == other and canonical(dict(one)) == canonical(dict(other))


def resume_value(decisions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the interrupt is answered with."""
    return {"decisions": list(decisions)}


def message(item: Message) -> dict[str, Any]:
    """Return a message as the API shows it; fields that do not apply are absent."""
    shown: dict[str, Any] = {"id": item.id, "type": item.type, "content": item.content}
    if item.tool_calls:
        shown["tool_calls"] = [{"id": c.id, "name": c.name, "args": c.args} for c in item.tool_calls]
    if item.tool_call_id is not None:
        shown["tool_call_id"] = item.tool_call_id
    if item.status is not None:
        shown["status"] = item.status
    return {**shown, "at": item.at}


# Other agents' formats. A value that only nearly fits a shape is read as `free`, and shown as it is.


def read(value: Any, response_schema: Mapping[str, Any] | None = None) -> Pause:
    """Parse what an interrupt asks, whichever of the known shapes it has."""
    for attempt in (_batched, _per_call, _legacy):
        found = attempt(value, response_schema)
        if found is not None:
            return found
    return Pause("typed" if response_schema else "free")


def answer(pause: Pause, decisions: Sequence[Decided]) -> Any:
    """Return what an interrupt of this shape is resumed with; for a question, the value of the one answer itself."""
    match pause.shape:
        case "batched":
            return resume_value([_cased(one, pause.camel) for one in decisions])
        case "per_call":
            return dict(decisions[0])
        case "legacy":
            answers = [_legacy_answer(*pair) for pair in zip(pause.requests, decisions, strict=True)]
            return answers[0] if pause.alone else answers
        case _:
            decision = decisions[0]
            return decision["value"] if "value" in decision else str(decision.get("message") or "")


def _batched(value: Any, _: Any) -> Pause | None:
    if not isinstance(value, Mapping):
        return None
    camel = "actionRequests" in value
    requests = value.get("actionRequests" if camel else "action_requests")
    configs = value.get("reviewConfigs" if camel else "review_configs", ())
    if not isinstance(requests, list) or not requests or not isinstance(configs, list | tuple):
        return None
    allowed = _allowed_by(configs, camel)
    read = [_batched_request(one, place, len(requests), allowed) for place, one in enumerate(requests)]
    found = tuple(one for one in read if one is not None)
    return Pause("batched", found, camel=camel) if len(found) == len(requests) else None


def _batched_request(one: Any, place: int, count: int, allowed: _Allowed) -> Request | None:
    if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
        return None
    args = one.get("args", one.get("arguments"))
    if not isinstance(args, Mapping):
        return None
    description = one.get("description")
    return Request(
        one["name"],
        dict(args),
        allowed(one["name"], place, count),
        description if isinstance(description, str) else "",
        one.get("tool_call_id") if isinstance(one.get("tool_call_id"), str) else None,
    )


_Allowed = Callable[[str, int, int], tuple[str, ...]]


def _allowed_by(configs: Sequence[Any], camel: bool) -> _Allowed:
    """Return a lookup of the allowed decisions: by position, or by name if there are fewer configs than requests."""
    name_key, allowed_key = (
        ("actionName", "allowedDecisions") if camel else ("action_name", "allowed_decisions")
    )
    kept = [one for one in configs if isinstance(one, Mapping)]
    by_name = {name: one for one in reversed(kept) if isinstance(name := one.get(name_key), str)}

    def allowed(name: str, place: int, count: int) -> tuple[str, ...]:
        config = kept[place] if len(kept) == count else by_name.get(name, {})
        listed = config.get(allowed_key, ())
        return tuple(kind for kind in DECISION_TYPES if isinstance(listed, list | tuple) and kind in listed)

    return allowed


def _per_call(value: Any, response_schema: Mapping[str, Any] | None) -> Pause | None:
    if not isinstance(value, Mapping) or value.get("type") != "tool_approval":
        return None
    name, args, call_id = value.get("name"), value.get("args"), value.get("tool_call_id")
    if not isinstance(name, str) or not isinstance(args, Mapping) or not isinstance(call_id, str):
        return None
    description = value.get("description")
    words = description if isinstance(description, str) else ""
    return Pause("per_call", (Request(name, dict(args), _in_schema(response_schema or {}), words, call_id),))


def _in_schema(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the decisions a response schema allows: those of its discriminator, or its one constant."""
    mapping = schema.get("discriminator", {}).get("mapping", {})
    only = schema.get("properties", {}).get("type", {}).get("const")
    return tuple(kind for kind in DECISION_TYPES if kind in mapping or kind == only)


def _legacy(value: Any, _: Any) -> Pause | None:
    items = value if isinstance(value, list) else [value]
    read = [_legacy_request(one) for one in items]
    found = tuple(one for one in read if one is not None)
    whole = bool(found) and len(found) == len(items)
    return Pause("legacy", found, alone=value is not items) if whole else None


_LEGACY = {
    "approve": ("allow_accept",),
    "edit": ("allow_edit",),
    "reject": ("allow_ignore", "allow_respond"),
    "respond": ("allow_respond",),
}


def _legacy_request(one: Any) -> Request | None:
    request = one.get("action_request") if isinstance(one, Mapping) else None
    if not isinstance(request, Mapping) or not isinstance(request.get("action"), str):
        return None
    config = one.get("config")
    flags = config if isinstance(config, Mapping) else {}
    args, description = request.get("args"), one.get("description")
    return Request(
        request["action"],
        dict(args) if isinstance(args, Mapping) else {},
        tuple(kind for kind in DECISION_TYPES if any(flags.get(flag) is True for flag in _LEGACY[kind])),
        description if isinstance(description, str) else "",
        rejected_as="ignore" if flags.get("allow_ignore") is True else "response",
    )


def _legacy_answer(request: Request, decision: Decided) -> dict[str, Any]:
    match decision["type"]:
        case "approve":
            return {"type": "accept", "args": None}
        case "edit":
            edited = decision["edited_action"]
            return {"type": "edit", "args": {"action": edited["name"], "args": edited["args"]}}
        case "reject" if request.rejected_as == "ignore":
            return {"type": "ignore", "args": decision.get("message") or None}
        case _:
            return {
                "type": "response",
                "args": decision.get("message") or tool_messages.rejected_elsewhere(""),
            }


def _cased(decision: Decided, camel: bool) -> dict[str, Any]:
    made = dict(decision)
    if camel and "edited_action" in made:
        made["editedAction"] = made.pop("edited_action")
    return made
