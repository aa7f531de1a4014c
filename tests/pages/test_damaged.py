"""A review whose record was changed past the console: its card offers nothing but to close it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.review.actions import Review
from agent.settings import Settings
from pages.parts.state import widget_keys
from tests.pages.conftest import Opens, ended, of

CHANGED = "was changed past the console"


def change(settings: Settings, column: str, value: Any) -> None:
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite")) as conn, conn:
        conn.execute(f"UPDATE actions SET {column} = ?", (value,))


@pytest.mark.parametrize("page", ["inbox", "chat"])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("args", json.dumps({"to": "mallory@x.org", "subject": "s", "body": "b"})),
        ("args", "no JSON"),
        ("review_id", None),
        ("agent", "nobody"),
    ],
)
def test_a_changed_record_is_said_on_the_card_which_can_only_be_closed(
    opens: Opens, page_console: Opened, settings: Settings, mail: Review, page: str, column: str, value: Any
) -> None:
    change(settings, column, value)
    address = {"thread": mail.thread_id} if page == "chat" else {}
    screen = opens(page, **address)
    assert CHANGED in screen.said()
    assert "mallory" not in screen.said()
    if page == "inbox":
        assert [title for _, title, _ in screen.rows("waiting")] == ["(its record was changed)"]
    assert not any(screen.has(of(kind, mail)) for kind in ("approve", "edit", "reject"))
    screen.click(widget_keys.key("close-damaged", mail.review_id))
    ended(page_console.console, mail.thread_id)
    assert page_console.console.queries.view(mail.thread_id).reviews == ()
    assert not page_console.world.outbox()


@pytest.mark.parametrize("actions", ["[5]", "{}", '[["another", "d"]]', '"text"'])
def test_a_review_whose_opening_was_changed_on_record_can_only_be_closed(
    opens: Opens, page_console: Opened, settings: Settings, mail: Review, actions: str
) -> None:
    with closing(sqlite3.connect(settings.review_data / "ledger.sqlite")) as conn, conn:
        conn.execute("DROP TRIGGER events_are_not_changed")
        conn.execute(
            "UPDATE events SET data = json_set(data, '$.actions', json(?)) WHERE kind = 'ReviewOpened'",
            (actions,),
        )
    screen = opens()
    assert CHANGED in screen.said()
    assert not any(screen.has(of(kind, mail)) for kind in ("approve", "edit", "reject"))
    assert not page_console.world.outbox()


def test_a_card_that_was_drawn_before_sends_nothing(
    opens: Opens, page_console: Opened, console: Console, settings: Settings, mail: Review
) -> None:
    screen = opens().click(of("approve", mail)).type_again(mail)
    change(settings, "args", json.dumps({"to": "mallory@x.org", "subject": "s", "body": "b"}))
    screen.click(widget_keys.key("send", mail.review_id))
    assert CHANGED in screen.said()
    assert not page_console.world.outbox()
