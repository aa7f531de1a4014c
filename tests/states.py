"""Every page and state that pictures are taken of: where it is, and what to do there. See `tests.shots`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

from agent.lessons.course import COURSE
from agent.scenarios.files import ENDING
from tests.acts import (
    DECEPTIVE,
    asked_for_everything,
    cut_off,
    decide,
    event_of,
    later_steps,
    letting_mail_run,
    open_list,
    pasted,
    remembering,
    rules_in_view,
    scenario,
    stick,
    taught,
    under_the_hood,
)
from tests.browser.conftest import Tab, waiting
from tests.browser.test_long_thread import fill
from tests.conftest import Server
from tests.engine.test_external import THREAD, call

MAIL = "Send an e-mail to alice@example.com: The meeting moved to 10."
TEN = "\n".join(
    [
        *['/call search_books {"text": "dragons"}'] * 6,
        *[f'/call renew_loan {{"loan_id": "l-{n}"}}' for n in (1, 2, 3)],
        '/call borrow_book {"book_id": "b-1", "member_id": "m-9"}',
    ]
)
SQL = '{"query": "DELETE FROM notes WHERE id > 2"}'
LONG = {"path": "a/" * 60 + "x.txt", "content": "line\n" * 400}

Act = Callable[[Tab], object]
State = tuple[str, str, Act]


def nothing(_: Tab) -> None:
    """The page as it opens."""


def states(server: Server) -> Iterator[State]:
    """Each state's name, its address, and what to do there; each is made when it is asked for."""
    yield from first_visits()
    yield from of_a_letter(server)
    yield from of_reviews(server)
    yield from of_threads(server)
    yield from of_what_came_before(server)
    yield from of_policies(server)
    yield from of_what_is_over(server)
    yield from of_agents_of_another_make(server)
    yield from for_testers(server)
    yield from lessons()


def first_visits() -> Iterator[State]:
    yield "inbox-empty", "/", nothing
    yield "chat-start", "/chat", nothing
    yield "audit-empty", "/audit", nothing


def of_a_letter(server: Server) -> Iterator[State]:
    mail = waiting(server, MAIL)
    card, thread = f"/?review={mail['review_id']}", f"/chat?thread={mail['thread_id']}"
    yield "inbox-waiting", card, nothing
    yield "inbox-list", card, open_list
    yield "inbox-keys", card, lambda tab: tab.at("keys").get_by_role("button").click(delay=50)
    yield "inbox-approve", card, lambda tab: tab.choose("approve")
    yield "inbox-reject", card, lambda tab: tab.choose("reject").write("reason", "Alice is away until May.")
    yield (
        "inbox-edit",
        card,
        lambda tab: (
            tab.choose("edit")
            .write("args", '{"to": "bob@example.com",\n "subject": "s", "body": "b"}')
            .sees("What will run")
        ),
    )
    yield (
        "inbox-edit-error",
        card,
        lambda tab: (
            tab.choose("edit")
            .write("args", '{"to": 7, "cc": "x",\n "subject": "s"}')
            .sees("args.to: expected")
        ),
    )
    yield (
        "inbox-edit-broken",
        card,
        lambda tab: (
            tab.choose("edit").write("args", '{"to": "bob"\n "subject": "s"}').sees("a mistake at line 2")
        ),
    )
    yield "chat-waiting", thread, nothing
    yield "chat-under-the-hood", thread, lambda tab: under_the_hood(tab)


def of_reviews(server: Server) -> Iterator[State]:
    calls = [
        json.dumps({"to": f"{name}@example.com", "subject": "Hello", "body": "…" * 80})
        for name in ("bob", "eve", "kim")
    ]
    batch = waiting(
        server,
        "\n".join(f"/call send_email {one}" for one in calls) + '\n/call archive_mail {"message_id": "m-2"}',
    )
    yield "inbox-batch", f"/?review={batch['review_id']}", nothing
    yield (
        "inbox-batch-begun",
        f"/?review={batch['review_id']}",
        lambda tab: tab.press("approve").sees("2 of 3 still"),
    )
    many = waiting(
        server,
        "\n".join(call(f"n{n}", "write_file", path=f"{n}.txt", content="x") for n in range(45)),
        agent="operations",
    )
    yield "inbox-many-actions", f"/?review={many['review_id']}", later_steps
    decide(server, many, ["reject"] * 45)
    odd = waiting(
        server, f"/say Nothing to see here, just approve.\n/call send_email {json.dumps(DECEPTIVE)}"
    )
    yield "inbox-deceptive", f"/?review={odd['review_id']}", nothing
    long = waiting(
        server,
        f"/call write_file {json.dumps(LONG)}",
        agent="operations",
    )
    yield "inbox-long-values", f"/?review={long['review_id']}", nothing
    sql = waiting(server, f"/call execute_sql {SQL}", agent="operations")
    yield "inbox-sql", f"/?review={sql['review_id']}", nothing
    yield from of_changed_calls(server)
    question = waiting(
        server, '/call ask_user {"question": "Which report should I keep?"}', agent="operations"
    )
    yield "inbox-respond", f"/?review={question['review_id']}", lambda tab: tab.choose("respond")
    keys = waiting(server, '/call rotate_keys {"service": "billing"}', agent="operations")
    yield "chat-operations", f"/chat?thread={keys['thread_id']}", nothing
    decide(server, batch, ["approve", "reject", "approve"])
    yield "inbox-over", f"/?review={batch['review_id']}", nothing
    yield "chat-answered", f"/chat?thread={batch['thread_id']}", nothing


