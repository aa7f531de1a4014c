"""What the operations agent promises its reviewer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException

from agent.demos import operations, operations_tools
from agent.demos.world import Ref, World, WorldError
from agent.review.policy import Tier

Call = Callable[..., str]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path / "world.sqlite")) as opened:
        yield opened


@pytest.fixture
def call(world: World) -> Call:
    """Call a tool as LangGraph's tool node does; the text of its result."""
    tools: dict[str, Any] = dict(operations.define(world).tools_by_name)

    def call(name: str, /, **args: object) -> str:
        request = {"type": "tool_call", "id": "c-1", "name": name, "args": args}
        result = tools[name].invoke(request, {"configurable": {"thread_id": "t-1"}})
        assert isinstance(result, ToolMessage)
        return str(result.content)

    return call


def summary(world: World, tool: str, **args: object) -> str:
    compose = operations.define(world).policy.tools[tool].summary
    assert compose is not None
    return compose(args)


@pytest.mark.parametrize(
    ("tool", "tier", "allowed", "arguments"),
    [
        ("read_data", Tier.AUTO, (), {"table"}),
        ("write_file", Tier.ASK, ("approve", "edit", "reject"), {"path", "content"}),
        ("execute_sql", Tier.ASK, ("approve", "reject"), {"query"}),
        ("remove_file", Tier.ASK, ("approve", "edit", "reject"), {"path"}),
        ("rotate_keys", Tier.ASK, ("approve",), {"service"}),
        ("ask_user", Tier.ASK, ("respond",), {"question"}),
    ],
)
def test_each_tool_has_its_tier_and_decisions_and_shows_only_its_own_arguments(
    world: World, tool: str, tier: Tier, allowed: tuple[str, ...], arguments: set[str]
) -> None:
    agent = operations.define(world)
    schema = agent.tools_by_name[tool].tool_call_schema.model_json_schema()
    verdict = agent.policy.judge(tool, {})
    assert set(schema["properties"]) == arguments
    assert (verdict.tier, verdict.allowed) == (tier, allowed)
    assert verdict.why


@pytest.mark.parametrize(("tool", "argument"), [("remove_file", "path"), ("rotate_keys", "service")])
def test_what_cannot_be_undone_has_its_target_typed_again(world: World, tool: str, argument: str) -> None:
    entry = operations.define(world).policy.tools[tool]
    assert (entry.irreversible, entry.dangerous) == (True, argument)


def test_the_prompt_forbids_a_second_try_after_an_error(world: World) -> None:
    prompt = operations.define(world).prompt
    assert "After an error result do not call the same tool again: say what was not done, and ask." in prompt


def test_reading_a_table_lists_its_rows(call: Call) -> None:
    lines = call("read_data", table="customers").splitlines()
    assert lines[:3] == [
        "customers has 5 rows.",
        "id | name | email | city",
        "1 | Ada Moreno | ada@moreno.example | Lisbon",
    ]
    assert lines[-1] == "5 | Emil Larsen | NULL | Aarhus"


def test_a_row_stays_on_one_line_whatever_it_holds(call: Call, world: World) -> None:
    world.write_file("a.txt", "one\ntwo\r" + "x" * 300, Ref("t-1", "c-0"))
    row = call("read_data", table="files").splitlines()[2]
    assert row.startswith("a.txt | one\\ntwo\\rxxx")
    assert row.endswith("x…")


def test_reading_says_when_there_are_more_rows(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations_tools, "SQL_ROWS", 2)
    lines = call("read_data", table="notes").splitlines()
    assert lines[0] == "notes has 8 rows. The first 2 follow."
    assert len(lines) == 4


def test_writing_says_whether_a_file_was_replaced(call: Call, world: World) -> None:
    assert call("write_file", path="a.txt", content="é") == "Wrote the new file “a.txt” (2 bytes)."
    assert call("write_file", path="a.txt", content="x") == "Replaced “a.txt” (1 byte)."
    assert world.changes()[0].ref == Ref("t-1", "c-1")


def test_a_statement_that_reads_lists_its_rows(call: Call) -> None:
    assert call("execute_sql", query="SELECT x'00ff' AS raw, NULL AS none FROM notes WHERE id = 7") == (
        "Returned 1 row.\nraw | none\nx'00ff' | NULL"
    )
    assert call("execute_sql", query="SELECT 1 FROM notes a, notes b").startswith(
        "Returned more than 50 rows. Only the first 50 follow.\n"
    )


