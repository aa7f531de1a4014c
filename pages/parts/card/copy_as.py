"""The review's answer to copy: as curl, Python or JSON."""

from __future__ import annotations

import json
import shlex
from urllib.parse import urlsplit

import streamlit as st

from agent.review.actions import Review
from agent.review.errors import ArgumentsRefused
from pages.parts.card import draft as drafts
from pages.parts.card.draft import Draft
from pages.parts.common.sheet import Node, literal, said


def answer(review: Review, draft: Draft) -> dict[str, object]:
    """Return the request body that would decide the review by the draft; undecided actions are rejected."""
    made = []
    for action in review.actions:
        choice = draft.of(action)
        try:
            one = drafts.decision(review, action, choice) if choice.type else {"type": "reject"}
        except ArgumentsRefused:
            one = {"type": "reject"}
        made.append({name: value for name, value in one.items() if name != "edited_digest"})
    return {"thread_id": review.thread_id, "review_id": review.review_id, "decisions": made}


def copy_as(review: Review, draft: Draft) -> list[Node]:
    """Return what is chosen now in three forms; undecided actions are rejected."""
    body = answer(review, draft)
    compact = json.dumps(body, ensure_ascii=False)
    here = urlsplit(st.context.url or "http://127.0.0.1:8501")
    url = f"{here.scheme}://{here.netloc}/hitl/review"
    return [
        said("curl"),
        literal(f"curl -X POST {url} -H 'content-type: application/json' -d {shlex.quote(compact)}"),
        said("Python"),
        literal(f"import httpx\n\nhttpx.post({url!r}, json={body!r}).raise_for_status()"),
        said("JSON"),
        literal(json.dumps(body, ensure_ascii=False, indent=2)),
    ]
