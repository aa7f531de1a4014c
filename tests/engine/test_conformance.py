"""LangGraph's own suite for checkpointers, run against ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from agent.engine.checkpointer import FencedSaver

UNSUPPORTED = {Capability.DELETE_FOR_RUNS}
"""A run's checkpoints hold only what changed: without them, what its thread holds now could not be read."""


@pytest.mark.parametrize("capability", [one for one in Capability if one not in UNSUPPORTED], ids=str)
def test_the_saver_does_what_langgraph_expects_of_one(capability: Capability, tmp_path: Path) -> None:
    async def made() -> AsyncGenerator[FencedSaver, None]:
        saver = FencedSaver(tmp_path / "checkpoints.sqlite")
        yield saver
        saver.conn.close()

    registered = checkpointer_test(name=f"FencedSaver, {capability.value}")(made)
    report = asyncio.run(validate(registered, capabilities={capability.value}))
    found = report.results[capability.value]
    assert found.detected
    assert found.failures == []
    assert found.tests_passed


def test_what_is_not_supported_is_not_offered(tmp_path: Path) -> None:
    saver = FencedSaver(tmp_path / "checkpoints.sqlite")
    with pytest.raises(NotImplementedError):
        saver.delete_for_runs(["a run"])
    saver.conn.close()
