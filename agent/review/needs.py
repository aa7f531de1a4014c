"""What an external graph needs before it can run, as its compiled form says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MESSAGES = "messages"
DEFS = "$defs"


@dataclass(frozen=True)
class Needs:
    """What is known of an external graph when it is loaded."""

    asynchronous: tuple[str, ...] = ()
    """Nodes and tools that have no synchronous function."""
    messages: bool = True
    """Its state has `messages`, so that a person can talk to it."""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of its input."""
    context_schema: Mapping[str, Any] = field(default_factory=dict)
    """The JSON Schema of its context; empty where it declares none."""
    missing_context: tuple[str, ...] = ()
    """Required fields of the context that nobody has set for this agent."""
    store: tuple[str, ...] = ()
    """Nodes that ask for the store."""
    stops_before: tuple[str, ...] = ()
    stops_after: tuple[str, ...] = ()
    """Nodes at which it stops of itself: breakpoints it was compiled with."""
    without_ids: tuple[str, ...] = ()
    """Tools that its own code calls, outside of a `ToolNode`: such a call may have no id."""

    @property
    def further_input(self) -> tuple[str, ...]:
        """The fields of its input besides the messages."""
        return tuple(name for name in self.input_schema.get("properties", {}) if name != MESSAGES)

    @property
    def converses(self) -> bool:
        """Whether a message can be said to it. Else it is sent its input alone."""
        fields = self.input_schema.get("properties")
        return self.messages and (not fields or MESSAGES in fields)

    @property
    def further_schema(self) -> Mapping[str, Any] | None:
        """The JSON Schema of its input besides the messages; None where that is nothing."""
        names = self.further_input
        if not names:
            return None
        kept = {name: self.input_schema["properties"][name] for name in names}
        required = [name for name in self.input_schema.get("required", ()) if name in kept]
        found = {"type": "object", "properties": kept, "required": required}
        defs = _referred_to(kept, self.input_schema.get(DEFS, {}))
        return {**found, DEFS: defs} if defs else found

    def missing(self, given: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the required fields of the context that are neither set nor among those given."""
        return tuple(name for name in self.missing_context if name not in given)

    def context_value(self, name: str, typed: str) -> Any:
        """Return what was typed for a field of the context: text where its schema says so, else JSON if it is any."""
        if self.context_schema.get("properties", {}).get(name, {}).get("type") == "string":
            return typed
        try:
            return json.loads(typed)
        except (ValueError, RecursionError):
            return typed

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield what the agent needs, each as a short name and words."""
        context = self.context_schema.get("properties", {})
        found = (
            ("asynchronous only", ", ".join(self.asynchronous)),
            ("messages", "" if self.messages else "none: its input is a form"),
            ("further input", ", ".join(self.further_input)),
            ("context", ", ".join(context)),
            ("context to set", ", ".join(self.missing_context)),
            ("store", ", ".join(self.store)),
            ("stops before", ", ".join(self.stops_before)),
            ("stops after", ", ".join(self.stops_after)),
            ("calls without ids", ", ".join(self.without_ids)),
        )
        return ((name, words) for name, words in found if words)


def _referred_to(part: Any, defs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definitions that a part of a schema refers to, and those that they refer to."""
    found: dict[str, Any] = {}
    waiting = [part]
    while waiting:
        text = json.dumps(waiting.pop(), default=str)
        for name, one in defs.items():
            if name not in found and f'"#/{DEFS}/{name}"' in text:
                found[name] = one
                waiting.append(one)
    return found


NOTHING = Needs()
