"""A small lending library: members, books, and loans."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from agent.demos.world.store import Ref, Store, WorldError, WorldPart, existing, quoted

LOAN_DAYS = 28
"""Days of a loan for which none are named."""
LONGEST_LOAN = 56
"""Days; a longer one needs a renewal."""
RENEWAL_DAYS = 14
MOST_RENEWALS = 2
MOST_LOANS = 4


@dataclass(frozen=True)
class Member:
    member_id: str
    name: str


@dataclass(frozen=True)
class Book:
    book_id: str
    title: str
    author: str
    subject: str
    stock: int
    """Copies on the shelf now."""


@dataclass(frozen=True)
class Loan:
    loan_id: str
    book_id: str
    member_id: str
    due: date
    renewals: int


class Library(Store):
    """The library's shelves and its card index."""

    def members(self) -> tuple[Member, ...]:
        """Return every member, by id."""
        return tuple(
            Member(*row) for row in self._read("SELECT member_id, name FROM members ORDER BY member_id")
        )

    def member(self, member_id: str) -> Member | None:
        """Return the member of that id, if there is one."""
        return next((one for one in self.members() if one.member_id == member_id), None)

    def books(self) -> tuple[Book, ...]:
        """Return every book, by id, with its copies on the shelf."""
        rows = self._read("SELECT book_id, title, author, subject, stock FROM books ORDER BY book_id")
        return tuple(Book(*row) for row in rows)

    def book(self, book_id: str) -> Book | None:
        """Return the book of that id, if there is one."""
        return next((one for one in self.books() if one.book_id == book_id), None)

    def search_books(self, text: str) -> tuple[Book, ...]:
        """Return the books with every word of `text` in title, author or subject, ignoring case."""
        words = text.casefold().split()
        return tuple(book for book in self.books() if all(word in _searched(book) for word in words))

    def loans(self) -> tuple[Loan, ...]:
        """Return every current loan, oldest first."""
        rows = self._read("SELECT id, book_id, member_id, due, renewals FROM loans ORDER BY id")
        return tuple(_loan_of(row) for row in rows)

    def loan(self, loan_id: str) -> Loan | None:
        """Return the loan of that id, if there is one."""
        return next((one for one in self.loans() if one.loan_id == loan_id), None)

    def borrowing(self, book_id: str, member_id: str, days: int = LOAN_DAYS) -> dict[str, Any]:
        """Return the facts that lending a book depends on, and the day on which it would be due if lent today."""
        with self._connection() as connection:
            return _borrowing(connection, book_id, member_id, self._due(days))

    def renewing(self, loan_id: str) -> dict[str, Any]:
        """Return the facts that renewing a loan depends on."""
        with self._connection() as connection:
            return _renewing(connection, loan_id)

    def borrow(self, book_id: str, member_id: str, ref: Ref, days: int = LOAN_DAYS) -> Loan:
        """Lend one copy to a member for so many days; return the loan."""
        if not 1 <= days <= LONGEST_LOAN:
            raise WorldError(
                f"A loan is for 1 to {LONGEST_LOAN} days, not {days}. Name another number of days."
            )
        due = self._due(days)
        with self._changing() as connection:
            facts = _borrowing(connection, book_id, member_id, due)
            if fault := cannot_borrow(facts):
                raise WorldError(fault)
            connection.execute("UPDATE books SET stock = stock - 1 WHERE book_id = ?", (book_id,))
            number = connection.execute(
                "INSERT INTO loans (book_id, member_id, due, renewals) VALUES (?, ?, ?, 0)",
                (book_id, member_id, due.isoformat()),
            ).lastrowid
            before, after = {"stock": facts["stock"]}, {"stock": facts["stock"] - 1}
            self._log(connection, ref, "book_lent", f"books/{book_id}", before, after)
            made = {"book_id": book_id, "member_id": member_id, "due": due.isoformat()}
            self._log(connection, ref, "loan_made", f"loans/l-{number}", None, made)
        return Loan(f"l-{number}", book_id, member_id, due, 0)

    def renew(self, loan_id: str, ref: Ref) -> Loan:
        """Extend a loan by `RENEWAL_DAYS`; return the extended loan."""
        with self._changing() as connection:
            facts = _renewing(connection, loan_id)
            if fault := cannot_renew(facts):
                raise WorldError(f"{fault} {existing(connection, 'loans', LOAN_ID)}")
            due = date.fromisoformat(facts["due"]) + timedelta(days=RENEWAL_DAYS)
            row = connection.execute(
                f"""
                UPDATE loans SET due = ?, renewals = renewals + 1 WHERE {LOAN_ID} = ?
                RETURNING id, book_id, member_id, due, renewals
                """,
                (due.isoformat(), loan_id),
            ).fetchone()
            before = {"due": facts["due"], "renewals": facts["renewals"]}
            after = {"due": due.isoformat(), "renewals": facts["renewals"] + 1}
            self._log(connection, ref, "loan_renewed", f"loans/{loan_id}", before, after)
        return _loan_of(row)

    def _due(self, days: int) -> date:
        return (self._now() + timedelta(days=days)).date()


