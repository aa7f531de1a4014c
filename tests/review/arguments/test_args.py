"""Arguments are taken exactly, refused by name, and shown to the digit."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import StructuredTool, tool
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    RootModel,
    SecretStr,
    computed_field,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict

from agent.review.arguments.args import MAX_BYTES, MAX_DEPTH, check, dumps, parse, show
from agent.review.arguments.fitting import Coercion, Received, Unknown, received
from agent.review.arguments.fitting.intake import intake_of
from agent.review.digest import canonical
from agent.review.errors import ArgumentsRefused

CASES = Path(__file__).parents[2] / "cases"
NUMBERS = json.loads((CASES / "numbers.json").read_text("utf-8"))

taken = [pytest.param(case, id=case["name"]) for case in NUMBERS if case["expect"] != "refused"]
refused = [pytest.param(case, id=case["name"]) for case in NUMBERS if case["expect"] == "refused"]

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def faults_of(act: Callable[..., object], *args: Any, **named: Any) -> list[str]:
    with pytest.raises(ArgumentsRefused) as refusal:
        act(*args, **named)
    return [str(fault) for fault in refusal.value.faults]


def a_tool(schema: Any, received_by: list[dict[str, Any]] | None = None) -> StructuredTool:
    """A real tool with this schema, which notes what its function received."""
    noted = [] if received_by is None else received_by
    return StructuredTool(
        name="spy", description="Spy.", args_schema=schema, func=lambda **named: noted.append(named)
    )


def validate(schema: Any, args: Any, *, unknown: Any) -> Received:
    """What a tool with this schema receives of the arguments."""
    return received(a_tool(schema), args, unknown=unknown)


def plainly(value: Any) -> Any:
    """A value in JSON, worked out without the console's own code."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, set):
        return sorted(plainly(one) for one in value)
    if isinstance(value, BaseModel):
        return {name: plainly(inner) for name, inner in value}
    if isinstance(value, dict):
        return {name: plainly(inner) for name, inner in value.items()}
    return [plainly(one) for one in value] if isinstance(value, list) else value


def identical(one: Any, other: Any) -> bool:
    return canonical(one) == canonical(other)


class Mail(BaseModel):
    to: str
    subject: str = "(none)"
    copies: int = 1


class Point(BaseModel):
    x: float
    y: float = 0.5


class Shape(BaseModel):
    corners: list[Point]
    label: str | None = None


# Parsing and checking.


class Anything(BaseModel):
    value: Any


class OpenSchema(BaseModel):
    value: int | float | str


@pytest.mark.parametrize("case", taken)
def test_a_json_value_is_shown_to_the_digit_and_keeps_its_type(case: dict[str, Any]) -> None:
    value = parse(case["json"])
    assert show(value) == case["expect"]["shown"]
    assert type(value).__name__ == case["expect"]["executed"]


@pytest.mark.parametrize("case", refused)
def test_a_json_value_that_cannot_be_exact_is_refused(case: dict[str, Any]) -> None:
    assert faults_of(parse, case["json"])


@pytest.mark.parametrize("case", taken)
@pytest.mark.parametrize(
    "schema", [Anything, OpenSchema, {"properties": {"value": {}}}], ids=["any", "union", "json"]
)
def test_a_schema_that_takes_any_type_leaves_the_value_as_it_came(case: dict[str, Any], schema: Any) -> None:
    value = parse(case["json"])
    made = validate(schema, {"value": value}, unknown="refuse")
    assert identical(made.args, {"value": value})
    assert made.coerced == ()


@given(values)
def test_editing_text_means_the_identical_value(value: Any) -> None:
    assert identical(parse(dumps(value)), value)


def test_editing_text_of_a_large_value_can_still_be_read() -> None:
    value = [1] * 300_000
    assert len(json.dumps(value, indent=2)) > MAX_BYTES
    assert parse(dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "where", "remedy"),
    [
        ("{to: 1}", "line 1, column 2", "double quotes"),
        ('{"a": 1,\n "b" 2}', "line 2, column 6", "colon"),
        ("[1 2]", "line 1, column 4", "comma"),
        ("[1,]", "line 1, column 4", "value"),
        ("", "line 1, column 1", "value"),
        ('"open', "line 1, column 1", "close the text"),
        ('"a\nb"', "line 1, column 3", r"\n"),
        ('"\\x"', "line 1, column 2", "backslash"),
        ("1 2", "line 1, column 3", "remove"),
        ("\ufeff1", "line 1, column 1", "BOM"),
    ],
)
def test_text_that_is_not_json_is_told_the_place_and_the_remedy(text: str, where: str, remedy: str) -> None:
    (told,) = faults_of(parse, text)
    assert where in told
    assert remedy in told


