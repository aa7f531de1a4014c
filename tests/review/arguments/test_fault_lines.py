"""Which lines of a JSON text are marked for the faults of its arguments."""

from __future__ import annotations

import pytest

from agent.review.arguments.args import parse
from agent.review.arguments.argument_faults import ArgumentFault
from agent.review.arguments.fault_lines import fault_lines
from agent.review.errors import ArgumentsRefused

TEXT = """{
  "to": 7,
  "more": {
    "to": [1,
      2]
  },
  "odd \\"key\\"": null
}"""


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("args.to", [2]),
        ("args.more", [3]),
        ("args.more.to[1]", [3]),
        ('args["odd \\"key\\""]', [7]),
        ("args.tolerance", []),
        ("args", []),
    ],
)
def test_a_fault_marks_the_line_of_its_argument(path: str, lines: list[int]) -> None:
    assert fault_lines(TEXT, [ArgumentFault(path, "text", "7")]) == lines


@pytest.mark.parametrize(
    ("text", "line"), [('{"to": 1\n "b": 2}', 2), ('{\n\n  "to": "open\n}', 3), ("", 1), ('{"a": 1,\n}', 2)]
)
def test_a_mistake_in_the_json_marks_its_own_line(text: str, line: int) -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        parse(text)
    assert fault_lines(text, refused.value.faults) == [line]


def test_each_line_is_marked_once_and_in_order() -> None:
    faults = [
        ArgumentFault("args.more", "a", "b"),
        ArgumentFault("args.to", "a", "b"),
        ArgumentFault("args.to", "c", "d"),
    ]
    assert fault_lines(TEXT, faults) == [2, 3]
