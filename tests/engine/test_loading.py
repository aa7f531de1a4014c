"""External agents as LangGraph loads them, measured at the far end: what their nodes saw, through the HTTP API."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from agent.bootstrap import Opened, open_console
from agent.engine.drivers.external import agent_of
from agent.engine.loading.factories import Factories, graph_of, runtime_of
from agent.serving.options import AgentOptions
from agent.settings import Settings
from tests.api.conftest import Served
from tests.conftest import ROOT, until
from tests.serving import projects

KINDS = (ROOT / "tests" / "cases" / "agents" / "kinds.py").read_text()
SEES = """
from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

SEEN = []


@tool
def spy(config: RunnableConfig) -> str:
    "See."
    SEEN.append(sorted(config["configurable"]))
    return "seen"


def n(state: MessagesState, config: RunnableConfig):
    SEEN.append(sorted(config["configurable"]))
    spy.invoke({}, config)
    return {"messages": [AIMessage(str(SEEN[-2:]))]}


graph = StateGraph(MessagesState).add_node(n).add_edge("__start__", "n").compile()
"""


@pytest.fixture
def serving(settings: Settings, tmp_path: Path) -> Any:
    """Serve a configuration file over HTTP, on a data folder that outlives the console."""

    @contextmanager
    def serve(file: Path) -> Iterator[Served]:
        opened = open_console(settings.model_copy(update={"review_agents": file}))
        found = Served(opened).start()
        try:
            yield found
        finally:
            found.stop()
            opened.close()

    return serve


@pytest.fixture
def kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a configuration that names these of the cases' agents."""
    monkeypatch.setenv("EFFECTS", str(tmp_path / "effects"))

    def write(*names: str, options: str = "") -> Path:
        graphs = {name: f"./kinds.py:{name}" for name in names}
        (tmp_path / "home").mkdir(exist_ok=True)
        if options:
            (tmp_path / "home" / "review.toml").write_text(options)
        return projects.write(tmp_path / "home", {"kinds.py": KINDS}, {"graphs": graphs})

    return write


def say(served: Served, agent: str, **more: Any) -> str:
    return str(served.chat("hello", agent=agent, **more)["answer"])


def answer(served: Served, thread_id: str) -> str:
    """Answer the question that waits on the thread, and return what the agent says then."""
    review = served.console.queries.view(thread_id).reviews[0]
    body = {"thread_id": thread_id, "review_id": review.review_id}
    found = served.post("/review", decisions=[{"type": "respond", "message": "yes"}], **body)
    assert found.status_code == 200, found.text
    return str(found.json()["answer"])


def test_values_of_a_files_own_classes_are_the_same_after_a_restart(serving: Any, kinds: Any) -> None:
    with serving(kinds("own_values")) as served:
        thread_id = served.chat("hello", agent="own_values")["thread_id"]
    with serving(kinds("own_values")) as served:
        assert answer(served, thread_id) == "True True"


@dataclasses.dataclass
class System:
    command: str


def test_a_hostile_checkpoint_runs_nothing(
    serving: Any, kinds: Any, settings: Settings, tmp_path: Path
) -> None:
    with serving(kinds("own_values")) as served:
        thread_id = served.chat("hello", agent="own_values")["thread_id"]
    System.__module__, System.__name__ = "os", "system"
    file, trusting = (
        settings.review_data / "checkpoints.sqlite",
        JsonPlusSerializer(allowed_msgpack_modules=True),
    )
    with sqlite3.connect(file) as kept:
        rows = kept.execute("SELECT rowid, type, checkpoint FROM checkpoints").fetchall()
        for row, kind, saved in rows:
            checkpoint = JsonPlusSerializer().loads_typed((kind, saved))
            checkpoint["channel_values"]["plan"] = System(f"touch {tmp_path / 'ran'}")
            update = "UPDATE checkpoints SET checkpoint = ? WHERE rowid = ?"
            kept.execute(update, (trusting.dumps_typed(checkpoint)[1], row))
    with serving(kinds("own_values")) as served:
        assert answer(served, thread_id).endswith(" False")
    assert not (tmp_path / "ran").exists()
    trusting.loads_typed(trusting.dumps_typed(System(f"touch {tmp_path / 'ran'}")))
    assert (tmp_path / "ran").exists(), "read by a serializer that trusts it, it would have run"


