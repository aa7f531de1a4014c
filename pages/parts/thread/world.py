"""The current demo world that the agents act on; what this thread changed is marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from agent.demos.world import Ref, World
from agent.review.text.counts import counted
from agent.review.text.deception import visible
from pages.parts.common.clicks import named_first
from pages.parts.common.literal import line, literal
from pages.parts.common.words import option
from pages.parts.state import app, flash, identity

Changed = set[str]
EXCERPT = 400  # characters of a file


def world_panel(thread_id: str | None, agent: str) -> None:
    """Draw the parts of the world that this agent acts on."""
    world = app.world()
    changed = {change.subject for change in world.changes(thread_id)} if thread_id else set()
    with st.container(border=True, key="world"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**World**, as it is now")
            with st.popover("Reset", type="tertiary"):
                st.caption("The demo world starts over for everybody. The record stays as it is.")
                st.button("Reset the demo world", key="reset-world", on_click=_reset)
        parts = PARTS.get(agent, _MAIL)
        titles = [option(part.title(world)) for part in parts]
        touched = [
            title for title, part in zip(titles, parts, strict=True) if part.is_touched(world, changed)
        ]
        tabs = st.tabs(titles, default=touched[0] if touched else None)
        for tab, part in zip(tabs, parts, strict=True):
            with tab:
                part.draw(world, changed)


@named_first
def _reset() -> None:
    app.world().reset(Ref(f"reset by {identity.reviewer()}", ""))
    flash.flash("toast", "The demo world was reset. The record is untouched.")


def _row(by_this_thread: bool, text: str) -> None:
    """Draw one item, without the line break at a file's end: nothing is decided on it here."""
    if by_this_thread:
        st.badge("changed by this thread", color="violet", icon=":material/edit:")
    literal(text.removesuffix("\n"))


def _outbox(world: World, changed: Changed) -> None:
    sent = world.outbox()
    if not sent:
        st.caption("Nothing has been sent.")
    for mail in reversed(sent):
        _row(f"outbox/{mail.id}" in changed, f"to {mail.recipient}\n{mail.subject}\n{mail.body}")


def _mailbox(world: World, changed: Changed) -> None:
    for mail in world.mailbox():
        text = f"{mail.message_id} · {mail.folder}\n{mail.sender}\n{mail.subject}"
        _row(f"mailbox/{mail.message_id}" in changed, text)


def _files(world: World, changed: Changed) -> None:
    files = world.files()
    if not files:
        st.caption("There are no files.")
    for file in files:
        more = "…" if len(file.content) > EXCERPT else ""
        _row(f"files/{file.path}" in changed, f"{file.path}\n{file.content[:EXCERPT]}{more}")


def _tables(world: World, changed: Changed) -> None:
    names = _table_names(world)
    touched = [one for one in names if any(change.startswith(f"{one}/") for change in changed)]
    at = names.index(touched[0]) if touched else 0
    name = st.selectbox("Table", names, index=at, key="world-table")
    table = world.table(name)
    key = table.columns.index("id") if "id" in table.columns else 0
    rows = [
        {
            "changed": "✎" if f"{name}/{row[key]!s}" in changed else "",
            **{column: visible(str(cell)) for column, cell in zip(table.columns, row, strict=True)},
        }
        for row in table.rows
    ]
    st.dataframe(rows, hide_index=True)
    gone = [one.removeprefix(f"{name}/") for one in changed if one.startswith(f"{name}/")]
    kept = {str(row[key]) for row in table.rows}
    for row_id in sorted(set(gone) - kept):
        line(f"{name} {row_id} was removed by this thread")


def _table_names(world: World) -> tuple[str, ...]:
    return tuple(one for one in world.tables() if one != "files")


def _keys(world: World, changed: Changed) -> None:
    for key in world.service_keys():
        _row(
            f"service_keys/{key.service}" in changed,
            f"{key.service} · version {key.version}\n{key.fingerprint}",
        )


def _books(world: World, changed: Changed) -> None:
    for book in world.books():
        text = f"{book.book_id} · {book.stock} on the shelf\n{book.title}\n{book.author}"
        _row(f"books/{book.book_id}" in changed, text)


def _loans(world: World, changed: Changed) -> None:
    loans = world.loans()
    if not loans:
        st.caption("Nothing is on loan.")
    for loan in reversed(loans):
        text = f"{loan.loan_id} · {loan.book_id} · {loan.member_id}\ndue {loan.due}, renewed {counted(loan.renewals, 'time')}"
        _row(f"loans/{loan.loan_id}" in changed, text)


def _members(world: World, changed: Changed) -> None:
    for member in world.members():
        _row(f"members/{member.member_id}" in changed, f"{member.member_id} · {member.name}")


@dataclass(frozen=True)
class WorldTab:
    """One tab: its title, how it is drawn, and which subjects of a change belong to it."""

    title: Callable[[World], str]
    draw: Callable[[World, Changed], None]
    subjects: Callable[[World], tuple[str, ...]]

    def is_touched(self, world: World, changed: Changed) -> bool:
        return any(one.startswith(f"{name}/") for one in changed for name in self.subjects(world))


_MAIL = (
    WorldTab(lambda world: f"Outbox · {len(world.outbox())}", _outbox, lambda _: ("outbox",)),
    WorldTab(lambda world: f"Mailbox · {len(world.mailbox())}", _mailbox, lambda _: ("mailbox",)),
)
_OPERATIONS = (
    WorldTab(lambda world: f"Files · {len(world.files())}", _files, lambda _: ("files",)),
    WorldTab(lambda _: "Tables", _tables, _table_names),
    WorldTab(lambda _: "Keys", _keys, lambda _: ("service_keys",)),
)
_LIBRARY = (
    WorldTab(lambda world: f"Books · {len(world.books())}", _books, lambda _: ("books",)),
    WorldTab(lambda world: f"Loans · {len(world.loans())}", _loans, lambda _: ("loans",)),
    WorldTab(lambda world: f"Members · {len(world.members())}", _members, lambda _: ("members",)),
)
PARTS = {"mail": _MAIL, "operations": _OPERATIONS, "library": _LIBRARY}
