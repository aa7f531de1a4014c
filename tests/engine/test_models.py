"""The true client against a server with OpenAI's interface: whatever that does, a person is left with something to do."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agent.bootstrap import Opened, open_console
from agent.demos.model import DemoModel
from agent.engine.models import Models, openai
from agent.engine.models import Provider as Reached
from agent.review.actions import ActionState
from agent.review.errors import UnknownModel
from agent.review.threads import Status
from agent.settings import Settings
from tests.conftest import ask, decide, free_port, waiting
from tests.engine.provider import Failure, Provider, Stream, call, text
from tests.forked import ROOT

KEY = "sk-test-7f3a91c2e8"
MODEL = "gpt-5.4-mini"
ARGS = ('{"to": "alice@example', '.com", "subject": "Meeting", ', '"body": "At 10."}')
MAIL = {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}
AT_ONCE = {"retry-after-ms": "1"}


@pytest.fixture
def settings(settings: Settings, provider: Provider) -> Settings:
    real = {
        "openai_api_key": SecretStr(KEY),
        "openai_base_url": provider.url,
        "openai_models": (MODEL, "small"),
    }
    return settings.model_copy(update=real)


@pytest.fixture
def opened(settings: Settings, clock: Any) -> Iterator[Opened]:
    found = open_console(settings, clock=clock)
    yield found
    found.close()


def failed(opened: Opened, thread_id: str) -> str:
    """The reason a thread failed, which says how to go on and never the key."""
    thread = opened.console.queries.view(thread_id).thread
    assert thread.status is Status.FAILED
    assert thread.error is not None
    assert thread.error.endswith(".")
    assert KEY not in thread.error
    return thread.error


def nothing_ran(opened: Opened) -> bool:
    return opened.world.outbox() == ()


# Offered, chosen, never unasked


def test_real_models_stand_beside_the_demo_model_which_stays_the_default(opened: Opened) -> None:
    assert list(opened.console.queries.models()) == ["demo", MODEL, "small"]
    thread_id = ask(opened.console, "/say Hello.")
    assert opened.console.queries.view(thread_id).thread.model == "demo"


def test_a_thread_keeps_the_model_it_was_started_with(opened: Opened, provider: Provider) -> None:
    provider.replies = [text("One."), text("Two.")]
    thread_id = ask(opened.console, "Hello.", model="small")
    ask(opened.console, "Hello again.", thread_id=thread_id)
    assert [request["model"] for request in provider.requests] == ["small", "small"]


def test_without_a_key_there_is_only_the_demo_model() -> None:
    models = Models(DemoModel)
    assert list(models.names()) == ["demo"]
    with pytest.raises(UnknownModel):
        models.named(MODEL)


def test_the_default_can_be_a_real_model() -> None:
    models = Models(DemoModel, provider=Reached(SecretStr(KEY), None, (MODEL,)), default=MODEL)
    assert list(models.names()) == [MODEL, "demo"]
    assert isinstance(models.named("demo"), DemoModel)
    assert isinstance(models.named(None), openai.OpenAIModel)


def test_the_client_is_not_imported_before_a_real_model_is_used(tmp_path: Path) -> None:
    script = (
        "import sys; from agent import bootstrap; found = bootstrap.opened(); "
        "run = found.console.send('/say Hi.', by='ana'); assert found.console.wait(run, 60); "
        "assert len(found.console.queries.models()) == 2; bootstrap.close(); "
        "print([name for name in ('langchain_openai', 'openai') if name in sys.modules])"
    )
    environment = {
        "PATH": "/usr/bin:/bin",
        "REVIEW_DATA": str(tmp_path),
        "OPENAI_API_KEY": KEY,
        "REVIEW_DEMO_DELAY": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


# Replies


def test_words_are_streamed_and_the_prompt_and_the_tools_are_sent(opened: Opened, provider: Provider) -> None:
    provider.replies = [text("Good ", "morning.")]
    thread_id = ask(opened.console, "Hello.", model=MODEL)
    assert opened.console.queries.history(thread_id)[-1].content == "Good morning."
    (request,) = provider.requests
    assert request["stream"] is True
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert "send_email" in [tool["function"]["name"] for tool in request["tools"]]
    assert set(provider.keys) == {f"Bearer {KEY}"}


def test_a_call_streamed_in_fragments_is_reviewed_and_runs_as_approved(
    opened: Opened, provider: Provider
) -> None:
    provider.replies = [Stream(call(0, "c1", "send_email", *ARGS), "tool_calls"), text("Sent.")]
    thread_id = ask(opened.console, "Write to Alice.", model=MODEL)
    (action,) = waiting(opened.console, thread_id).actions
    assert action.args == MAIL
    decide(opened.console, thread_id, {"type": "approve"})
    assert [mail.recipient for mail in opened.world.outbox()] == ["alice@example.com"]
    roles = [message["role"] for message in provider.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool"]


def test_parallel_calls_are_one_review_in_the_models_order(opened: Opened, provider: Provider) -> None:
    first, second = call(0, "c1", "send_email", *ARGS), call(1, "c2", "send_email", *ARGS)
    mixed = [
        first[0],
        second[0],
        *[piece for pair in zip(first[1:], second[1:], strict=True) for piece in pair],
    ]
    provider.replies = [Stream(mixed, "tool_calls"), text("One of two.")]
    thread_id = ask(opened.console, "Write twice.", model=MODEL)
    assert [action.key.tool_call_id for action in waiting(opened.console, thread_id).actions] == ["c1", "c2"]
    decide(opened.console, thread_id, {"type": "reject"}, {"type": "approve"})
    assert len(opened.world.outbox()) == 1
    assert opened.console.queries.view(thread_id).thread.status is Status.IDLE


@pytest.mark.parametrize(
    "args", ['{"to": "alice@example.com"', "{'to': 1}", "[1]", '{"to": NaN}', '{"a": 1, "a": 2}']
)
def test_arguments_that_are_no_json_object_are_told_to_the_model_and_nothing_runs(
    opened: Opened, provider: Provider, args: str
) -> None:
    provider.replies = [Stream(call(0, "c1", "send_email", args), "tool_calls"), text("I could not.")]
    thread_id = ask(opened.console, "Write.", model=MODEL)
    assert opened.console.queries.view(thread_id).thread.status is Status.IDLE
    assert [action.state for action in opened.console.queries.actions(thread_id)] == [ActionState.REFUSED]
    told = provider.requests[-1]["messages"][-1]
    assert told["role"] == "tool"
    assert "not executed" in told["content"] or "None of them was executed" in told["content"]
    assert nothing_ran(opened)


def test_a_refusal_is_the_models_answer(opened: Opened, provider: Provider) -> None:
    provider.replies = [Stream([{"refusal": "I will "}, {"refusal": "not do that."}])]
    thread_id = ask(opened.console, "Do harm.", model=MODEL)
    assert opened.console.queries.view(thread_id).thread.status is Status.IDLE
    assert opened.console.queries.history(thread_id)[-1].content == "I will not do that."


def test_an_empty_reply_says_that_it_was_empty(opened: Opened, provider: Provider) -> None:
    provider.replies = [Stream([])]
    thread_id = ask(opened.console, "Hello.", model=MODEL)
    assert opened.console.queries.view(thread_id).thread.status is Status.IDLE
    assert "empty reply" in opened.console.queries.history(thread_id)[-1].content


# Failures


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_passing_fault_is_tried_again_by_itself(opened: Opened, provider: Provider, status: int) -> None:
    provider.replies = [Failure(status, headers=AT_ONCE), text("Here I am.")]
    thread_id = ask(opened.console, "Hello.", model=MODEL)
    assert opened.console.queries.history(thread_id)[-1].content == "Here I am."
    assert len(provider.requests) == 2


FAILURES = {
    "wrong key": (Failure(401, f"Incorrect API key provided: {KEY}", "invalid_api_key"), "OPENAI_API_KEY"),
    "no permission": (Failure(403, f"Key {KEY} has no access"), "another model"),
    "unknown model": (Failure(404, "no such model", "model_not_found"), "OPENAI_MODELS"),
    "exhausted quota": (Failure(429, "quota", "insufficient_quota", AT_ONCE), "Add credit"),
    "too many requests": (Failure(429, "slow down", "rate_limit_exceeded", AT_ONCE), "Wait a little"),
    "broken server": (Failure(500, headers=AT_ONCE), "failed (500)"),
    "too long": (Failure(400, "maximum context length", "context_length_exceeded"), "Start a new thread"),
    "bad request": (Failure(400, f"Bad parameter, with {KEY} in it"), "refused the request (400)"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_lasting_fault_says_what_to_do_and_the_thread_can_be_retried(
    opened: Opened, provider: Provider, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    failure, remedy = FAILURES[name]
    provider.replies = [failure] * 3
    with caplog.at_level(logging.INFO):
        thread_id = ask(opened.console, "Hello.", model=MODEL)
    error = failed(opened, thread_id)
    assert remedy in error
    assert "Error:" not in error
    assert KEY not in caplog.text
    provider.replies = [text("Better now.")]
    assert opened.console.wait(opened.console.retry(thread_id, by="ana"), 30)
    assert opened.console.queries.history(thread_id)[-1].content == "Better now."
    assert [message.type for message in opened.console.queries.history(thread_id)] == ["human", "ai"]


CUT_SHORT = {
    "dropped in words": Stream([{"content": "I wi"}], drop=True),
    "dropped in a call": Stream(call(0, "c1", "send_email", ARGS[0]), drop=True),
    "dropped after a whole call": Stream(call(0, "c1", "send_email", *ARGS), drop=True),
    "ended without an end": Stream(call(0, "c1", "send_email", *ARGS), finish=None),
    "length limit in words": Stream([{"content": "I wi"}], "length"),
    "length limit in a call": Stream(call(0, "c1", "send_email", *ARGS), "length"),
    "content filter": Stream([{"content": "I wi"}], "content_filter"),
    "an error on the way": Stream(call(0, "c1", "send_email", *ARGS), error={"message": f"Overloaded {KEY}"}),
    "a piece that cannot be read": Stream(
        [*call(0, "c1", "send_email", *ARGS), {"tool_calls": [{"index": 0, "id": None}]}], "tool_calls"
    ),
}


@pytest.mark.parametrize("name", CUT_SHORT)
def test_a_reply_cut_short_is_none_nothing_runs_and_it_can_be_retried(
    opened: Opened, provider: Provider, name: str
) -> None:
    provider.replies = [CUT_SHORT[name]]
    thread_id = ask(opened.console, "Write to Alice.", model=MODEL)
    assert "Nothing of it was executed" in failed(opened, thread_id)
    assert opened.console.queries.actions(thread_id) == []
    assert nothing_ran(opened)
    provider.replies = [text("Never mind.")]
    assert opened.console.wait(opened.console.retry(thread_id, by="ana"), 30)
    assert opened.console.queries.view(thread_id).thread.status is Status.IDLE


def test_a_refused_connection_names_the_address(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "RETRIES", 0)
    address = f"http://127.0.0.1:{free_port()}/v1"
    opened = open_console(settings.model_copy(update={"openai_base_url": address}))
    try:
        thread_id = ask(opened.console, "Hello.", model=MODEL)
        assert address in failed(opened, thread_id)
        assert "OPENAI_BASE_URL" in failed(opened, thread_id)
    finally:
        opened.close()


def test_the_key_is_in_no_file_and_no_event(opened: Opened, provider: Provider, settings: Settings) -> None:
    provider.replies = [text("Hello."), Failure(401, f"Incorrect API key provided: {KEY}")]
    thread_id = ask(opened.console, "Hello.", model=MODEL)
    ask(opened.console, "Again.", thread_id=thread_id)
    told = json.dumps([event.data for event in opened.console.trail.events()])
    assert KEY not in told
    kept = [path for path in settings.review_data.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]
    assert KEY not in repr(settings)


# Whether it can be reached


def test_a_server_that_offers_the_models_is_reached(provider: Provider) -> None:
    assert Reached(SecretStr(KEY), provider.url, (MODEL,)).reach() == ""


def test_a_server_without_a_list_of_models_is_reached(provider: Provider) -> None:
    provider.replies = [Failure(404)]
    assert Reached(SecretStr(KEY), provider.url, (MODEL,)).reach() == ""


@pytest.mark.parametrize(
    ("reply", "names", "remedy"),
    [(None, ("other",), "OPENAI_MODELS"), (Failure(401, KEY), (MODEL,), "OPENAI_API_KEY")],
)
def test_what_stands_in_between_is_named(
    provider: Provider, reply: Failure | None, names: tuple[str, ...], remedy: str
) -> None:
    provider.replies = [reply] if reply else []
    said = Reached(SecretStr(KEY), provider.url, names).reach()
    assert remedy in said
    assert KEY not in said
