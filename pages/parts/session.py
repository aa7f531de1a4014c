"""What one browser session holds: every key of `st.session_state`, named here and nowhere else.

Nothing true lives here. What must survive a reload is in the ledger or in the address.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent import bootstrap
from agent.console import Console
from agent.demos.world import World
from agent.review.actions import Action, Review
from agent.review.errors import ReviewError

REVIEWER = "reviewer"
FLASH = "flash"
SEEN = "edited-digests-seen"

THREAD = "thread"  # the query parameter


def console() -> Console:
    return bootstrap.opened().console


def world() -> World:
    return bootstrap.opened().world


def reviewer() -> str:
    """The name this browser decides under, unverified while there is no sign-in."""
    return str(st.session_state.get(REVIEWER) or bootstrap.opened().settings.review_reviewer)


def thread_id() -> str | None:
    """The thread the address names."""
    return st.query_params.get(THREAD)


def go_to_thread(name: str | None) -> None:
    if name is None:
        st.query_params.pop(THREAD, None)
    else:
        st.query_params[THREAD] = name


def flash(kind: str, headline: str, detail: str = "") -> None:
    """Say this on top of the next page drawn. `headline` is ours; `detail` may hold anybody's text."""
    st.session_state[FLASH] = (kind, headline, detail)


def flash_error(headline: str, error: ReviewError) -> None:
    flash("error", headline, str(error))


def show_flash() -> None:
    kept = st.session_state.pop(FLASH, None)
    if kept is None:
        return
    kind, headline, detail = kept
    if kind == "toast":
        st.toast(headline, icon=":material/send:")
        return
    box = {"error": st.error, "warning": st.warning}.get(kind, st.info)
    box(headline)
    if detail:
        st.text(detail)


def key(name: str, *parts: Any) -> str:
    """A widget's key: what it is, and what it is about."""
    return ":".join((name, *(str(part) for part in parts)))


def action_key(name: str, review: Review, action: Action) -> str:
    return key(name, review.review_id, action.key.tool_call_id)


def edited_digest_seen(review: Review, action: Action) -> str | None:
    """The digest of the edited call that this browser was last shown."""
    return dict(st.session_state.get(SEEN, {})).get(action_key("edit", review, action))


def see_edited_digest(review: Review, action: Action, digest: str | None) -> None:
    st.session_state.setdefault(SEEN, {})[action_key("edit", review, action)] = digest
