"""Anybody's text, shown as it is: never as Markdown or HTML, nothing fetched, nothing hidden.

Whatever an agent or a person wrote reaches a page through this file alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from math import ceil
from typing import Literal
from unicodedata import east_asian_width

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer
from streamlit.errors import StreamlitDuplicateElementKey

from agent.review.text import deception
from agent.review.text.deception import Suspicion, visible
from agent.review.text.lookalikes import Kind
from pages.parts.state import widget_keys

MAX_UNFOLDED = 2_000  # characters that are shown without being asked for
MOST_LINES = 40
CHARACTER = 7.65
"""Pixels: a code font's letter is 0.6 em wide, and .streamlit/config.toml has it at 0.85 of 15."""
BESIDE_TEXT = 62  # pixels of a block: its margins and the button that copies it
Width = Literal["stretch", "content"]

WARNS = {
    Suspicion.HIDDEN: "Hidden characters. They are shown as marks between ⟨ and ⟩.",
    Suspicion.PADDING: "Long blank space. Look at what stands behind it.",
    Suspicion.IMITATION: "Text that imitates the marks of this console.",
    Suspicion.LOOKALIKE: "Letters that pass for others. This may not be what it reads as.",
    Suspicion.URL_USER: "A URL with a user before its host. It leads to what follows the @.",
}


def literal(text: str, *, width: Width = "stretch") -> None:
    """A value of an agent's or a person's, whole, in a block of its own.

    A long one is folded with its size, and does not leave the server before its fold is opened.
    """
    if not is_long(text):
        shown = visible(text)
        st.code(shown, language=None, wrap_lines=True, width=_room(shown) if width == "content" else width)
        return
    fold = _fold(text)
    if fold.open:
        widget_keys.see_opened(digest(text))
        fold.code(visible(text), language=None, wrap_lines=True)


def whole(text: str) -> None:
    """A text that somebody has just asked for: as `literal`, and never folded."""
    st.code(visible(text), language=None, wrap_lines=True)


def line(text: str, *, width: Width = "stretch", grows: bool = False) -> None:
    """A sentence that holds such values, folded like them if it is long, unless it still `grows`."""
    if is_long(text) and not grows:
        literal(text)
    else:
        st.text(visible(text), width=width)


def beside(text: str) -> None:
    """Such a sentence in a row, behind a button: it breaks where it stands, and does not move below it."""
    with st.container():
        line(text)


def cautions(name: str, text: str, kind: Kind = "text") -> None:
    """Warn of what is hidden or deceptive in the text, naming the argument it belongs to."""
    if found := warning_of(name, text, kind):
        warning, told = found
        with st.container(gap="xsmall"):
            st.warning(warning, icon=":material/visibility:")
            st.text(told)


def warning_of(name: str, text: str, kind: Kind) -> tuple[str, str] | None:
    """The console's own words of what is hidden or deceptive in the text, and where; None if nothing is."""
    found = deception.cautions(name, text, kind)
    if not found:
        return None
    told = [f"{one.argument} · {each}" for one in found for each in one.found]
    return " ".join(WARNS[one.suspicion] for one in found), visible("\n".join(told))


def unopened(texts: Iterable[str]) -> int:
    """How many of the texts are folded and were not opened yet in this session."""
    return sum(1 for text in texts if is_long(text) and not widget_keys.was_opened(digest(text)))


def was_opened(text: str) -> bool:
    """Whether the text is folded for its length and was opened in this session."""
    return is_long(text) and widget_keys.was_opened(digest(text))


def fold_key(text: str, place: int = 0) -> str:
    """The key of the fold of a long text; `place` counts its appearances on one page."""
    return widget_keys.key("fold", digest(text), place)


def _fold(text: str, place: int = 0) -> ExpanderContainer:
    try:
        return st.expander(
            fold_label(text), key=fold_key(text, place), on_change="rerun", icon=":material/unfold_more:"
        )
    except StreamlitDuplicateElementKey:  # the same text stands on this page more than once
        return _fold(text, place + 1)


def fold_label(text: str) -> str:
    """What the fold of a long text says: its size."""
    lines = text.count("\n") + 1
    return f"Show all {len(text):,} characters" + (f" in {lines:,} lines" if lines > 1 else "")


def is_long(text: str) -> bool:
    """Whether the text is folded until somebody asks for it."""
    return len(text) > MAX_UNFOLDED or text.count("\n") >= MOST_LINES


def _room(shown: str) -> int:
    """The width of a block, in pixels, in which the button that copies it does not lie on the text."""
    return ceil(BESIDE_TEXT + CHARACTER * max(map(_cells, shown.split("\n"))))


def _cells(text: str) -> int:
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def digest(text: str) -> str:
    """By what it is noted that the fold of this text was opened."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
