"""The library agent's tools."""

from __future__ import annotations

from typing import Annotated

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool
from pydantic import Field

from agent.demos.world import Book, Ref, World, quoted
from agent.demos.world.library import LOAN_DAYS, LONGEST_LOAN
from agent.review.text.counts import counted


def tools(world: World) -> tuple[BaseTool, ...]:
    """Return all tools, acting on `world`."""
    return (_search_books(world), _renew_loan(world), _borrow_book(world), _delete_member())


def _search_books(world: World) -> BaseTool:
    @tool
    def search_books(text: str) -> str:
        """Find the books that contain every word of the text, in their title, author or subject."""
        found = world.search_books(text)
        if not found:
            return f"No book contains {quoted(text)}."
        return "\n".join([f"Found {counted(len(found), 'book')}.", *map(_listed, found)])

    return search_books


def _renew_loan(world: World) -> BaseTool:
    @tool
    def renew_loan(
        loan_id: str, config: RunnableConfig, tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Let a loan run 14 days longer. The id looks like l-1."""
        loan = world.renew(loan_id, Ref.of(config, tool_call_id))
        return f"Renewed {loan.loan_id}: now due on {loan.due}."

    return renew_loan


def _borrow_book(world: World) -> BaseTool:
    @tool
    def borrow_book(
        book_id: str,
        member_id: str,
        config: RunnableConfig,
        tool_call_id: Annotated[str, InjectedToolCallId],
        days: Annotated[int, Field(ge=1, le=LONGEST_LOAN)] = LOAN_DAYS,
    ) -> str:
        """Lend one copy of a book to a member for so many days. The ids look like b-1 and m-9."""
        loan = world.borrow(book_id, member_id, Ref.of(config, tool_call_id), days)
        return f"Lent {loan.book_id} to {loan.member_id} until {loan.due} (loan {loan.loan_id})."

    return borrow_book


def _delete_member() -> BaseTool:
    @tool
    def delete_member(member_id: str) -> str:
        """Delete a member and everything known of them."""
        raise ToolException(
            f"Members are never deleted from here, and {quoted(member_id)} was not. Ask at the desk."
        )

    return delete_member


def _listed(book: Book) -> str:
    copies = f"{book.stock} on the shelf" if book.stock else "all copies lent"
    return f"{book.book_id} | {book.title} | {book.author} | {book.subject} | {copies}"
