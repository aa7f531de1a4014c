"""Report a model's tokens from a callback in the thread that receives them, so that no other thread relays them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessageChunk
from langgraph.constants import TAG_NOSTREAM

from agent.ports import Token


class Listener(BaseCallbackHandler):
    """One run's listener: calls `hear` with each piece of a reply if `speaks` accepts the model call's metadata."""

    run_inline = True

    def __init__(self, speaks: Callable[[Mapping[str, Any]], bool], hear: Callable[[Token], None]) -> None:
        self._speaks, self._hear = speaks, hear
        self._heard: set[UUID] = set()

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: Any,
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        if TAG_NOSTREAM not in (tags or ()) and self._speaks(metadata or {}):
            self._heard.add(run_id)

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_: Any) -> None:
        message = getattr(chunk, "message", None)
        if run_id in self._heard and isinstance(message, AIMessageChunk) and message.text:
            self._hear(Token(str(message.id), str(message.text)))

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        self._heard.discard(run_id)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._heard.discard(run_id)
