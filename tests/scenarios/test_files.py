"""Scenarios as files: a value is what it looks like, and what cannot be meant is refused by its place."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.review.errors import InvalidScenario
from agent.scenarios.files import (
    ENDING,
    SCHEMA_NAME,
    found,
    read_file,
    read_text,
    save,
    schema_text,
    write_text,
)
from agent.scenarios.format import Scenario

HERE = Path(__file__).parent
LEAST = "scenario: s\nagent: mail\nmessage: m\n"


def _args(text: str) -> Any:
    step = f"steps:\n- decisions:\n  - type: edit\n    edited_action: {{name: t, args: {{a: {text}}}}}\n"
    decisions = read_text(LEAST + step, "x").steps[0].decisions
    assert decisions is not None
    assert decisions[0].edited_action is not None
    return decisions[0].edited_action["args"]["a"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("2030-01-01", "2030-01-01"),
        ("10:30", "10:30"),
        ("010", "010"),
        ("1_000", "1_000"),
        ("true", True),
        ("null", None),
        ("18446744073709551615", 2**64 - 1),
        ("1e3", 1000.0),
        ("-0.5", -0.5),
    ],
)
def test_a_value_is_what_it_would_be_in_json(written: str, value: Any) -> None:
    assert _args(written) == value
    assert type(_args(written)) is type(value)


# Lone surrogates are no text: they are refused before they can be written.
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(JSON)
def test_what_is_written_is_read_as_the_same(value: Any) -> None:
    args = {"name": "t", "args": {"a": value}}
    step = {"decisions": [{"type": "edit", "edited_action": args}]}
    made = Scenario.model_validate({"scenario": "s", "agent": "a", "message": "m", "steps": [step]})
    again = read_text(write_text(made), "x")
    assert repr(again) == repr(made)


def _more(name: str, of: str) -> str:
    return f"{name}: &{name} [{', '.join([f'*{of}'] * 200)}]\n"


BOMB = _more("b", "a") + _more("c", "b") + _more("d", "c")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "valid dictionary"),
        ("a: [", "line 2: did not find expected node content"),
        (LEAST + "agent: twice\n", "line 4: 'agent' appears twice"),
        (LEAST + "agnet: mail\n", "line 4: agnet: Extra inputs"),
        (LEAST + "1: x\n", "is not a name"),
        (LEAST + "model: recorded\n", "needs replies"),
        (LEAST + "steps: [{}]\n", "exactly one of"),
        (LEAST + "steps: [{wait: soon}]\n", "steps.0.wait"),
        (LEAST + "steps: [{close: x, refused: InvalidDecision}]\n", "only decisions"),
        (
            LEAST + "expect: {answer: {pattern: '('}}\n",
            "line 4: expect.answer: '(' is not a regular expression",
        ),
        (LEAST + "expect:\n  answer:\n    pattern: (?=a)\n", "without lookaround"),
        (
            LEAST + "expect:\n  answer: {schema: {pattern: (?!a)b}}\n",
            "line 5: expect.answer: this JSON Schema cannot",
        ),
        (
            "scenario: !!python/object/apply:os.system [id]\n",
            "line 1: the tag tag:yaml.org,2002:python/object",
        ),
        (LEAST + "steps: !!int '1:1:1'\n", "line 4: the tag tag:yaml.org,2002:int is not accepted here"),
        (LEAST + f"steps: {'1' * 5_000}\n", "line 4: an integer of 5,000 digits"),
        ("[" * 5_000, "line 1: exceeded maximum nesting depth"),
        ("a: " + "[ " * 200 + "]" * 200, "line 1: it is nested too deeply; 120 levels are the most"),
        ("- " * 200 + "a", "nested too deeply"),
        (LEAST + "a: &a [x, x]\n" + BOMB, "line 7: its aliases expand to more than 5,000,000 characters"),
        (LEAST + "a: &a [*a]\n", "line 4: the alias a names nothing that is complete"),
        (LEAST + "a: *b\n", "line 4: the alias b names nothing"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidScenario) as refused:
        read_text(text, "my.scenario.yaml")
    assert said in str(refused.value)
    assert "my.scenario.yaml is not a scenario" in str(refused.value)


def test_an_alias_stands_for_what_it_names() -> None:
    text = LEAST.replace("message: m", "message: &it m") + "expect: {answer: *it}\n"
    answer = read_text(text, "x").expect.answer
    assert answer is not None
    assert answer.value == "m"


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    started = time.process_time()
    with pytest.raises(InvalidScenario):
        read_text(LEAST + "a: &a [x, x]\n" + BOMB, "x")
    assert time.process_time() - started < 1


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidScenario, match="nowhere"):
        list(found([tmp_path / "nowhere"]))
    with pytest.raises(InvalidScenario, match="gone"):
        read_file(tmp_path / "gone")


def test_a_folder_is_searched_and_no_file_is_run_twice() -> None:
    files = list(found([HERE, HERE / f"an-edited-email{ENDING}"]))
    assert len(files) == len(set(files)) >= 8


def test_the_schema_that_stands_beside_the_files_is_the_present_one() -> None:
    assert (HERE / SCHEMA_NAME).read_text() == schema_text(), "python -m agent scenarios schema > this file"


def test_a_saved_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    first, second = (save(tmp_path, "../Über & out", "text") for _ in range(2))
    assert first.parent == second.parent == tmp_path
    assert first.name == f"ber-out{ENDING}"
    assert second.name == f"ber-out-2{ENDING}"
    assert (tmp_path / SCHEMA_NAME).exists()
