"""Every endpoint does over HTTP what the pages do."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agent.review import tool_messages
from agent.review.actions import ActionState, ReviewState
from agent.review.threads import Status
from tests.api import case_agent
from tests.api.conftest import Served
from tests.conftest import SetClock, until

MAIL = '/call#c1 send_email {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}'
TWO = MAIL + '\n/call#c2 send_email {"to": "bob@example.com", "subject": "Meeting", "body": "At 11."}'


def test_a_message_is_answered_with_the_agents_words(served: Served) -> None:
    answer = served.chat("/say Good morning.")
    assert answer == {
        "thread_id": answer["thread_id"],
        "status": "idle",
        "answer": "Good morning.",
        "pending_review": None,
        "pending_reviews": [],
    }


def test_a_message_that_leads_to_an_action_is_answered_with_the_review(served: Served) -> None:
    answer = served.chat(MAIL, thread_id="t-1")
    review = answer["pending_review"]
    assert (answer["status"], answer["answer"], answer["pending_reviews"]) == ("waiting", None, [review])
    (request,) = review["action_requests"]
    assert request["name"] == "send_email"
    assert request["args"] == {"to": "alice@example.com", "subject": "Meeting", "body": "At 10."}
    assert request["tool_call_id"] == "c1"
    assert "alice@example.com" in request["description"]
    assert len(request["shown_digest"]) == 64
    assert review["review_configs"] == [
        {"action_name": "send_email", "allowed_decisions": ["approve", "edit", "reject"]}
    ]


def test_a_loan_is_described_by_its_days_and_is_lent_for_those_that_were_approved(served: Served) -> None:
    asked = served.chat("Lend b-1 to m-9 for 14 days", thread_id="t-1", agent="library")
    (request,) = asked["pending_review"]["action_requests"]
    assert request["args"] == {"book_id": "b-1", "member_id": "m-9", "days": 14}
    assert request["description"].startswith(
        "Lend b-1, “A Field Guide to Dragons”, to m-9, “Noor Haddad”, for 14 days"
    )
    answer = served.post("/review", thread_id="t-1", decisions=[{"type": "approve"}]).json()
    assert answer["status"] == "idle"
    (lent,) = [loan for loan in served.opened.world.loans() if loan.member_id == "m-9"]
    assert f"until {lent.due}" in answer["answer"]


def test_an_approved_action_runs_and_the_record_names_the_reviewer(served: Served) -> None:
    review_id = served.chat(MAIL, thread_id="t-1")["pending_review"]["review_id"]
    decided = {"thread_id": "t-1", "review_id": review_id, "decisions": [{"type": "approve"}]}
    answer = served.post("/review", headers={"X-Reviewer": "Łucja".encode()}, **decided).json()
    assert answer["status"] == "idle"
    assert [mail.recipient for mail in served.opened.world.outbox()] == ["alice@example.com"]
    (event,) = served.get("/audit", thread_id="t-1", kind="DecisionMade").json()["events"]
    assert event["by"] == "Łucja"


def test_a_preview_shows_what_would_run_and_what_the_agent_would_be_told_and_changes_nothing(
    served: Served,
) -> None:
    before = served.chat(TWO, thread_id="t-1")
    edited = {"name": "send_email", "args": {"to": "eve@example.com", "subject": "Meeting", "body": "At 12."}}
    decisions: list[dict[str, Any]] = [
        {"type": "edit", "edited_action": edited},
        {"type": "reject", "message": "Not today."},
    ]
    edit, reject = served.post("/preview", thread_id="t-1", decisions=decisions).json()["actions"]
    assert edit["would_run"] == edited
    assert "eve@example.com" in edit["summary"]
    assert edit["told"] is None
    assert reject["would_run"] is None
    assert "Not today." in reject["told"]
    thread = served.get("/threads/t-1").json()
    assert thread["pending_review"] == before["pending_review"]
    shown = before["pending_review"]["action_requests"]
    decisions[0] |= {"shown_digest": shown[0]["shown_digest"], "edited_digest": edit["shown_digest"]}
    assert served.post("/review", thread_id="t-1", decisions=decisions).status_code == 200
    assert [mail.recipient for mail in served.opened.world.outbox()] == ["eve@example.com"]


def test_a_rejection_without_a_reason_tells_the_model_not_to_try_again_unless_the_user_asks(
    served: Served,
) -> None:
    served.chat(MAIL, thread_id="t-1")
    previewed = served.post("/preview", thread_id="t-1", decisions=[{"type": "reject"}]).json()["actions"]
    served.post("/review", thread_id="t-1", decisions=[{"type": "reject"}])
    messages = served.get("/threads/t-1").json()["messages"]
    (result,) = [one for one in messages if one["type"] == "tool"]
    assert result["content"] == previewed[0]["told"]
    assert result["content"].startswith("User rejected this action. It was not executed. ")
    assert result["content"].endswith("Do not try it again unless the user asks for it.")
    assert result["status"] == "error"


def test_what_nobody_decided_in_time_can_be_asked_again(served: Served, clock: SetClock) -> None:
    first = served.chat(MAIL, thread_id="t-1")["pending_review"]
    clock.move(hours=25)
    served.opened.console.expire()
    until(lambda: served.get("/threads/t-1").json()["status"] == "idle")
    thread = served.get("/threads/t-1").json()
    assert [action["state"] for action in thread["actions"]] == ["expired"]
    (result,) = [one["content"] for one in thread["messages"] if one["type"] == "tool"]
    assert result == tool_messages.EXPIRED
    answer = served.post("/ask-again", thread_id="t-1")
    assert answer.status_code == 200
    again = answer.json()["pending_review"]
    assert again["review_id"] != first["review_id"]
    assert again["action_requests"][0]["args"] == first["action_requests"][0]["args"]


def test_a_closed_review_is_no_rejection_and_the_agent_is_told_it_is_still_open(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    assert served.post("/close", thread_id="t-1", reason="Later.").json()["status"] == "idle"
    thread = served.get("/threads/t-1").json()
    assert [action["state"] for action in thread["actions"]] == ["cancelled"]
    assert "still open" in thread["actions"][0]["result"]


def test_what_was_closed_is_asked_again_exactly(served: Served) -> None:
    before = served.chat(MAIL, thread_id="t-1")["pending_review"]
    served.post("/close", thread_id="t-1")
    again = served.post("/ask-again", thread_id="t-1").json()["pending_review"]
    assert again["review_id"] != before["review_id"]
    for name in ("name", "args", "description"):
        assert again["action_requests"][0][name] == before["action_requests"][0][name]


def test_a_rejection_can_end_the_turn(served: Served) -> None:
    served.chat(f"{MAIL}\n/then\n/say never said", thread_id="t-1")
    mixed = served.post("/review", thread_id="t-1", decisions=[{"type": "approve"}], end_turn=True)
    assert (mixed.status_code, mixed.json()["code"]) == (400, "InvalidDecision")
    answer = served.post("/review", thread_id="t-1", decisions=[{"type": "reject"}], end_turn=True).json()
    assert (answer["status"], answer["answer"]) == ("idle", tool_messages.ENDED_ANSWER)


def test_an_action_cut_off_is_settled_and_the_turn_goes_on(served: Served) -> None:
    action = cut_off(served)
    answer = served.post("/settle", thread_id="t-1", tool_call_id=action, outcome="happened", result="Sent.")
    assert (answer.status_code, answer.json()["status"]) == (200, "idle")
    thread = served.get("/threads/t-1").json()
    assert [(one["state"], one["result"]) for one in thread["actions"]] == [("done", "Sent.")]


def test_a_running_thread_stops_after_the_tool_that_executes_and_goes_on_when_retried(
    served: Served, held: threading.Event
) -> None:
    case_agent.RAN.clear()
    message = '/call#h1 archive_mail {"message_id": "m-1"}\n/then\n/say All done.'
    later = {"Prefer": "respond-async"}
    served.post("/chat", headers=later, thread_id="t-1", message=message, agent="cases")
    until(lambda: served.get("/audit", kind="ExecutionStarted").json()["events"])
    with ThreadPoolExecutor() as pool:
        stopping = pool.submit(served.post, "/stop", headers={"X-Reviewer": "ana"}, thread_id="t-1")
        until(lambda: (run := served.console._ledger.open_run("t-1")) and run.stop_by == "ana")
        held.set()
        stopped = stopping.result(60).json()
    assert stopped["status"] == "stopped"
    answer = served.post("/retry", thread_id="t-1").json()
    assert (answer["status"], answer["answer"]) == ("idle", "All done.")
    assert [name for name, _ in case_agent.RAN].count("archive_mail") == 1


def test_a_failed_thread_says_why_and_can_be_retried(served: Served) -> None:
    failed = served.chat("/fail once\n/say Better now.", thread_id="t-1")
    assert failed["status"] == "failed"
    assert "told to fail" in failed["error"]
    answer = served.post("/retry", thread_id="t-1").json()
    assert (answer["status"], answer["answer"]) == ("idle", "Better now.")
    assert "error" not in answer


def test_the_queue_is_read_page_by_page_oldest_first_and_narrowed(served: Served, clock: SetClock) -> None:
    for name in ("a", "b", "c"):
        served.chat(MAIL, thread_id=name)
        clock.move(minutes=1)
    served.chat('/call remove_file {"path": "reports/q3.txt"}', thread_id="d", agent="operations")
    names, cursor = [], None
    while True:
        page = served.get("/reviews", limit=2, **({"cursor": cursor} if cursor else {})).json()
        names += [one["thread_id"] for one in page["reviews"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert names == ["a", "b", "c", "d"]
    narrowed = [
        served.get("/reviews", agent="operations").json(),
        served.get("/reviews", tool="remove_file").json(),
        served.get("/reviews", thread_id="d").json(),
    ]
    assert [[one["thread_id"] for one in page["reviews"]] for page in narrowed] == [["d"], ["d"], ["d"]]
    (one,) = narrowed[0]["reviews"]
    assert one["expires_at"] > one["opened_at"]
    assert one["pending_review"]["action_requests"][0]["name"] == "remove_file"


def test_a_thread_shows_its_transcript_and_its_actions(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    served.post("/review", thread_id="t-1", decisions=[{"type": "approve"}])
    thread = served.get("/threads/t-1").json()
    assert (thread["agent"], thread["model"]) == ("mail", "demo")
    assert [message["type"] for message in thread["messages"]] == ["human", "ai", "tool", "ai"]
    assert thread["messages"][1]["tool_calls"][0]["id"] == "c1"
    assert thread["messages"][2]["status"] == "success"
    assert "tool_calls" not in thread["messages"][0]
    (action,) = thread["actions"]
    assert (action["state"], action["decided_by"]) == ("done", "api")


def test_the_trail_is_read_page_by_page_and_since_an_instant(served: Served, clock: SetClock) -> None:
    served.chat("/say One.", thread_id="t-1")
    clock.move(hours=1)
    moment = clock.now.isoformat()
    served.chat("/say Two.", thread_id="t-1")
    seqs, cursor = [], 0
    while cursor is not None:
        page = served.get("/audit", limit=2, cursor=cursor).json()
        seqs += [event["seq"] for event in page["events"]]
        cursor = page["next_cursor"]
    assert seqs == list(range(1, len(seqs) + 1))
    late = served.get("/audit", since=moment).json()["events"]
    assert [event["data"].get("text") for event in late if event["kind"] == "MessageSent"] == ["/say Two."]


def test_the_chain_is_verified(served: Served) -> None:
    served.chat("/say One.")
    found = served.get("/audit/verify").json()
    assert (found["ok"], found["first_fault"]) == (True, None)
    assert found["count"] == len(served.get("/audit").json()["events"])


def test_a_line_kept_elsewhere_tells_a_chain_that_was_written_anew(served: Served) -> None:
    assert served.get("/audit/anchor").json() == {"anchor": None}
    served.chat("/say One.")
    kept = served.get("/audit/anchor").json()["anchor"]
    served.chat("/say Two.")
    assert served.get("/audit/verify", anchor=kept).json()["ok"]
    count, head, at = kept.strip().split(":", 2)
    other = f"{count}:{head[::-1]}:{at}"
    assert "written again" in served.get("/audit/verify", anchor=other).json()["first_fault"]
    longer = f"{int(count) + 100}:{head}:{at}"
    assert "cut" in served.get("/audit/verify", anchor=longer).json()["first_fault"]
    assert served.get("/audit/verify", anchor="half of it").status_code == 422


def test_health_counts_the_open_runs(served: Served) -> None:
    assert served.get("/health").json() == {"status": "ok", "ledger": "ok", "runs": 0}


def test_numbers_come_back_to_the_digit(served: Served) -> None:
    args = '{"to": "a@x.org", "subject": "18446744073709551615", "body": "1e-7"}'
    served.chat(f"/call#c1 send_email {args}", thread_id="t-1")
    request = served.get("/threads/t-1").json()["pending_review"]["action_requests"][0]
    assert request["args"]["subject"] == "18446744073709551615"


def test_the_documentation_is_served_without_fetching_anything_from_elsewhere(served: Served) -> None:
    page = served.get("/docs")
    assert page.status_code == 200
    assert "http://" not in page.text
    assert "https://" not in page.text
    script = page.text.partition('src="')[2].partition('"')[0]
    assert served.client.get(f"http://{served.host}{script}").status_code == 200


def cut_off(served: Served) -> str:
    """A thread `t-1` whose one action was executing when its process died, as far as the record tells."""
    served.chat(MAIL, thread_id="t-1")
    ledger = served.console._ledger
    (action,) = served.console.queries.actions("t-1")
    with ledger.write() as tx:
        tx.end_review(
            str(action.review_id), ReviewState.DECIDED, "2030-01-01T12:00:00.000000Z", "ana", "approve"
        )
        tx.move(action.key, ActionState.PENDING, ActionState.APPROVED)
        tx.move(action.key, ActionState.APPROVED, ActionState.EXECUTING, owner="1-gone")
        tx.move(action.key, ActionState.EXECUTING, ActionState.UNKNOWN)
        tx.set_thread("t-1", Status.UNKNOWN_OUTCOME, "2030-01-01T12:00:00.000000Z")
    return action.key.tool_call_id


def test_a_thread_is_exported_as_a_file_that_runs_nothing(served: Served) -> None:
    served.chat(MAIL, thread_id="t-1")
    for form, kind in (("json", "application/json"), ("html", "text/html")):
        answer = served.get("/threads/t-1/export", format=form)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["content-disposition"] == f'attachment; filename="thread-t-1.{form}"'
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert "alice@example.com" in answer.text
    assert served.get("/threads/nowhere/export").status_code == 404
    assert served.get("/threads/t-1/export", format="exe").status_code == 422
