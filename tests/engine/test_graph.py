"""The built-in agent: through the console, and past it by a caller who resumes the graph directly."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import Field

from agent.bootstrap import Opened
from agent.demos import mail as mail_demo
from agent.demos.model import DemoModel
from agent.demos.world import World
from agent.engine import graph as built_in
from agent.engine.local import LocalEngine
from agent.engine.models import Models
from agent.review import tool_messages
from agent.review.events import EventKind
from agent.review.policy import Case, Tier
from agent.review.threads import Status
from tests.conftest import ask, decide

CASES = json.loads((Path(__file__).parents[1] / "cases" / "history.json").read_text())
PAUSED = Path(__file__).parents[1] / "cases" / "paused_checkpoint.sql"
THREAD = "t-1"
APPROVE = {"type": "approve"}


def call(name: str, tool: str, args: Any = None) -> str:
    return f"/call#{name} {tool} {args if isinstance(args, str) else json.dumps(args or {})}"


def mail(name: str, to: str = "a@x.org") -> str:
    return call(name, "send_email", {"to": to, "subject": "s", "body": "b"})


# The shared cases, through the console.


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_turn_leaves_the_documented_history(opened: Opened, case: dict[str, Any]) -> None:
    text = "\n".join(call(c["id"], c["name"], c["args"]) for c in case["calls"])
    ask(opened.console, text, thread_id=THREAD)
    listed = [
        a.key.tool_call_id for review in opened.console.queries.view(THREAD).reviews for a in review.actions
    ]
    if case["decisions"]:
        decide(opened.console, THREAD, *case["decisions"])
    found = History(opened, listed)
    for name, value in case["expect"].items():
        found.expect(name, value)
    assert opened.console.queries.view(THREAD).thread.status is Status.IDLE
    check_valid_messages(opened.console.queries.history(THREAD))


def test_the_tools_are_described_to_a_model_once(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    described: list[Any] = []
    bind = DemoModel.bind_tools

    def noted(self: DemoModel, tools: Any, **more: Any) -> Any:
        described.append([tool.name for tool in tools])
        return bind(self, tools, **more)

    monkeypatch.setattr(DemoModel, "bind_tools", noted)
    for number in range(2):
        ask(opened.console, mail(f"c{number}"), thread_id=THREAD)
        decide(opened.console, THREAD, APPROVE)
    assert described == [[tool.name for tool in opened.console.queries.agent("mail").tools]]


class History:
    """What came of a case, in the words of the cases file."""

    def __init__(self, opened: Opened, listed: list[str]) -> None:
        console = opened.console
        self.listed = listed
        self.messages = console.queries.history(THREAD)
        self.actions = console.queries.actions(THREAD)
        self.tools = [message for message in self.messages if message.type == "tool"]
        self.text = {str(message.tool_call_id): message.content for message in self.tools}
        self.started = console.trail.events(thread_id=THREAD, kind=EventKind.EXECUTION_STARTED)

    def expect(self, name: str, value: Any) -> None:
        if name.endswith("_mentions"):
            assert value in self.text[name.removesuffix("_mentions")]
        elif name.endswith("_text"):
            assert self.text[name.removesuffix("_text")] == value
        elif name == "mentions":
            assert [word for word in value if word not in self.tools[0].content] == []
        else:
            assert self.facts()[name] == value

    def facts(self) -> dict[str, Any]:
        proposing = next(message for message in self.messages if message.tool_calls)
        return {
            "ran": [event.tool_call_id for event in self.started],
            "ran_args": self.started[0].data["args"] if self.started and self.started[0].data else None,
            "tool_messages": {str(message.tool_call_id): message.status for message in self.tools},
            "review_lists": self.listed,
            "no_review": not self.listed,
            "model_called_again": (self.messages[-1].type, self.messages[-1].tool_calls) == ("ai", ()),
            "history_args": proposing.tool_calls[0].args,
            "ledger_keeps_proposal": self.actions[0].proposed,
            "tool_results": len(self.tools),
            "all_status": "error" if {message.status for message in self.tools} == {"error"} else "mixed",
            "ids_made_unique": len({message.tool_call_id for message in self.tools}) == len(self.tools),
        }


def check_valid_messages(messages: Sequence[Any]) -> None:
    """LazyEngine every message with calls stands one result per call, and no result stands anywhere else."""
    open_calls: list[str] = []
    for message in messages:
        if message.type == "tool":
            assert message.tool_call_id in open_calls, "a result for no open call"
            open_calls.remove(message.tool_call_id)
            continue
        assert open_calls == [], f"calls without a result: {open_calls}"
        if message.type == "ai":
            open_calls = [one["id"] if isinstance(one, dict) else one.id for one in message.tool_calls]
            assert len(set(open_calls)) == len(open_calls), "an id stands twice"
            assert not getattr(message, "invalid_tool_calls", None)
    assert open_calls == [], f"calls without a result at the end: {open_calls}"


# The graph alone.


class Watching(DemoModel):
    """The demo model, which refuses what a provider would: a history with calls that have no result."""

    seen: list[int] = Field(default_factory=list, exclude=True)

    def _stream(self, messages: list[Any], *args: Any, **more: Any) -> Iterator[Any]:
        check_valid_messages(messages)
        self.seen.append(len(messages))
        yield from super()._stream(messages, *args, **more)


class Alone:
    """The mail agent's graph over a checkpointer in memory, without console or guard."""

    def __init__(self, cases: tuple[Case, ...] = (), **limits: Any) -> None:
        """`cases` are what the policy says of some e-mails."""
        self.world = World(":memory:")
        self.model = Watching()
        agent = mail_demo.define(self.world)
        entries = {**agent.policy.tools, "send_email": replace(agent.policy.tools["send_email"], cases=cases)}
        agent = replace(agent, policy=replace(agent.policy, tools=entries))
        builder = built_in.build(agent, lambda _: self.model, **limits)
        self.graph = builder.compile(checkpointer=InMemorySaver())
        self.begin()

    def begin(self) -> Alone:
        """The same graph on a thread of its own."""
        self.config: Any = {"configurable": {"thread_id": uuid4().hex}, "recursion_limit": 200}
        return self

    def say(self, text: str) -> None:
        self.graph.invoke({"messages": [HumanMessage(text)]}, self.config)

    def resume(self, value: Any) -> None:
        (interrupt,) = self.graph.get_state(self.config).interrupts
        self.graph.invoke(Command(resume={interrupt.id: value}), self.config)

    @property
    def waiting(self) -> list[Any]:
        return [interrupt.value for interrupt in self.graph.get_state(self.config).interrupts]

    @property
    def messages(self) -> list[AnyMessage]:
        return list(self.graph.get_state(self.config).values["messages"])

    @property
    def results(self) -> dict[str, str]:
        return {m.tool_call_id: str(m.text) for m in self.messages if isinstance(m, ToolMessage)}

    @property
    def sent(self) -> list[str]:
        return [mail.recipient for mail in self.world.outbox()]


