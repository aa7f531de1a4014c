"""The folds of a card: the text in each, its name in the record, and which were opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from agent.review.actions import Action, Review
from agent.review.arguments.args import show, type_name
from agent.review.arguments.json_paths import path
from pages.parts.common.literal import unopened, was_opened
from pages.parts.state import widget_keys

MOST_ROWS = 50
"""Arguments that have their own row; the others share one text, which is folded like any long one."""
CLAIM, DESCRIPTION, SIBLINGS = AROUND = ("claim", "description", "siblings")
"""The folds with information around the call: these are folded whatever their length."""


def in_rows(args: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments that have their own row, and the others."""
    entries = iter((args or {}).items())
    return dict(islice(entries, MOST_ROWS)), dict(entries)


def as_proposed(action: Action) -> str:
    """Return the model's own arguments as it wrote them, as text."""
    return action.proposed if isinstance(action.proposed, str) else show(action.proposed)


def noted(action: Action) -> str:
    """Return notes on the arguments, one line each: where they differ from the proposal and why, what is unchecked."""
    notes, lines = action.notes, []
    if action.begun:
        lines.append("It has already started, and stopped midway to ask: what it has done so far is done.")
    if notes.get("unchecked"):
        lines.append("This tool has no schema to check these: they go to the tool as proposed.")
    if "unfit" in notes:
        lines.append(f"They do not fit the tool, and it will not be run with them: {notes['unfit']}")
    lines += [f"{place}: filled in with the tool's default" for place in notes.get("defaults", ())]
    lines += [
        f"{place}: the tool would make a new one each time; it gets this one"
        for place in notes.get("made_once", ())
    ]
    lines += [f"{place}: dropped, the tool has no such argument" for place in notes.get("dropped", ())]
    for place, before, after in notes.get("coerced", ()):
        lines.append(f"{place}: {_typed(before)} becomes {_typed(after)}")
    return "\n".join(lines)


def differs(action: Action) -> bool:
    """Return whether the agent wrote other names or values than the tool gets, apart from filled-in defaults."""
    if not isinstance(action.proposed, dict) or action.args is None:
        return False
    return any(
        name not in action.args or action.args[name] != value for name, value in action.proposed.items()
    )


def _typed(value: object) -> str:
    return f"{show(value)} ({type_name(value)})"


def texts(action: Action) -> Iterator[tuple[str, str]]:
    """Yield every text of the card that is folded if long, with the name of its fold."""
    yield from _to_read(action)
    yield "why", action.why
    yield "json", show(action.args)
    yield "raw", as_proposed(action)


def _to_read(action: Action) -> Iterator[tuple[str, str]]:
    """Yield the texts that say what would run, all of which must be opened before approval."""
    own, others = in_rows(action.args)
    yield "summary", action.summary
    yield from ((path((name,)), show(value)) for name, value in own.items())
    if others:
        yield "others", show(others)
    yield "notes", noted(action)


def folds_unopened(action: Action) -> int:
    """Return how many folds this session must still open before the action can be approved."""
    return unopened(text for _, text in _to_read(action))


def folds_opened(review: Review, action: Action) -> tuple[str, ...]:
    """Return the names of the card's folds that were opened in this session."""
    long = [name for name, text in texts(action) if was_opened(text)]
    return (
        *long,
        *(one for one in AROUND if widget_keys.was_opened(widget_keys.action_key(one, review, action))),
    )