def cannot_borrow(facts: Mapping[str, Any]) -> str:
    """Return why a book cannot be lent on these facts, or ""."""
    if facts["title"] is None:
        return f"There is no book {quoted(facts['book'])}. Search the books for its id."
    if facts["name"] is None:
        return f"There is no member {quoted(facts['member'])}. Ask for the right number."
    if facts["stock"] < 1:
        return (
            f"No copy of {quoted(facts['title'])} is left on the shelf. Choose another book, or wait for one."
        )
    if facts["loans"] >= MOST_LOANS:
        return f"{facts['name']} has {facts['loans']} books, and {MOST_LOANS} are the most. One has to come back first."
    return ""


def cannot_renew(facts: Mapping[str, Any]) -> str:
    """Return why a loan cannot be renewed on these facts, or ""."""
    if facts["due"] is None:
        return f"There is no loan {quoted(facts['loan'])}."
    if facts["renewals"] >= MOST_RENEWALS:
        return f"Loan {facts['loan']} was renewed {MOST_RENEWALS} times already. The book has to come back first."
    return ""


LOAN_ID = "('l-' || id)"
"""A loan's id, as an SQL expression."""


def _borrowing(connection: sqlite3.Connection, book_id: str, member_id: str, due: date) -> dict[str, Any]:
    book = connection.execute("SELECT title, stock FROM books WHERE book_id = ?", (book_id,)).fetchone()
    member = connection.execute("SELECT name FROM members WHERE member_id = ?", (member_id,)).fetchone()
    (loans,) = connection.execute("SELECT count(*) FROM loans WHERE member_id = ?", (member_id,)).fetchone()
    return {
        "book": book_id,
        "title": book["title"] if book else None,
        "stock": book["stock"] if book else None,
        "member": member_id,
        "name": member["name"] if member else None,
        "loans": loans,
        "due": due.isoformat(),
    }


def _renewing(connection: sqlite3.Connection, loan_id: str) -> dict[str, Any]:
    row = connection.execute(f"SELECT due, renewals FROM loans WHERE {LOAN_ID} = ?", (loan_id,)).fetchone()
    due, renewals = (row["due"], row["renewals"]) if row else (None, None)
    return {"loan": loan_id, "due": due, "renewals": renewals}


def _searched(book: Book) -> str:
    return f"{book.title}\n{book.author}\n{book.subject}".casefold()


def _loan_of(row: sqlite3.Row) -> Loan:
    number, book_id, member_id, due, renewals = row
    return Loan(f"l-{number}", book_id, member_id, date.fromisoformat(due), renewals)


PART = WorldPart(
    (
        "CREATE TABLE IF NOT EXISTS members (member_id TEXT PRIMARY KEY, name TEXT NOT NULL)",
        """
        CREATE TABLE IF NOT EXISTS books (
            book_id TEXT PRIMARY KEY, title TEXT NOT NULL, author TEXT NOT NULL, subject TEXT NOT NULL,
            stock INTEGER NOT NULL CHECK (stock >= 0)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS loans (
            id INTEGER PRIMARY KEY AUTOINCREMENT, book_id TEXT NOT NULL, member_id TEXT NOT NULL,
            due TEXT NOT NULL, renewals INTEGER NOT NULL DEFAULT 0
        )
        """,
    ),
    {
        "members": (
            ("m-1", "Ada Moreno"),
            ("m-2", "Ben Okafor"),
            ("m-3", "Chen Wei"),
            ("m-9", "Noor Haddad"),
        ),
        "books": (
            ("b-1", "A Field Guide to Dragons", "E. Larsen", "dragons, folklore", 1),
            ("b-2", "Bread for Beginners", "A. Moreno", "cooking, baking", 3),
            ("b-3", "The Shape of Rivers", "C. Wei", "geography, water", 2),
            ("b-4", "Knots and How to Tie Them", "D. Novak", "sailing, crafts", 2),
            ("b-5", "A Short History of Dragons", "B. Okafor", "dragons, history", 0),
            ("b-6", "Gardening in the Shade", "N. Haddad", "gardens, plants", 4),
        ),
        "loans": (
            (1, "b-4", "m-1", "2030-01-10", 0),
            (2, "b-5", "m-2", "2030-01-12", 0),
            (3, "b-2", "m-3", "2030-01-15", 1),
            (4, "b-3", "m-3", "2030-01-20", 2),
        ),
    },
    since=2,
)
