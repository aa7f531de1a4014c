"""Literal text: never Markdown or HTML, nothing fetched, nothing hidden.

Pages draw whatever an agent or a person wrote through this module, or as data of a component such as `sheet`.
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

MAX_UNFOLDED = 2_000  # characters; a longer text is folded
MOST_LINES = 40
CHARACTER = 7.65
"""Pixels: a code font's letter is 0.6 em wide, and .streamlit/config.toml has it at 0.85 of 15."""
WIDTH_AROUND_TEXT = 62  # pixels of a block: its margins and the button that copies it
Width = Literal["stretch", "content"]

WARNS = {
    Suspicion.HIDDEN: "Hidden characters. They are shown as marks between ⟨ and ⟩.",
    Suspicion.PADDING: "Long blank space. Look at what follows it.",
    Suspicion.IMITATION: "Text that imitates the marks of this console.",
    Suspicion.LOOKALIKE: "Letters that look like others. This may not be what it seems to say.",
    Suspicion.URL_USER: "A URL with a user before its host. It leads to what follows the @.",
}


def literal(text: str, *, width: Width = "stretch") -> None:
    """Draw a value from an agent or a person, complete, in a block of its own.

    A long one is folded and labelled with its size; it is sent to the browser only once its fold is opened.
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
    """Draw a text that somebody has just asked for: like `literal`, but never folded."""
    st.code(visible(text), language=None, wrap_lines=True)


def line(text: str, *, width: Width = "stretch", grows: bool = False) -> None:
    """Draw a sentence that holds such values, folded if it is long, unless it still `grows`."""
    if is_long(text) and not grows:
        literal(text)
    else:
        st.text(visible(text), width=width)


def in_row(text: str) -> None:
    """Draw such a sentence after a button in a row: a long one wraps in its place, not below the button."""
    with st.container():
        line(text)


def cautions(name: str, text: str, kind: Kind = "text") -> None:
    """Warn about what is hidden or deceptive in the text, naming the argument it belongs to."""
    if found := warning_of(name, text, kind):
        warning, told = found
        with st.container(gap="xsmall"):
            st.warning(warning, icon=":material/visibility:")
            st.text(told)


def warning_of(name: str, text: str, kind: Kind) -> tuple[str, str] | None:
    """Return a warning of what is hidden or deceptive in the text, and the places; None if nothing is."""
    found = deception.cautions(name, text, kind)
    if not found:
        return None
    told = [f"{one.argument} · {each}" for one in found for each in one.found]
    return " ".join(WARNS[one.suspicion] for one in found), visible("\n".join(told))


def unopened(texts: Iterable[str]) -> int:
    """Return how many of the texts are folded and have not been opened in this session."""
    return sum(1 for text in texts if is_long(text) and not widget_keys.was_opened(digest(text)))


def was_opened(text: str) -> bool:
    """Return whether the text is long enough to be folded and was opened in this session."""
    return is_long(text) and widget_keys.was_opened(digest(text))


def fold_key(text: str, place: int = 0) -> str:
    """Return the key of a long text's fold; `place` counts the folds of the same text on one page."""
    return widget_keys.key("fold", digest(text), place)


def _fold(text: str, place: int = 0) -> ExpanderContainer:
    try:
        return st.expander(
            fold_label(text), key=fold_key(text, place), on_change="rerun", icon=":material/unfold_more:"
        )
    except StreamlitDuplicateElementKey:  # the same text is on this page more than once
        return _fold(text, place + 1)


def fold_label(text: str) -> str:
    """Return the label of a long text's fold, which says its size."""
    lines = text.count("\n") + 1
    return f"Show all {len(text):,} characters" + (f" in {lines:,} lines" if lines > 1 else "")


def is_long(text: str) -> bool:
    """Return whether the text is long enough to be folded."""
    return len(text) > MAX_UNFOLDED or text.count("\n") >= MOST_LINES


def _room(shown: str) -> int:
    """Return the width in pixels of a block whose copy button does not cover the text."""
    return ceil(WIDTH_AROUND_TEXT + CHARACTER * max(map(_cells, shown.split("\n"))))


def _cells(text: str) -> int:
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def digest(text: str) -> str:
    """Return the digest under which this text's fold is noted as opened."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