@cache
def built(**limits: Any) -> Alone:
    return Alone(**limits)


@pytest.fixture
def alone() -> Alone:
    return Alone()


def test_the_pause_is_in_the_fields_own_format(alone: Alone) -> None:
    alone.say(f"{mail('a')}\n{call('s', 'search_mail', {'text': 'rent'})}")
    (value,) = alone.waiting
    assert [request["name"] for request in value["action_requests"]] == ["send_email"]
    assert value["review_configs"] == [
        {"action_name": "send_email", "allowed_decisions": ["approve", "edit", "reject"]}
    ]
    assert json.loads(json.dumps(value)) == value


def test_a_missing_decision_means_not_run(alone: Alone) -> None:
    alone.say(f"{mail('a')}\n{mail('b', 'b@x.org')}")
    alone.resume({"decisions": [APPROVE]})
    assert alone.sent == ["a@x.org"]
    assert alone.results["b"] == tool_messages.UNDECIDED


def test_a_surplus_decision_is_ignored(alone: Alone) -> None:
    alone.say(mail("a"))
    alone.resume({"decisions": [APPROVE, APPROVE, {"type": "reject"}]})
    assert alone.sent == ["a@x.org"]


ODD = [
    None,
    "approve",
    3,
    True,
    [],
    [APPROVE],
    {},
    {"decisions": None},
    {"decisions": "approve"},
    {"decisions": {"0": APPROVE}},
    {"decisions": [None]},
    {"decisions": ["approve"]},
    {"decisions": [{"type": None}]},
    {"decisions": [{"type": ["approve"]}]},
    {"decisions": [{"type": "Approve"}]},
    {"decisions": [{"type": "respond", "message": "done"}]},
    {"decisions": [{"type": "edit"}]},
    {"decisions": [{"type": "edit", "edited_action": "send_email"}]},
    {"decisions": [{"type": "edit", "edited_action": {"name": "send_email"}}]},
    {"decisions": [{"type": "edit", "edited_action": {"name": ["send_email"], "args": {}}}]},
    {"decisions": [{"type": "edit", "edited_action": {"name": "wipe_mailbox", "args": {}}}]},
    {"decisions": [{"type": "edit", "edited_action": {"name": "send_email", "args": {"to": 3}}}]},
]


