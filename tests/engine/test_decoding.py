"""Messages are decoded once; what may be changed after reading is decoded anew."""

from __future__ import annotations

import dataclasses
import enum
import re
import sys
from collections import deque
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired
from uuid import uuid4
from zoneinfo import ZoneInfo

import ormsgpack
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Interrupt, Send
from pydantic import BaseModel
from typing_extensions import TypedDict

from agent.engine.decoding import LARGEST, DecodesOnce, Reaching
from agent.engine.loading.schemas import classes_of

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


# External graphs: only the classes that their schemas reach.


class Mood(enum.Enum):
    GOOD = "good"


@dataclasses.dataclass
class Step:
    text: str
    mood: Mood


class Coordinates(NamedTuple):
    x: int
    y: int


class Form(BaseModel):
    size: int


@dataclasses.dataclass
class Stranger:
    text: str


class Inner(TypedDict):
    form: Form | None


class Reached(MessagesState):
    steps: Annotated[dict[str, list[Step]], lambda before, after: after]
    inner: NotRequired[Inner]
    where: Coordinates


def graph_of(state: Any = Reached) -> Any:
    return StateGraph(state).add_node("n", lambda _: {}).add_edge(START, "n").compile()


VALUES = [
    {"a": [Step("x", Mood.GOOD)]},
    Form(size=1),
    Coordinates(1, 2),
    {Mood.GOOD, "b"},
    deque([Step("x", Mood.GOOD)]),
    Send("n", {"step": Step("x", Mood.GOOD)}),
    Command(update={"form": Form(size=1)}, goto="n"),
    Interrupt({"form": Form(size=2)}, id="i"),
    _DeltaSnapshot([Step("x", Mood.GOOD)]),
    MESSAGES,
    Document("text", metadata={"at": datetime(2030, 1, 1, tzinfo=UTC)}),
    [date(2030, 1, 1), time(12), timedelta(days=1), ZoneInfo("Europe/Berlin"), UTC],
    [uuid4(), Decimal("1.5"), Path("/tmp"), re.compile("a+", re.I), ip_address("::1"), frozenset([1])],
    {1: None, "b": b"x"},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_the_schemas_reach_is_read_as_langgraph_reads_what_it_trusts(value: Any) -> None:
    theirs = JsonPlusSerializer(allowed_msgpack_modules=[Mood, Step, Coordinates, Form])
    saved = theirs.dumps_typed(value)
    assert Reaching(classes_of(graph_of())).loads_typed(saved) == theirs.loads_typed(saved) == value


def test_the_classes_are_those_that_the_schemas_reach() -> None:
    own = {kept for (module, _), kept in classes_of(graph_of()).items() if module == __name__}
    assert own == {Mood, Step, Coordinates, Form}


def test_a_class_made_by_a_function_is_reached_and_one_of_two_of_a_name_is_not() -> None:
    def local(name: str) -> Any:
        return dataclasses.make_dataclass(name, ["x"], namespace={"__module__": __name__})

    one, other, twin = local("Local"), local("Twin"), local("Twin")
    fields = {"one": one, "other": other, "twin": twin}
    serde = Reaching(classes_of(graph_of(TypedDict("Fields", fields))))  # type: ignore[operator]
    assert serde.loads_typed(serde.dumps_typed(one(1))) == one(1)
    assert serde.loads_typed(serde.dumps_typed(twin(1))) == {"x": 1}


RAN: list[str] = []


def explode(*args: Any, **named: Any) -> str:
    RAN.append("exploded")
    return "exploded"


HOSTILE = [
    (__name__, "explode"),
    ("os", "system"),
    ("builtins", "eval"),
    ("subprocess", "Popen"),
    ("antigravity", "x"),
]


@pytest.mark.parametrize(("module", "name"), HOSTILE)
@pytest.mark.parametrize("code", range(6))
def test_a_hostile_checkpoint_has_nothing_made_and_nothing_imported(
    code: int, module: str, name: str
) -> None:
    content: Any = {0: "touch x", 1: ["touch x"], 3: "touch x"}.get(code, {"args": "touch x"})
    inside = ormsgpack.Ext(code, ormsgpack.packb((module, name, content, "__call__")))
    nested = ormsgpack.Ext(0, ormsgpack.packb(("builtins", "set", [inside]), default=None))
    serde, before = Reaching(classes_of(graph_of())), set(sys.modules)
    for _ in range(2):  # what was refused once is not known the second time
        assert serde.loads_typed(("msgpack", ormsgpack.packb({"a": inside}))) == {"a": content}
    serde.loads_typed(("msgpack", ormsgpack.packb(nested)))
    assert RAN == []
    assert set(sys.modules) == before


def test_a_class_that_no_schema_reaches_is_plain_data_though_it_is_imported() -> None:
    serde = Reaching(classes_of(graph_of()))
    assert serde.loads_typed(serde.dumps_typed(Stranger("x"))) == {"text": "x"}


@pytest.mark.parametrize("kind", ["json", "pickle", "x"])
def test_no_kind_is_read_that_is_not_written(kind: str) -> None:
    with pytest.raises(ValueError, match="not written"):
        Reaching({}).loads_typed((kind, b'{"lc": 2, "type": "constructor", "id": ["os", "system"]}'))
