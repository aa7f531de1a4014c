"""One row of the table: a tool, what a model proposes, and what the tool's function has to receive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from langchain_core.tools import BaseTool
from pydantic import BaseModel

from tests.received.writing import tool_of

REFUSED: Final = "refused"
"""In the place of received values: nothing may run, and the record or the card has to say why."""
Args = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One tool and one proposal."""

    name: str
    make: Callable[[], BaseTool]
    """Makes the tool, so that no two agents have to share one."""
    proposed: Args
    received: Args | str
    """By hand: what the function receives, injected arguments apart; or `REFUSED`."""
    edit: Args
    """A reviewer's edit, in the form the model writes."""
    edited: Args | str
    injected: frozenset[str] = frozenset()
    """Arguments that come from the graph or from LangChain, never from the model."""
    steady: bool = True
    """False where each parsing gives something else, so that only the agreement of all sides can be asked for."""
    may_refuse: bool = False
    """True where the values have no exact JSON form, or the argument is LangChain's own: to refuse is right too."""
    graph_only: bool = False
    """True where only LangGraph's tool node can inject what the tool needs."""
    open_schema: bool = False
    """True where nothing is parsed: an agent of ours may fill in or drop by the JSON Schema, and then shows that."""


ROWS: list[Row] = []


def row(
    proposed: Args,
    received: Args | str,
    edit: Args | None = None,
    edited: Args | str | None = None,
    **more: Any,
) -> Callable[[Any], Any]:
    """Put a schema, or a function that makes a tool, into the table under its own name.

    Without an edit of its own, the reviewer sends the proposal back as it is: parsed once more, it gives the same.
    An edit for which nothing else is given is received as it is.
    """

    def put(made: Any) -> Any:
        name, schema = made.__name__, isinstance(made, type) and issubclass(made, BaseModel)
        make = partial(tool_of, name, made) if schema else made
        given = (proposed, received) if edit is None else (edit, edit if edited is None else edited)
        ROWS.append(Row(name, make, proposed, received, *given, **more))
        return made

    return put
