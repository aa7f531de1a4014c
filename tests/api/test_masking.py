"""Secrets are masked where the record is read over HTTP; what is decided on is exact, and takes no mask for a value."""

from __future__ import annotations

import json

import pytest

from tests.api.conftest import Served

KEY = "sk-proj-abcdefghijklmnop1234567890"
MASK = "sk-p…[34 characters masked]"
ARGS = {"to": "alice@example.com", "subject": "Login", "body": f"It is {KEY}, say the card 4111111111111111."}
CALL = f"/call#c1 send_email {json.dumps(ARGS)}"
BOTH = f"/say The key is {KEY}.\n{CALL}"


def edit(**args: str) -> list[dict[str, object]]:
    return [{"type": "edit", "edited_action": {"name": "send_email", "args": {**ARGS, **args}}}]


def test_what_waits_is_exact_and_what_was_said_is_masked(served: Served) -> None:
    waits = served.chat(BOTH, thread_id="t-1")["pending_review"]
    assert waits["action_requests"][0]["args"] == ARGS
    assert served.get("/reviews").json()["reviews"][0]["pending_review"] == waits
    found = served.get("/threads/t-1").json()
    assert (found["pending_review"], found["pending_reviews"]) == (waits, [waits])
    (action,) = found["actions"]
    assert (action["args"], action["proposed"]["args"]) == (ARGS, ARGS)
    assert KEY not in json.dumps(found["messages"])
    assert [message["content"] for message in found["messages"]][-1] == f"The key is {MASK}."
    assert MASK in found["messages"][-1]["tool_calls"][0]["args"]["body"]


def test_what_has_ended_is_masked(served: Served) -> None:
    served.chat(BOTH, thread_id="t-1")
    served.post("/review", thread_id="t-1", decisions=[{"type": "reject", "message": f"never send {KEY}"}])
    served.chat(f"/say Your key is {KEY}", thread_id="t-1")
    text = served.get("/threads/t-1").text
    found = json.loads(text)
    assert KEY not in text
    assert "4111111111111111" not in text
    assert found["actions"][0]["args"]["body"].startswith(f"It is {MASK}")
    assert (found["actions"][0]["tool_call_id"], found["answer"]) == ("c1", f"Your key is {MASK}")


def test_the_trail_is_masked_and_keeps_no_salt_by_which_a_short_secret_could_be_guessed(
    served: Served,
) -> None:
    served.chat(BOTH, thread_id="t-1")
    served.post("/review", thread_id="t-1", decisions=[{"type": "approve"}])
    text = served.get("/audit", thread_id="t-1").text
    assert KEY not in text
    assert "4111111111111111" not in text
    by_kind = {event["kind"]: event for event in json.loads(text)["events"]}
    proposed, opened = by_kind["ActionProposed"], by_kind["ThreadStarted"]
    assert MASK in proposed["data"]["args"]["body"]
    assert (proposed["masked"], "salt" in proposed) == (True, False)
    assert ("masked" in opened, "salt" in opened) == (False, True)


@pytest.mark.parametrize("path", ["/preview", "/review"])
@pytest.mark.parametrize("value", [f"It is {MASK}, say", "ab…[8 characters masked]"])
def test_an_edit_with_a_mask_is_refused_and_the_right_one_can_be_sent_after(
    served: Served, path: str, value: str
) -> None:
    served.chat(CALL, thread_id="t-1")
    refused = served.post(path, thread_id="t-1", decisions=edit(body=value))
    assert (refused.status_code, refused.json()["code"]) == (400, "InvalidDecision")
    assert "body holds the mask of a secret" in refused.json()["detail"]
    assert "Write the value itself" in refused.json()["detail"]
    assert served.post(path, thread_id="t-1", decisions=edit(subject="Key")).status_code == 200


def test_a_mask_that_was_proposed_may_stay_where_it_was_and_nowhere_else(served: Served) -> None:
    args = {"to": "alice@example.com", "subject": "Log", "body": f"The record says {MASK}."}
    served.chat(f"/call#c1 send_email {json.dumps(args)}", thread_id="t-1")

    def previews(**edited: str) -> int:
        decisions = [{"type": "edit", "edited_action": {"name": "send_email", "args": {**args, **edited}}}]
        return served.post("/preview", thread_id="t-1", decisions=decisions).status_code

    assert previews(subject="The log") == 200
    assert previews(body=f"It says: {MASK}") == 200
    assert previews(subject=MASK) == 400
    assert previews(body=f"{MASK} {MASK}") == 400
