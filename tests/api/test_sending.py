"""Answers leave at once: a connection that the server takes does not wait to fill a packet."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest

import app
from agent import startup
from agent.bootstrap import Opened


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """A socket as Streamlit opens its own."""
    with socket.socket(family=socket.AF_INET) as found:
        found.bind(("127.0.0.1", 0))
        found.listen()
        yield found


def waits(listening: socket.socket) -> bool:
    with socket.create_connection(listening.getsockname()):
        taken, _ = listening.accept()
        with taken:
            return not taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_what_a_server_takes_once_it_has_started_sends_at_once(
    listening: socket.socket, page_console: Opened
) -> None:
    async def start() -> bool:
        async with startup.lifespan(app.first_page)(app.app):
            return waits(listening)

    assert waits(listening)
    assert not asyncio.run(start())
