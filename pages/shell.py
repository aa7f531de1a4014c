"""The frame of every page: the navigation with the count of what waits, and who you are."""

from __future__ import annotations

import streamlit as st

from agent.review.errors import ReviewError
from pages.parts.common.literal import line
from pages.parts.frame import uninterrupted_callbacks  # noqa: F401
from pages.parts.frame.auto_refresh import watch_queue
from pages.parts.frame.reviewer_name import who
from pages.parts.frame.stop_all import banner
from pages.parts.state import app, drawing, flash

LIST_WIDTH = 400  # pixels, of the inbox's list


def main() -> None:
    drawing.begin_drawing()
    waiting = app.console().queries.queue_length()
    st.set_page_config(
        page_title=f"({waiting}) Review console" if waiting else "Review console",
        page_icon="✋",
        layout="wide",
        initial_sidebar_state=LIST_WIDTH,
    )
    inbox = f"Inbox · {waiting}" if waiting else "Inbox"
    page = st.navigation(
        [
            # The default page is served only at the root; the hidden one answers to /inbox.
            st.Page("inbox.py", title=inbox, icon=":material/inbox:", url_path="first", default=True),
            st.Page("inbox.py", title=inbox, url_path="inbox", visibility="hidden"),
            st.Page("chat.py", title="Chat", icon=":material/forum:", url_path="chat"),
            st.Page("audit.py", title="Audit", icon=":material/receipt_long:", url_path="audit"),
            st.Page("policies.py", title="Policies", icon=":material/policy:", url_path="policies"),
            st.Page("qa.py", title="QA", icon=":material/science:", url_path="qa"),
            st.Page("lessons.py", title="Lessons", icon=":material/school:", url_path="lessons"),
        ],
        position="top",
    )
    who()
    banner()
    flash.show_flash()
    if page.title != inbox:
        app.wait_for_work()
    try:
        page.run()
    except ReviewError as error:
        st.error("This page cannot be drawn now.")
        line(str(error))
    if page.title != inbox:
        watch_queue(waiting)


try:
    main()
finally:
    drawing.end_drawing()
