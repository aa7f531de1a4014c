"""The current state of a lesson's stage: the graphs, the wire, what was looked up, and the world."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.lessons.plain import Sent
from agent.lessons.stage import OURS, Stage
from pages.parts.common.literal import line, literal
from pages.parts.thread.under_the_hood import drawing


def stage_view(stage: Stage) -> None:
    pictures = stage.pictures()
    if not pictures:
        st.caption("Here you will see the graph, and what goes over the wire to it and back.")
        return
    _graphs(stage)
    new = stage.outcomes[-1].wires if stage.outcomes else frozenset()
    wires = {**{title: thread.wire for title, thread in stage.plain.items()}, OURS: stage.wire}
    if stage.shown:
        _wire("Looked up", stage.shown, is_open=True)
    for title in sorted(wires, key=lambda one: one not in new):
        _wire(f"Over the wire: {title}", wires[title], is_open=title in new)
    _outbox(stage)


def _graphs(stage: Stage) -> None:
    pictures = stage.pictures()
    for column, (title, inside) in zip(st.columns(len(pictures)), pictures, strict=True):
        with column:
            st.caption(title)
            st.graphviz_chart(drawing(inside))
            st.caption(f"Continues at: {', '.join(inside.at)}" if inside.at else "It has finished.")


def _wire(title: str, sent: Sequence[Sent], *, is_open: bool) -> None:
    """Draw what was sent, newest first, since the last step is about the newest."""
    if not sent:
        return
    with st.expander(f"{title} · newest first", expanded=is_open):
        for one in reversed(sent):
            st.caption(one.what)
            literal(one.value)


def _outbox(stage: Stage) -> None:
    sent = stage.world.outbox()
    st.markdown(f"**The outbox** of this lesson's world · {len(sent)}")
    for mail in sent:
        line(f"{mail.id}. to {mail.recipient}: {mail.subject} · {mail.body}")
