"""A policy from LangChain's mapping treats each call as LangChain's own middleware does."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.agents.middleware.human_in_the_loop import InterruptOnConfig
from langchain_core.messages import AIMessage

from agent.review.errors import PolicyError
from agent.review.interrupt_on import policy_of
from agent.review.policy import Policy, Tier
from agent.review.screening import summarize

TOOLS = ["send", "find", "move"]
ARGS = {"to": "a@example.com"}


def middlewares(mapping: dict[str, Any], **more: Any) -> dict[str, Any] | None:
    """What the middleware would put before a person for one call of `send`; None where it just runs."""
    middleware: HumanInTheLoopMiddleware[Any, Any, Any] = HumanInTheLoopMiddleware(mapping, **more)
    config = middleware.interrupt_on.get("send")
    call: Any = {"name": "send", "args": ARGS, "id": "c1", "type": "tool_call"}
    if config is None:
        return None
    request, review = middleware._create_action_and_config(call, config, {"messages": [AIMessage("")]}, None)  # type: ignore[arg-type]
    return {"description": request["description"], "allowed": tuple(review["allowed_decisions"])}


def ours(policy: Policy) -> dict[str, Any] | None:
    verdict = policy.judge("send", ARGS)
    if verdict.tier is Tier.AUTO:
        return None
    assert verdict.tier is Tier.ASK
    return {"description": summarize(policy, "send", ARGS), "allowed": verdict.allowed}


@pytest.mark.parametrize(
    "config",
    [
        True,
        False,
        {"allowed_decisions": ["approve", "reject"]},
        {"allowed_decisions": ["respond"]},
        {"allowed_decisions": ["approve"], "description": "Look at this."},
        {"allowed_decisions": ["approve"], "description": lambda call, state, runtime: f"To {call['args']}"},
        {"allowed_decisions": ["approve"], "args_schema": {"type": "object"}},
    ],
)
@pytest.mark.parametrize("more", [{}, {"description_prefix": "Please look"}], ids=["", "prefix"])
def test_it_asks_what_langchain_asks_in_the_same_words(config: Any, more: dict[str, str]) -> None:
    policy = policy_of({"send": config}, TOOLS, **more)
    policy.check(dict.fromkeys(TOOLS, ()))
    assert ours(policy) == middlewares({"send": config}, **more)


def test_a_tool_that_the_mapping_leaves_out_runs_as_there() -> None:
    policy = policy_of({"find": True}, TOOLS)
    assert ours(policy) is middlewares({"find": True}) is None


def starts_at_a(request: Any) -> bool:
    return bool(request.tool_call["args"]["to"].startswith("a"))


def test_its_predicate_sees_the_call_as_there() -> None:
    config = InterruptOnConfig(allowed_decisions=["approve"], when=starts_at_a)
    policy = policy_of({"send": config}, TOOLS)
    assert policy.judge("send", {"to": "a"}).tier is Tier.ASK
    assert policy.judge("send", {"to": "b"}).tier is Tier.AUTO


def test_a_predicate_that_needs_what_is_not_there_asks() -> None:
    config = {"allowed_decisions": ["approve"], "when": lambda request: request.runtime.context.strict}
    assert policy_of({"send": config}, TOOLS).judge("send", ARGS).tier is Tier.ASK


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"allowed_decisions": []}, "list at least one"),
        ({"allowed_decision": ["approve"]}, "unknown key 'allowed_decision'"),
        ({"allowed_decisions": "approve"}, "allowed_decisions is 'approve'"),
        ({"allowed_decisions": ["approve"], "when": True}, "when is True"),
        (None, "None is neither"),
        ("yes", "'yes' is neither"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named_with_its_line(config: Any, said: str) -> None:
    with pytest.raises(PolicyError) as refused:
        policy_of({"send": config}, TOOLS)
    assert f"send ({__name__}, line " in str(refused.value)
    assert said in str(refused.value)


def test_a_misspelt_tool_is_refused_though_langchain_would_let_the_right_one_run() -> None:
    with pytest.raises(PolicyError, match="snd"):
        policy_of({"snd": True}, TOOLS).check(dict.fromkeys(TOOLS, ()))


def test_an_unknown_decision_is_refused() -> None:
    with pytest.raises(PolicyError, match="aprove"):
        policy_of({"send": {"allowed_decisions": ["aprove"]}}, TOOLS).check(dict.fromkeys(TOOLS, ()))
