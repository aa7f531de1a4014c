"""How an answer leaves the server without waiting for the client."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress


def send_at_once() -> None:
    """Have every connection that this process's listening sockets take from now on send at once what is written.

    Streamlit opens its socket without naming a protocol, and asyncio leaves such connections to Nagle's algorithm:
    where one is kept open, the body of each answer waits for the client to acknowledge its head, some 40 ms.
    """
    with suppress(OSError):  # no /dev/fd: answers are as right, and later
        for number in map(int, os.listdir("/dev/fd")):
            with suppress(OSError):
                _set(number)


def _set(number: int) -> None:
    """Set it where this open file is a socket that listens; what it takes inherits it."""
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        return
    with socket.socket(fileno=os.dup(number)) as found:
        if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
