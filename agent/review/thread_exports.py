"""A complete thread as one file, for a bug report: JSON for machines, and HTML for people, secrets masked in both.

The HTML holds only escaped text: no script, no image, no style but our own, nothing fetched.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

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
STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f2;padding:.5rem;margin:.25rem 0}"
    "section{border:1px solid #ccc;border-radius:.4rem;padding:.5rem 1rem;margin:1rem 0}"
    "table{border-collapse:collapse;width:100%}td,th{border:1px solid #ccc;padding:.25rem .5rem;text-align:left;"
    "vertical-align:top}h3{margin:.5rem 0}"
)
MASKED = "What looks like a secret is masked."


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
    title = f"Thread {found['thread']['thread_id']}"
    body = "\n".join(
        [
            f"<h1>{_text(title)}</h1>",
            *_facts(found),
            *_section("Notes", (_note(one) for one in found["notes"])),
            *_section("Conversation", _conversation(found["messages"], found["actions"])),
            *_section("Record", _record(found["events"])),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _text(value: Any) -> str:
    """Return any text escaped for HTML, with hidden characters shown as marks."""
    return html.escape(visible(str(value)))


def _block(value: Any) -> str:
    return f"<pre>{_text(value if isinstance(value, str) else show(value))}</pre>"


def _section(title: str, parts: Iterable[str]) -> list[str]:
    made = list(parts)
    return [f"<h2>{title}</h2>", *made] if made else []


def _facts(found: Mapping[str, Any]) -> Iterator[str]:
    thread = found["thread"]
    named = ("agent", "model", "status", "created_at", "created_by", "error")
    yield "<table>"
    for name in named:
        if thread[name] is not None:
            yield f"<tr><th>{name}</th><td>{_text(thread[name])}</td></tr>"
    yield f"<tr><th>exported_at</th><td>{_text(found['exported_at'])}</td></tr></table>"
    yield f"<p>{MASKED}</p>"


def _note(note: Mapping[str, Any]) -> str:
    head = f"{note['verdict']} · {note['by']} · {note['at']}"
    return f"<section><h3>{_text(head)}</h3>{_block(note['text'])}{_block(note['link'])}</section>"


def _conversation(
    messages: Sequence[Mapping[str, Any]], actions: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    by_message: dict[str, list[Mapping[str, Any]]] = {}
    for action in actions:
        by_message.setdefault(action["key"]["message_id"], []).append(action)
    for message in messages:
        own = by_message.pop(message["id"], [])
        yield f"<section><h3>{_text(message['type'])} · {_text(message['at'])}</h3>"
        if message["content"]:
            yield _block(message["content"])
        yield from (_action(action) for action in own)
        yield "</section>"
    yield from (f"<section>{_action(action)}</section>" for own in by_message.values() for action in own)


def _action(action: Mapping[str, Any]) -> str:
    decision = action["decision"] or {}
    who = f" · {decision.get('type', 'decided')} by {action['decided_by']}" if action["decided_by"] else ""
    head = f"{action['tool']} · {action['tier']} · {action['state']}{who}"
    parts = [f"<h3>{_text(head)}</h3>"]
    proposed = {action["proposed_tool"]: action["proposed"]}
    for title, value in (
        ("Proposed", proposed),
        ("Arguments", action["args"]),
        ("Summary", action["summary"]),
        ("Reason", decision.get("message")),
        ("Result", action["result"]),
    ):
        if value not in (None, ""):
            parts.append(f"<p>{title}</p>{_block(value)}")
    return "".join(parts)


def _record(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "<table><tr><th>seq</th><th>at</th><th>what</th><th>by</th><th>tool</th><th>data</th></tr>"
    for event in events:
        cells = (event["seq"], event["at"], event["kind"], event["by"] or "", event["tool"] or "")
        shown = "".join(f"<td>{_text(cell)}</td>" for cell in cells)
        yield f"<tr>{shown}<td>{_block(event['data'])}</td></tr>"
    yield "</table>"
