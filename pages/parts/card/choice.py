"""The choice for one action: what it needs from the reviewer, and what it will do."""

from __future__ import annotations

import streamlit as st

from agent.review import retype
from agent.review.actions import Action, Review
from agent.review.decisions import AcceptedDecision
from agent.review.errors import ArgumentsRefused, InvalidDecision, ReviewError
from agent.review.questions import QUESTION
from pages.parts.card import draft as drafts
from pages.parts.card import editor
from pages.parts.card.answer import SENDS, answer, lacks_words
from pages.parts.card.card_clicks import RUNS, choose, onward
from pages.parts.card.draft import Choice
from pages.parts.card.scroll_into_view import in_view
from pages.parts.common.literal import line, literal
from pages.parts.common.words import CHOSEN, COLOR, ICON
from pages.parts.state import app, identity, on_screen, widget_keys

FIELD = {"approve": "typed", "edit": "args", "reject": "reason", "respond": "reply"}
IRREVERSIBLE = "This cannot be undone. To have it run, type the value of “{}” again, as it would run."
TYPE_AGAIN = "Type it again"
NO_ANSWER = "Write the answer above. What will be sent to the agent is shown here."
NOT_IT = "This is not the value that would run. Correct what you typed."


def chosen(review: Review, action: Action, choice: Choice) -> bool:
    """Draw the choice and its consequence; return true if it cannot be sent yet."""
    with st.container(border=True, key="chosen", gap="small"):
        field = widget_keys.action_key(FIELD[choice.type], review, action)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(CHOSEN[choice.type], color=COLOR[choice.type], icon=ICON[choice.type])
            st.button(
                "Undo the choice",
                key=widget_keys.action_key("undo", review, action),
                type="tertiary",
                shortcut=identity.shortcut("Esc"),
                on_click=choose,
                args=(review, action, ""),
            )
            about = f"{field} {on_screen.choices_made()}"
            in_view("chosen", about, focus=field if on_screen.was_just_chosen() else None)
        accepted = _checked(review, action, choice)
        if choice.type == "edit":
            editor.edit(review, action, choice, getattr(accepted, "faults", ()))
        if choice.type == "reject":
            _words(review, action, "reason", "Reason (the agent will read this)", choice.reason)
        if choice.type == "respond" and answer(review, action, choice):
            _words(review, action, "reply", _reply_label(action, choice), choice.reply)
        incomplete = True
        if choice.type == "respond" and lacks_words(action, choice):
            st.caption(NO_ANSWER)
        elif isinstance(accepted, ReviewError):
            _refused(accepted)
        else:
            _consequence(review, action, accepted)
            incomplete = _to_type(review, accepted, choice)
        with st.popover("Comment…", type="tertiary"):
            _words(
                review, action, "comment", "For the record only; the agent does not read it", choice.comment
            )
    return incomplete


def _words(review: Review, action: Action, field: str, label: str, value: str) -> None:
    name = widget_keys.action_key(field, review, action)

    def keep() -> None:
        drafts.save(
            review, drafts.on_screen(review).with_choice(action, **{field: st.session_state[name] or ""})
        )

    stands = st.text_area(label, value=value, key=name, on_change=keep, max_chars=20_000)
    _keep_what_stands(review, action, field, value, stands)


def _keep_what_stands(review: Review, action: Action, field: str, kept: str, stands: str | None) -> None:
    """Put a field's text into the draft though no change was reported here, and redraw the page for it.

    A page that reconnects after a server restart sends what its fields hold, but reports no change.
    """
    name = widget_keys.action_key(field, review, action)
    if not widget_keys.is_new_here(name):
        return
    changed = (stands or "") != kept
    if changed:
        drafts.save(review, drafts.on_screen(review).with_choice(action, **{field: stands or ""}))
    # Only now: drawing can be cut off anywhere, and the next drawing must then save the text.
    widget_keys.note_drawn(name)
    if changed:
        st.rerun()


def _checked(review: Review, action: Action, choice: Choice) -> AcceptedDecision | ReviewError:
    """Return what this choice would do, or the error that says why it is not accepted."""
    try:
        made = drafts.decision(review, action, choice) | {"edited_digest": None}
        return app.console().preview_one(review, action, made)
    except ReviewError as error:
        return error


def _refused(error: ReviewError) -> None:
    """Show what is wrong, one line for each place."""
    faults = error.faults if isinstance(error, ArgumentsRefused | InvalidDecision) else ()
    literal("\n".join(map(str, faults)) or str(error))


def _consequence(review: Review, action: Action, accepted: AcceptedDecision) -> None:
    """Show what an edit changes, and what will be sent to the model."""
    if accepted.type == "edit":
        on_screen.see_edited_digest(review, action, accepted.after.shown_digest)
        editor.show_change(accepted)
    if accepted.told is not None:
        st.caption(_sends(accepted))
        literal(accepted.told)


def _sends(accepted: AcceptedDecision) -> str:
    return "What will be sent to the agent" if accepted.answer is None else SENDS[accepted.answer.is_text]


def _reply_label(action: Action, choice: Choice) -> str:
    if action.tool != QUESTION:
        return "Your answer, as the tool's result"
    return "Your answer, as JSON" if choice.form == "json" else "Your answer"


def _to_type(review: Review, accepted: AcceptedDecision, choice: Choice) -> bool:
    """Ask for the dangerous value of what would run, if it has one; return true until it is typed."""
    action, after = accepted.before, accepted.after
    policy = app.console().queries.agent(action.agent).policy
    wanted = retype.to_type(policy, after.tool, after.args) if choice.type in RUNS else None
    if wanted is None:
        return False
    name = widget_keys.action_key("typed", review, action)

    def keep() -> None:
        draft = drafts.on_screen(review).with_choice(action, typed=st.session_state[name] or "")
        drafts.save(review, onward(review, action, draft))

    line(IRREVERSIBLE.format(policy.tools[after.tool].dangerous))
    stands = st.text_input(
        TYPE_AGAIN, value=choice.typed, key=name, on_change=keep, autocomplete="off", live=True
    )
    _keep_what_stands(review, action, "typed", choice.typed, stands)
    if choice.typed and choice.typed != wanted:
        st.warning(NOT_IT, icon=":material/keyboard:")
    return choice.typed != wanted
