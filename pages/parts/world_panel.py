"""What the agent acts upon, as it is now, beside the decision; what this thread changed is marked."""

from __future__ import annotations

import streamlit as st

from pages.parts import session
from pages.parts.literal import literal


def world_panel(thread_id: str | None) -> None:
    world = session.world()
    changed = {change.subject for change in world.changes(thread_id)} if thread_id else set()
    with st.container(border=True, key="world"):
        st.markdown("**World**, as it is now")
        outbox, mailbox = world.outbox(), world.mailbox()
        sent, received = st.tabs([f"Outbox · {len(outbox)}", f"Mailbox · {len(mailbox)}"])
        with sent:
            if not outbox:
                st.caption("Nothing has been sent.")
            for mail in reversed(outbox):
                _row(f"outbox/{mail.id}" in changed, f"to {mail.recipient}\n{mail.subject}\n{mail.body}")
        with received:
            for one in mailbox:
                text = f"{one.message_id} · {one.folder}\n{one.sender}\n{one.subject}"
                _row(f"mailbox/{one.message_id}" in changed, text)


def _row(by_this_thread: bool, text: str) -> None:
    if by_this_thread:
        st.badge("changed by this thread", color="violet", icon=":material/edit:")
    literal(text)
