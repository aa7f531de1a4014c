"""The decision bar: a choice for each action, and one button that sends all decisions at once."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from agent.console.views import CardView
from agent.review.actions import Action, Review
from agent.review.retype import may_approve_together
from pages.parts.card.card_clicks import NextCard, cannot_choose, choose, choose_all, close, send
from pages.parts.card.draft import Choice, Draft
from pages.parts.common.folds import folds_unopened
from pages.parts.common.words import ICON, KEY, SEND, VERB
from pages.parts.state import identity, widget_keys

STEPS = (("Previous", "K", False), ("Next", "J", True), ("Later", "X", True))
"""Label, key, and whether it goes forward. *Later* is *Next* under the name that a person looks for when they hesitate."""
NO_REJECT = "This cannot be rejected. Close it without deciding, and nothing runs."
UNREAD = "Approve is off until every long value has been opened: {} to go."


def decisions(view: CardView, draft: Draft, *, incomplete: bool, next_card: NextCard) -> None:
    """Draw the bar: the choices for the action in view, and the button that sends all decisions.

    `incomplete` says that the choice in view cannot be sent yet.
    """
    review, action = view.review, view.action
    choice = draft.of(action)
    undecided = sum(1 for one in review.actions if not draft.of(one).type)
    with st.bottom, st.container(key="decision-bar", gap="xsmall"):
        if hint := _hint(view, undecided):
            st.caption(hint, text_alignment="right")
        with st.container(horizontal=True, horizontal_alignment="distribute", gap="small"):
            # Buttons that appear with a choice are apart, so that none moves to where another was just clicked.
            with st.container(horizontal=True, gap="small", width="content"):
                _choices(review, action, choice)
                _for_all(view)
            with st.container(horizontal=True, gap="small", width="content"):
                _send(review, action, draft, next_card=next_card, incomplete=incomplete)


def _send(review: Review, action: Action, draft: Draft, *, next_card: NextCard, incomplete: bool) -> None:
    kinds = {draft.of(one).type for one in review.actions}
    if kinds == {"reject"}:
        st.button(
            "Reject and end the turn",
            key=widget_keys.key("end-turn", review.review_id),
            help="Nothing more of this turn runs, and the agent does not go on by itself.",
            disabled=incomplete,
            on_click=send,
            args=(review, action, next_card, True),
        )
    several = len(review.actions) > 1
    st.button(
        f"Submit {len(review.actions)} decisions" if several else SEND[draft.of(action).type],
        key=widget_keys.key("send", review.review_id),
        type="primary",
        shortcut=identity.shortcut("Ctrl+Enter"),
        disabled="" in kinds or incomplete or _cannot_be_sent(review, draft),
        on_click=send,
        args=(review, action, next_card),
    )


def _hint(view: CardView, undecided: int) -> str:
    review, action = view.review, view.action
    folds = folds_unopened(action) if "approve" in action.allowed and view.denial is None else 0
    hints = [UNREAD.format(folds)] if folds else []
    if "reject" not in action.allowed:
        hints.append(NO_REJECT)
    if undecided:
        hints.append(_still(undecided, len(review.actions)))
    return " ".join(hints)


def _cannot_be_sent(review: Review, draft: Draft) -> bool:
    # The draft may be from a session that opened more folds than this one, or from before a policy change.
    return any(cannot_choose(one, draft.of(one).type) for one in review.actions)


def _still(undecided: int, total: int) -> str:
    if total == 1:
        return "Choose a decision; it is sent with the button at the right."
    return f"{undecided} of {total} still to decide. Nothing is sent before the last."


def navigation(
    review: Review, action: Action, *, next_card: NextCard, later: Callable[..., None] | None
) -> None:
    """Draw the buttons that move between reviews, and the one that closes this review without a decision."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, key, forward in STEPS if later else ():
            st.button(
                label,
                key=label.lower(),  # the same on every card: it decides nothing, so the browser may keep it
                type="tertiary",
                shortcut=identity.shortcut(key),
                on_click=later,
                args=(review, forward),
            )
        _closing(review, action, next_card)


def _closing(review: Review, action: Action, next_card: NextCard) -> None:
    key = widget_keys.key("closing", review.review_id)
    with st.popover("Close without deciding…", type="tertiary", key=key, on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption("Nothing runs. The agent learns that the question is still open.")
        st.text_input("Reason (for the record)", key=widget_keys.key("close-reason", review.review_id))
        st.button(
            "Close it",
            key=widget_keys.key("close", review.review_id),
            on_click=close,
            args=(review, action, next_card),
        )


def _for_all(view: CardView) -> None:
    """Draw buttons that choose for all actions: reject, and approve if none is irreversible and all folds are open."""
    review, action, policy = view.review, view.action, view.agent.policy
    if len(review.actions) < 2:
        return
    together = {
        "reject": all("reject" in one.allowed for one in review.actions),
        "approve": all(may_approve_together(policy, one) for one in review.actions),
    }
    for kind in (one for one, offered in together.items() if offered):
        st.button(
            f"{VERB[kind].rstrip('…')} all",
            key=widget_keys.key(f"all-{kind}", review.review_id),
            type="tertiary",
            disabled=any(cannot_choose(one, kind) for one in review.actions),
            on_click=choose_all,
            args=(review, action, kind),
            help="Chooses it for each of them. Nothing is sent yet.",
        )


def _choices(review: Review, action: Action, choice: Choice) -> None:
    for kind in (one for one in ("respond", "reject", "edit", "approve") if one in action.allowed):
        st.button(
            VERB[kind],
            key=widget_keys.action_key(kind, review, action),
            icon=ICON[kind],
            type="primary" if choice.type == kind else "secondary",
            shortcut=identity.shortcut(KEY[kind]),
            disabled=cannot_choose(action, kind),
            on_click=choose,
            args=(review, action, kind),
        )