def test_a_statement_that_changes_says_what_became_of_which_rows(call: Call, world: World) -> None:
    assert call("execute_sql", query="DELETE FROM notes WHERE id = 7") == "Done: 1 row of notes removed."
    assert call("execute_sql", query="UPDATE invoices SET paid = 1") == "Done: 3 rows of invoices changed."
    assert call("execute_sql", query="DELETE FROM notes WHERE id = 7") == "Done: no row changed."
    assert call("execute_sql", query="DELETE FROM notes WHERE id = 8 RETURNING id") == (
        "Returned 1 row. 1 row of notes removed.\nid\n8"
    )
    assert {change.ref for change in world.changes()} == {Ref("t-1", "c-1")}


def test_a_statement_beyond_the_demo_tables_is_refused(call: Call) -> None:
    with pytest.raises(WorldError, match="may only read and change rows of"):
        call("execute_sql", query="SELECT * FROM outbox")


def test_removing_and_rotating_name_what_they_did(call: Call, world: World) -> None:
    assert call("remove_file", path="reports/2023.csv") == "Removed “reports/2023.csv” (50 bytes)."
    new = call("rotate_keys", service="billing")
    key = world.service_key("billing")
    assert key is not None
    assert new == f"Rotated the key of billing: now version 4, fingerprint {key.fingerprint}."


def test_only_a_person_answers_a_question(call: Call) -> None:
    with pytest.raises(ToolException, match="Only a person can answer"):
        call("ask_user", question="Which one?")


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("a.txt", "x", "Make a new file “a.txt” of 1 byte; nothing is replaced."),
        (
            "notes/today.txt",
            "x" * 2000,
            "Overwrite “notes/today.txt”: its 51 bytes are replaced by 2,000 bytes; this is "
            "undone only by writing the old content back, if somebody has kept it.",
        ),
        (
            "notes/today.txt",
            "Call the landlord.\nRead chapter two of the report.\n",
            "Write “notes/today.txt” again with the 51 bytes it holds already, which changes nothing.",
        ),
        (" ", "x", "Write a file without a path, which will fail."),
    ],
)
def test_the_summary_of_writing_says_what_is_replaced(
    world: World, path: str, content: str, said: str
) -> None:
    assert summary(world, "write_file", path=path, content=content) == said


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            "DELETE FROM notes",
            "it left 8 rows of notes removed; a real run is undone only by another statement that puts the rows back "
            "as they were.",
        ),
        ("SELECT * FROM notes", "it changed nothing and returned 8 rows."),
        ("SELECT 1 FROM notes a, notes b", "it changed nothing and returned 50 rows or more."),
        (
            "DELETE FROM nots",
            "it failed, so it is likely to fail again: “The statement cannot be run: no such table: nots. "
            "Correct it; only one statement at a time is accepted.”",
        ),
    ],
)
def test_the_summary_of_a_statement_says_what_it_would_do_and_does_nothing(
    world: World, query: str, said: str
) -> None:
    start = "Run one SQL statement on the demo tables; tried and rolled back when it was proposed, "
    assert summary(world, "execute_sql", query=query) == start + said
    assert world.table("notes").total == 8
    assert world.changes() == ()


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write_file", {"path": "notes/today.txt", "content": "x"}),
        ("execute_sql", {"query": "DELETE FROM notes"}),
        ("remove_file", {"path": "notes/today.txt"}),
        ("rotate_keys", {"service": "billing"}),
    ],
)
def test_the_card_and_the_policy_say_the_same_of_undoing(
    world: World, tool: str, args: dict[str, str]
) -> None:
    entry = operations.define(world).policy.tools[tool]
    undone = entry.undo.removeprefix("It is ") or "it cannot be undone."
    assert summary(world, tool, **args).endswith(undone)


def test_the_summary_of_removing_says_it_cannot_be_undone(world: World) -> None:
    assert summary(world, "remove_file", path="reports/2023.csv") == (
        "Remove the file “reports/2023.csv” with its 50 bytes for good; it cannot be undone."
    )
    assert summary(world, "remove_file", path="nope") == (
        "Remove the file “nope”, which does not exist, so this will fail."
    )


def test_the_summary_of_rotating_says_what_stops_working(world: World) -> None:
    assert summary(world, "rotate_keys", service="billing") == (
        "Replace the key of billing (version 3, fingerprint 7c1e5a0b94d2f683) with a new one; whatever still "
        "uses the old key stops working, and it cannot be undone."
    )
    assert summary(world, "rotate_keys", service="nope") == (
        "Rotate the key of “nope”, a service that does not exist, so this will fail."
    )


def test_the_summary_of_a_question_is_the_question_quoted(world: World) -> None:
    assert summary(world, "ask_user", question="Keep 2023?\n”Yes“") == (
        "The agent asks you “Keep 2023?\\n\\”Yes\\“” and gets your answer as the tool's result."
    )