@pytest.mark.parametrize("value", ODD, ids=lambda value: json.dumps(value)[:50])
def test_no_answer_however_odd_runs_anything_or_sticks_the_thread(alone: Alone, value: Any) -> None:
    alone.say(mail("a"))
    alone.resume(value)
    assert (alone.sent, alone.waiting) == ([], [])
    alone.say("/say still here")
    assert alone.messages[-1].text == "still here"


def test_an_edit_into_what_is_denied_for_its_arguments_runs_nothing() -> None:
    alone = Alone(cases=(Case(Tier.DENY, lambda args: args["to"] == "eve@x.org"),))
    edited = {"name": "send_email", "args": {"to": "eve@x.org", "subject": "s", "body": "b"}}
    alone.say(mail("a"))
    alone.resume({"decisions": [{"type": "edit", "edited_action": edited}]})
    assert (alone.sent, alone.results["a"]) == ([], tool_messages.denied_so("send_email", ""))


def edit_to(name: str, args: Any = None) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args or {}}}


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (None, tool_messages.UNDECIDED),
        (
            {"type": "respond", "message": "m"},
            "'respond', which it does not allow; it allows approve, edit, reject",
        ),
        ({"type": "edit"}, tool_messages.UNREADABLE_EDIT),
        (edit_to("no_such"), "There is no tool 'no_such'. It was not executed. The tools are: search_mail"),
        (edit_to("wipe_mailbox", {"odd": 1}), tool_messages.denied("wipe_mailbox")),
        (edit_to("send_email", {"to": "b"}), "do not fit send_email"),
    ],
)
def test_past_the_console_what_does_not_run_is_answered_with_the_true_reason(
    alone: Alone, decision: Any, words: str
) -> None:
    alone.say(mail("a"))
    alone.resume({"decisions": [decision]})
    assert alone.sent == []
    assert words in alone.results["a"]


def test_what_the_policy_comes_to_deny_while_it_waits_cannot_be_approved_past_the_console_either() -> None:
    said = iter([False, True])
    alone = Alone(cases=(Case(Tier.DENY, lambda _: next(said), "Not now."),))
    alone.say(mail("a"))
    alone.resume({"decisions": [APPROVE]})
    assert (alone.sent, alone.results["a"]) == ([], tool_messages.denied_so("send_email", "Not now."))


