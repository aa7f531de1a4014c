"""The engine that is opened lazy: what is known before, and that it is opened once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.bootstrap import open_console
from agent.demos.model import DemoModel
from agent.engine.lazy import LazyEngine
from agent.engine.local import LocalEngine
from agent.engine.models import Models
from agent.review.agents import LoadFailure
from agent.review.errors import PolicyError
from agent.review.policy import Policy, Tier, ToolPolicy
from agent.settings import Settings

POLICIES = {
    "mail": Policy({"send": ToolPolicy(Tier.ASK), "find": ToolPolicy(Tier.AUTO)}),
    "desk": Policy({"find": ToolPolicy(Tier.AUTO)}),
}


def never() -> LocalEngine:
    raise AssertionError("nobody needs it")


def test_the_agents_and_their_tools_are_known_before_it_is_opened() -> None:
    broken = {"other": LoadFailure("no such file", "", "")}
    lazy = LazyEngine(POLICIES, broken, ["demo"], never)
    assert lazy.agents() == ("mail", "desk")
    assert lazy.tools() == ["find", "send"]
    assert lazy.broken() == broken
    assert lazy.models() == ["demo"]
    assert not lazy.wanted.is_set()
    lazy.shut()


def test_it_is_opened_once_for_all_who_need_it() -> None:
    both_wait = threading.Barrier(2)
    made: list[LocalEngine] = []

    def make() -> LocalEngine:
        made.append(LocalEngine({}, Models(DemoModel), ":memory:"))
        return made[-1]

    lazy = LazyEngine({}, {}, ["demo"], make)

    def opened(_: int) -> LocalEngine:
        both_wait.wait(30)
        return lazy.open()

    with ThreadPoolExecutor(2) as needing:
        assert set(needing.map(opened, range(2))) == set(made)
    assert len(made) == 1
    assert lazy.wanted.is_set()
    lazy.shut()


def test_what_keeps_it_from_being_opened_is_raised_by_all_that_needs_it() -> None:
    def make() -> LocalEngine:
        raise PolicyError(["lend: no such tool"])

    lazy = LazyEngine(POLICIES, {}, ["demo"], make)
    for _ in range(2):
        with pytest.raises(PolicyError, match="no such tool"):
            lazy.agent("mail")
    assert lazy.agents() == ("mail", "desk")


def test_it_tells_before_what_it_will_serve(settings: Settings) -> None:
    opened = open_console(settings, at_work=False)
    engine = opened.engine
    before = (engine.agents(), engine.tools(), engine.broken(), engine.models())
    inside = engine.open()
    assert before == (inside.agents(), inside.tools(), inside.broken(), inside.models())
    opened.close()
