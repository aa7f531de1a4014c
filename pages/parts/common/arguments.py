"""All arguments of a call: a row for each, and if there are very many, one text for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.review.arguments.args import show, type_name
from agent.review.text.counts import counted
from agent.review.text.deception import cautions as caution
from pages.parts.common.folds import MOST_ROWS, in_rows
from pages.parts.common.sheet import Node, cautions, literal, row, said

NAME = "the argument's name"


def arguments(args: Mapping[str, Any] | None) -> list[Node]:
    """Return each argument's name, type, length and exact value, with a warning if anything is hidden or deceptive."""
    own, others = in_rows(args)
    made = [_row(name, show(value), type_name(value)) for name, value in own.items()]
    if others:
        made.append(_others(others))
    return made or [said("This call has no arguments.")]


def _row(name: str, text: str, kind: str) -> Node:
    warnings = cautions(NAME, name, "name") + cautions(name, text)
    return row(name, f"{kind} · {len(text):,}", [*warnings, literal(text)])


def _others(others: dict[str, Any]) -> Node:
    text = show(others)
    odd = [name for name in others if caution(NAME, name, "name")]
    nodes = [one for name in odd[:MOST_ROWS] for one in cautions(NAME, name, "name")]
    if len(odd) > MOST_ROWS:
        nodes.append(said(f"and {counted(len(odd) - MOST_ROWS, 'more name')} like these"))
    nodes += cautions("the other arguments", text)
    return row(counted(len(others), "more argument"), f"JSON · {len(text):,}", [*nodes, literal(text)])
