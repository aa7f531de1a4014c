"""Holding what a function received against what was shown, recorded and digested, for one finished turn."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

from tests.received.driving import Turn, exact
from tests.received.spelling import reads_as, spelt
from tests.received.table import Row

NOT_RUN = ("refused", "rejected", "failed", "blocked", "withdrawn")
RAN = ("done",)


def received(turn: Turn, row: Row) -> list[dict[str, Any]]:
    """What the row's function received, in order, injected arguments apart; the file says the same as the list."""
    found = [given for tool, given in turn.received if tool == row.name]
    spelled = [given for tool, given in turn.written if tool == row.name]
    assert spelled == [{name: spelt(value) for name, value in given.items()} for given in found]
    return own_arguments(row, found)


def own_arguments(row: Row, found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a function received, without what is not the model's to give."""
    for given in found:
        assert all(given.get(name, row) != row.proposed.get(name) for name in row.injected)
    return [{name: value for name, value in given.items() if name not in row.injected} for given in found]


def compare(turn: Turn, row: Row, names: Sequence[str], *, asked: bool) -> dict[str, dict[str, Any]]:
    """What each call's function received, by the call's name, after holding it against all that was said of it.

    Raises AssertionError where anything was received that was not shown, recorded and digested so, or where a call
    did not run and nothing says why.
    """
    actions = turn.actions(row.name)
    assert set(actions) == set(names)
    for name, action in actions.items():
        _hold_record(turn, name, action, asked)
    ran = {name: json.loads(one["args"]) for name, one in actions.items() if one["state"] in RAN}
    found = received(turn, row)
    assert len(found) == len(ran), f"{len(found)} ran, and {sorted(ran)} are on record as done"
    return _matched(found, ran)


def _matched(found: list[dict[str, Any]], recorded: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Which call received what: calls of one turn may have run in any order."""
    for order in itertools.permutations(found):
        if all(map(reads_as, order, recorded.values())):
            return dict(zip(recorded, order, strict=True))
    raise AssertionError(f"received {found}, recorded {recorded}")


def _hold_record(turn: Turn, name: str, action: dict[str, Any], asked: bool) -> None:
    """The ledger, the digest, the events and the card say the same of one call."""
    args = json.loads(action["args"])
    if action["state"] not in RAN:
        assert action["state"] in NOT_RUN, f"{name} is {action['state']}"
        said = turn.said.get(name) or action["result"] or action["notes"] != "{}"
        assert said, f"nothing says why {name} did not run"
        return
    assert action["call_digest"] in turn.scene.digests(action, args), f"{name}: the digest is of other values"
    for event in turn.events("ExecutionStarted"):
        if (event["tool_call_id"], event["tool"]) == (action["tool_call_id"], action["tool"]):
            assert exact(event["data"]["args"]) == exact(args), (
                f"{name}: {event['data']} in the trail, not {args}"
            )
            assert event["digest"] == action["call_digest"], f"{name}: another digest in the trail"
    if asked:
        assert exact(turn.shown[name]) == exact(args), f"{name}: shown {turn.shown[name]}, recorded {args}"


def hold_card(turn: Turn, row: Row, name: str) -> None:
    """A card has the proposal as the model wrote it, and what is received wherever that is something else."""
    card = turn.cards.get(name)
    if card is None:
        return
    assert exact(card["args"]) == exact(row.proposed), (
        f"shown as proposed: {card['args']}, not {row.proposed}"
    )
    if "received" in card:
        assert exact(card["received"]) != exact(card["args"])
