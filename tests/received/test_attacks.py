"""Policies and remembered rules judge what the function receives, however it was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent.review.errors import RuleRefused
from agent.settings import Settings
from tests.received.driving import Scene, Turn, call, scene_of
from tests.received.writing import RECEIVED

HERE = "./tests/received/attack_agents.py"
ATTACKS: dict[str, tuple[str, dict[str, Any]]] = {
    "a_space_before_the_path": ("stripped", {"path": " /etc/passwd"}),
    "a_sum_under_its_alias": ("alias_with_default", {"amount": 5, "sum": 5_000}),
    "a_unit_that_multiplies": ("unit_that_multiplies", {"amount": 5, "unit": "thousand"}),
    "an_argument_that_no_schema_names": ("extra_allow", {"to": "x", "bcc": "eve"}),
}


@pytest.fixture(scope="module")
def scene(base_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    graphs = {name: f"{HERE}:{name}" for name in ("asking", "free", "remembering")}
    with scene_of(base_settings, tmp_path_factory.mktemp("attacks"), graphs) as found:
        yield found


def state_of(turn: Turn) -> str:
    (action,) = turn.all_actions()
    return str(action["state"])


@pytest.mark.parametrize("agent", ["asking", "free"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_denied_call_stays_denied_however_it_is_written(scene: Scene, agent: str, attack: str) -> None:
    tool, args = ATTACKS[attack]
    turn = scene.begin(agent, call("c1", tool, args))
    assert turn.reviews == []
    assert RECEIVED == []
    assert state_of(turn) == "refused"


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_edit_into_a_denied_call_is_refused_before_it_is_sent(scene: Scene, attack: str) -> None:
    tool, args = ATTACKS[attack]
    harmless: dict[str, dict[str, Any]] = {
        "stripped": {"path": "/tmp/a"},
        "alias_with_default": {"sum": 5},
        "unit_that_multiplies": {"amount": 5},
        "extra_allow": {"to": "x"},
    }
    turn = scene.begin("asking", call("c1", tool, harmless[tool]))
    edit = {"type": "edit", "edited_action": {"name": tool, "args": args}}
    for path in ("/preview", "/review"):
        answer = scene.served.post(path, thread_id=turn.thread_id, decisions=[edit])
        assert answer.status_code == 400, answer.text
    assert RECEIVED == []
    assert state_of(turn) == "pending"


def test_the_card_names_the_person_and_the_sum_that_the_function_gets(scene: Scene) -> None:
    turn = scene.begin("remembering", call("c1", "other_person_and_sum", {"to": "alice", "amount": 5}))
    (card,) = turn.reviews[0]["action_requests"]
    assert card["args"] == {"to": "alice", "amount": 5}
    assert card["received"] == {"to": "mallory", "amount": 500}
    assert "alice" not in card["description"]
    (waiting,) = scene.opened.console.queries.view(turn.thread_id).reviews
    assert waiting.actions[0].args == {"to": "mallory", "amount": 500}


def remembered(scene: Scene, tool: str, args: dict[str, Any], *free: str) -> None:
    """Make a rule for all threads from a call of this tool, which is then approved."""
    turn = scene.begin("remembering", call("c1", tool, args))
    scene.opened.console.rules.make(
        turn.thread_id, "c1", free=free, scope="agent", lasting="15 minutes", by="ana"
    )
    turn.decide_each(["c1"], {})


def test_a_rule_for_five_lets_no_five_thousand_run(scene: Scene) -> None:
    remembered(scene, "unit_that_multiplies", {"amount": 5, "unit": "one"}, "unit")
    more = scene.begin("remembering", call("c2", "unit_that_multiplies", {"amount": 5, "unit": "thousand"}))
    assert RECEIVED == []
    assert len(more.reviews) == 1
    again = scene.begin("remembering", call("c3", "unit_that_multiplies", {"amount": 5, "unit": "one"}))
    assert (again.reviews, len(RECEIVED)) == ([], 1)


def test_a_rule_binds_what_is_received_and_not_what_was_written(scene: Scene) -> None:
    remembered(scene, "alias", {"recipient": "bob"})
    other = scene.begin("remembering", call("c2", "alias", {"recipient": "mallory", "to": "bob"}))
    assert RECEIVED == []
    assert len(other.reviews) == 1


@pytest.mark.parametrize(("tool", "free"), [("plain_default", "to"), ("fresh_text", "to")])
def test_no_rule_leaves_everything_free_that_was_given(scene: Scene, tool: str, free: str) -> None:
    with pytest.raises(RuleRefused):
        remembered(scene, tool, {"to": "x"}, free)


def test_a_refusal_says_what_was_judged(scene: Scene) -> None:
    turn = scene.begin("asking", call("c1", "stripped", {"path": " /etc/passwd"}))
    assert "Not in /etc." in json.dumps(turn.all_actions())
