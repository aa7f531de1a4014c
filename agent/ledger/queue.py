"""The queue of waiting reviews. Every filter uses an index, so a page costs the same with ten waiting or many.

For each open review, `waiting` has one row with its case-folded text, which is indexed by its trigrams ("grams"), and
`waiting_tools` a row per tool. When the review ends, its tools are removed at once, and its text when later reviews
open. Of a very long text only the beginning is indexed; the few reviews with such a text are searched one by one.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from agent.ledger import rows
from agent.ports import Sought

FEW = 500
"""How many reviews may be sorted to make a page. If more hold a text, walking the queue soon fills a page."""
GRAM = 3
LAST = chr(0x10FFFF)
BEGINNING = 50
"""How many letters GLOB compares; it takes no pattern of more than 50,000 bytes."""

All = Callable[..., list[sqlite3.Row]]

ENTER = (
    """
    INSERT INTO waiting (review_id, text)
    SELECT r.review_id, folded(r.thread_id || char(10)
        || coalesce(group_concat(a.tool || char(10) || a.summary || char(10) || a.args, char(10)), ''))
    FROM reviews AS r LEFT JOIN actions AS a ON a.review_id = r.review_id
    WHERE r.review_id = ? GROUP BY r.review_id
    """,
    """
    INSERT INTO waiting_tools (tool, opened_at, review_id)
    SELECT DISTINCT a.tool, r.opened_at, r.review_id
    FROM reviews AS r JOIN actions AS a ON a.review_id = r.review_id WHERE r.review_id = ?
    """,
)
"""The statements run when a review opens; when it ends, triggers remove the rows."""


def folded(text: str) -> str:
    """Return the text as it is searched: case-folded, and without NUL, which ends a text for SQLite."""
    return text.casefold().replace("\0", "\N{SYMBOL FOR NULL}")


def page(read: All, sought: Sought, after: tuple[str, str], limit: int) -> list[sqlite3.Row]:
    """Return open reviews after the (opened_at, review_id) `after`, oldest first, as rows for `rows.to_waiting`."""
    text = folded(sought.text)
    few = _holding(read, text) if text else None
    source, values = _source(sought, few)
    conditions: list[tuple[str, Any]] = [
        ("AND r.agent = ?", sought.agent),
        ("AND r.thread_id = ?", sought.thread_id),
        ("AND q.opened_at < ?", sought.opened_before),
        (f"AND {_HAS_TOOL}", sought.tool),
        (f"AND {_HOLDS_TEXT}", "" if few is not None else text),
    ]
    used = [one for one in conditions if one[1]]
    return read(
        f"""
        SELECT {_COLUMNS} FROM (
            SELECT r.* FROM {source} WHERE r.state = 'open' AND (q.opened_at, q.review_id) > (?, ?)
            {" ".join(sql for sql, _ in used)} ORDER BY q.opened_at, q.review_id LIMIT ?
        ) AS r LEFT JOIN actions AS a ON a.review_id = r.review_id
        ORDER BY r.opened_at, r.review_id, a.position, a.attempt
        """,
        *(*values, *after, *(value for _, value in used), limit),
    )


_COLUMNS = ", ".join(
    [*(f"r.{name}" for name in rows.WAITING_COLUMNS), *(f"a.{name}" for name in rows.ASKED_COLUMNS)]
)
_HAS_TOOL = """EXISTS (SELECT 1 FROM waiting_tools AS t
    WHERE t.tool = ? AND t.opened_at = q.opened_at AND t.review_id = q.review_id)"""
_IS_NOT_OVER = "w.place NOT IN (SELECT place FROM waiting_over)"
_HOLDS_TEXT = "EXISTS (SELECT 1 FROM waiting AS w WHERE w.review_id = q.review_id AND instr(w.text, ?))"


def _source(sought: Sought, few: Sequence[str] | None) -> tuple[str, tuple[Any, ...]]:
    """Return the FROM clause, reviews `r` in the order of `q`, the most selective index. CROSS JOIN keeps that order."""
    if few is not None:
        marks = ", ".join("?" * len(few))
        return f"(SELECT * FROM reviews WHERE review_id IN ({marks})) AS q {_ITS_REVIEW}", tuple(few)
    if sought.thread_id:
        return f"(SELECT * FROM reviews WHERE thread_id = ?) AS q {_ITS_REVIEW}", (sought.thread_id,)
    if sought.tool:
        return f"(SELECT * FROM waiting_tools WHERE tool = ?) AS q {_ITS_REVIEW}", (sought.tool,)
    if sought.agent:
        return f"(SELECT * FROM reviews WHERE state = 'open' AND agent = ?) AS q {_ITS_REVIEW}", (
            sought.agent,
        )
    return f"(SELECT * FROM reviews WHERE state = 'open') AS q {_ITS_REVIEW}", ()


_ITS_REVIEW = "CROSS JOIN reviews AS r ON r.review_id = q.review_id"


def _holding(read: All, text: str) -> list[str] | None:
    """Return the ids of the reviews that hold the text, or None if there are more than `FEW`."""
    found = [*_indexed(read, text), *_long(read, text)]
    return None if len(found) > FEW else [str(row["review_id"]) for row in found]


def _indexed(read: All, text: str) -> list[sqlite3.Row]:
    if len(text) < GRAM:
        return _beginning_a_gram(read, text)
    grams = [_quoted(gram) for gram in _grams(text)]
    few = next((gram for gram in grams if _is_in_few(read, gram)), None)
    # Searching for all grams together is slow if many reviews have each of them.
    return _matching(read, few or " AND ".join(grams), text)


def _grams(text: str) -> list[str]:
    """Return the text's trigrams, end to end. That they follow each other is checked on the text itself."""
    starts = {*range(0, len(text) - GRAM, GRAM), len(text) - GRAM}
    return [text[start : start + GRAM] for start in sorted(starts)]


def _quoted(gram: str) -> str:
    return '"' + gram.replace('"', '""') + '"'


def _is_in_few(read: All, gram: str) -> bool:
    return not read("SELECT 1 FROM waiting_texts WHERE waiting_texts MATCH ? LIMIT 1 OFFSET ?", gram, FEW)


def _beginning_a_gram(read: All, text: str) -> list[sqlite3.Row]:
    """Return the reviews that hold the text, which is shorter than a gram."""
    return read(
        f"""
        SELECT DISTINCT w.review_id FROM waiting_grams AS g CROSS JOIN waiting AS w ON w.place = g.doc
        WHERE g.term >= ? AND g.term <= ? AND instr(w.text, ?) AND {_IS_NOT_OVER} LIMIT ?
        """,
        *(text, text + LAST * GRAM, text, FEW + 1),
    )


def _matching(read: All, grams: str, text: str) -> list[sqlite3.Row]:
    """Return the reviews that match the grams and hold the text. GLOB rules most out in a third of `instr`'s time."""
    beginning = re.sub(r"[*?[]", r"[\g<0>]", text[:BEGINNING])
    return read(
        f"""
        SELECT w.review_id FROM waiting_texts AS t CROSS JOIN waiting AS w ON w.place = t.rowid
        WHERE t.waiting_texts MATCH ? AND w.text GLOB ? AND instr(w.text, ?) AND {_IS_NOT_OVER} LIMIT ?
        """,
        *(grams, f"*{beginning}*", text, FEW + 1),
    )


def _long(read: All, text: str) -> list[sqlite3.Row]:
    return read(
        "SELECT review_id FROM waiting WHERE length(text) > 20000 AND instr(text, ?) LIMIT ?", text, FEW + 1
    )
