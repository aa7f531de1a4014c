"""A chat model that returns recorded replies, one after the other, whatever it is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable

from agent.review.errors import ModelFailed
from agent.review.replies import RecordedCall, RecordedReply
from agent.review.text.counts import counted

NUMBER = "reply"
"""Key in a reply's metadata that holds its number in the recording."""


class RecordedModel(BaseChatModel):
    """A model that returns the replies in the order of the recording.

    The conversation itself shows which is next, because each reply's message is numbered. So a run that was cut off
    gets the same reply again. Raises `ModelFailed` past the last one.
    """

    replies: tuple[RecordedReply, ...]

    @property
    def _llm_type(self) -> str:
        return "recorded"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model itself: it returns its replies whatever tools there are."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=self._next(messages))

    def _next(self, messages: Sequence[BaseMessage]) -> AIMessageChunk:
        given = [message.response_metadata.get(NUMBER, 0) for message in messages]
        number = max(given, default=0) + 1
        if number > len(self.replies):
            raise ModelFailed(
                f"The recording has {counted(len(self.replies), 'reply', 'replies')}, and the agent asks for one more. "
                "It no longer behaves as recorded: check the messages it was sent, or record it again."
            )
        reply = self.replies[number - 1]
        return AIMessageChunk(
            content=reply.text,
            response_metadata={NUMBER: number},
            tool_call_chunks=[
                tool_call_chunk(name=call.tool, args=_text(call), id=call.id, index=place)
                for place, call in enumerate(reply.calls)
            ],
        )


def _text(call: RecordedCall) -> str:
    return call.args if isinstance(call.args, str) else json.dumps(call.args)
