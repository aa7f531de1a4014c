"""The table of refusals, over HTTP and in Python: the order of the checks, the status, the remedy, and nothing touched."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from agent.api.errors import STATUS
from agent.review import errors
from agent.review.actions import ActionState, Review, ReviewState
from agent.review.errors import ReviewError
from agent.review.threads import RunState, Status
from tests.api import case_agent
from tests.api.conftest import Served
from tests.conftest import SetClock, until

MAIL = '/call#c1 send_email {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}'
APPROVE = [{"type": "approve"}]
WRONG = [{"type": "respond", "message": "x"}, {"type": "approve"}]
"""Wrong in number and in kind: it only gets that far if every earlier check passed."""
NOW = "2030-01-01T12:00:00.000000Z"


def state_of(served: Served, thread_id: str = "t-1") -> Any:
    """All that a thread holds, but for the audit trail, where an attempt that came too late is recorded."""
    ledger = served.console._ledger
    view = replace(served.console.queries.view(thread_id), progress=None)
    return (
        view,
        served.console.queries.actions(thread_id),
        served.console.queries.history(thread_id),
        ledger.last_run(thread_id),
    )


def refused_by_both(served: Served, decisions: Any, **more: Any) -> tuple[httpx.Response, ReviewError]:
    """What HTTP and Python say to the same decisions; neither changes the thread."""
    before = state_of(served)
    answer = served.post("/review", thread_id="t-1", decisions=decisions, **more)
    with pytest.raises(ReviewError) as caught:
        served.console.decide("t-1", decisions, by="ana", **more)
    with pytest.raises(type(caught.value)):
        served.console.preview("t-1", decisions, **more)
    assert state_of(served) == before
    return answer, caught.value


def check(answer: httpx.Response, error: ReviewError, status: int, kind: type[ReviewError]) -> str:
    """The two agree, the body is the documented one, and its sentence is the error's own."""
    assert type(error) is kind
    body = answer.json()
    assert (answer.status_code, body["code"]) == (status, kind.__name__), answer.text
    assert body["detail"] == str(error)
    assert body["detail"].endswith((".", "!"))
    return str(body["detail"])


# The rows, in their order


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"thread_id": "t-1"},
        {"thread_id": "t-1", "decisions": []},
        {"thread_id": "t-1", "decisions": "approve"},
        {"thread_id": "t-1", "decisions": ["approve"]},
        {"thread_id": "t-1", "decisions": [{"type": "postpone"}]},
        {"thread_id": "t-1", "decisions": [{"type": "edit", "edited_action": {"name": "send_email"}}]},
        {"thread_id": "t-1", "decisions": [{"type": "edit", "edited_action": "send_email"}]},
        {"thread_id": "t 1", "decisions": APPROVE},
        {"thread_id": "", "decisions": APPROVE},
        {"thread_id": 1, "decisions": APPROVE},
        [],
        "t-1",
    ],
)
def test_0_a_body_of_another_shape_is_refused_before_the_thread_is_looked_up(
    served: Served, body: Any
) -> None:
    answer = served.client.post("/review", json=body)
    assert answer.status_code == 422
    assert answer.json()["code"] == "InvalidRequest"
    assert all({"type", "loc", "msg"} == set(fault) for fault in answer.json()["detail"])


def test_1_an_unknown_thread_comes_before_all_else(served: Served) -> None:
    answer = served.post("/review", thread_id="nobody", decisions=WRONG, review_id="r-0")
    with pytest.raises(errors.NoPendingReview) as caught:
        served.console.decide("nobody", WRONG, by="ana", review_id="r-0")
    check(answer, caught.value, 400, errors.NoPendingReview)
    assert served.post("/preview", thread_id="nobody", decisions=WRONG).json() == answer.json()
    assert served.post("/close", thread_id="nobody").status_code == 404


