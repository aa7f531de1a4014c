"""Keep what a model proposed and what a tool returned within size limits, before it is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langchain_core.messages import InvalidToolCall, ToolMessage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.tools.base import TOOL_MESSAGE_BLOCK_TYPES

from agent.review.bounds import MAX_REFUSED, bounded, spelt
from agent.review.errors import ArgumentsRefused
from agent.review.screening import Proposal, is_object

MAX_NAME = 1_000
"""Most bytes that are kept of a call's id or of its tool's name."""
BEYOND = "beyond the limits: "
"""Prefix of the error of a call whose arguments are an object so long that only the beginning of its text is kept."""


def named(proposal: Proposal) -> Proposal:
    """Return the proposal with an id and a name that can be kept; an id that is too long counts as missing."""
    too_long = len(proposal.id.encode("utf-8", "replace")) > MAX_NAME
    return replace(proposal, id="" if too_long else proposal.id, tool=bounded(proposal.tool, MAX_NAME))


def as_broken(proposal: Proposal, refused: ArgumentsRefused) -> InvalidToolCall:
    """Return the call as an invalid one. Of a long text only the beginning is kept, with what it was refused for."""
    whole = spelt(proposal.args)
    kept = bounded(whole, MAX_REFUSED)
    faults = "; ".join(str(fault) for fault in refused.faults)
    error = f"{BEYOND}{faults}" if kept != whole and is_object(whole) else str(refused)
    return invalid_tool_call(name=proposal.tool, args=kept, id=proposal.id, error=error)


def fault_of(call: InvalidToolCall) -> str:
    """Return why such a call was refused if only the beginning of its arguments was kept, or ""."""
    error = call["error"] or ""
    return error.removeprefix(BEYOND) if error.startswith(BEYOND) else ""


def within_bounds(content: Any, limit: int) -> Any:
    """Return what a tool returned, cut to `limit` bytes; content of several parts that is longer becomes text."""
    if isinstance(content, str):
        return bounded(content, limit)
    text = spelt(content)
    return content if bounded(text, limit) == text else bounded(text_of_parts(content) or text, limit)


def text_of_parts(content: Any) -> str:
    """Return the text of message content in several parts; "" if no part is text or it is not such content."""
    if not isinstance(content, list) or not all(map(_is_part, content)):
        return ""
    return str(ToolMessage(content, tool_call_id="").text)


def _is_part(one: Any) -> bool:
    """Return whether LangChain accepts it as part of a message; it writes content with anything else as one text."""
    return isinstance(one, str) or (isinstance(one, dict) and one.get("type") in TOOL_MESSAGE_BLOCK_TYPES)