def test_every_value_that_cannot_be_taken_is_named_by_its_path() -> None:
    text = (
        '{"a": [1, NaN], "b": {"odd key": 1e400}, "c": 99999999999999999999, "d": "x\\ud83dy", "\\udead": 1}'
    )
    told = "\n".join(faults_of(parse, text))
    assert "args.a[1]: expected a finite number, got NaN" in told
    assert 'args.b["odd key"]: expected a finite number, got 1e400' in told
    assert "args.c: expected an integer from -9223372036854775808 to 18446744073709551615, got 9999" in told
    assert r'args.d: expected text without lone surrogates, got "x\ud83dy"' in told
    assert r'args["\udead"]: expected a key without lone surrogates' in told


def test_a_key_named_twice_is_named_wherever_it_stands() -> None:
    (told,) = faults_of(parse, '{"a": [{"to": "alice", "cc": 1, "to": "mallory"}]}')
    assert told == 'args.a[0]: expected each key once, got "to" more than once'


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_text_nested_too_deep_is_refused_whether_it_is_closed_or_not(opening: str, depth: int) -> None:
    closing = "]" if opening == "[" else "}"
    assert faults_of(parse, opening * depth + "1" + closing * depth)
    assert faults_of(parse, opening * depth)


def test_a_hundred_levels_are_taken() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert show(parse(text)).count("[") == MAX_DEPTH


@pytest.mark.parametrize("digits", [21, 5_000, 400_000])
def test_an_integer_of_any_length_is_refused_and_not_a_crash(digits: int) -> None:
    (told,) = faults_of(parse, "9" * digits)
    assert "expected an integer from" in told
    assert len(told) < 250