def test_2_a_running_thread_is_busy(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    with served.console._ledger.write() as tx:
        last = tx.last_run("t-1")
        assert last is not None
        tx.open(replace(last, run_id="another", fence=last.fence + 1, state=RunState.OPEN))
    answer, error = refused_by_both(served, WRONG, review_id="r-0")
    check(answer, error, 409, errors.ThreadBusy)


def test_2_an_unknown_outcome_has_to_be_settled_first(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    with served.console._ledger.write() as tx:
        (action,) = served.console.queries.actions("t-1")
        tx.propose(replace(action, key=replace(action.key, tool_call_id="c9"), state=ActionState.UNKNOWN))
    answer, error = refused_by_both(served, WRONG, review_id="r-0")
    assert "send_email" in check(answer, error, 409, errors.OutcomeUnknown)


def test_2_a_stuck_thread_has_to_be_freed_first(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    with served.console._ledger.write() as tx:
        tx.set_thread("t-1", Status.STUCK, NOW)
    answer, error = refused_by_both(served, WRONG, review_id="r-0")
    check(answer, error, 409, errors.ThreadStuck)


def test_3_the_loser_of_a_race_is_told_who_decided_what_and_when(served: Served) -> None:
    review_id = served.chat(MAIL, thread_id="t-1")["pending_review"]["review_id"]
    served.look("t-1", by="bea")
    served.post("/review", headers={"X-Reviewer": "bea"}, thread_id="t-1", decisions=APPROVE)
    answer, error = refused_by_both(served, WRONG, review_id=review_id)
    detail = check(answer, error, 409, errors.AlreadyDecided)
    body = answer.json()
    assert (body["by"], body["what"], body["at"]) == ("bea", "approve", NOW)
    assert all(word in detail for word in ("bea", "approve", NOW))


def test_3_a_closed_review_counts_as_decided(served: Served) -> None:
    review_id = served.chat(MAIL, thread_id="t-1")["pending_review"]["review_id"]
    served.post("/close", thread_id="t-1")
    answer, error = refused_by_both(served, WRONG, review_id=review_id)
    assert "closed without deciding" in check(answer, error, 409, errors.AlreadyDecided)


def test_3_an_expired_review_says_when(served: Served, clock: SetClock) -> None:
    review_id = served.chat(MAIL, thread_id="t-1")["pending_review"]["review_id"]
    clock.move(hours=25)
    until(lambda: served.console.queries.view("t-1").thread.status is Status.IDLE)
    answer, error = refused_by_both(served, WRONG, review_id=review_id)
    check(answer, error, 409, errors.ReviewExpired)


def test_3_a_review_of_another_thread_is_none_of_this_one(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    other = served.chat(MAIL, thread_id="t-2")["pending_review"]["review_id"]
    answer, error = refused_by_both(served, WRONG, review_id=other)
    check(answer, error, 409, errors.ReviewChanged)
    assert answer.json()["pending_review"] == served.get("/threads/t-1").json()["pending_review"]


def test_4_where_nothing_waits_the_last_decision_is_named(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    served.look("t-1", by="bea")
    served.post("/review", headers={"X-Reviewer": "bea"}, thread_id="t-1", decisions=[{"type": "reject"}])
    answer, error = refused_by_both(served, WRONG)
    detail = check(answer, error, 400, errors.NoPendingReview)
    assert all(word in detail for word in ("bea", "reject", NOW))


def test_4_where_several_reviews_wait_one_has_to_be_named(served: Served) -> None:
    first = served.chat(MAIL, thread_id="t-1")["pending_review"]["review_id"]
    with served.console._ledger.write() as tx:
        tx.open_review(Review("r-second", "t-1", "mail", ReviewState.OPEN, NOW, None), [])
    answer, error = refused_by_both(served, WRONG)
    detail = check(answer, error, 400, errors.ReviewIdNeeded)
    assert first in detail
    assert "r-second" in detail


def test_5_the_number_of_decisions_comes_before_their_content(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    answer, error = refused_by_both(served, WRONG)
    detail = check(answer, error, 400, errors.InvalidDecision)
    assert "needs 1" in detail
    assert "got 2" in detail


def test_6_each_decision_comes_before_the_digests(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    decisions = [{"type": "respond", "message": "x", "shown_digest": "0" * 64}]
    answer, error = refused_by_both(served, decisions)
    assert "send_email" in check(answer, error, 400, errors.InvalidDecision)


def test_7_another_digest_is_refused_with_the_review_as_it_is_now(served: Served) -> None:
    waiting = served.chat(MAIL, thread_id="t-1")["pending_review"]
    answer, error = refused_by_both(served, [{"type": "approve", "shown_digest": "0" * 64}])
    check(answer, error, 409, errors.ReviewChanged)
    right = [{"type": "approve", "shown_digest": waiting["action_requests"][0]["shown_digest"]}]
    assert served.post("/review", thread_id="t-1", decisions=right).status_code == 200


def test_a_message_to_a_thread_where_a_review_waits_is_refused(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    before = state_of(served)
    answer = served.post("/chat", thread_id="t-1", message="Go on.")
    with pytest.raises(errors.ReviewPending) as caught:
        served.console.send("Go on.", by="ana", thread_id="t-1")
    check(answer, caught.value, 400, errors.ReviewPending)
    assert state_of(served) == before


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/chat", {"message": "hi", "agent": "nobody"}, 400, "UnknownAgent"),
        ("/chat", {"message": "hi", "model": "nothing"}, 400, "UnknownModel"),
        ("/chat", {"message": "   "}, 422, "InvalidMessage"),
        ("/retry", {"thread_id": "t-1"}, 409, "NothingToRetry"),
        ("/stop", {"thread_id": "t-1"}, 409, "NothingToStop"),
        ("/ask-again", {"thread_id": "t-1"}, 409, "NothingToAskAgain"),
        ("/settle", {"thread_id": "t-1", "tool_call_id": "c1", "outcome": "failed"}, 409, "NothingToSettle"),
        ("/close", {"thread_id": "t-1"}, 400, "NoPendingReview"),
    ],
)
def test_what_cannot_be_done_now_says_so(
    served: Served, path: str, body: Any, status: int, code: str
) -> None:
    served.chat("/say Hello.", thread_id="t-1")
    threads = len(served.console.queries.threads())
    answer = served.client.post(path, json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert len(served.console.queries.threads()) == threads


def test_every_refusal_of_the_rules_has_its_status() -> None:
    at_start = {errors.PolicyError, errors.SettingsError}
    of_a_run = {errors.ModelFailed}
    kinds = {*ReviewError.__subclasses__(), *errors.LedgerUnavailable.__subclasses__()}
    assert set(STATUS) == kinds - at_start - of_a_run


# The shared cases

BY_NAME = {case["name"]: case for case in case_agent.CASES["cases"]}


def begin(served: Served, case: dict[str, Any]) -> None:
    """Bring the case's actions to review, the way any agent would propose them."""
    calls = case["pending_review"]["action_requests"]
    lines = [f"/call#c{n} {call['name']} {json.dumps(call['args'])}" for n, call in enumerate(calls)]
    served.chat("\n".join(lines), thread_id="t-1", agent="cases")
    case_agent.RAN.clear()


@pytest.mark.parametrize("name", BY_NAME)
def test_the_shared_cases_hold_over_http(served: Served, name: str) -> None:
    case, expected = BY_NAME[name], BY_NAME[name]["expect"]
    begin(served, case)
    before = state_of(served)
    answer = served.post("/review", thread_id="t-1", decisions=case["decisions"])
    assert answer.status_code == expected["http"], answer.text
    if expected["http"] == 200:
        assert [args for _, args in case_agent.RAN] == ran_of(case)
        return
    assert state_of(served) == before
    if expected["http"] == 400:
        assert answer.json()["code"] == expected["error"]
        assert all(word in answer.json()["detail"] for word in expected["message_mentions"])


@pytest.mark.parametrize("name", [name for name, case in BY_NAME.items() if case["expect"]["error"]])
def test_the_shared_cases_hold_in_python(served: Served, name: str) -> None:
    case, expected = BY_NAME[name], BY_NAME[name]["expect"]
    begin(served, case)
    before = state_of(served)
    with pytest.raises(ReviewError) as caught:
        served.console.decide("t-1", case["decisions"], by="ana")
    assert caught.value.code == expected["error"]
    words = expected.get("python_message_mentions", expected["message_mentions"])
    assert all(word in str(caught.value) for word in words)
    assert state_of(served) == before


def ran_of(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments of every call that runs, as decided."""
    found = []
    for call, decision in zip(case["pending_review"]["action_requests"], case["decisions"], strict=True):
        if decision["type"] == "approve":
            found.append(call["args"])
        elif decision["type"] == "edit":
            found.append(decision["edited_action"]["args"])
    return found
