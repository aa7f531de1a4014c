"""A provider that gives several replies the same id changes nothing that was said before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agent.bootstrap import Opened, open_console
from agent.console import Console
from agent.engine.recorder import Recorder
from agent.ports import Said
from agent.review.actions import ActionState
from agent.settings import Settings
from tests.conftest import ask, decide, waiting
from tests.engine.provider import Provider, Stream, call
from tests.engine.provider import text as provider_text

MODEL = "gpt-5.4-mini"
APPROVE = {"type": "approve"}
EXTERNAL = """
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

@tool
def send(to: str) -> str:
    "Send something."
    return f"sent to {{to}}"

model = ChatOpenAI(
    model="gpt-5.4-mini", api_key="sk-test", base_url="{url}", streaming=True, use_responses_api=False
)
class Redacting(AgentMiddleware):
    def after_model(self, state, runtime):
        # Where an id is repeated, its own state holds the later reply in the earlier one's place.
        last = next(one for one in reversed(state["messages"]) if one.type == "ai")
        return {{"messages": [last.model_copy(update={{"content": str(last.text).replace("1234", "****")}})]}}

external = create_agent(
    model, [send], middleware=[HumanInTheLoopMiddleware({{"send": True}}), Redacting()]
)
"""


@pytest.fixture
def opened(settings: Settings, provider: Provider, clock: Any, tmp_path: Path) -> Iterator[Opened]:
    (tmp_path / "external_agent.py").write_text(EXTERNAL.format(url=provider.url))
    (tmp_path / "agents.json").write_text(
        '{"graphs": {"mail": "./agent/bootstrap.py:mail", "external": "./external_agent.py:external"}}'
    )
    real = {
        "review_agents": tmp_path / "agents.json",
        "openai_api_key": SecretStr("sk-test"),
        "openai_base_url": provider.url,
        "openai_models": (MODEL,),
    }
    found = open_console(settings.model_copy(update=real), clock=clock)
    yield found
    found.close()


def under_one_id(reply: Stream) -> Stream:
    """The reply as a provider gives it that names every message the same."""
    return replace(reply, deltas=[{**delta, "id": "msg-1"} for delta in reply.deltas])


def text(words: str) -> Stream:
    return under_one_id(provider_text(words))


def said(console: Console, thread_id: str) -> list[str]:
    return [
        f"{one.type}: {one.content or [(made.id, made.args) for made in one.tool_calls]}"
        for one in console.queries.history(thread_id)
    ]


def mail(to: str) -> Stream:
    args = f'{{"to": "{to}", "subject": "s", "body": "b"}}'
    return under_one_id(Stream(call(0, "c1", "send_email", args), finish="tool_calls"))


def sending(to: str) -> Stream:
    return under_one_id(Stream(call(0, "c1", "send", f'{{"to": "{to}"}}'), finish="tool_calls"))


def test_each_answer_keeps_its_own_place(opened: Opened, provider: Provider) -> None:
    provider.replies = [text("One."), text("Two.")]
    thread_id = ask(opened.console, "First?", model=MODEL)
    ask(opened.console, "Second?", thread_id=thread_id)
    assert said(opened.console, thread_id) == ["human: First?", "ai: One.", "human: Second?", "ai: Two."]
    assert [one["content"] for one in provider.requests[-1]["messages"][1:]] == ["First?", "One.", "Second?"]


def test_a_call_under_the_same_ids_as_an_earlier_one_is_an_action_of_its_own(
    opened: Opened, provider: Provider
) -> None:
    provider.replies = [mail("a@x.org"), mail("b@x.org"), text("Sent.")]
    thread_id = ask(opened.console, "Send two.", model=MODEL)
    decide(opened.console, thread_id, APPROVE)
    (asked,) = waiting(opened.console, thread_id).actions
    assert asked.args is not None
    assert asked.args["to"] == "b@x.org"
    decide(opened.console, thread_id, {"type": "reject"})
    assert [one.recipient for one in opened.world.outbox()] == ["a@x.org"]
    assert [one.state for one in opened.console.queries.actions(thread_id)] == [
        ActionState.DONE,
        ActionState.REJECTED,
    ]
    results = [one.content for one in opened.console.queries.history(thread_id) if one.type == "tool"]
    assert len(results) == 2
    assert "rejected" in results[1]


def test_an_edit_still_takes_the_proposals_place(opened: Opened, provider: Provider) -> None:
    provider.replies = [mail("a@x.org"), text("Sent.")]
    thread_id = ask(opened.console, "Send it.", model=MODEL)
    args = {"to": "b@x.org", "subject": "s", "body": "b"}
    decide(opened.console, thread_id, {"type": "edit", "edited_action": {"name": "send_email", "args": args}})
    (proposing,) = [one for one in opened.console.queries.history(thread_id) if one.tool_calls]
    assert proposing.tool_calls[0].args == args


# An external agent, whose state holds its provider's ids.


def test_the_transcript_of_an_external_agent_keeps_what_was_said(opened: Opened, provider: Provider) -> None:
    provider.replies = [text("One."), text("Two."), text("Three.")]
    thread_id = ask(opened.console, "First?", agent="external")
    for question in ("Second?", "Third?"):
        ask(opened.console, question, thread_id=thread_id)
    assert said(opened.console, thread_id) == [
        "human: First?",
        "ai: One.",
        "human: Second?",
        "ai: Two.",
        "human: Third?",
        "ai: Three.",
    ]


def test_an_external_agents_answer_does_not_take_the_place_of_its_call(
    opened: Opened, provider: Provider
) -> None:
    provider.replies = [sending("a@x.org"), text("Sent."), text("Yes.")]
    thread_id = ask(opened.console, "Send it.", agent="external")
    decide(opened.console, thread_id, APPROVE)
    expected = [
        "human: Send it.",
        "ai: [('c1', {'to': 'a@x.org'})]",
        "tool: sent to a@x.org",
        "ai: Sent.",
    ]
    assert said(opened.console, thread_id) == expected


def test_an_external_agent_may_change_its_reply_under_its_id(opened: Opened, provider: Provider) -> None:
    provider.replies = [text("The code is 1234."), sending("a@x.org"), text("The code was 1234.")]
    thread_id = ask(opened.console, "The code?", agent="external")
    ask(opened.console, "Send it.", thread_id=thread_id)
    edit = {"type": "edit", "edited_action": {"name": "send", "args": {"to": "b@x.org"}}}
    decide(opened.console, thread_id, edit)
    proposing, sent, answer = said(opened.console, thread_id)[-3:]
    assert said(opened.console, thread_id)[:-3] == [
        "human: The code?",
        "ai: The code is ****.",
        "human: Send it.",
    ]
    assert proposing == "ai: [('c1', {'to': 'a@x.org'})]", "as its middleware leaves it"
    assert "sent to b@x.org" in sent
    assert answer == "ai: The code was ****."


def test_recording_twice_adds_nothing(opened: Opened, provider: Provider) -> None:
    provider.replies = [text("One."), text("Two.")]
    thread_id = ask(opened.console, "First?", agent="external")
    ask(opened.console, "Second?", thread_id=thread_id)
    before = said(opened.console, thread_id)
    recorder, run = Recorder(opened.console._ledger, b"k", opened.console._clock), None
    with opened.console._ledger.write() as tx:
        run = tx.last_run(thread_id)
        assert run is not None
        look = opened.console._engine.look("external", thread_id)
        for _ in range(2):
            recorder._record(tx, run, [Said(look.messages)], [])
    assert said(opened.console, thread_id) == before
