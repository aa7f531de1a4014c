"""What is done on a page, or to its server, before a picture of a state is taken."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from agent.lessons.course import COURSE
from agent.scenarios.files import ENDING
from tests.browser.conftest import Tab, again, shown_within
from tests.conftest import Server, until
from tests.console.test_other_clients import Client
from tests.engine import external_agents
from tests.engine.test_external import THREAD
from tests.own_settings import OwnSettings

DECEPTIVE = {
    "to": "al\u0456ce@ex\u0430mple.com",
    "subject": "Invoice \u202efdp.exe\u202c \u200bfor May",
    "body": "# Not a heading\n[click](http://evil.example) ![x](http://evil.example/x.png)\n\u00a0\u00a0<b>bold</b>",
}


def served(folder: Path) -> Path:
    """A configuration with the console's own agents and one with LangChain's middleware; gives its file."""
    own = {name: f"./agent/bootstrap.py:{name}" for name in ("mail", "operations", "library")}
    file = folder / "langgraph.json"
    file.write_text(json.dumps({"graphs": {**own, "foreign": "./tests/engine/external_agents.py:batched"}}))
    return file


def later_steps(tab: Tab) -> None:
    tab.press("approve").sees("44 of 45 still").of("steps").get_by_role("button").click(delay=50)
    tab.sees("21 of 45")


def stick(server: Server) -> None:
    """Answer the thread past the console, as a client does that checks nothing, with what its agent cannot take."""
    client = Client(OwnSettings(review_data=server.data), external_agents.batched)
    client.answer({"decisions": []})
    client.close()
    until(lambda: server.get(f"threads/{THREAD}")["status"] == "stuck")


def scenario(tab: Tab, name: str) -> Tab:
    tab.at(f"run:{name}{ENDING}").get_by_role("button").click(delay=50)
    return tab


def pasted(tab: Tab) -> None:
    configs = [{"action_name": name, "allowed_decisions": ["approve", "reject"]} for name in ("send", "wipe")]
    requests = [{"name": "send", "args": DECEPTIVE}, {"name": "wipe", "args": {}}]
    area = tab.at("payload").locator("textarea")
    area.fill(json.dumps({"action_requests": requests, "review_configs": configs}))
    area.press("Control+Enter")
    for number, choice in enumerate(("Approve", "Reject")):
        tab.at(f"pasted:0:{number}:kind").get_by_role("radio", name=choice).click(delay=50)
        tab.settled()
    tab.sees("The answer that would be sent").page.get_by_label(
        "Interrupt, as JSON"
    ).scroll_into_view_if_needed()


def taught(tab: Tab) -> None:
    total = len(COURSE[0].steps)
    for number in range(2, total + 2):
        said = tab.page.get_by_text("What happened" if number > total else f"Step {number} of {total}")
        again(
            lambda: tab.settled().at("step").get_by_role("button").click(delay=50),
            partial(shown_within, said),
        )


def remembering(tab: Tab) -> None:
    tab.page.get_by_text("Remember…").click(delay=50)
    tab.sees("Still asked about")
    tab.page.get_by_role("button", name="Remember this").scroll_into_view_if_needed()


def asked_for_everything(tab: Tab) -> None:
    tab.at("ask-for-everything").locator("label").click(delay=50)
    tab.sees("Treated differently")


def letting_mail_run(tab: Tab) -> None:
    """Try a policy under which e-mails are sent without asking."""
    tab.page.get_by_role("combobox", name="Tier to try for tool 3").click(delay=50)
    tab.page.get_by_role("option", name="auto").click(delay=50)
    tab.sees("without anybody being asked")
    tab.page.get_by_text("To make this change").scroll_into_view_if_needed()


def rules_in_view(tab: Tab) -> None:
    tab.sees("Remembered rules")
    tab.page.get_by_text("Any value of these").scroll_into_view_if_needed()


def open_list(tab: Tab) -> None:
    """The list beside the card, or over it where it is folded away."""
    unfold = tab.page.get_by_test_id("stExpandSidebarButton")
    again(
        # A card that comes into view folds the list away, also one that was unfolded just before.
        lambda: unfold.click(delay=50) if unfold.is_visible() else None,
        lambda bound: expect(tab.page.get_by_test_id("stSidebar")).to_be_in_viewport(ratio=1, timeout=bound),
    )


def under_the_hood(tab: Tab) -> None:
    tab.page.get_by_role("radio", name="Under the hood").click(delay=50)
    tab.sees("Checkpoints")


def decide(server: Server, review: dict[str, Any], kinds: list[str]) -> None:
    decisions = [{"type": kind} for kind in kinds]
    body = {"thread_id": review["thread_id"], "review_id": review["review_id"], "decisions": decisions}
    assert server.post("review", **body).status_code == 200


def event_of(server: Server, kind: str) -> int:
    return int(server.get("audit", kind=kind)["events"][0]["seq"])


def cut_off(server: Server, review: dict[str, Any]) -> None:
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
