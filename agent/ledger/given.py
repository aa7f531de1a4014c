"""The reviews that each reviewer was last given to decide on, in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from agent.ledger import rows
from agent.ledger.statements import ReadStatements, Writes
from agent.review.given import Face, Given


class GivenReads(ReadStatements):
    """The reads, given a way to run one statement."""

    def given(self, thread_ids: Sequence[str], reviewer: str, face: Face) -> Mapping[str, Given]:
        """Return what this reviewer was given last through this interface, for each of these threads that has any."""
        marks = ", ".join("?" * len(thread_ids))
        found = self._all(
            f"SELECT thread_id, reviews FROM given WHERE thread_id IN ({marks}) AND reviewer = ? AND face = ?",
            *(*thread_ids, reviewer, face),
        )
        return {row["thread_id"]: _given(row["reviews"]) for row in found}


class GivenWrites(Writes):
    """The writes of a transaction."""

    def give(self, thread_id: str, reviewer: str, face: Face, reviews: Given) -> None:
        self._did(
            """
            INSERT INTO given (thread_id, reviewer, face, reviews) VALUES (?, ?, ?, ?)
            ON CONFLICT (thread_id, reviewer, face) DO UPDATE SET reviews = excluded.reviews
            WHERE reviews <> excluded.reviews
            """,
            *(thread_id, reviewer, face, rows.dumps(reviews)),
        )


def _given(text: str) -> Given:
    """Return what the column holds; empty if the console cannot have written it."""
    with suppress(ValueError, TypeError, RecursionError):
        return [(review_id, list(digests)) for review_id, digests in rows.loads(text)]
    return []
