"""What an external graph needs before it can run, as its compiled form says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


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
        return tuple(name for name in self.input_schema.get("properties", {}) if name != "messages")

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
        """What it needs, a line for each, as a short name and words."""
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


NOTHING = Needs()
