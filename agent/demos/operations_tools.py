"""The operations agent's tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool

from agent.demos import amounts
from agent.demos.world import SQL_ROWS, Ref, SqlResult, Value, World, quoted

CELL = 200


def tools(world: World) -> tuple[BaseTool, ...]:
    """Return all tools, acting on `world`."""
    return (
        _read_data(world),
        _write_file(world),
        _execute_sql(world),
        _remove_file(world),
        _rotate_keys(world),
        _ask_user(),
    )


def _read_data(world: World) -> BaseTool:
    @tool
    def read_data(table: str) -> str:
        """Read one table: customers, files, invoices or notes."""
        shown = world.table(table, limit=SQL_ROWS)
        more = f" The first {SQL_ROWS} follow." if shown.total > SQL_ROWS else ""
        return f"{table} has {amounts.rows(shown.total)}.{more}\n{_grid(shown.columns, shown.rows)}"

    return read_data


def _write_file(world: World) -> BaseTool:
    @tool
    def write_file(
        path: str, content: str, config: RunnableConfig, tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Make the file of this path hold exactly this content, replacing what it held."""
        replaced = world.write_file(path, content, Ref.of(config, tool_call_id))
        verb = "Replaced" if replaced else "Wrote the new file"
        return f"{verb} {quoted(path)} ({amounts.size(content)})."

    return write_file


def _execute_sql(world: World) -> BaseTool:
    @tool
    def execute_sql(
        query: str, config: RunnableConfig, tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Run one SQLite statement on the tables customers, invoices and notes. It may select, insert, update
        or delete rows."""
        result = world.run_sql(query, Ref.of(config, tool_call_id))
        if not result.columns:
            return f"Done: {amounts.effects(result.changes)}."
        more = f" Only the first {SQL_ROWS} follow." if result.more else ""
        effects = f" {amounts.effects(result.changes).capitalize()}." if result.changes else ""
        return f"{_returned(result)}.{more}{effects}\n{_grid(result.columns, result.rows)}"

    return execute_sql


def _remove_file(world: World) -> BaseTool:
    @tool
    def remove_file(
        path: str, config: RunnableConfig, tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Remove one file for good."""
        removed = world.remove_file(path, Ref.of(config, tool_call_id))
        return f"Removed {quoted(path)} ({amounts.size(removed.content)})."

    return remove_file


def _rotate_keys(world: World) -> BaseTool:
    @tool
    def rotate_keys(
        service: str, config: RunnableConfig, tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Replace the key of one service, billing or mail, with a new one."""
        key = world.rotate(service, Ref.of(config, tool_call_id))
        return f"Rotated the key of {key.service}: now version {key.version}, fingerprint {key.fingerprint}."

    return rotate_keys


def _ask_user() -> BaseTool:
    @tool
    def ask_user(question: str) -> str:
        """Ask the person a question and get the answer."""
        raise ToolException("Only a person can answer this question. Wait for the person's response.")

    return ask_user


def _returned(result: SqlResult) -> str:
    return f"Returned {'more than ' * result.more}{amounts.rows(len(result.rows))}"


def _grid(columns: Iterable[str], rows: Iterable[Iterable[Value]]) -> str:
    return "\n".join([" | ".join(columns), *(" | ".join(map(_cell, row)) for row in rows)])


def _cell(value: Value) -> str:
    text = "NULL" if value is None else f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)
    line = text.replace("\r", "\\r").replace("\n", "\\n")
    return line if len(line) <= CELL else line[:CELL] + "…"
