"""What becomes of proposed calls before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.review.agents import Agent
from agent.review.policy import Case, Policy, Tier, ToolPolicy
from agent.review.preconditions import Precondition
from agent.review.screening import Proposal, ScreenedCall, screen, unique_ids
from tests.review.test_decisions import schema_tool

MAIL = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "default": 1}},
    "required": ["to"],
}
ANY = {"type": "object"}


def an_agent(**changes: ToolPolicy) -> Agent:
    policies = {
        "send": ToolPolicy(Tier.ASK, why="It reaches somebody.", approve_by=timedelta(hours=1)),
        "find": ToolPolicy(Tier.AUTO, effects=False),
        "move": ToolPolicy(Tier.LOG),
        "wipe": ToolPolicy(Tier.DENY, why="Never."),
        **changes,
    }
    tools = [
        schema_tool("send", MAIL),
        *(schema_tool(name, ANY) for name in ("find", "move", "wipe", "stray")),
    ]
    return Agent("a", "A", tools, Policy(policies), "")


def screened(*proposals: Proposal, agent: Agent | None = None) -> list[ScreenedCall]:
    return screen(agent or an_agent(), "m-1", proposals)


def one(tool: str, args: Any = None, **changes: ToolPolicy) -> ScreenedCall:
    (call,) = screened(Proposal("c1", tool, {} if args is None else args), agent=an_agent(**changes))
    return call


@given(
    st.lists(st.sampled_from(["", "a", "b", "a#2", "a#3", "call_1", "call_2", "call_1#2", "b#2"]), max_size=9)
)
@example(["a", "a", "a#2"])
@example(["", "call_1"])
def test_made_ids_are_unique_and_in_order(ids: list[str]) -> None:
    made = unique_ids(ids)
    assert len(made) == len(ids)
    assert len(set(made)) == len(made)
    assert all(made)


@given(st.lists(st.text(max_size=3), max_size=9))
def test_an_id_that_stands_alone_is_kept(ids: list[str]) -> None:
    made = unique_ids(ids)
    assert all(made[place] == name for place, name in enumerate(ids) if name and ids.count(name) == 1)


@given(st.lists(st.text(max_size=3), max_size=9))
def test_the_first_of_equal_ids_keeps_it(ids: list[str]) -> None:
    made = unique_ids(ids)
    assert all(made[ids.index(name)] == name for name in ids if name)


@pytest.mark.parametrize(
    ("tool", "args", "fate"),
    [
        ("send", {"to": "a"}, "ask"),
        ("find", {}, "run"),
        ("move", {}, "run"),
        ("wipe", {}, "answered"),
        ("stray", {}, "answered"),
        ("nope", {}, "answered"),
        ("send", {}, "answered"),
        ("send", {"to": 3}, "answered"),
    ],
)
def test_the_fate_of_a_call_is_fixed_when_it_is_proposed(tool: str, args: dict[str, Any], fate: str) -> None:
    assert one(tool, args).fate == fate


def test_a_denied_call_is_told_as_denied() -> None:
    assert "may not be used" in one("wipe").refusal


def test_a_denied_call_keeps_its_reason_for_the_record() -> None:
    assert one("wipe").why == "Never."


def test_a_tool_without_a_policy_is_denied() -> None:
    assert "may not be used" in one("stray").refusal


def test_an_unknown_tool_is_told_with_the_tools_there_are() -> None:
    assert {"nope", "send", "find"} <= set(one("nope").refusal.replace("'", " ").replace(",", " ").split())


def test_an_unknown_tool_is_not_told_of_those_it_may_not_use() -> None:
    assert "wipe" not in one("nope").refusal


def test_unfit_arguments_are_told_field_by_field() -> None:
    refusal = one("send", {"to": 3, "copies": "x"}).refusal
    assert "to" in refusal
    assert "copies" in refusal


def test_what_the_schema_filled_in_is_noted() -> None:
    call = one("send", {"to": "a"})
    assert call.args == {"to": "a", "copies": 1}
    assert call.notes["defaults"]


def test_the_proposal_is_kept_as_it_came() -> None:
    assert one("send", {"to": "a"}).proposed == {"to": "a"}


def test_text_arguments_are_read() -> None:
    assert one("send", '{"to": "a"}').fate == "ask"


def test_arguments_beyond_the_limits_refuse_only_their_call() -> None:
    calls = screened(Proposal("c1", "send", '{"to": "a", "copies": 1e999}'), Proposal("c2", "find", {}))
    assert [call.fate for call in calls] == ["answered", "run"]


@pytest.mark.parametrize(
    "bad",
    [
        [Proposal("", "find", {})],
        [Proposal("c2", "find", {}), Proposal("c2", "find", {})],
        [Proposal("c2", "find", '{"a": ')],
        [Proposal("c2", "find", "[1]")],
        [Proposal("c2", "find", "")],
    ],
    ids=["no id", "same id", "cut short", "a list", "nothing"],
)
def test_a_malformed_call_stops_its_whole_turn(bad: list[Proposal]) -> None:
    calls = screened(Proposal("c1", "find", {}), *bad)
    assert {call.fate for call in calls} == {"answered"}


def test_a_malformed_turn_has_one_refusal_per_call_under_unique_ids() -> None:
    calls = screened(Proposal("d", "find", {}), Proposal("d", "send", {"to": "a"}), Proposal("", "find", {}))
    assert [call.tool_call_id for call in calls] == ["d", "d#2", "call_3"]
    assert all(call.refusal for call in calls)


def test_a_summary_that_raises_does_not_hide_the_call() -> None:
    def broken(_: Any) -> str:
        raise KeyError("to")

    call = one("send", {"to": "a"}, send=ToolPolicy(Tier.ASK, summary=broken))
    assert call.fate == "ask"
    assert '"to": "a"' in call.summary


def test_a_condition_is_judged_once_on_the_validated_arguments() -> None:
    seen: list[Any] = []

    def never(args: Mapping[str, Any]) -> bool:
        seen.append(dict(args))
        return False

    case = Case(Tier.ASK, never)
    one("send", {"to": "a"}, send=ToolPolicy(Tier.AUTO, cases=(case,)))
    assert seen == [{"to": "a", "copies": 1}]


def test_a_call_denied_for_its_arguments_is_refused_and_says_why() -> None:
    case = Case(Tier.DENY, {"properties": {"to": {"const": "a"}}}, why="Nobody writes to a.")
    entry = ToolPolicy(Tier.ASK, cases=(case,))
    call = one("send", {"to": "a"}, send=entry)
    assert (call.fate, call.tier) == ("answered", "deny")
    assert "Nobody writes to a." in call.refusal
    assert one("send", {"to": "b"}, send=entry).fate == "ask"


def test_the_facts_a_call_depends_on_are_noted() -> None:
    stock = Precondition("One is left.", lambda args: {"stock": args["copies"]}, lambda _: "")
    call = one("send", {"to": "a"}, send=ToolPolicy(Tier.ASK, precondition=stock))
    assert call.notes["facts"] == {"stock": 1}


def test_a_call_keeps_how_long_its_review_may_wait() -> None:
    assert one("send", {"to": "a"}).approve_by == 3600.0


def test_a_call_survives_the_agents_state() -> None:
    call = one("send", {"to": "a"})
    assert ScreenedCall.from_state(call.to_state()) == call
