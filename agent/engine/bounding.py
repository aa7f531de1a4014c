"""Keeping what a model proposed and what a tool gave within bounds, before anything keeps it."""

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
"""Bytes of a call's id or of its tool's name. No longer ones are kept."""
BEYOND = "beyond the limits: "
"""So the error of a call begins whose arguments are an object, but of which only the beginning of the text is kept."""


def named(proposal: Proposal) -> Proposal:
    """The proposal, with an id and a name that can be kept; an id that is too long counts as missing."""
    too_long = len(proposal.id.encode("utf-8", "replace")) > MAX_NAME
    return replace(proposal, id="" if too_long else proposal.id, tool=bounded(proposal.tool, MAX_NAME))


def as_broken(proposal: Proposal, refused: ArgumentsRefused) -> InvalidToolCall:
    """The call as one that cannot be taken. Of a long text only the beginning is kept, and what it was refused for."""
    whole = spelt(proposal.args)
    kept = bounded(whole, MAX_REFUSED)
    faults = "; ".join(str(fault) for fault in refused.faults)
    error = f"{BEYOND}{faults}" if kept != whole and is_object(whole) else str(refused)
    return invalid_tool_call(name=proposal.tool, args=kept, id=proposal.id, error=error)


def fault_of(call: InvalidToolCall) -> str:
    """Why such a call was refused, where only the beginning of its arguments was kept; else ""."""
    error = call["error"] or ""
    return error.removeprefix(BEYOND) if error.startswith(BEYOND) else ""


def within_bounds(content: Any, limit: int) -> Any:
    """What a tool gave, within the limit: content of several parts as text, where it is longer."""
    if isinstance(content, str):
        return bounded(content, limit)
    text = spelt(content)
    return content if bounded(text, limit) == text else bounded(text_of_parts(content) or text, limit)


def text_of_parts(content: Any) -> str:
    """The text of a message's content of several parts; "" where none of them is text, or where it is no content."""
    if not isinstance(content, list) or not all(map(_is_part, content)):
        return ""
    return str(ToolMessage(content, tool_call_id="").text)


def _is_part(one: Any) -> bool:
    """Whether LangChain takes it for a part of a message; content with anything else it writes as one text."""
    return isinstance(one, str) or (isinstance(one, dict) and one.get("type") in TOOL_MESSAGE_BLOCK_TYPES)
