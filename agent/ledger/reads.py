"""The ledger's reads, each by an index; the same inside and outside a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from agent.ledger import queue as ledger_queue
from agent.ledger import rows
from agent.ledger.given import GivenReads
from agent.ledger.notes import NoteReads
from agent.ledger.rules import RuleReads
from agent.ports import Sought
from agent.review.actions import Action, ActionState, Key, Review, Waiting
from agent.review.events import Anchor, Event, EventKind, OddEvent, moment
from agent.review.threads import Halt, Message, Run, Status, Thread

TRAIL_PAGE = 1_000
EVERYTHING = Sought()


class SqliteReads(RuleReads, NoteReads, GivenReads):
    """All reads, given a way to run one statement: the ledger lends a connection, a transaction has its own."""

    def thread(self, thread_id: str) -> Thread | None:
        found = self._all("SELECT * FROM threads WHERE thread_id = ?", thread_id)
        return rows.to_thread(found[0]) if found else None

    def threads(self, *, limit: int = 50) -> list[Thread]:
        found = self._all("SELECT * FROM threads ORDER BY updated_at DESC LIMIT ?", limit)
        return [rows.to_thread(row) for row in found]

    def counts(self) -> Mapping[Status, int]:
        found = self._all("SELECT status, count(*) AS n FROM threads GROUP BY status")
        return {Status(row["status"]): row["n"] for row in found if row["status"] in rows.STATUSES}

    def messages(self, thread_id: str, *, before: int | None = None, limit: int = 50) -> list[Message]:
        """Return the last `limit` messages before index `before`, in order."""
        found = self._all(
            "SELECT * FROM messages WHERE thread_id = ? AND idx < ? ORDER BY idx DESC LIMIT ?",
            *(thread_id, 2**62 if before is None else before, limit),
        )
        return [rows.to_message(row) for row in reversed(found)]

    def message(self, thread_id: str, message_id: str) -> Message | None:
        found = self._all(
            "SELECT * FROM messages WHERE thread_id = ? AND message_id = ?", thread_id, message_id
        )
        return rows.to_message(found[0]) if found else None

    def message_count(self, thread_id: str) -> int:
        found = self._all(
            "SELECT coalesce(max(idx) + 1, 0) AS n FROM messages WHERE thread_id = ?", thread_id
        )
        return min(int(found[0]["n"]), 2**62)

    def actions(self, thread_id: str, *, states: Sequence[ActionState] = ()) -> list[Action]:
        """Return the thread's actions in the order they were proposed, all or those in `states`."""
        among = f"AND state IN ({', '.join('?' * len(states))})" if states else ""
        found = self._all(
            f"SELECT * FROM actions WHERE thread_id = ? {among} ORDER BY rowid", thread_id, *states
        )
        return [rows.to_action(row) for row in found]

    def actions_of(self, thread_id: str, message_ids: Sequence[str]) -> list[Action]:
        """Return the actions these messages proposed."""
        marks = ", ".join("?" * len(message_ids))
        found = self._all(
            f"SELECT * FROM actions WHERE thread_id = ? AND message_id IN ({marks}) ORDER BY rowid",
            *(thread_id, *message_ids),
        )
        return [rows.to_action(row) for row in found]

    def last_decided(
        self, thread_id: str, tool: str, *, kind: str | None = None, limit: int = 3
    ) -> list[Action]:
        """Return the decided actions of this tool in this thread, latest first; with `kind`, by that decision only."""
        found = self._all(
            """
            SELECT * FROM actions WHERE thread_id = ? AND proposed_tool = ? AND decided_by IS NOT NULL
            AND (? IS NULL OR json_extract(iif(json_valid(decision), decision, '{}'), '$.type') = ?)
            ORDER BY decided_at DESC LIMIT ?
            """,
            *(thread_id, tool, kind, kind, limit),
        )
        return [rows.to_action(row) for row in found]

    def is_proposed(self, key: Key) -> bool:
        """Return whether an action of this key is recorded."""
        return bool(
            self._all(
                """
                SELECT 1 FROM actions
                WHERE thread_id = ? AND message_id = ? AND tool_call_id = ? AND attempt = ?
                """,
                *(key.thread_id, key.message_id, key.tool_call_id, key.attempt),
            )
        )

    def latest_action(self, thread_id: str, tool_call_id: str) -> Action | None:
        found = self._all(
            "SELECT * FROM actions WHERE thread_id = ? AND tool_call_id = ? ORDER BY rowid DESC LIMIT 1",
            *(thread_id, tool_call_id),
        )
        return rows.to_action(found[0]) if found else None

    def review(self, review_id: str) -> Review | None:
        return self._one_review("SELECT * FROM reviews WHERE review_id = ?", review_id)

    def open_reviews(self, thread_id: str) -> list[Review]:
        found = self._all(
            """
            SELECT * FROM reviews INDEXED BY reviews_open_by_thread
            WHERE thread_id = ? AND state = 'open' ORDER BY rowid
            """,
            thread_id,
        )
        return self._with_actions(found)

    def last_review(self, thread_id: str) -> Review | None:
        return self._one_review(
            "SELECT * FROM reviews WHERE thread_id = ? ORDER BY rowid DESC LIMIT 1", thread_id
        )

    def opened_with(self, thread_id: str, review_id: str) -> Sequence[str] | None:
        """Return the tool call ids the review was opened with, according to the trail; None if it does not say."""
        found = self._all(
            """
            SELECT json_extract(iif(json_valid(data), data, '{}'), '$.actions') AS actions
            FROM events INDEXED BY events_by_thread
            WHERE thread_id = ? AND kind = ? AND review_id = ? ORDER BY seq DESC LIMIT 1
            """,
            *(thread_id, EventKind.REVIEW_OPENED, review_id),
        )
        if not found or found[0]["actions"] is None:
            return None
        try:
            return [call_id for call_id, _ in rows.loads(found[0]["actions"])]
        except (ValueError, TypeError, RecursionError):  # changed outside the console
            return []

    def queue(
        self, *, limit: int = 50, after: tuple[str, str] | None = None, sought: Sought = EVERYTHING
    ) -> list[Waiting]:
        """Return open reviews that match, oldest first, after the (opened_at, review_id) `after`."""
        return rows.to_waiting(ledger_queue.page(self._all, sought, after or ("", ""), limit))

    def unknown(self, *, limit: int = 50) -> list[Action]:
        """Return the actions of all threads whose outcome is unknown."""
        found = self._all("SELECT * FROM actions WHERE state = 'unknown' ORDER BY rowid LIMIT ?", limit)
        return [rows.to_action(row) for row in found]

    def not_looked_over(self, *, limit: int = 50) -> list[Action]:
        """Return the actions of tier `log` that ran without asking and nobody has looked over, oldest first."""
        found = self._all(
            """
            SELECT * FROM actions
            WHERE tier = 'log' AND looked_over_by IS NULL AND state IN ('done', 'failed')
            ORDER BY ended_at LIMIT ?
            """,
            limit,
        )
        return [rows.to_action(row) for row in found]

    def decided_since(self, instant: str, *, limit: int = 50) -> list[Action]:
        """Return the actions a person decided that have ended since `instant`, the latest first."""
        found = self._all(
            """
            SELECT * FROM actions WHERE decided_by IS NOT NULL AND ended_at >= ?
            ORDER BY ended_at DESC LIMIT ?
            """,
            *(instant, limit),
        )
        return [rows.to_action(row) for row in found]

    def running(self, *, limit: int = 50) -> list[Thread]:
        """Return the threads with an open run."""
        found = self._all("SELECT * FROM threads WHERE status = 'running' ORDER BY updated_at LIMIT ?", limit)
        return [rows.to_thread(row) for row in found]

    def queue_length(self) -> int:
        found = self._all("SELECT number FROM waiting_count")
        if not found:  # removed outside the console
            found = self._all("SELECT count(*) AS number FROM reviews WHERE state = 'open'")
        return int(found[0]["number"])

    def expired(self, now: str) -> list[Review]:
        found = self._all("SELECT * FROM reviews WHERE state = 'open' AND expires_at <= ?", now)
        return self._with_actions(found)

    def run(self, run_id: str) -> Run | None:
        found = self._all("SELECT * FROM runs WHERE run_id = ?", run_id)
        return rows.to_run(found[0]) if found else None

    def open_run(self, thread_id: str) -> Run | None:
        found = self._all("SELECT * FROM runs WHERE thread_id = ? AND state = 'open'", thread_id)
        return rows.to_run(found[0]) if found else None

    def last_run(self, thread_id: str) -> Run | None:
        found = self._all(
            "SELECT * FROM runs WHERE thread_id = ? ORDER BY fence DESC, rowid DESC LIMIT 1", thread_id
        )
        return rows.to_run(found[0]) if found else None

    def open_runs(self) -> list[Run]:
        return [rows.to_run(row) for row in self._all("SELECT * FROM runs WHERE state = 'open'")]

    def events(
        self,
        *,
        thread_id: str | None = None,
        kind: EventKind | None = None,
        agent: str | None = None,
        tool: str | None = None,
        by: str | None = None,
        tool_call_id: str | None = None,
        since: str | None = None,
        after: int = 0,
        before: int | None = None,
        newest_first: bool = False,
        limit: int = 200,
    ) -> list[Event]:
        """Return the events numbered above `after` and below `before` that match every filter given."""
        same = {
            "thread_id": thread_id,
            "kind": kind,
            "agent": agent,
            "tool": tool,
            "by": by,
            "tool_call_id": tool_call_id,
        }
        narrowed = [(f"{name} = ?", value) for name, value in same.items() if value is not None]
        bounds: list[tuple[str, Any]] = [("seq > ?", after)]
        bounds += [("seq < ?", before)] if before is not None else []
        bounds += [("at >= ?", since)] if since is not None else []
        where, values = zip(*bounds, *narrowed, strict=True)
        order = "DESC" if newest_first else "ASC"
        found = self._all(
            f"SELECT * FROM events WHERE {' AND '.join(where)} ORDER BY seq {order} LIMIT ?", *values, limit
        )
        return [rows.to_event(row) for row in found]

    def policy_version(self, agent: str) -> str | None:
        """Return the agent's policy version recorded last; None if there is none, or its event cannot be read."""
        found = self._all(
            """
            SELECT json_extract(iif(json_valid(data), data, '{}'), '$.version') AS version FROM events
            WHERE kind = ? AND agent = ? ORDER BY seq DESC LIMIT 1
            """,
            *(EventKind.POLICY_CHANGED, agent),
        )
        return found[0]["version"] if found else None

    def event(self, seq: int) -> Event | None:
        """Return the event of that number."""
        return next(map(rows.to_event, self._all("SELECT * FROM events WHERE seq = ?", seq)), None)

    def keyed_from(self) -> int:
        """Return the number of the event from which the chain is keyed."""
        found = self._all("SELECT min(seq) AS seq FROM events WHERE kind = ?", EventKind.CHAIN_KEYED)
        return int(found[0]["seq"] or 1)

    def trail(self, *, exact: bool = True) -> Iterator[Event]:
        """Yield every event in order, reading a page at a time. Raises `OddEvent` at a row that is not an event.

        With `exact` false, such a row becomes an event of kind `UNREADABLE`.
        """
        after = 0
        made = rows.to_exact_event if exact else rows.to_exported_event
        while page := self._page(after, made):
            yield from page
            after = page[-1].seq

    def _page(self, after: int, made: Callable[[sqlite3.Row], Event]) -> list[Event]:
        for limit in (TRAIL_PAGE, 1):  # on an error, one by one up to the faulty row
            found = self._all("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?", after, limit)
            try:
                return [made(row) for row in found]
            except (ValueError, RecursionError) as error:
                odd = str(error)
        raise OddEvent(odd)

    def last_seq(self, thread_id: str | None = None) -> int:
        """Return the number of the last event, of all threads or of one, that is not a `ReviewShown`."""
        where, values = ("AND thread_id = ?", (thread_id,)) if thread_id is not None else ("", ())
        found = self._all(
            f"SELECT seq FROM events WHERE kind <> ? {where} ORDER BY seq DESC LIMIT 1",
            *(EventKind.REVIEW_SHOWN, *values),
        )
        return int(found[0]["seq"]) if found else 0

    def shown_at(self, review_id: str, reviewer: str) -> datetime | None:
        """Return when this reviewer first saw this review."""
        found = self._all("SELECT at FROM shown WHERE review_id = ? AND reviewer = ?", review_id, reviewer)
        return moment(found[0]["at"]) if found else None

    def halt(self) -> Halt | None:
        """Return who stopped everything, and when; None if nothing is stopped."""
        found = self._all("SELECT by, at FROM halt")
        return Halt(found[0]["by"], found[0]["at"]) if found else None

    def head(self) -> Anchor | None:
        """Return the trail's last number and hash; None before the first event."""
        found = self._all("SELECT seq, hash, at FROM events ORDER BY seq DESC LIMIT 1")
        return Anchor(found[0]["seq"], found[0]["hash"], found[0]["at"]) if found else None

    def beat(self, owner: str) -> int | None:
        found = self._all("SELECT beat FROM owners WHERE owner = ?", owner)
        return int(found[0]["beat"]) if found else None

    def draft(self, review_id: str, reviewer: str) -> str | None:
        found = self._all("SELECT body FROM drafts WHERE review_id = ? AND reviewer = ?", review_id, reviewer)
        return str(found[0]["body"]) if found else None

    def _one_review(self, sql: str, *values: Any) -> Review | None:
        return next(iter(self._with_actions(self._all(sql, *values))), None)

    def _with_actions(self, found: Sequence[sqlite3.Row]) -> list[Review]:
        """Return the reviews with their actions, which are read in one statement."""
        marks = ", ".join("?" * len(found))
        actions = self._all(
            f"SELECT * FROM actions WHERE review_id IN ({marks}) ORDER BY review_id, position, attempt",
            *(row["review_id"] for row in found),
        )
        of = {name: tuple(some) for name, some in groupby(map(rows.to_action, actions), _review_of)}
        return [rows.to_review(row, of.get(row["review_id"], ())) for row in found]


def _review_of(action: Action) -> str | None:
    return action.review_id
