"""The live thread's internals: the graph, the interrupt, the answer about to be sent, the checkpoints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from agent.console import View
from agent.ports import Inside
from agent.review import shapes
from agent.review.actions import Review
from agent.review.errors import ReviewError
from pages.parts.card import draft as drafts
from pages.parts.card.copy_as import answer
from pages.parts.common.literal import line, literal
from pages.parts.common.words import clock
from pages.parts.state import app


def under_the_hood(view: View) -> None:
    try:
        inside = app.console().queries.inside(view.thread.thread_id)
    except ReviewError as error:
        st.warning("The state of this thread cannot be shown.")
        line(str(error))
        return
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**The graph**, with the node that runs or waits now")
        st.graphviz_chart(drawing(inside))
    with right:
        if not inside.payloads:
            st.caption("Nothing is interrupted: the graph runs, or has finished its turn.")
        for interrupt_id, value in inside.payloads.items():
            st.markdown("**The interrupt's value**, as the graph gave it")
            literal(_json({interrupt_id: value}))
        for review in view.reviews:
            st.markdown("**The command about to be sent**, from your draft")
            decisions = [
                {name: value for name, value in one.items() if not name.endswith("_digest")}
                for one in answer(review, drafts.load(review))["decisions"]  # type: ignore[attr-defined]
            ]
            literal(f"Command(resume={_json({review.review_id: _answer(inside, review, decisions)})})")
    st.markdown("**Checkpoints**, newest first")
    st.dataframe(
        [
            {
                "when": clock(step.at),
                "step": step.step,
                "written by": step.source,
                "next": ", ".join(step.next) or "(end)",
                "messages": step.messages,
                "checkpoint": step.checkpoint_id,
            }
            for step in inside.steps
        ],
        hide_index=True,
    )


def _answer(inside: Inside, review: Review, decisions: Sequence[dict[str, Any]]) -> Any:
    """Return the resume value for the decisions, in the shape that the interrupt asked for."""
    pause = inside.pauses.get(review.review_id)
    try:
        return shapes.answer(pause, decisions) if pause else shapes.resume_value(decisions)
    except (KeyError, ValueError):  # a draft that is not complete yet
        return {"decisions": list(decisions)}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=repr)


def drawing(inside: Inside) -> str:
    """Return the graph in DOT. Node names are anybody's text, so each is quoted as a JSON string."""
    lines = [
        "digraph {",
        'bgcolor="transparent"; node [shape=box, style="rounded,filled", fillcolor="#e8ecea"];',
        'edge [color="#7d8a86"];',  # visible on light and on dark
    ]
    for node in inside.nodes:
        lit = ', fillcolor="#f5b942", penwidth=2' if node in inside.at else ""
        lines.append(f"{json.dumps(node)} [label={json.dumps(node.strip('_'))}{lit}];")
    for start, end, conditional in inside.edges:
        style = " [style=dashed]" if conditional else ""
        lines.append(f"{json.dumps(start)} -> {json.dumps(end)}{style};")
    return "\n".join([*lines, "}"])
