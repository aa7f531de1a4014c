"""Pictures of every page and state, to be looked at: `python -m tests.shots [part of a name]`.

They go to `tests/shots/`, in light and dark, wide and narrow. Needs Chromium; starts a server of its own.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.conftest import Tab, waiting
from tests.browser.test_long_thread import fill
from tests.conftest import CHROMIUM, Server, until

FOLDER = Path(__file__).parent / "shots"
SIZES = {"wide": (1400, 900), "narrow": (420, 900)}
MAIL = "Send an e-mail to alice@example.com: The meeting moved to 10."
DECEPTIVE = {
    "to": "al\u0456ce@ex\u0430mple.com",
    "subject": "Invoice \u202efdp.exe\u202c \u200bfor May",
    "body": "# Not a heading\n[click](http://evil.example) ![x](http://evil.example/x.png)\n\u00a0\u00a0<b>bold</b>",
}
TEN = "\n".join(
    [
        *['/call search_books {"text": "dragons"}'] * 6,
        *[f'/call renew_loan {{"loan_id": "l-{n}"}}' for n in (1, 2, 3)],
        '/call borrow_book {"book_id": "b-1", "member_id": "m-9"}',
    ]
)
LONG = {"path": "a/" * 60 + "x.txt", "content": "line\n" * 400}

Act = Callable[[Tab], object]


def nothing(_: Tab) -> None:
    """The page as it opens."""


def states(server: Server) -> Iterator[tuple[str, str, Act]]:
    """Each state's name, its address, and what to do there; each is made when it is asked for."""
    yield "inbox-empty", "/", nothing
    yield "chat-start", "/chat", nothing
    yield "audit-empty", "/audit", nothing
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
        lambda tab: tab.choose("edit").write(
            "args", '{"to": "bob@example.com",\n "subject": "s", "body": "b"}'
        ),
    )
    yield (
        "inbox-edit-error",
        card,
        lambda tab: tab.choose("edit").write("args", '{"to": 7, "cc": "x",\n "subject": "s"}'),
    )
    yield (
        "inbox-edit-broken",
        card,
        lambda tab: tab.choose("edit").write("args", '{"to": "bob"\n "subject": "s"}'),
    )
    yield "chat-waiting", thread, nothing
    yield "chat-under-the-hood", thread, lambda tab: under_the_hood(tab)
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
    sql = waiting(server, '/call execute_sql {"query": "DELETE FROM notes WHERE id > 2"}', agent="operations")
    yield "inbox-sql", f"/?review={sql['review_id']}", nothing
    question = waiting(
        server, '/call ask_user {"question": "Which report should I keep?"}', agent="operations"
    )
    yield "inbox-respond", f"/?review={question['review_id']}", lambda tab: tab.choose("respond")
    keys = waiting(server, '/call rotate_keys {"service": "billing"}', agent="operations")
    yield "chat-operations", f"/chat?thread={keys['thread_id']}", nothing
    decide(server, batch, ["approve", "reject", "approve"])
    yield "inbox-over", f"/?review={batch['review_id']}", nothing
    yield "chat-answered", f"/chat?thread={batch['thread_id']}", nothing
    failed = server.post("chat", message="/fail").json()["thread_id"]
    yield "chat-failed", f"/chat?thread={failed}", nothing
    yield "chat-no-such-thread", "/chat?thread=nowhere", nothing
    yield "chat-long", "/chat?thread=long", nothing
    yield "audit", "/audit", nothing
    yield (
        "audit-event",
        f"/audit?event={event_of(server, 'DecisionMade')}",
        lambda tab: tab.at("verify").get_by_role("button").click(delay=50),
    )
    lent = waiting(server, TEN, agent="library")
    waiting(server, "Borrow b-1 for member m-2", agent="library")
    taken = server.get("reviews", agent="library")["reviews"][-1]
    decide(server, {"thread_id": taken["thread_id"], "review_id": taken["review_id"]}, ["approve"])
    yield "lending-changed", f"/?review={lent['review_id']}", nothing
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
        lambda tab: tab.at("ask-for-everything").locator("label").click(delay=50),
    )
    closed = waiting(server, MAIL)
    server.post("close", thread_id=closed["thread_id"])
    yield "chat-closed", f"/chat?thread={closed['thread_id']}", nothing
    yield "chat-threads", "/chat", nothing
    cut_off(server, sql)
    yield "inbox-unknown", f"/?action={sql['thread_id']}/{sql['action_requests'][0]['tool_call_id']}", nothing
    yield "chat-unknown", f"/chat?thread={sql['thread_id']}", nothing
    yield "inbox-many", "/", nothing


def remembering(tab: Tab) -> None:
    tab.page.get_by_text("Remember…").click(delay=50)
    tab.sees("Still asked about")
    tab.page.get_by_role("button", name="Remember this").scroll_into_view_if_needed()


def rules_in_view(tab: Tab) -> None:
    tab.sees("Remembered rules")
    tab.page.get_by_text("Any value of these").scroll_into_view_if_needed()


def open_list(tab: Tab) -> None:
    """The list beside the card, or over it where it is folded away."""
    unfold = tab.page.get_by_test_id("stExpandSidebarButton")
    if unfold.is_visible():
        unfold.click(delay=50)


def under_the_hood(tab: Tab) -> None:
    tab.page.get_by_role("radio", name="Under the hood").click(delay=50)
    tab.sees("Checkpoints")


def decide(server: Server, review: dict, kinds: list[str]) -> None:
    decisions = [{"type": kind} for kind in kinds]
    body = {"thread_id": review["thread_id"], "review_id": review["review_id"], "decisions": decisions}
    assert server.post("review", **body).status_code == 200


def event_of(server: Server, kind: str) -> int:
    return server.get("audit", kind=kind)["events"][0]["seq"]


def cut_off(server: Server, review: dict) -> None:
    """Kill the server while a tool runs: it waits for a lock that is held here."""
    with closing(sqlite3.connect(server.data / "world.sqlite", isolation_level=None)) as world:
        world.execute("BEGIN IMMEDIATE")
        asking = threading.Thread(target=lambda: quietly(decide, server, review, ["approve"]))
        asking.start()
        until(
            lambda: any(
                e["thread_id"] == review["thread_id"]
                for e in server.get("audit", kind="ExecutionStarted")["events"]
            )
        )
        server.kill()
        asking.join()
    server.start()


def quietly(act: Callable[..., object], *args: object) -> None:
    try:
        act(*args)
    except Exception as gone:
        print(f"  as wanted: {type(gone).__name__}")


def take(browser: Browser, server: Server, name: str, path: str, act: Act) -> None:
    for scheme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            context.add_cookies([{"name": "review_name", "value": f"Ana {scheme} {size}", "url": server.url}])
            tab = Tab(context.new_page(), server).open(path).settled()
            act(tab)
            tab.settled()
            expect(tab.page.get_by_test_id("stSkeleton")).to_have_count(0)
            tab.page.screenshot(path=FOLDER / f"{name}-{scheme}-{size}.png")
            context.close()
    print(name)


def main(wanted: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        server = Server(Path(folder) / "data")
        server.start()
        try:
            for name, path, act in states(server):
                if name == "chat-long":
                    server.stop()
                    fill(server.data, 2_000)
                    server.start()
                if wanted in name:
                    take(browser, server, name, path, act)
        finally:
            server.stop()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