def test_what_the_policy_would_allow_by_now_waits_all_the_same() -> None:
    said = iter([Tier.ASK, Tier.AUTO])
    alone = Alone(cases=(Case(Tier.ASK, lambda _: next(said) is Tier.ASK),))
    alone.say(mail("a"))
    assert alone.waiting
    alone.resume({"decisions": [{"type": "reject"}]})
    assert alone.sent == []


def test_free_calls_run_whatever_became_of_the_others(alone: Alone) -> None:
    alone.say(f"{mail('a')}\n{call('s', 'search_mail', {'text': 'rent'})}")
    alone.resume({"decisions": [{"type": "reject"}]})
    assert "Found 1 message" in alone.results["s"]


def test_calls_run_in_the_models_order(alone: Alone) -> None:
    alone.say("\n".join(mail(name, f"{name}@x.org") for name in "abc"))
    alone.resume({"decisions": [APPROVE] * 3})
    assert alone.sent == ["a@x.org", "b@x.org", "c@x.org"]


def test_an_edit_replaces_the_call_in_the_history(alone: Alone) -> None:
    alone.say(mail("a"))
    args = {"to": "z@x.org", "subject": "s", "body": "b"}
    alone.resume({"decisions": [{"type": "edit", "edited_action": {"name": "send_email", "args": args}}]})
    (proposing,) = [m for m in alone.messages if isinstance(m, AIMessage) and m.tool_calls]
    assert proposing.tool_calls[0]["args"] == args
    assert alone.sent == ["z@x.org"]


def test_what_the_model_asks_for_next_is_asked_about_anew(alone: Alone) -> None:
    alone.say(f"{mail('a')}\n/then\n{mail('b', 'b@x.org')}")
    alone.resume({"decisions": [APPROVE]})
    assert alone.sent == ["a@x.org"]
    assert len(alone.waiting) == 1


def test_a_tool_that_raises_gives_an_error_result(alone: Alone) -> None:
    alone.say(call("l", "archive_mail", {"message_id": "nope"}))
    assert "There is no message" in alone.results["l"]


def test_a_new_message_during_a_pause_leaves_no_call_without_a_result(opened: Opened) -> None:
    ask(opened.console, mail("a"), thread_id=THREAD)
    assert opened.console.wait(opened.console.close(THREAD, by="ana"), 30)
    ask(opened.console, "/say next", thread_id=THREAD)
    check_valid_messages(opened.console.queries.history(THREAD))


def test_too_many_rounds_end_in_a_plain_answer() -> None:
    alone = Alone(max_rounds=3)
    alone.say("\n/then\n".join(call(f"s{n}", "search_mail", {"text": "rent"}) for n in range(9)))
    assert alone.messages[-1].text == built_in.TOO_MANY_ROUNDS.format(rounds=3)
    assert len(alone.results) == 3


def test_a_turn_may_use_all_its_rounds_within_the_engines_own_limit(opened: Opened) -> None:
    count = built_in.MAX_ROUNDS + 5
    text = "\n/then\n".join(call(f"s{n}", "search_mail", {"text": "rent"}) for n in range(count))
    ask(opened.console, text, thread_id=THREAD)
    assert opened.console.queries.view(THREAD).thread.status is Status.IDLE
    assert opened.console.queries.history(THREAD)[-1].content.startswith("I stopped here")


def test_the_rounds_are_counted_anew_for_every_turn() -> None:
    alone = Alone(max_rounds=2)
    for _ in range(3):
        alone.say(f"{call('s', 'search_mail', {'text': 'rent'})}\n/then\n/say fine")
        assert alone.messages[-1].text == "fine"


# The window.

TURNS = st.lists(st.integers(min_value=0, max_value=3), min_size=1, max_size=8)


