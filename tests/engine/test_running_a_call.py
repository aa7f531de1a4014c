"""What one tool is given when its call runs."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from agent.engine.graph import run
from agent.review.screening import ScreenedCall


def test_a_tool_finds_the_same_key_for_every_attempt_at_its_action_and_for_no_other() -> None:
    seen: list[str] = []

    @tool
    def note(text: str, config: RunnableConfig) -> str:
        """Note it."""
        seen.append(config["configurable"]["idempotency_key"])
        return text

    call = ScreenedCall.from_state(
        {
            "message_id": "m",
            "tool_call_id": "c",
            "tool": "note",
            "proposed": {},
            "args": {"text": "x"},
            "tier": "auto",
            "why": "",
            "allowed": [],
            "summary": "",
            "policy_version": "",
            "approve_by": None,
            "execute_by": None,
            "fate": "run",
        }
    )
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}
    for one in (
        call,
        replace(call, attempt=2),
        replace(call, tool_call_id="d"),
        replace(call, message_id="n"),
    ):
        run(note, one, config)
    assert seen == ["t/m/c", "t/m/c", "t/m/d", "t/n/c"]
