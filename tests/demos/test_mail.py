"""What the mail agent promises its reviewer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException

from agent.demos import mail, mail_tools
from agent.demos.world import Ref, World, WorldError
from agent.review.errors import PolicyError
from agent.review.policy import Tier

Call = Callable[..., str]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path / "world.sqlite")) as opened:
        yield opened


@pytest.fixture
def call(world: World) -> Call:
    """Call a tool as LangGraph's tool node does; the text of its result."""
    tools: dict[str, Any] = dict(mail.define(world).tools_by_name)

    def call(name: str, /, **args: object) -> str:
        request = {"type": "tool_call", "id": "c-1", "name": name, "args": args}
        result = tools[name].invoke(request, {"configurable": {"thread_id": "t-1"}})
        assert isinstance(result, ToolMessage)
        assert result.tool_call_id == "c-1"
        return str(result.content)

    return call


def summary(world: World, tool: str, **args: object) -> str:
    compose = mail.define(world).policy.tools[tool].summary
    assert compose is not None
    return compose(args)


def email(to: str = "alice@example.com", subject: str = "Meeting", body: str = "At 10.") -> dict[str, str]:
    return {"to": to, "subject": subject, "body": body}


@pytest.mark.parametrize(
    ("tool", "tier", "arguments"),
    [
        ("search_mail", Tier.AUTO, {"text"}),
        ("archive_mail", Tier.LOG, {"message_id"}),
        ("send_email", Tier.ASK, {"to", "subject", "body"}),
        ("wipe_mailbox", Tier.DENY, set()),
    ],
)
def test_each_tool_has_its_tier_and_shows_only_its_own_arguments(
    world: World, tool: str, tier: Tier, arguments: set[str]
) -> None:
    agent = mail.define(world)
    schema = agent.tools_by_name[tool].tool_call_schema.model_json_schema()
    assert set(schema["properties"]) == arguments
    assert agent.policy.tools[tool].tier is tier
    assert agent.policy.tools[tool].why


def test_an_email_is_irreversible_and_its_recipient_typed_again(world: World) -> None:
    entry = mail.define(world).policy.tools["send_email"]
    assert (entry.irreversible, entry.dangerous) == (True, "to")
    assert entry.allowed == ("approve", "edit", "reject")


def test_the_prompt_forbids_a_second_try_after_an_error(world: World) -> None:
    prompt = mail.define(world).prompt
    assert "After an error result do not call the same tool again: say what was not done, and ask." in prompt


def test_an_email_sent_carries_the_action_it_was_sent_by(call: Call, world: World) -> None:
    assert call("send_email", **email()) == "Sent to alice@example.com: “Meeting” (outbox 1)."
    assert world.outbox()[0].ref == Ref("t-1", "c-1")


def test_a_tool_run_outside_a_thread_still_works(world: World) -> None:
    send: Any = mail.define(world).tools_by_name["send_email"]
    send.invoke({"type": "tool_call", "id": "c-1", "name": "send_email", "args": email()})
    assert world.outbox()[0].ref == Ref("", "c-1")


@pytest.mark.parametrize(
    "to",
    [
        "",
        "alice",
        "@example.com",
        "alice@",
        "a@b@c",
        "a@b, c@d",
        "a@b\n",
        "a b@c",
        "a@b\r\nBcc: c@d",
        "a@b\u2028",
    ],
)
def test_nothing_is_sent_to_what_is_not_one_address(call: Call, world: World, to: str) -> None:
    with pytest.raises(ToolException, match="is not an e-mail address, so nothing was sent"):
        call("send_email", **email(to=to))
    assert world.outbox() == ()


def test_a_search_lists_id_sender_and_subject_and_the_beginning_of_the_text(call: Call) -> None:
    assert call("search_mail", text="rent").splitlines() == [
        "Found 1 message.",
        "m-1 | Hill Street Lettings <office@hillstreet.example> | Rent for May",
        "    inbox: Dear tenant, the rent of 840.00 for May is due on the 1st. Please use the reference HS-12.",
    ]


def test_a_long_text_is_cut_in_a_list(call: Call) -> None:
    snippet = call("search_mail", text="administrator").splitlines()[2]
    assert snippet.endswith("…")
    assert len(snippet) < 200


def test_a_long_list_is_cut_and_says_so(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail_tools, "FOUND", 3)
    lines = call("search_mail", text="").splitlines()
    assert lines[0] == "Found 8 messages. Only the first 3 are listed."
    assert len(lines) == 7


def test_a_search_without_result_says_so(call: Call) -> None:
    assert call("search_mail", text="xyzzy") == "No message contains “xyzzy”."


def test_an_archived_message_is_named(call: Call, world: World) -> None:
    assert call("archive_mail", message_id="m-2") == "Archived m-2: “Invitation: project meeting at 9”."
    assert [change.ref for change in world.changes()] == [Ref("t-1", "c-1")]
    with pytest.raises(WorldError, match="already in the archive"):
        call("archive_mail", message_id="m-2")


def test_wiping_wipes_nothing_even_if_it_is_run(call: Call, world: World) -> None:
    with pytest.raises(ToolException, match="never wiped"):
        call("wipe_mailbox")
    assert len(world.mailbox()) == 8


def test_the_summary_of_an_email_says_whether_the_address_is_known(world: World) -> None:
    start = "Send an e-mail to alice@example.com: “Meeting”, 6 characters long, to an address you "
    end = "; it cannot be called back."
    assert (
        summary(world, "send_email", **email()) == f"{start}had mail from but have not written to before{end}"
    )
    world.send("alice@example.com", "Hello", "", Ref("t-1", "c-1"))
    assert summary(world, "send_email", **email()) == f"{start}have written to before{end}"
    stranger = summary(world, "send_email", **email(to="alice@examp1e.com"))
    assert "to an address you have not written to before and never had mail from" in stranger


def test_the_summary_of_an_email_to_no_address_says_it_will_fail(world: World) -> None:
    said = summary(world, "send_email", **email(to="alice@example.com\nand Bob", body="x"))
    assert said == (
        "Send an e-mail to “alice@example.com\\nand Bob”: “Meeting”, 1 character long, "
        "to what is not an e-mail address, so this will fail."
    )


def test_a_subject_cannot_pass_for_the_consoles_own_words(world: World) -> None:
    said = summary(world, "send_email", **email(subject="x”; it can be undone. “"))
    assert "“x\\”; it can be undone. \\“”" in said


def test_the_summary_of_archiving_says_which_message_and_what_becomes_of_it(world: World) -> None:
    assert summary(world, "archive_mail", message_id="m-5") == (
        "Move message m-5, “Which room on Friday?” from “Eve <eve@example.com>”, from the inbox to the archive, "
        "where it is kept and search still finds it."
    )
    world.archive("m-5", Ref("t-1", "c-1"))
    assert summary(world, "archive_mail", message_id="m-5").endswith("already, so this will fail.")
    assert summary(world, "archive_mail", message_id="m-99") == (
        "Archive message “m-99”, which does not exist, so this will fail."
    )


def test_a_dangerous_argument_that_its_tool_does_not_have_stops_the_start(world: World) -> None:
    agent = mail.define(world)
    tools = {**agent.policy.tools}
    tools["send_email"] = replace(tools["send_email"], dangerous="recipient")
    with pytest.raises(
        PolicyError, match=r"send_email .*'recipient', which is not one of its arguments; it has to, "
    ):
        replace(agent, policy=replace(agent.policy, tools=tools))
