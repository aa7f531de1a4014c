"""Send responses without waiting for the client to acknowledge earlier data."""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress


def send_at_once() -> None:
    """Turn off Nagle's algorithm for every connection that the process's listening sockets accept from now on.

    Streamlit opens its socket without naming a protocol, and asyncio leaves Nagle's algorithm on for such sockets:
    on a kept-alive connection, each response body then waits some 40 ms for the client to acknowledge its head.
    """
    with suppress(OSError):  # without /dev/fd, responses are only slower
        for number in map(int, os.listdir("/dev/fd")):
            with suppress(OSError):
                _set(number)


def _set(number: int) -> None:
    """Set TCP_NODELAY if this open file is a listening socket; accepted connections inherit it."""
    if not stat.S_ISSOCK(os.fstat(number).st_mode):
        return
    with socket.socket(fileno=os.dup(number)) as found:
        if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
