"""The worst inputs known, for each function that reads outside text.

A case is a call and a maker of its input: of about n characters, n at most a million. Modules of this package whose names
end in `inputs` are all collected.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from fastapi.exceptions import RequestValidationError
from langchain_core.messages import HumanMessage
from pydantic import BaseModel, ConfigDict

from agent.api import middleware
from agent.demos import model
from agent.ledger import queue
from agent.review import (
    conditions,
    decisions,
    digest,
    edits,
    exports,
    external,
    json_schemas,
    notes,
    pasted,
    patterns,
    questions,
    repeats,
    retype,
    rules,
    screening,
    shapes,
    threads,
    tool_messages,
)
from agent.review.actions import Action, Key
from agent.review.agents import Agent
from agent.review.arguments import args, argument_faults, fault_lines, fitting, json_paths
from agent.review.arguments.differences import diff
from agent.review.errors import ReviewError
from agent.review.policy import Case, Policy, Tier, ToolPolicy
from agent.review.screening import Proposal
from agent.scenarios import files, matching
from agent.scenarios.format import Scenario
from pages.parts.common import literal
from tests.review.test_decisions import schema_tool
from tests.review.test_decisions import waiting as action

Case_ = tuple[Callable[[Any], object], Callable[[int], Any]]


def refused(call: Callable[[Any], object]) -> Callable[[Any], object]:
    """The call, with a refusal as one of its answers."""

    def tried(given: Any) -> object:
        with suppress(ReviewError, RequestValidationError, ValueError, json_schemas.TooMuchWork):
            return call(given)
        return None

    return tried


def repeat(piece: str, start: str = "", end: str = "") -> Callable[[int], str]:
    """The piece as often as it fits, between the two ends."""
    return lambda n: start + piece * ((n - len(start) - len(end)) // len(piece)) + end


def counted(piece: str, start: str = "", end: str = "") -> Callable[[int], str]:
    """As `repeat`, with the number of each piece in it at `%d`."""
    return lambda n: start + "".join(piece % place for place in range(n // (len(piece) + 5))) + end


def value_of(text: Callable[[int], str]) -> Callable[[int], Any]:
    return lambda n: json.loads(text(n))


def bytes_of(text: Callable[[int], str]) -> Callable[[int], bytes]:
    return lambda n: text(n).encode("utf-8", "surrogatepass")


def of(key: str, text: Callable[[int], str]) -> Callable[[int], dict[str, Any]]:
    return lambda n: {key: text(n)}


def elements(value: Any, size: int) -> Callable[[int], dict[str, Any]]:
    return lambda n: {"items": [value] * (n // size)}


def long_key_of_faults(n: int) -> Any:
    return {"k" * (n // 2): [math.nan] * (n // 32)}


def deep_faults(n: int) -> Any:
    found: Any = [math.nan] * (n // 32)
    for _ in range(90):
        found = {"k" * (n // 200): found}
    return found


def nested(n: int) -> Any:
    found: Any = ["x" * 8] * (n // 12)
    for _ in range(90):
        found = [found, "y"]
    return found


# JSON texts: each is a body, a call's arguments, a pasted interrupt and an answer.
TEXTS: Mapping[str, Callable[[int], str]] = {
    "an open string of escapes": repeat('\\"', '{"a": "'),
    "open strings": repeat('"\\'),
    "brackets": repeat("[],", "[", "1]"),
    "brackets open": repeat("["),
    "objects": repeat('{"a":"some text"},', "[", "1]"),
    "one key again and again": repeat('"a":1,', "{", '"a":1}'),
    "objects with a key twice": repeat('{"a":"some text","a":1},', "[", "1]"),
    # Fewer and longer ones, as what does not fit a processor's cache takes longer each.
    "keys": counted('"a key with the number %d":"and its value",', "{", '"a":1}'),
    "escaped characters": repeat("\\u00e9", '"', '"'),
    "surrogates": repeat("\\ud800", '"', '"'),
    "digits": repeat("1"),
    "decimals": repeat("1", "0."),
    "an exponent": repeat("1", "1e"),
    "line breaks": repeat("\n", "", "x"),
    "no numbers": repeat("NaN,", "[", "1]"),
    "emoji": repeat("😀", '"', '"'),
    "mistakes under a long key": lambda n: '{"' + "k" * (n // 2) + '":[' + "NaN," * (n // 8 - 3) + "1]}",
}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "uniqueItems": True,
            "items": {
                "anyOf": [
                    {"type": "integer"},
                    {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
                ]
            },
        },
        "text": {"type": "string", "pattern": "^(a|aa)+$"},
        "map": {"patternProperties": {"^k(0|1)*": {}}, "unevaluatedProperties": False},
        "list": {"contains": {"const": 1}, "unevaluatedItems": False},
    },
}
OPEN_UNION = {"oneOf": [{"properties": {"op": {"const": op}, "of": {"items": {"$ref": "#"}}}} for op in "ab"]}


def union(n: int) -> Any:
    found: Any = {"op": "leaf", "text": "x" * n}
    for _ in range(40):
        found = {"op": "a", "of": [found]}
    return found


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int = 0


class Model(BaseModel):
    items: list[Line | int] = []
    text: str = ""
    loose: dict[str, Line] = {}


def by(schema: Any) -> Callable[[Any], object]:
    tool = schema_tool("t", schema)
    return refused(lambda given: fitting.received(tool, given, unknown="drop"))


AGENT = Agent(
    "a",
    "A",
    [schema_tool("send", SCHEMA), schema_tool("any", {"type": "object"})],
    Policy({"send": ToolPolicy(Tier.ASK), "any": ToolPolicy(Tier.ASK)}),
    "",
)
RULE = rules.Rule(
    "rule-1",
    "a",
    "send",
    {"text": "x"},
    (),
    None,
    "",
    Key("t-1", "m-1", "c1"),
    "ana",
    "2030-01-01T12:00:00.000000Z",
    "2030-01-02T12:00:00.000000Z",
)
POLICY = Policy(
    {
        "send": ToolPolicy(
            Tier.AUTO, cases=(Case(Tier.ASK, {"properties": {"text": {"pattern": "^(a|aa)+$"}}}),)
        )
    }
)


def screened(proposals: list[Proposal]) -> object:
    return screening.screen(AGENT, "m-1", proposals)


def requests(n: int, configs: int = 0) -> Any:
    count = n // 120
    names = [f"tool{place}" for place in range(count)]
    return {
        "action_requests": [{"name": name, "args": {}} for name in names],
        "review_configs": [
            {"action_name": name, "allowed_decisions": ["approve"]} for name in names[configs:]
        ],
    }


def asked_and_open(n: int) -> Any:
    value = requests(n)
    names = [one["name"] for one in value["action_requests"]]
    opened = [external.OpenCall("m", f"c{place}", name, {}) for place, name in enumerate(names)]
    return external.WaitingInterrupt("i", value), opened


def same_and_open(n: int) -> Any:
    count = n // 120
    value = {"action_requests": [{"name": "t", "args": {"a": place}} for place in range(count)]}
    opened = [external.OpenCall("m", f"c{place}", "t", {"a": place}) for place in reversed(range(count))]
    return external.WaitingInterrupt("i", value), opened


def answered(schema: Any) -> Callable[[Any], object]:
    question = {"question": "?", "answer_schema": schema}
    asked: Action = action(questions.QUESTION, question, ["respond"])
    return lambda text: questions.answer_fault(asked, questions.answer(asked, {"message": text}))


def composed(text: str) -> object:
    return model._whole(model.compose([HumanMessage(text, id="m")], {"send_email": "", "search_mail": ""}))


def scenario(of: Callable[[int], str], line: str = "steps:\n- {close: %s}\n") -> Callable[[int], str]:
    return lambda n: "scenario: s\nagent: mail\nmessage: m\n" + line % of(n)


def pairs(one: Callable[[int], Any], other: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda n: (one(n), other(n))


CASES: dict[str, Case_] = {
    **{f"gate: {name}": (refused(middleware._check), bytes_of(text)) for name, text in TEXTS.items()},
    **{f"args.parse: {name}": (refused(args.parse), text) for name, text in TEXTS.items()},
    "args.check: mistakes under a long key": (refused(args.check), long_key_of_faults),
    "args.check: mistakes under long keys": (refused(args.check), deep_faults),
    "args.check: odd keys": (refused(args.check), lambda n: dict.fromkeys(range(n // 8), 1)),
    "args.check: deep": (refused(args.check), nested),
    "args.dumps: deep": (args.dumps, nested),
    "args.show: deep": (args.show, nested),
    "pasted.read: keys": (refused(pasted.read), TEXTS["keys"]),
    "pasted.read: requests": (refused(pasted.read), lambda n: json.dumps(requests(n))),
    "pasted.read: envelopes": (refused(pasted.read), repeat('{"value":1' + " " * 60 + "},", "[", '{"value":1}]')),
    "pasted.read: legacy": (
        refused(pasted.read),
        repeat('{"action_request":{"action":"a","args":{}},"config":{"allow_accept":true}},', "[", '{"action_request":{"action":"a"}}]'),
    ),
    "shapes.read: configs by name": (shapes.read, lambda n: requests(n, configs=1)),
    "shapes.read: configs by position": (shapes.read, requests),
    "questions.answer: brackets": (answered({"type": "array"}), TEXTS["brackets"]),
    "foreign.calls_of: by name": (lambda given: external.calls_of(pasted.NOBODYS, *given), asked_and_open),
    "foreign.calls_of: one tool": (lambda given: external.calls_of(pasted.NOBODYS, *given), same_and_open),
    "questions.answer_fault: a pattern": (answered({"pattern": "^(a|aa)+$"}), repeat("a", "", "!")),
    "questions.answer_fault: unique items": (answered({"uniqueItems": True}), counted('{"a":%d},', "[", "1]")),
    "fitting, JSON Schema: elements of no form": (by(SCHEMA), elements("x", 16)),
    "fitting, JSON Schema: elements with other keys": (by(SCHEMA), elements({"b": 1}, 64)),
    "fitting, JSON Schema: a pattern": (by(SCHEMA), of("text", repeat("a", "", "!"))),
    "fitting, JSON Schema: keys by pattern": (by(SCHEMA), lambda n: {"map": {f"k{i}": 0 for i in range(n // 10)}}),
    "fitting, JSON Schema: keys without a pattern": (by(SCHEMA), lambda n: {"map": {f"x{i}": 0 for i in range(n // 10)}}),
    "fitting, JSON Schema: elements not evaluated": (by(SCHEMA), lambda n: {"list": [1, *range(2, n // 28)]}),
    "fitting, JSON Schema: arguments without a name": (by(SCHEMA), lambda n: {f"x{i}": 0 for i in range(n // 10)}),
    "fitting, JSON Schema: a union that holds itself": (by(OPEN_UNION), union),
    "fitting, pydantic: elements of no form": (by(Model), elements("x", 16)),
    "fitting, pydantic: elements with other keys": (by(Model), elements({"b": 1}, 64)),
    "fitting, pydantic: elements": (by(Model), elements({"a": 1}, 96)),
    "fitting, pydantic: values of no form": (by(Model), lambda n: {"loose": {f"k{i}": 0 for i in range(n // 10)}}),
    "fitting, pydantic: arguments without a name": (by(Model), lambda n: {f"x{i}": 0 for i in range(n // 10)}),
    "conditions.holds: a pattern": (
        lambda given: conditions.holds({"properties": {"text": {"pattern": "(a+)+$"}}}, given),
        of("text", repeat("a", "", "!")),
    ),
    "policy.judge: a pattern": (lambda given: POLICY.judge("send", given), of("text", repeat("a", "", "!"))),
    "matching: a pattern": (matching.read({"pattern": "^(a|aa)+$"}).fits, repeat("a", "", "!")),
    "matching: exact": (matching.read({"a": 1}).fits, value_of(TEXTS["keys"])),
    "patterns.search: states": (lambda text: patterns.search("[ab]*a[ab]{200}c", text), repeat("ab")),
    "patterns.search: repetitions": (refused(lambda text: patterns.search("(?:a?){60}b", text)), repeat("a")),
    "decisions.check_decisions: none fits": (
        refused(lambda given: decisions.check_decisions(given, [action("send", {}, ["approve"])] * len(given), AGENT, b"")),
        lambda n: [{"type": "edit", "edited_action": {"name": "send", "args": {"x": 1}}}] * (n // 80),
    ),
    "screening.unique_ids: one": (screening.unique_ids, lambda n: ["a"] * (n // 16)),
    "screening.unique_ids: none": (screening.unique_ids, lambda n: [""] * (n // 16)),
    "screening.unique_ids: taken": (
        screening.unique_ids,
        lambda n: [*["a"] * (n // 32), *(f"a#{place}" for place in range(n // 32))],
    ),
    "screening.screen: calls": (screened, lambda n: [Proposal(f"c{i}", "any", "{}") for i in range(n // 1_200)]),
    "screening.screen: one id": (screened, lambda n: [Proposal("c", "any", "{}")] * (n // 200)),
    "screening.screen: arguments": (screened, lambda n: [Proposal("c", "any", TEXTS["keys"](n))]),
    "digest.canonical: keys": (digest.canonical, value_of(TEXTS["keys"])),
    "digest.canonical: deep": (digest.canonical, nested),
    "repeats.same_call: text": (lambda given: repeats.same_call("t", given), of("a", repeat("\x00é"))),
    "differences: elements": (lambda given: diff(*given), pairs(value_of(TEXTS["objects"]), lambda n: [0] * (n // 8))),
    "differences: keys": (lambda given: diff(*given), pairs(value_of(TEXTS["keys"]), lambda n: {})),
    "differences: under long keys": (
        lambda given: diff(*given),
        pairs(lambda n: {"k" * (n // 2): [0] * (n // 16)}, lambda n: {"k" * (n // 2): [1] * (n // 16)}),
    ),
    "edits.how_large: words": (
        lambda given: edits.how_large(*(action("send", {"text": text}, []) for text in given)),
        pairs(repeat("some words "), repeat("other words ")),
    ),
    "edits.how_large: arguments": (
        lambda given: edits.how_large(*(action("send", one, []) for one in given)),
        pairs(value_of(TEXTS["keys"]), lambda n: {}),
    ),
    "rules.differences: arguments": (
        lambda given: rules.differences(RULE, rules.CallForRules(given, False)),
        value_of(TEXTS["keys"]),
    ),
    "retyped: a text": (
        lambda given: retype.is_typed(
            Policy({"t": ToolPolicy(Tier.ASK, irreversible=True, dangerous="a")}), "t", {"a": given}, given
        ),
        repeat("é"),
    ),
    "faults.brief: a text": (argument_faults.brief, repeat("\ud800")),
    "faults.refusal: many": (
        lambda given: str(argument_faults.refusal(argument_faults.ArgumentFault(f"args[{i}]", "text", "null") for i in range(given))),
        lambda n: n // 30,
    ),
    "places.path: long keys": (lambda given: json_paths.path((given,) * 50), repeat("é!")),
    "fault_lines: arguments": (
        lambda text: fault_lines.fault_lines(text, [argument_faults.ArgumentFault("args.zz", "", "")] * 20),
        counted('"a%d": 1,\n', "{", '"z":1}'),
    ),
    "fault_lines: open strings": (lambda text: fault_lines.fault_lines(text, []), repeat('\\"', '{"')),
    "fault_lines: blanks behind strings": (lambda text: fault_lines.fault_lines(text, []), repeat(" ", '{"a"')),
    "notes: a link": (refused(lambda text: notes.checked("pass", "", text)), repeat("[", "https://")),
    "notes: a text": (refused(lambda text: notes.checked("pass", text, "")), repeat(" ")),
    "threads.text_fault": (threads.text_fault, lambda n: "a" * min(n, threads.MAX_MESSAGE)),
    "told: a reason": (tool_messages.rejected, repeat("{}")),
    "told: an unknown tool": (lambda text: tool_messages.unknown_tool(text, ["a", "b"]), repeat("\ud800")),
    "told: a failure": (lambda text: tool_messages.failed(ValueError(text)), repeat("\\")),
    "exports: a cell": (exports._cell, repeat(" ", "", "x")),
    "waiting.folded": (queue.folded, repeat("ß\0")),
    "waiting: grams": (queue._grams, repeat("abcd")),
    "literal: is it long": (literal.is_long, repeat("\n")),
    "literal: what its fold says": (literal.fold_label, repeat("\n")),
    "literal: its width": (literal._room, repeat("ｗ\n")),
    "literal: its digest": (literal.digest, repeat("\ud800")),
    "demo model: words": (composed, repeat("write x to ")),
    "demo model: calls": (composed, repeat("/call send_email {}\n")),
    "demo model: words to say": (composed, repeat("x \n", "/say ")),
    "demo model: slow": (composed, repeat("/slow 0\n")),
    "demo model: blanks": (composed, repeat(" ", "/call")),
    "demo model: open arguments": (composed, repeat('"\\', "/call send_email {")),
    "scenario file: keys": (refused(lambda text: files.read_text(text, "x")), scenario(counted("k%d: 1\n"), "%s")),
    "scenario file: keys of one object": (
        refused(lambda text: files.read_text(text, "x")),
        scenario(counted("k%d: 1, ", "{", "k: 1}"), "expect: {answer: %s}\n"),
    ),
    "scenario file: a list": (
        refused(lambda text: files.read_text(text, "x")),
        scenario(repeat("some text,", "[", "1]"), "expect: {answer: %s}\n"),
    ),
    "scenario file: brackets open": (refused(lambda text: files.read_text(text, "x")), scenario(repeat("["))),
    "scenario file: digits": (refused(lambda text: files.read_text(text, "x")), scenario(repeat("1"))),
    "scenario file: sixties": (refused(lambda text: files.read_text(text, "x")), scenario(repeat("1:", "", "1"))),
    "scenario file: escapes": (refused(lambda text: files.read_text(text, "x")), scenario(repeat("\\n", '"', '"'))),
    "scenario file: anchors": (
        refused(lambda text: files.read_text(text, "x")),
        scenario(counted("&a%d 1, ", "[", "1]"), "expect: {answer: %s}\n"),
    ),
    "scenario file: aliases": (
        refused(lambda text: files.read_text(text, "x")),
        lambda n: "a: &a " + "x" * (n // 2) + "\nb: [" + "*a, " * (n // 8) + "]\n",
    ),
    "scenario file: written": (lambda made: files.write_text(made), lambda n: _written(n)),
}  # fmt: skip


def _written(n: int) -> Any:
    return Scenario.model_validate(
        {
            "scenario": "s",
            "agent": "a",
            "message": "é\x00 " * (n // 8),
            "steps": [{"close": "x\n" * (n // 4)}],
        }
    )
