"""What stands in the place of a page, or of a part of it, that cannot be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from agent.review.errors import ReviewError
from pages.parts.literal import line


@contextmanager
def or_why_not() -> Iterator[None]:
    """Draw what the block draws, or say why that cannot be drawn now."""
    try:
        yield
    except ReviewError as error:
        st.error("This page cannot be drawn now.")
        line(str(error))