def test_what_langgraph_new_writes_works_and_its_values_survive_a_move(
    serving: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_AGENT_SETTING", raising=False)
    with serving(projects.template(tmp_path / "new")) as served:
        assert served.console.queries.broken_agents() == {}
        thread_id = served.chat("hello", agent="agent")["thread_id"]
    monkeypatch.delenv("MY_AGENT_SETTING")
    shutil.move(tmp_path / "new", tmp_path / "moved")
    with serving(tmp_path / "moved" / "langgraph.json") as served:
        assert answer(served, thread_id) == "True template None"
    monkeypatch.delenv("MY_AGENT_SETTING")


def test_the_context_is_its_defaults_what_is_set_and_what_the_thread_adds(serving: Any, kinds: Any) -> None:
    with serving(kinds("context_default", "context_needed")) as served:
        assert say(served, "context_default") == "nobody"
        assert say(served, "context_default", context={"user": "ana"}) == "ana"
        refused = served.post("/chat", message="hello", agent="context_needed")
        assert (refused.status_code, refused.json()["code"]) == (400, "ContextNeeded")
        assert "needs user. Set it in review.toml under [agents.context_needed.context]" in refused.text
        assert say(served, "context_needed", context={"user": "bob"}) == "bob"
        odd = served.post("/chat", message="hello", agent="context_needed", context={"user": "b", "x": 1})
        assert (odd.status_code, odd.json()["code"]) == (422, "InvalidMessage")
    options = '[agents.context_needed.context]\nuser = "of the file"\n'
    with serving(kinds("context_needed", options=options)) as served:
        assert say(served, "context_needed") == "of the file"
        assert say(served, "context_needed", context={"user": "bob"}) == "bob"


def test_a_threads_context_is_kept_for_its_later_turns(serving: Any, kinds: Any) -> None:
    with serving(kinds("context_needed")) as served:
        thread_id = served.chat("hello", agent="context_needed", context={"user": "bob"})["thread_id"]
        assert served.chat("hello", thread_id=thread_id)["answer"] == "bob"
        again = served.post("/chat", message="hello", thread_id=thread_id, context={"user": "eve"})
        assert again.status_code == 422


def test_a_graph_without_a_store_is_given_one_that_outlives_the_console(serving: Any, kinds: Any) -> None:
    files: list[Path] = []
    for _ in range(2):
        with serving(kinds("store_of_the_platform")) as served:
            assert say(served, "store_of_the_platform") == "{'n': 1}"
            files = list((served.opened.settings.review_data / "stores").iterdir())
        assert "store_of_the_platform.sqlite" in {file.name for file in files}
    with sqlite3.connect(next(file for file in files if file.suffix == ".sqlite")) as kept:
        assert kept.execute("SELECT prefix, key, value FROM store").fetchall() == [("notes", "k", b'{"n":1}')]


def test_what_is_configurable_is_what_was_configured(serving: Any, kinds: Any) -> None:
    with serving(kinds("configurable_model")) as served:
        assert say(served, "configurable_model") == "None"
    options = '[agents.configurable_model.configurable]\nmodel = "big"\n'
    with serving(kinds("configurable_model", options=options)) as served:
        assert say(served, "configurable_model") == "big"


def test_no_key_of_the_consoles_is_visible_to_nodes_and_tools(serving: Any, tmp_path: Path) -> None:
    with serving(
        projects.write(tmp_path / "home", {"sees.py": SEES}, {"graphs": {"a": "./sees.py:graph"}})
    ) as served:
        node, tool = json.loads(say(served, "a").replace("'", '"'))
    own = {key for key in (*node, *tool) if not key.startswith("__pregel_")}
    assert own == {"thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map"}


def test_factories_and_graphs_that_are_not_compiled_are_served(serving: Any, kinds: Any) -> None:
    with serving(kinds("async_factory", "uncompiled")) as served:
        assert (say(served, "async_factory"), say(served, "uncompiled")) == ("made", "built")


FACTORIES = """
import contextlib

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.func import entrypoint
from langgraph.graph import MessagesState, StateGraph
from langgraph_sdk.runtime import ServerRuntime

LEFT = []


def built(text):
    return (
        StateGraph(MessagesState)
        .add_node("n", lambda state: {"messages": [AIMessage(text)]})
        .add_edge("__start__", "n")
    )


def plain():
    return built("plain")


def config(config: RunnableConfig):
    return built(config["configurable"]["model"])


def runtime(runtime: ServerRuntime[dict]):
    return built(runtime.execution_runtime.context["user"])


async def both(runtime: "ServerRuntime", config):
    await runtime.store.aput(("a",), "k", {"v": config["configurable"]["model"]})
    return built((await runtime.store.aget(("a",), "k")).value["v"])


@contextlib.contextmanager
def sync_context():
    yield built("sync context").compile()
    LEFT.append("sync")


@contextlib.asynccontextmanager
async def async_context():
    yield built("async context")
    LEFT.append("async")


def three(a, b, c):
    return built("never")


@entrypoint()
def flow(question: str) -> str:
    return question.upper()
"""


def test_every_kind_of_factory_is_called_as_langgraph_calls_it(serving: Any, tmp_path: Path) -> None:
    names = ("plain", "config", "runtime", "both", "sync_context", "async_context", "three", "flow")
    file = projects.write(
        tmp_path / "home",
        {
            "made.py": FACTORIES,
            "review.toml": '[agents.config.configurable]\nmodel = "big"\n[agents.both.configurable]\nmodel = "small"\n'
            '[agents.runtime.context]\nuser = "ana"\n',
        },
        {"graphs": {name: f"./made.py:{name}" for name in names}},
    )
    with serving(file) as served:
        said = [say(served, name) for name in names[:6]]
        assert said == ["plain", "big", "ana", "small", "sync context", "async context"]
        assert "takes a config, a ServerRuntime" in served.console.queries.broken_agents()["three"].reason
        assert not served.console.queries.agent("flow").needs.messages
        import made

        assert made.LEFT == []
    until(lambda: sorted(made.LEFT) == ["async", "sync"])


def test_a_factory_that_fails_on_the_loop_says_why() -> None:
    async def fails() -> Any:
        raise ValueError("no server")

    factories = Factories()
    with pytest.raises(ValueError, match="no server"):
        factories.called(fails, {}, runtime_of(None, None))
    factories.close()
    factories.close()


NEEDS = {
    "async_node": {"asynchronous only": "n"},
    "async_tool": {"asynchronous only": "asend"},
    "mcp_like": {"asynchronous only": "asend"},
    "no_messages": {"messages": "none: its input is a form", "further input": "question"},
    "further_input": {"further input": "email"},
    "context_default": {"context": "user"},
    "context_needed": {"context": "user", "context to set": "user"},
    "store_of_the_platform": {"store": "n"},
    "static_before": {"stops before": "tools"},
    "without_call_id": {"calls without ids": "send"},
    "wrapper": {"calls without ids": "book_hotel"},
    "nested": {},
}


@pytest.mark.parametrize("name", NEEDS)
def test_what_a_graph_needs_is_known_before_anything_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.cases.agents import kinds

    graph = graph_of(getattr(kinds, name), None)
    assert dict(agent_of(name, graph, AgentOptions()).needs.lines()) == NEEDS[name]


def test_what_fails_to_load_is_told_with_file_line_and_traceback(
    serving: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = projects.write(
        tmp_path / "home",
        {"broken.py": "import helper\n", "helper.py": "\n\nraise ValueError('its key is missing')\n"},
        {"graphs": {"broken": "./broken.py:graph"}},
    )
    with serving(file) as served:
        failure = served.console.queries.broken_agents()["broken"]
    assert str(failure) == f"ValueError: its key is missing ({tmp_path / 'home' / 'helper.py'}, line 3)"
    assert "import helper" in failure.traceback
    assert failure.traceback in caplog.text


def test_what_fails_in_a_run_leaves_its_traceback_on_record_and_in_the_log(
    serving: Any, kinds: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(kinds("further_input")) as served:
        thread_id = served.chat("hello", agent="further_input")["thread_id"]
        traceback = served.console.trail.last_traceback(thread_id)
    assert "kinds.py" in traceback
    assert "KeyError: 'email'" in traceback
    assert "KeyError: 'email'" in caplog.text


def test_the_doctor_says_what_each_external_agent_needs(
    kinds: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent.cli import doctor

    monkeypatch.setattr(
        doctor.settings_module,
        "read",
        lambda: settings.model_copy(update={"review_agents": kinds("context_needed")}),
    )
    found = {one.about: one for one in doctor.examine()}
    assert found["agent context_needed"].said.startswith(
        "context: user; context to set: user. Set it in review.toml"
    )


def test_opened_twice_in_one_process_a_file_is_imported_once(settings: Settings, kinds: Any) -> None:
    own = settings.model_copy(update={"review_agents": kinds("own_values")})
    for _ in range(2):
        opened: Opened = open_console(own, at_work=False)
        assert opened.console.queries.agents() == ("own_values",)
        opened.close()
