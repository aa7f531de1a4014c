"""The card: one review, what exactly would run, and the decisions on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from agent.review.actions import Action, Review, State
from agent.review.args import show, type_name
from agent.review.errors import ArgumentsRefused, ReviewError
from pages.parts import draft as drafts
from pages.parts import editor, session
from pages.parts.draft import Choice, Draft
from pages.parts.literal import line, literal
from pages.parts.words import CHOSEN, COLOR, ICON, SEND, VERB, ago

WAIT_FOR_RUN = 1.5  # seconds a click waits on the run itself, so that a quick turn is drawn at once


def card(review: Review) -> None:
    """Draw the review and its decisions. Nothing runs from here: a click records, the server acts."""
    session.console().shown(review.review_id, to=session.reviewer())
    draft = drafts.load(review)
    place = min(draft.at, len(review.actions) - 1)
    action = review.actions[place]
    with st.container(border=True, key="card"):
        _header(review, action, place)
        if len(review.actions) > 1:
            _stepper(review, draft, place)
        _what_would_run(action)
        _siblings(review)
        _decisions(review, action, draft)


def _header(review: Review, action: Action, place: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.code(action.tool, language=None, width="content")
        if len(review.actions) > 1:
            st.caption(f"{place + 1} of {len(review.actions)}", width="content")
        st.badge(action.tier, color="orange", icon=":material/front_hand:")
        st.caption(
            f"waiting {ago(review.opened_at)}{_time_left(review)}", help=review.opened_at, width="content"
        )
    line(action.summary)
    if action.why:
        st.caption("Why you are asked")
        line(action.why)


def _time_left(review: Review) -> str:
    if review.expires_at is None:
        return ""
    left = datetime.fromisoformat(review.expires_at) - datetime.now(UTC)
    minutes = max(0, int(left.total_seconds() // 60))
    return (
        f" · closes in {minutes // 60} h {minutes % 60} min"
        if minutes >= 60
        else f" · closes in {minutes} min"
    )


def _stepper(review: Review, draft: Draft, place: int) -> None:
    def label(n: int) -> str:
        chosen = draft.of(review.actions[n]).type
        mark = f" {ICON[chosen]}" if chosen else " :material/radio_button_unchecked:"
        return f"{mark} {n + 1}"

    def go() -> None:
        to = st.session_state.get(name)
        if to is not None:
            drafts.save(review, Draft(draft.choices, int(to)))

    name = session.key("step", review.review_id, place)
    st.segmented_control(
        "Actions of this review",
        range(len(review.actions)),
        default=place,
        format_func=label,
        key=name,
        on_change=go,
        label_visibility="collapsed",
    )


def _what_would_run(action: Action) -> None:
    form, as_json, raw = st.tabs(["Arguments", "JSON", "Raw call"])
    with form:
        for name, value in (action.args or {}).items():
            _argument(name, value)
        if not action.args:
            st.caption("This call has no arguments.")
        _notes(action)
    with as_json:
        literal(show(action.args))
    with raw:
        st.caption("As the model proposed it")
        literal(action.proposed if isinstance(action.proposed, str) else show(action.proposed))
        st.caption(
            f"tool call {action.key.tool_call_id} · attempt {action.key.attempt} · digest {action.call_digest[:12]}"
        )


def _argument(name: str, value: object) -> None:
    text = show(value)
    left, right = st.columns([1, 4], vertical_alignment="top")
    with left:
        st.code(name, language=None)
        st.caption(f"{type_name(value)} · {len(text):,}")
    with right:
        literal(text)


def _notes(action: Action) -> None:
    """What the schema made of the proposal: a reviewer sees what the tool will get, and why it differs."""
    for path in action.notes.get("defaults", ()):
        line(f"{path}: filled in with the tool's default")
    for path in action.notes.get("dropped", ()):
        line(f"{path}: dropped, the tool has no such argument")
    for path, before, after in action.notes.get("coerced", ()):
        line(f"{path}: {show(before)} ({type_name(before)}) becomes {show(after)} ({type_name(after)})")


def _siblings(review: Review) -> None:
    free = [
        action
        for action in session.console().actions(review.thread_id)
        if action.state is State.APPROVED and action.key.message_id == review.actions[0].key.message_id
    ]
    if free:
        with st.expander(f"Also in this turn, without asking: {len(free)}"):
            for action in free:
                literal(f"{action.tool} {show(action.args)}")


def _decisions(review: Review, action: Action, draft: Draft) -> None:
    choice = draft.of(action)
    with st.container(horizontal=True, horizontal_alignment="right", key="choices"):
        st.button(
            "Close without deciding",
            key=session.key("close", review.review_id),
            type="tertiary",
            on_click=_close,
            args=(review,),
            help="The agent is told that the question is still open. Nothing runs.",
        )
        for kind in (one for one in ("respond", "reject", "edit", "approve") if one in action.allowed):
            st.button(
                VERB[kind],
                key=session.action_key(kind, review, action),
                icon=ICON[kind],
                type="primary" if choice.type == kind else "secondary",
                on_click=_choose,
                args=(review, action, kind),
            )
    if choice.type:
        _chosen(review, action, draft, choice)


def _chosen(review: Review, action: Action, draft: Draft, choice: Choice) -> None:
    with st.container(border=True, key="chosen"):
        st.badge(CHOSEN[choice.type], color=COLOR[choice.type], icon=ICON[choice.type])
        if choice.type == "edit":
            editor.edit(review, action, choice)
        if choice.type == "reject":
            _words(review, action, "reason", "Reason (the agent will read this)", choice.reason)
        if choice.type == "respond":
            _words(review, action, "reply", "Your answer, as the tool's result", choice.reply)
        faults = _preview(review, action, choice)
    undecided = sum(1 for one in review.actions if not draft.of(one).type)
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        if undecided:
            st.caption(
                f"{undecided} of {len(review.actions)} still to decide. Nothing is sent before the last.",
                width="content",
            )
        st.button(
            f"Submit {len(review.actions)} decisions" if len(review.actions) > 1 else SEND[choice.type],
            key=session.key("send", review.review_id),
            type="primary",
            shortcut="Ctrl+Enter",
            disabled=bool(undecided or faults),
            on_click=_send,
            args=(review,),
        )


def _words(review: Review, action: Action, field: str, label: str, value: str) -> None:
    name = session.action_key(field, review, action)

    def keep() -> None:
        drafts.save(review, drafts.load(review).with_choice(action, **{field: st.session_state[name] or ""}))

    st.text_area(label, value=value, key=name, on_change=keep, max_chars=20_000)


def _preview(review: Review, action: Action, choice: Choice) -> bool:
    """Show what this choice would do, and what the model will be told; true if it cannot be taken yet."""
    try:
        decisions = [_stand_in(one) for one in review.actions]
        place = review.actions.index(action)
        decisions[place] = drafts.decision(review, action, choice) | {"edited_digest": None}
        ruling = session.console().preview(review.thread_id, decisions, review_id=review.review_id)[place]
    except ArgumentsRefused as error:
        editor.show_faults(error)
        return True
    except ReviewError as error:
        line(str(error))
        return True
    if choice.type == "edit":
        session.see_edited_digest(review, action, ruling.after.shown_digest)
        editor.show_change(ruling)
    if ruling.told:
        st.caption("The agent will be told")
        literal(ruling.told)
    return False


def _stand_in(action: Action) -> dict[str, str]:
    """Some decision the action allows, so that one choice can be previewed before the others are made."""
    kind = next((one for one in ("reject", "approve", "respond") if one in action.allowed), "reject")
    return {"type": kind, "message": "…"}


def _choose(review: Review, action: Action, kind: str) -> None:
    draft = drafts.load(review).with_choice(action, type=kind)
    undecided = [place for place, one in enumerate(review.actions) if not draft.of(one).type]
    at = undecided[0] if undecided and kind == "approve" else review.actions.index(action)
    drafts.save(review, Draft(draft.choices, at))


def _send(review: Review) -> None:
    draft = drafts.load(review)
    try:
        decisions = [drafts.decision(review, one, draft.of(one)) for one in review.actions]
        run = session.console().decide(
            review.thread_id, decisions, by=session.reviewer(), review_id=review.review_id
        )
    except ArgumentsRefused as error:
        session.flash("error", "The edited arguments cannot be sent. Nothing was decided.", str(error))
        return
    except ReviewError as error:
        session.flash_error("This was not sent. Your draft is kept.", error)
        return
    drafts.forget(review)
    session.flash("toast", _sent(review.actions, draft))
    session.console().wait(run, WAIT_FOR_RUN)


def _sent(actions: Sequence[Action], draft: Draft) -> str:
    return f"Sent {len(actions)} decisions." if len(actions) > 1 else f"Sent: {draft.of(actions[0]).type}."


def _close(review: Review) -> None:
    try:
        run = session.console().close(review.thread_id, by=session.reviewer(), review_id=review.review_id)
    except ReviewError as error:
        session.flash_error("The review was not closed.", error)
        return
    session.flash("toast", "Closed without deciding.")
    session.console().wait(run, WAIT_FOR_RUN)
