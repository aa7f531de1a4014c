"""Messages are decoded once; what may be changed after reading is decoded anew."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from agent.engine.decoding import LARGEST, DecodesOnce

MESSAGES = [
    HumanMessage("hello", id="m-1"),
    AIMessage("", id="m-2", tool_calls=[{"name": "send", "args": {"to": "a"}, "id": "c"}]),
]


def test_equal_bytes_give_the_same_message() -> None:
    serde = DecodesOnce()
    first, again = (serde.loads_typed(serde.dumps_typed(MESSAGES)) for _ in range(2))
    assert first == again == MESSAGES
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_a_snapshot_holds_the_same_messages_in_a_list_of_its_own() -> None:
    serde = DecodesOnce()
    first, again = (serde.loads_typed(serde.dumps_typed(_DeltaSnapshot(MESSAGES))) for _ in range(2))
    assert first.value[0] is again.value[0]
    first.value.clear()
    assert again.value == MESSAGES


def test_what_is_no_message_is_decoded_anew() -> None:
    serde = DecodesOnce()
    kept = {"channel_versions": {"messages": 1}, "seen": {"a", "b"}}
    first, again = (serde.loads_typed(serde.dumps_typed(kept)) for _ in range(2))
    first["channel_versions"]["messages"] = 2
    first["seen"].add("c")
    assert again == kept


def test_a_large_message_is_not_kept() -> None:
    serde = DecodesOnce()
    large = HumanMessage("x" * LARGEST, id="m-3")
    first, again = (serde.loads_typed(serde.dumps_typed(large)) for _ in range(2))
    assert first == again
    assert first is not again


def test_it_reads_and_writes_what_langgraphs_own_does() -> None:
    ours, theirs = DecodesOnce(), JsonPlusSerializer()
    for value in (MESSAGES, {"a": [1, 2.5, None, b"x"]}, None, b"bytes"):
        assert (
            ours.loads_typed(theirs.dumps_typed(value))
            == theirs.loads_typed(ours.dumps_typed(value))
            == value
        )
