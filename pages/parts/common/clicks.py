"""The guard for clicks that record something: without a confirmed name in this browser, they ask for one instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from pages.parts.state import identity

P = ParamSpec("P")


def named_first(act: Callable[P, None]) -> Callable[P, None]:
    """Let a callback act once a name is confirmed in this browser; until then, ask for it and keep what was typed."""

    @wraps(act)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        if identity.named():
            act(*args, **kwargs)
            return
        identity.ask_for_name()
        typed = st.session_state.get(identity.MESSAGE)
        if isinstance(typed, str):
            st.session_state[identity.MESSAGE] = (
                typed  # a chat field is emptied by sending unless its value is set
            )

    return guarded
