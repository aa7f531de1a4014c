"""A server with OpenAI's interface, as far as the tests need one: it gives the replies it was given to give, in order."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODELS = ("gpt-5.4-mini", "small")


@dataclass(frozen=True)
class Stream:
    """A streamed reply: the deltas, how it says it ended, and whether the connection lives to see that."""

    deltas: Sequence[dict[str, Any]]
    finish: str | None = "stop"
    drop: bool = False
    error: dict[str, Any] | None = None
    """Sent as an event in the middle of the stream, where the reply breaks off."""


@dataclass(frozen=True)
class Failure:
    """A reply with a status and OpenAI's error body."""

    status: int
    message: str = "It did not work."
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


Reply = Stream | Failure


def text(*pieces: str, finish: str = "stop") -> Stream:
    return Stream([{"content": piece} for piece in pieces], finish)


def call(index: int, call_id: str, name: str, *pieces: str) -> list[dict[str, Any]]:
    """A tool call as it is streamed: its name first, then its arguments in pieces."""
    first = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    rest = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
    return [{"tool_calls": [one]} for one in (first, *rest)]


class Provider:
    """The server, on a port of this machine."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                provider.keys.append(self.headers.get("Authorization", ""))
                reply = provider.replies.pop(0) if provider.replies else None
                if isinstance(reply, Failure):
                    _fail(self, reply)
                    return
                found = [{"id": name, "object": "model", "created": 0, "owned_by": "us"} for name in MODELS]
                _send(self, 200, {"object": "list", "data": found}, {})

            def do_POST(self) -> None:
                provider.keys.append(self.headers.get("Authorization", ""))
                length = int(self.headers["Content-Length"])
                provider.requests.append(json.loads(self.rfile.read(length)))
                reply = provider.replies.pop(0)
                if isinstance(reply, Failure):
                    _fail(self, reply)
                else:
                    _stream(self, reply)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def start(self) -> Provider:
        self._thread.start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _fail(handler: BaseHTTPRequestHandler, failure: Failure) -> None:
    error = {"message": failure.message, "type": failure.code, "param": None, "code": failure.code}
    _send(handler, failure.status, {"error": error}, failure.headers)


def _send(handler: BaseHTTPRequestHandler, status: int, body: Any, headers: dict[str, str]) -> None:
    content = json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {
        "Content-Type": "application/json",
        "Content-Length": len(content),
        **headers,
    }.items():
        handler.send_header(name, str(value))
    handler.end_headers()
    handler.wfile.write(content)


def _stream(handler: BaseHTTPRequestHandler, reply: Stream) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    _piece(handler, {"role": "assistant", "content": ""})
    for delta in reply.deltas:
        _piece(handler, delta)
    if reply.drop:
        handler.close_connection = True
        return
    if reply.error is not None:
        _chunk(handler, f"data: {json.dumps({'error': reply.error})}\n\n")
    elif reply.finish is not None:
        _piece(handler, {}, reply.finish)
        _chunk(handler, "data: [DONE]\n\n")
    _chunk(handler, "")


def _piece(handler: BaseHTTPRequestHandler, delta: dict[str, Any], finish: str | None = None) -> None:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    about = {"id": "reply-1", "object": "chat.completion.chunk", "created": 0, "model": "gpt-5.4-mini"}
    _chunk(handler, f"data: {json.dumps({**about, 'choices': [choice]})}\n\n")


def _chunk(handler: BaseHTTPRequestHandler, content: str) -> None:
    data = content.encode()
    handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    handler.wfile.flush()