def of_changed_calls(server: Server) -> Iterator[State]:
    letter = {"to": "alice@example.com", "subject": "Meeting", "body": "At 10.", "cc": "eve@example.com"}
    changed = waiting(server, f"/call send_email {json.dumps(letter)}")
    card = f"/?review={changed['review_id']}"
    yield "inbox-changed", card, nothing
    with closing(sqlite3.connect(server.data / "ledger.sqlite", timeout=30)) as ledger, ledger:
        ledger.execute(
            "UPDATE actions SET args = replace(args, 'alice', 'eve') WHERE thread_id = ?",
            (changed["thread_id"],),
        )
    yield "inbox-damaged", card, nothing


def of_threads(server: Server) -> Iterator[State]:
    failed = server.post("chat", message="/fail").json()["thread_id"]
    yield "chat-failed", f"/chat?thread={failed}", nothing
    yield "chat-no-such-thread", "/chat?thread=nowhere", nothing
    server.stop()
    fill(server.data, 2_000)
    server.start()
    yield "chat-long", "/chat?thread=long", nothing
    yield "audit", "/audit", nothing
    yield (
        "audit-event",
        f"/audit?event={event_of(server, 'DecisionMade')}",
        lambda tab: tab.at("verify").get_by_role("button").click(delay=50),
    )


def of_what_came_before(server: Server) -> Iterator[State]:
    lent = waiting(server, TEN, agent="library")
    waiting(server, "Borrow b-1 for member m-2", agent="library")
    taken = server.get("reviews", agent="library")["reviews"][-1]
    decide(server, {"thread_id": taken["thread_id"], "review_id": taken["review_id"]}, ["approve"])
    yield "lending-changed", f"/?review={lent['review_id']}", nothing
    once = call("first", "send_email", to="bob@example.com", subject="Hello", body="See you at 10.")
    edited = waiting(server, f"{once}\n/then\n{once.replace('first', 'again')}")
    other = {"name": "send_email", "args": {"to": "eve@example.com", "subject": "Hello", "body": "See you."}}
    edit = [{"type": "edit", "edited_action": other}]
    again = server.post("review", thread_id=edited["thread_id"], decisions=edit).json()["pending_review"]
    yield "inbox-original-again", f"/?review={again['review_id']}", nothing


def of_policies(server: Server) -> Iterator[State]:
    note = waiting(
        server, '/call#w write_file {"path": "notes/today.txt", "content": "Buy stamps."}', agent="operations"
    )
    waiting(
        server,
        '/call write_file {"path": "notes/T\u043eday.txt", "content": "Buy stamps."}',
        agent="operations",
    )
    yield "inbox-remember", f"/?review={note['review_id']}", lambda tab: remembering(tab)
    for free, lasting in ((["content"], "30 days"), ([], "15 minutes")):
        about = {"thread_id": note["thread_id"], "tool_call_id": "w", "scope": "agent"}
        assert server.post("rules", **about, free=free, lasting=lasting).status_code == 200
    server.post(
        "chat", message='/call write_file {"path": "notes/today.txt", "content": "…"}', agent="operations"
    )
    yield "policies-rules", "/policies?policy=operations", lambda tab: rules_in_view(tab)
    yield "policies", "/policies?policy=library", nothing
    yield (
        "policies-simulated",
        "/policies?policy=library",
        asked_for_everything,
    )
    yield "policies-freed", "/policies?policy=mail", letting_mail_run


def of_what_is_over(server: Server) -> Iterator[State]:
    closed = waiting(server, MAIL)
    server.post("close", thread_id=closed["thread_id"])
    yield "chat-closed", f"/chat?thread={closed['thread_id']}", nothing
    yield "chat-threads", "/chat", nothing
    sql = waiting(server, f"/call execute_sql {SQL}", agent="operations")
    cut_off(server, sql)
    yield "inbox-unknown", f"/?action={sql['thread_id']}/{sql['action_requests'][0]['tool_call_id']}", nothing
    yield "chat-unknown", f"/chat?thread={sql['thread_id']}", nothing
    yield "inbox-many", "/", nothing


def of_agents_of_another_make(server: Server) -> Iterator[State]:
    review = waiting(server, call("a", "shell", command="ls -l"), agent="foreign")
    yield "inbox-foreign", f"/?review={review['review_id']}", nothing
    variables = {f"VARIABLE_{number}": number for number in range(200)}
    long = waiting(server, call("a", "shell", command="env", **variables), agent="foreign")
    yield (
        "inbox-many-arguments",
        f"/?review={long['review_id']}",
        lambda tab: tab.page.get_by_text("more arguments").scroll_into_view_if_needed(),
    )
    waiting(server, call("b", "send", to="bob"), agent="foreign", thread_id=THREAD)
    stick(server)
    yield "chat-stuck", f"/chat?thread={THREAD}", nothing


def for_testers(server: Server) -> Iterator[State]:
    folder = server.data / "scenarios"
    folder.mkdir()
    for name, greeting in (("green", "Hello"), ("red", "Goodbye")):
        text = f"scenario: It greets\nagent: mail\nmessage: /say Hello\nexpect: {{answer: {greeting}}}\n"
        (folder / f"{name}{ENDING}").write_text(text)
    yield "qa-not-run", "/qa", nothing
    yield "qa-red", "/qa", lambda tab: scenario(tab, "red").sees("What happened")
    yield "qa-green", "/qa", lambda tab: scenario(tab, "green").sees("scenario: It greets")
    yield "qa-payload", "/qa?qa-view=Paste+a+payload", pasted


def lessons() -> Iterator[State]:
    yield "lessons", "/lessons", nothing
    yield "lessons-done", f"/lessons?lesson={COURSE[0].name}", taught
