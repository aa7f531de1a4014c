"""A browser session without a browser: it speaks Streamlit's own protocol, and redraws when its page asks for it."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

TICK = 0.2
"""Seconds after which it looks whether a fragment is due."""


class Watcher:
    """One session that opens the inbox and follows it until it is closed."""

    def __init__(self, port: int) -> None:
        self._socket: ClientConnection = connect(
            f"ws://127.0.0.1:{port}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit"), Subprotocol("PLACEHOLDER_AUTH_TOKEN")],
            origin=Origin(f"http://127.0.0.1:{port}"),
            max_size=None,
        )
        self.drawn = 0
        self._due: dict[str, tuple[float, float]] = {}
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Watcher:
        self._rerun()
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._left.set()
        self._socket.close()
        self._thread.join(10)

    def _follow(self) -> None:
        while not self._left.is_set():
            try:
                self._hear(ForwardMsg.FromString(self._socket.recv(timeout=TICK)))
            except TimeoutError:
                pass
            except ConnectionClosed:
                return
            for fragment, (at, interval) in list(self._due.items()):
                if time.monotonic() >= at:
                    self._due[fragment] = (time.monotonic() + interval, interval)
                    self._rerun(fragment)

    def _hear(self, message: ForwardMsg) -> None:
        match message.WhichOneof("type"):
            case "auto_rerun":
                asked = message.auto_rerun
                self._due[asked.fragment_id] = (time.monotonic() + asked.interval, asked.interval)
            case "script_finished":
                self.drawn += 1

    def _rerun(self, fragment: str = "") -> None:
        message = BackMsg()
        message.rerun_script.query_string = ""
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_auto_rerun = bool(fragment)
        self._socket.send(message.SerializeToString())