@settings(max_examples=25)
@given(turns=TURNS, window=st.integers(min_value=1, max_value=12))
def test_a_cut_history_begins_with_a_turn_and_stays_valid(turns: list[int], window: int) -> None:
    alone = built(window=window).begin()
    for rounds in turns:
        steps = [call(f"s{n}", "search_mail", {"text": "rent"}) for n in range(rounds)]
        alone.say("\n/then\n".join([*steps, "/say fine"]))
        check_valid_messages(alone.messages)
        assert isinstance(alone.messages[0], HumanMessage)


def test_a_long_thread_keeps_no_more_than_its_window() -> None:
    alone = Alone(window=10)
    for _ in range(12):
        alone.say("/say fine")
    assert len(alone.messages) <= 10 + 1, "the window, and the answer to its last message"
    assert max(alone.model.seen) <= 10 + 1, "the window, and the system's prompt"


def test_a_turn_longer_than_the_window_is_kept_whole() -> None:
    alone = Alone(window=2)
    alone.say("/say before")
    alone.say("\n/then\n".join(call(f"s{n}", "search_mail", {"text": "rent"}) for n in range(4)))
    assert len(alone.results) == 4


# Any mix of calls, any answers.

PROPOSED = st.sampled_from(
    [
        lambda n: mail(f"c{n}", f"{n}@x.org"),
        lambda n: call(f"c{n}", "search_mail", {"text": "rent"}),
        lambda n: call(f"c{n}", "archive_mail", {"message_id": "nope"}),
        lambda n: call(f"c{n}", "wipe_mailbox"),
        lambda n: call(f"c{n}", "format_disk"),
        lambda n: call(f"c{n}", "send_email", {"to": 3}),
        lambda n: call(f"c{n}", "send_email", '{"to": "a@x.org", "to": "b@x.org"}'),
        lambda n: call(f"c{n}", "send_email", '{"to": '),
        lambda n: call("d", "search_mail", {"text": "rent"}),
        lambda n: "/call# search_mail {}",
    ]
)
EDITED = {
    "type": "edit",
    "edited_action": {"name": "send_email", "args": {"to": "z", "subject": "s", "body": "b"}},
}
MOVED = {"type": "edit", "edited_action": {"name": "archive_mail", "args": {"message_id": "nope"}}}
ANSWERS = st.sampled_from(
    [APPROVE, {"type": "reject"}, {"type": "reject", "message": "no"}, EDITED, MOVED, None, {}, 3]
)


@settings(max_examples=60)
@given(
    replies=st.lists(st.lists(PROPOSED, min_size=1, max_size=4), min_size=1, max_size=3),
    answers=st.lists(st.lists(ANSWERS, max_size=5), min_size=4, max_size=4),
)
def test_every_call_has_a_result_whenever_the_model_is_called(
    replies: list[list[Any]], answers: list[list[Any]]
) -> None:
    alone = built().begin()
    alone.say("\n/then\n".join("\n".join(make(n) for n, make in enumerate(reply)) for reply in replies))
    for decisions in answers:
        if alone.waiting:
            alone.resume({"decisions": decisions})
    assert alone.waiting == []
    check_valid_messages(alone.messages)
    assert alone.messages[-1].type == "ai"


# A checkpoint file of an earlier version.


def test_a_checkpoint_file_of_an_earlier_version_is_read_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.sqlite"
    with sqlite3.connect(path) as conn:
        conn.executescript(PAUSED.read_text())
    conn.close()
    world = World(":memory:")
    engine = LocalEngine({"mail": mail_demo.define(world)}, Models(DemoModel), path)
    look = engine.look("mail", "kept")
    assert [message.content for message in look.messages[:2]] == ["/say an earlier turn", "an earlier turn"]
    (interrupt_id,) = look.waiting
    config: Any = {"configurable": {"thread_id": "kept", "checkpoint_ns": ""}}
    engine._graphs["mail"].invoke(Command(resume={interrupt_id: {"decisions": [APPROVE]}}), config)
    assert [sent.recipient for sent in world.outbox()] == ["a@x.org"]
    check_valid_messages(engine.look("mail", "kept").messages)
    engine.shut()
    world.close()
