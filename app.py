"""Serve the console: the pages and the HTTP API, in one process.

Start it with `streamlit run app.py`, `python app.py`, or any ASGI server as `app:app`. `agent.startup` defines the order
of start-up.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from agent import startup
from agent.api import PREFIX
from agent.hosting.hosts import guarded
from agent.hosting.lazy_app import Later
from agent.hosting.mount import MountedFirst, mounted
from pages.parts.frame import uninterrupted_callbacks  # noqa: F401  before Streamlit makes its first session


def first_page() -> None:
    """Import the modules that the first page needs."""
    from pages import preload  # noqa: F401


app = st.App(
    Path(__file__).parent / "pages" / "shell.py",
    lifespan=startup.lifespan(first_page),
    middleware=[*guarded(), Middleware(MountedFirst, mounted(PREFIX, Later(startup.api)))],
)

if __name__ == "__main__":
    app.run()
