"""A complete thread as one file, for a bug report: JSON for machines, and HTML for people, secrets masked in both.

The HTML holds only escaped text: no script, no image, no style but our own, nothing fetched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from agent.review.actions import Action
from agent.review.arguments.args import show
from agent.review.events import Event
from agent.review.notes import Note
from agent.review.text.deception import visible
from agent.review.text.secrets import masked
from agent.review.threads import Message, Thread

SECRET_OF_THE_CHAIN = ("salt", "commitment")
"""With these, a short masked value could be guessed."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The content security policy of the HTML: a browser loads and runs nothing from it."""


@dataclass(frozen=True)
class WholeThread:
    """Everything the record holds of one thread."""

    thread: Thread
    messages: Sequence[Message]
    actions: Sequence[Action]
    events: Sequence[Event]
    notes: Sequence[Note]
    at: str
    """When it was read."""


def as_dict(whole: WholeThread) -> dict[str, Any]:
    """Return the thread as plain data, secrets masked."""
    events = [
        {name: value for name, value in asdict(one).items() if name not in SECRET_OF_THE_CHAIN}
        for one in whole.events
    ]
    found: dict[str, Any] = masked(
        {
            "thread": asdict(whole.thread),
            "messages": [asdict(one) for one in whole.messages],
            "actions": [asdict(replace(one, returned=None)) for one in whole.actions],
            "events": events,
            "notes": [asdict(one) for one in whole.notes],
        }
    )
    return {"exported_at": whole.at, **found}


def as_json(whole: WholeThread) -> str:
    """Return the thread as JSON, in ASCII only."""
    return json.dumps(as_dict(whole), indent=2) + "\n"


def as_html(whole: WholeThread) -> str:
    """Return the thread as one self-contained HTML file."""
    found = as_dict(whole)
    actions: dict[str, list[Mapping[str, Any]]] = {}
    for action in found["actions"]:
        actions.setdefault(action["key"]["message_id"], []).append(action)
    said = [(message, actions.pop(message["id"], [])) for message in found["messages"]]
    return _page().render(found, content_policy=POLICY, said=said, others=list(actions.values()))


@cache
def _page() -> Template:
    environment = Environment(
        loader=PackageLoader("agent.review", "."),
        autoescape=True,  # whatever the template writes out is text
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("thread_export.html.jinja")


def _shown(value: Any) -> Any:
    """Return a value as text, with hidden characters shown as marks."""
    if isinstance(value, Markup):
        return value
    return visible(value if isinstance(value, str) else show(value))
