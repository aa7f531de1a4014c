"""A real model behind OpenAI's interface, at OpenAI or on any compatible server. Imported only when one is used.

Each failure is one plain sentence with a remedy. A reply that was cut short is discarded: the run fails and can
be tried again, and none of the reply's calls is read. The key never appears in a message, record or log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx2
import openai
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from agent.review.errors import ModelFailed

OPENAI_URL = "https://api.openai.com/v1"
RETRIES = 2
"""Tries after the first, on 429, 5xx and refused connections, each after a longer pause or the one the server asks for."""
TIMEOUT = httpx2.Timeout(120.0, connect=10.0)
"""Seconds: between two pieces of a reply, and for the connection."""
MAX_WORDS = 300
"""Most characters that are repeated of a provider's own error message."""

CUT_SHORT = "The model's reply was cut short ({why}). Nothing of it was executed. Try again."
LOST = CUT_SHORT.format(why="the connection was lost")
ENDS = {
    "length": "The model's reply reached its length limit and was cut short. Nothing of it was executed. "
    "Try again, or ask for less at once.",
    "content_filter": "The provider's content filter stopped the model's reply. Nothing of it was executed. "
    "Ask differently.",
}


class OpenAIModel(ChatOpenAI):
    """A `ChatOpenAI` that raises `ModelFailed` for every failure, an incomplete reply included."""

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        begun, finish = False, ""
        try:
            for chunk in super()._stream(*args, **kwargs):
                begun = True
                finish = (chunk.generation_info or {}).get("finish_reason") or finish
                yield chunk
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
            # The provider's own error may repeat the key, so not even a log gets to see it.
            lost = begun and isinstance(error, openai.APIConnectionError | httpx2.HTTPError)
            raise ModelFailed(LOST if lost else self._in_words(error)) from None
        if not finish:
            raise ModelFailed(CUT_SHORT.format(why="the connection ended before the reply did"))
        if finish in ENDS:
            raise ModelFailed(ENDS[finish])

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            if any("index" not in call or not call.get("function") for call in delta.get("tool_calls") or ()):
                # LangChain leaves such a piece out, and the rest could then look like another call.
                raise ModelFailed(CUT_SHORT.format(why="a piece of a tool call could not be read"))
            if delta.get("refusal") and not delta.get("content"):
                # A refusal arrives in a separate field, but it is the model's answer all the same.
                delta["content"] = delta["refusal"]
        return super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)

    def _in_words(self, error: Exception) -> str:
        key = self.openai_api_key
        secret = key.get_secret_value() if isinstance(key, SecretStr) else ""
        said = words(error, self.model_name, str(self.openai_api_base))
        return said.replace(secret, "(key)") if secret else said


def connect(name: str, key: SecretStr, base_url: str | None) -> OpenAIModel:
    """Return the model of that name. Nothing is sent before its first call."""
    return OpenAIModel(
        model=name,
        api_key=key,
        base_url=base_url or OPENAI_URL,
        max_retries=RETRIES,
        timeout=TIMEOUT,
        streaming=True,
        use_responses_api=False,
    )


def reach(names: tuple[str, ...], key: SecretStr, base_url: str | None) -> str:
    """Return what keeps the console from reaching these models, with the remedy; "" if nothing does."""
    url = base_url or OPENAI_URL
    try:
        with openai.OpenAI(
            api_key=key.get_secret_value(), base_url=url, max_retries=0, timeout=httpx2.Timeout(10.0)
        ) as client:
            known = {model.id for model in client.models.list()}
    except openai.NotFoundError:
        return ""  # not every compatible server lists its models; it answered, and it took the key
    except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
        return words(error, names[0], url).replace(key.get_secret_value(), "(key)")
    missing = [name for name in names if name not in known]
    if not missing:
        return ""
    return f"{url} does not offer {', '.join(missing)}. Set OPENAI_MODELS to models that it offers."


def words(error: Exception, model: str, url: str) -> str:
    """Return what went wrong with the provider, as one clear sentence with its remedy."""
    for kind, applies, sentence in SENTENCES:
        if isinstance(error, kind) and applies(error):
            status = getattr(error, "status_code", "")
            return sentence.format(url=url, model=model, status=status, said=_brief(error))
    return CUT_SHORT.format(why=f"it could not be read: {type(error).__name__}")


def _code(error: openai.APIError) -> str:
    body = error.body if isinstance(error.body, Mapping) else {}
    return str(error.code or body.get("code") or body.get("type") or "")


def _is_too_long(error: openai.APIError) -> bool:
    return _code(error) == "context_length_exceeded" or "context length" in str(error.message).lower()


def _brief(error: Exception) -> str:
    """Return the provider's own error message as one sentence on one line, cut to `MAX_WORDS`."""
    said = " ".join(str(getattr(error, "message", "")).split())[:MAX_WORDS].rstrip(".")
    return f"{said}."


def _always(_: Any) -> bool:
    return True


# The first that applies is used.
SENTENCES: tuple[tuple[type[Exception], Callable[[Any], bool], str], ...] = (
    (
        openai.AuthenticationError,
        _always,
        "{url} does not accept the key. Set OPENAI_API_KEY to a valid one and restart the console.",
    ),
    (
        openai.PermissionDeniedError,
        _always,
        "The key may not use {model} at {url}. Allow it there, or start a thread with another model.",
    ),
    (
        openai.NotFoundError,
        _always,
        "{url} has no model {model}. Fix OPENAI_MODELS or OPENAI_BASE_URL, or start a thread with another model.",
    ),
    (
        openai.RateLimitError,
        lambda error: _code(error) == "insufficient_quota",
        "The account at {url} has used up its quota. Add credit there, then try again.",
    ),
    (
        openai.RateLimitError,
        _always,
        "{url} accepts no more requests just now (429). Wait a little, then try again.",
    ),
    (
        openai.BadRequestError,
        _is_too_long,
        "The conversation is too long for {model}. Start a new thread, or use a model that holds more.",
    ),
    (
        openai.APITimeoutError,
        _always,
        "{url} did not answer in time. Try again; if this continues, check the server.",
    ),
    (
        openai.APIConnectionError,
        _always,
        "There is no connection to {url}. Check that the server runs and OPENAI_BASE_URL is right, then try again.",
    ),
    (
        openai.InternalServerError,
        _always,
        "{url} failed ({status}). Try again; if this continues, check the server.",
    ),
    (
        openai.APIStatusError,
        _always,
        "{url} refused the request ({status}): {said} Fix that, then try again.",
    ),
    (openai.APIError, _always, CUT_SHORT.format(why="the server reported: {said}")),
    (httpx2.HTTPError, _always, LOST),
)