def test_a_megabyte_is_taken_and_a_byte_more_is_not() -> None:
    assert parse('"' + "x" * (MAX_BYTES - 2) + '"')
    assert "at most 1,000,000 bytes" in faults_of(parse, '"' + "x" * (MAX_BYTES - 1) + '"')[0]
    assert "at most 1,000,000 bytes" in faults_of(parse, '"' + "é" * (MAX_BYTES // 2) + '"')[0]
    assert faults_of(check, {"a": "é" * (MAX_BYTES // 2)})


@pytest.mark.parametrize(
    "value",
    [
        (1,),
        {1: "a"},
        {"a": b"x"},
        {"a": {1}},
        object(),
        math.nan,
        2**64,
        -(2**63) - 1,
        10**5000,
        "\ud800",
        {"\ud800": 1},
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_python_value_json_cannot_hold_exactly_is_refused(value: Any) -> None:
    assert faults_of(check, value)
    assert faults_of(check, {"inside": [value]})


@given(values)
def test_a_value_that_can_be_taken_is_given_back_itself(value: Any) -> None:
    assert check(value) is value


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless += [endless, endless]
    assert faults_of(check, endless)
    assert faults_of(validate, Anything, {"value": endless}, unknown="drop")


def test_a_value_shared_many_times_over_is_measured_as_it_would_be_written() -> None:
    shared: list[Any] = []
    for _ in range(60):
        shared = [shared, shared]
    assert "bytes" in faults_of(check, shared)[0]


def test_ten_thousand_mistakes_make_a_short_message() -> None:
    told = faults_of(parse, json.dumps([math.nan] * 10_000))
    assert len(told) == 101
    assert told[-1] == "args: expected no further faults, got 9,900 more"


def test_a_fault_is_told_in_words_that_can_be_sent_as_utf_8() -> None:
    for told in (faults_of(parse, '{"\\ud800": "\\udfff"}'), faults_of(check, {"\ud800": (1,)})):
        assert "".join(told).encode("utf-8")


def test_a_long_value_is_cut_in_a_message() -> None:
    (told,) = faults_of(validate, Mail, {"to": ["x" * 500]}, unknown="drop")
    assert told == 'args.to: expected text, got ["' + "x" * 78 + "…"


# Validating with a pydantic model.


def test_defaults_are_filled_in_and_named() -> None:
    made = validate(Mail, {"to": "alice"}, unknown="refuse")
    assert made.args == {"to": "alice", "subject": "(none)", "copies": 1}
    assert made.defaults == ("args.subject", "args.copies")
    assert (made.dropped, made.coerced) == ((), ())


def test_defaults_inside_lists_and_objects_are_named_too() -> None:
    made = validate(Shape, {"corners": [{"x": 1.5}, {"x": 2.0, "y": 3.0}]}, unknown="refuse")
    assert made.args == {"corners": [{"x": 1.5, "y": 0.5}, {"x": 2.0, "y": 3.0}], "label": None}
    assert made.defaults == ("args.corners[0].y", "args.label")


def test_values_the_schema_turns_into_others_are_named_with_both() -> None:
    made = validate(Shape, {"corners": [{"x": 1, "y": "2.5"}]}, unknown="refuse")
    assert identical(made.args["corners"], [{"x": 1.0, "y": 2.5}])
    assert [repr(each) for each in made.coerced] == [
        repr(Coercion("args.corners[0].x", 1, 1.0)),
        repr(Coercion("args.corners[0].y", "2.5", 2.5)),
    ]


def test_a_number_that_loses_digits_as_a_float_is_marked() -> None:
    made = validate(Point, {"x": 9007199254740993}, unknown="refuse")
    assert made.coerced == (Coercion("args.x", 9007199254740993, 9007199254740992.0),)


def test_true_stays_true() -> None:
    class Flag(BaseModel):
        on: bool

    made = validate(Flag, {"on": True}, unknown="refuse")
    assert made.args["on"] is True
    assert made.coerced == ()


def test_unknown_arguments_are_dropped_by_name_or_refused_by_name() -> None:
    extra = {"corners": [{"x": 1.0, "z": 2}], "bcc": "mallory"}
    made = validate(Shape, extra, unknown="drop")
    assert made.args == {"corners": [{"x": 1.0, "y": 0.5}], "label": None}
    assert made.dropped == ("args.corners[0].z", "args.bcc")
    assert faults_of(validate, Shape, extra, unknown="refuse") == [
        "args.corners[0].z: expected no such argument (known: x, y), got 2",
        'args.bcc: expected no such argument (known: corners, label), got "mallory"',
    ]


def test_unknown_arguments_are_refused_beside_every_other_fault() -> None:
    class Nest(BaseModel):
        inner: Point
        free: "Free"

    class Free(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

    Nest.model_rebuild(_types_namespace={"Free": Free})
    told = faults_of(
        validate, Nest, {"inner": {"y": "no", "z": 1}, "free": {"a": 1, "b": 2}, "cc": 1}, unknown="refuse"
    )
    assert told == [
        "args.inner.x: expected a value, got nothing",
        'args.inner.y: expected number, got "no"',
        "args.inner.z: expected no such argument (known: x, y), got 1",
        "args.cc: expected no such argument (known: inner, free), got 1",
    ]


def test_a_model_that_forbids_unknown_arguments_refuses_them_even_where_others_are_dropped() -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid")
        a: int

    assert faults_of(validate, Strict, {"a": 1, "b": 2}, unknown="drop") == [
        "args.b: expected no such argument (known: a), got 2"
    ]


def test_a_model_that_allows_unknown_arguments_keeps_them() -> None:
    class Free(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

    made = validate(Free, {"a": 1, "b": {"c": 2}}, unknown="refuse")
    assert made.args == {"a": 1, "b": {"c": 2}}
    assert made.dropped == ()


def test_unknown_keys_of_a_typed_dict_are_dropped_or_refused_like_others() -> None:
    class Row(TypedDict):
        a: int

    class Table(BaseModel):
        rows: list[Row]

    assert validate(Table, {"rows": [{"a": 1, "b": 2}]}, unknown="drop").dropped == ("args.rows[0].b",)
    assert faults_of(validate, Table, {"rows": [{"a": 1, "b": 2}]}, unknown="refuse")
    assert faults_of(validate, Table, {"rows": [{"a": "x", "b": 2}]}, unknown="refuse")[1] == (
        "args.rows[0].b: expected no such argument, got 2"
    )


def test_every_fault_is_listed_by_its_path() -> None:
    class Big(BaseModel):
        name: str
        size: Annotated[int, Field(gt=0)]
        mode: Literal["fast", "safe"] = "safe"
        tags: Annotated[list[str], Field(max_length=1)] = []
        counts: dict[int, int] = {}
        day: str = "Monday"

        @field_validator("day")
        @classmethod
        def weekday(cls, day: str) -> str:
            if day == "Sunday":
                raise ValueError("closed on Sundays")
            return day

    proposal = {"size": 0, "mode": "slow", "tags": ["a", "b"], "counts": {"x": 1}, "day": "Sunday"}
    assert faults_of(validate, Big, proposal, unknown="refuse") == [
        "args.name: expected a value, got nothing",
        "args.size: expected greater than 0, got 0",
        "args.mode: expected one of 'fast' or 'safe', got \"slow\"",
        'args.tags: expected at most 1 item after validation, not 2, got ["a", "b"]',
        'args.counts.x: expected integer as the key, got "x"',
        'args.day: expected a value that passes its check (closed on Sundays), got "Sunday"',
    ]


def test_alternatives_that_fail_in_one_place_are_told_as_one() -> None:
    class Either(BaseModel):
        a: int | str | None
        b: Point | Mail

    assert faults_of(validate, Either, {"a": [1], "b": {"y": 1.0}}, unknown="drop") == [
        "args.a: expected integer or text, got [1]",
        "args.b.x: expected a value (for Point), got nothing",
        "args.b.to: expected a value (for Mail), got nothing",
    ]


def test_a_tagged_alternative_speaks_of_the_one_that_was_meant() -> None:
    class Circle(BaseModel):
        kind: Literal["circle"]
        radius: float

    class Square(BaseModel):
        kind: Literal["square"]
        side: float

    class Drawing(BaseModel):
        shape: Annotated[Circle | Square, Field(discriminator="kind")]

    assert faults_of(validate, Drawing, {"shape": {"kind": "circle", "radius": "x"}}, unknown="drop") == [
        'args.shape.radius: expected number (for circle), got "x"'
    ]
    (told,) = faults_of(validate, Drawing, {"shape": {"kind": "cube"}}, unknown="drop")
    assert "'kind' to be one of 'circle', 'square'" in told


def test_a_root_model_is_looked_through() -> None:
    class Points(RootModel[list[Point]]):
        pass

    class Path(BaseModel):
        points: Points

    assert faults_of(validate, Path, {"points": [{"z": 1}]}, unknown="refuse") == [
        "args.points[0].x: expected a value, got nothing",
        "args.points[0].z: expected no such argument (known: x, y), got 1",
    ]
    made = validate(Path, {"points": [{"x": 1.0}]}, unknown="refuse")
    assert made.args == {"points": [{"x": 1.0, "y": 0.5}]}
    assert made.defaults == ("args.points[0].y",)


@pytest.mark.parametrize("odd", [KeyError("boo"), RecursionError(), TypeError("no\nlines")])
def test_a_check_of_the_tool_that_raises_something_odd_is_a_fault_and_no_crash(odd: Exception) -> None:
    class Odd(BaseModel):
        a: int

        @model_validator(mode="after")
        def broken(self) -> "Odd":
            raise odd

    (told,) = faults_of(validate, Odd, {"a": 1}, unknown="drop")
    assert told.startswith("args: expected arguments that the tool's own checks can read, got ")
    assert type(odd).__name__ in told


def test_arguments_that_are_no_object_are_refused() -> None:
    assert faults_of(validate, Mail, ["to"], unknown="drop") == ["args: expected object, got list"]


def test_limits_hold_before_and_after_the_schema() -> None:
    class Wide(BaseModel):
        n: int = 0
        x: float = math.inf

    assert faults_of(validate, Wide, {"n": 2**64, "x": 1.0}, unknown="drop")
    assert faults_of(validate, Wide, {"n": "1" + "0" * 30, "x": 1.0}, unknown="drop")
    assert faults_of(validate, Wide, {}, unknown="drop")


def test_the_proposal_is_not_changed_and_shares_nothing_with_what_is_handed_over() -> None:
    class Greedy(BaseModel):
        items: list[int]

        @model_validator(mode="before")
        @classmethod
        def eat(cls, data: Any) -> Any:
            return {"items": [data["items"].pop()]} if len(data["items"]) > 1 else data

    proposal = {"items": [1, 2]}
    validate(Greedy, proposal, unknown="drop")
    assert proposal == {"items": [1, 2]}
    nested = {"a": {"b": [1]}}
    made = validate({"properties": {"a": {}}}, nested, unknown="drop")
    made.args["a"]["b"].append(2)
    assert nested == {"a": {"b": [1]}}


# What is received is what LangChain hands to the tool's function.


class Aliased(BaseModel):
    from_: str = Field(alias="from")
    count: int = Field(default=3, validation_alias=AliasChoices("n", "number"))
    tags: set[str] = {"b", "a"}
    password: SecretStr = SecretStr("none")

    @computed_field
    def size(self) -> int:
        return 1


class Named(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    from_: str = Field(alias="from")


class Sloppy(BaseModel):
    limit: float = 10
    name: str = None  # type: ignore[assignment]  # as many tools are written


def test_arguments_taken_only_by_alias_are_received_by_name() -> None:
    made = validate(Aliased, {"from": "me", "number": 2, "tags": ["z", "y"]}, unknown="refuse")
    assert made.args == {"from_": "me", "count": 2, "tags": ["y", "z"], "password": "none"}
    assert made.entered == {"from": "me", "number": 2, "tags": ["z", "y"]}
    assert made.defaults == ("args.password",)
    assert made.coerced == (Coercion("args.tags", ["z", "y"], ["y", "z"]),)


def test_arguments_taken_by_name_too_are_received_by_name() -> None:
    assert validate(Named, {"from": "me"}, unknown="refuse").args == {"from_": "me"}
    assert validate(Named, {"from_": "me"}, unknown="refuse").args == {"from_": "me"}


def test_a_secret_is_received_as_it_is_and_not_as_stars() -> None:
    made = validate(Aliased, {"from": "me", "password": "pw"}, unknown="refuse")
    assert made.args["password"] == "pw"
    assert made.coerced == ()


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_default_that_pydantic_does_not_check_is_shown_as_it_arrives() -> None:
    class Lax(BaseModel):
        count: int = "7"  # type: ignore[assignment]

    assert identical(validate(Sloppy, {}, unknown="refuse").args, {"limit": 10, "name": None})
    made = validate(Lax, {}, unknown="refuse")
    assert identical(made.args, {"count": "7"})
    assert made.defaults == ("args.count",)


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents


def _money(value: Any) -> Money:
    return Money(value["cents"] if isinstance(value, dict) else value)


def test_a_value_of_the_tools_own_type_is_refused_however_its_schema_writes_it() -> None:
    class Pay(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        sum: Annotated[Money, PlainValidator(_money), PlainSerializer(lambda money: {"cents": money.cents})]

    assert faults_of(validate, Pay, {"sum": 5}, unknown="refuse") == [
        "args.sum: expected a value that JSON can show exactly, got Money"
    ]


def test_what_a_schema_writes_is_not_what_is_shown() -> None:
    class Write(BaseModel):
        n: Annotated[int, PlainSerializer(lambda n: f"number {n}")]

    assert validate(Write, {"n": 1}, unknown="drop").args == {"n": 1}


def test_a_dataclass_is_compared_field_by_field() -> None:
    @dataclass
    class Place:
        x: float
        y: float = 0.5

    class Go(BaseModel):
        to: Place

    made = validate(Go, {"to": {"x": 1}}, unknown="refuse")
    assert identical(made.args, {"to": {"x": 1.0, "y": 0.5}})
    assert made.defaults == ("args.to.y",)
    assert made.coerced == (Coercion("args.to.x", 1, 1.0),)


def test_a_value_that_its_check_would_change_again_is_received_as_it_is_made_once() -> None:
    class Raise(BaseModel):
        amount: int = 1

        @field_validator("amount")
        @classmethod
        def more(cls, amount: int) -> int:
            return amount + 1

    assert validate(Raise, {"amount": 1}, unknown="drop").args == {"amount": 2}
    assert validate(Raise, {}, unknown="drop").args == {"amount": 1}


def test_a_value_that_is_made_otherwise_each_time_is_kept_if_it_can_be_made_again() -> None:
    class Stamped(BaseModel):
        text: str
        nonce: str = Field(default_factory=lambda: uuid4().hex)

    made = validate(Stamped, {"text": "t"}, unknown="drop")
    assert made.made_once == ("args.nonce",)
    assert intake_of(a_tool(Stamped)).rebuild(made.args, made.args) == made.args


def test_a_value_that_is_made_otherwise_each_time_is_refused_if_it_cannot_be_made_again() -> None:
    numbers = count()

    class Restless(BaseModel):
        amount: Decimal

        @field_validator("amount")
        @classmethod
        def more(cls, amount: Decimal) -> Decimal:
            return amount + next(numbers)

    assert faults_of(validate, Restless, {"amount": 1}, unknown="drop") == [
        'args.amount: expected a value that the tool\'s own checks make the same each time, got "1"'
    ]


def test_an_argument_that_the_function_does_not_get_is_dropped_by_name() -> None:
    class Lossy(BaseModel):
        seen: int = 0
        hidden: str = Field(default="", exclude=True)
        deep: int = Field(default=1, validation_alias=AliasPath("a", "b"))

    made = validate(Lossy, {"hidden": "x", "a": {"b": 3}}, unknown="drop")
    assert (made.args, made.dropped) == ({"seen": 0, "deep": 3}, ("args.hidden",))
    assert "hidden" in faults_of(validate, Lossy, {"hidden": "x"}, unknown="refuse")[0]


def test_a_value_that_a_check_derives_is_told_as_made_and_not_as_a_default() -> None:
    class Span(BaseModel):
        start: int
        end: int | None = None

        @model_validator(mode="after")
        def one_long(self) -> "Span":
            if self.end is None:
                self.end = self.start + 1
            return self

    made = validate(Span, {"start": 1}, unknown="refuse")
    assert made.args == {"start": 1, "end": 2}
    assert (made.defaults, made.coerced) == ((), (Coercion("args.end", None, 2),))


@pytest.mark.parametrize(
    ("schema", "proposal"),
    [
        (Aliased, {"from": "me", "number": "2", "tags": ["z", "y", "z"], "password": "pw"}),
        (Named, {"from": "me"}),
        (Sloppy, {"limit": 3}),
        (Shape, {"corners": [{"x": 1}]}),
        (Mail, {"to": "x", "copies": "2"}),
    ],
)
def test_langchain_calls_the_function_with_exactly_what_was_shown(
    schema: Any, proposal: dict[str, Any]
) -> None:
    noted: list[dict[str, Any]] = []
    made = validate(schema, proposal, unknown="refuse")
    a_tool(schema, noted).invoke(made.entered)
    assert identical(plainly(noted), [made.args])


def test_a_tool_made_from_a_function_gets_its_defaults() -> None:
    @tool
    def book(title: str, days: float = 14, note: str | None = None) -> str:
        """Lend a book."""
        return repr((title, days, note))

    made = received(book, {"title": "Emma"}, unknown="refuse")
    assert identical(made.args, {"title": "Emma", "days": 14, "note": None})
    assert book.invoke(made.entered) == "('Emma', 14, None)"


def test_langchains_stand_ins_for_open_arguments_are_not_received() -> None:
    @tool
    def spread(a: int, *args: Any, **kwargs: Any) -> str:
        """Take anything."""
        return repr((a, args, kwargs))

    made = received(spread, {"a": 1}, unknown="refuse")
    assert (made.args, made.defaults) == ({"a": 1}, ())
    assert spread.invoke(made.entered) == "(1, (), {})"


TREE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer", "minimum": 3, "default": 5},
        "child": {"$ref": "#"},
        "kinds": {
            "type": "array",
            "items": {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]},
        },
    },
}


@given(
    st.dictionaries(
        st.sampled_from(["corners", "label", "to", "copies", "name", "size", "child", "from", "zz"]), values
    ),
    st.sampled_from([Mail, Shape, Aliased, Sloppy, Anything, TREE]),
    st.sampled_from(["drop", "refuse"]),
)
def test_any_arguments_are_refused_or_received_as_shown(
    proposal: dict[str, Any], schema: Any, unknown: Unknown
) -> None:
    try:
        made = validate(schema, proposal, unknown=unknown)
    except ArgumentsRefused:
        return
    noted: list[dict[str, Any]] = []
    a_tool(schema, noted).invoke(made.entered)
    assert identical(plainly(noted), [made.args])
