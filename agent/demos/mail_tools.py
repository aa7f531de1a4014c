"""The mail agent's tools."""

from __future__ import annotations

from typing import Annotated

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool

from agent.demos.world import Mail, Ref, World, quoted
from agent.demos.world.mailbox import ADDRESS
from agent.review.text.counts import counted

SNIPPET = 160
FOUND = 20


def tools(world: World) -> tuple[BaseTool, ...]:
    """Return all tools, acting on `world`."""
    return (_search_mail(world), _archive_mail(world), _send_email(world), _wipe_mailbox())


def _search_mail(world: World) -> BaseTool:
    @tool
    def search_mail(text: str) -> str:
        """Find the messages that contain every word of the text, in their sender, subject or body."""
        found = world.search_mail(text)
        if not found:
            return f"No message contains {quoted(text)}."
        more = f" Only the first {FOUND} are listed." if len(found) > FOUND else ""
        return "\n".join([f"Found {_count(len(found))}.{more}", *map(_listed, found[:FOUND])])

    return search_mail


def _archive_mail(world: World) -> BaseTool:
    @tool
    def archive_mail(
        message_id: str, config: RunnableConfig, tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Move one message from the inbox to the archive. The id looks like m-1; search_mail lists it."""
        mail = world.archive(message_id, Ref.of(config, tool_call_id))
        return f"Archived {mail.message_id}: {quoted(mail.subject)}."

    return archive_mail


def _send_email(world: World) -> BaseTool:
    @tool
    def send_email(
        to: str,
        subject: str,
        body: str,
        config: RunnableConfig,
        tool_call_id: Annotated[str, InjectedToolCallId],
    ) -> str:
        """Send an e-mail to one address, such as alice@example.com. It cannot be called back."""
        if not ADDRESS.fullmatch(to):
            raise ToolException(
                f"{quoted(to)} is not an e-mail address, so nothing was sent. Give one like alice@example.com."
            )
        sent = world.send(to, subject, body, Ref.of(config, tool_call_id))
        return f"Sent to {sent.recipient}: {quoted(sent.subject)} (outbox {sent.id})."

    return send_email


def _wipe_mailbox() -> BaseTool:
    @tool
    def wipe_mailbox() -> str:
        """Delete every message in the mailbox."""
        raise ToolException(
            "The mailbox is never wiped, and was not wiped now. Archive single messages instead."
        )

    return wipe_mailbox


def _count(number: int) -> str:
    return counted(number, "message")


def _listed(mail: Mail) -> str:
    body = " ".join(mail.body.split())
    snippet = body if len(body) <= SNIPPET else body[:SNIPPET] + "…"
    return f"{mail.message_id} | {mail.sender} | {mail.subject}\n    {mail.folder}: {snippet}"
