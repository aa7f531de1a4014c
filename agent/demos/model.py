"""A deterministic chat model that needs no key and no network: it makes the calls a message spells out, and streams.

A message with at least one line that begins with one of these directives is a script:

    /call TOOL {json}     calls TOOL with that text as its arguments. The text may continue on the following lines,
                          up to the next directive; no text means {}. It is sent unchanged, valid or not.
    /call#ID TOOL {json}  the same, with the call id ID (`/call# TOOL`: without an id). Several /call lines are several
                          calls of one reply, in order; two may have the same id.
    /say TEXT             says TEXT, alone or together with calls. May continue on the following lines.
    /then                 ends this reply; what follows is the next reply, given once the calls have their results.
    /fail                 fails as a provider would, every time. `/fail once` fails only the first time, so that
                          trying again succeeds.
    /slow SECONDS         waits that long (at most 600) before replying.

Within a turn, the n-th call of the model gives the n-th reply. After the last one, and after a plain request's
calls, the model closes the turn with what was done, what was not and why. It never repeats a call by itself.
Lines that belong to no /call or /say are ignored. A message without directives is a plain request; see `requests`.

As with a provider, arguments that are not a JSON object become `invalid_tool_calls`; here duplicate keys, NaN and
Infinity are invalid too. The text of every call, exactly as sent, is in `additional_kwargs["tool_calls"]`, in
OpenAI's shape and in order, since parsed arguments no longer show how they were written.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    ToolCall,
    ToolMessage,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from agent.demos.requests import CallResult, ModelCall, closing, follow_up, offer, plan_for

GRAMMAR = """\
/call TOOL {json}      propose this call; several lines, several calls
/call#ID TOOL {json}   the same, with this call id
/say TEXT              say this, alone or together with calls
/then                  what follows is said after the results
/fail, /fail once      fail as a provider would, always or only the first time
/slow SECONDS          wait before replying
"""
"""The directives in short, for a person who writes a message."""

MAX_WAIT = 600.0
"""Seconds; the longest wait before one reply."""

_PIECE = 64
"""Characters of a call's arguments in one streamed piece: each costs a turn about 0.3 ms, and no page shows them."""

_WAIT_STEP = 0.25
_DIRECTIVE = re.compile(
    r"\s*/(?P<word>call|say|then|fail|slow)(?P<id>(?<=call)#\S*)?(?:\s(?P<rest>.*))?\Z", re.S
)
_failed_once: set[str] = set()
"""Keys of replies; global, so that a retry by another model instance finds them."""


class DemoProviderError(Exception):
    """The demo model was told to fail. Take /fail out of the message, or try again if it says /fail once."""

    def __init__(self) -> None:
        super().__init__("The demo model was told to fail.")


@dataclass(frozen=True)
class RawCall:
    """One call as the model sends it, with its arguments still as text."""

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True)
class DemoReply:
    """One reply of the model. `key` is the same on every retry of this reply, and different for any other."""

    key: str
    text: str = ""
    calls: tuple[RawCall, ...] = ()
    wait: float = 0.0
    fail: bool = False
    fail_once: bool = False


class DemoModel(BaseChatModel):
    """The model described above: the same messages always get the same reply (but for `/fail once`)."""

    tools: Mapping[str, str] = Field(default_factory=dict)
    """The bound tools: name → description."""
    delay: float = 0.0
    """Seconds before each streamed piece, so that people can watch it stream."""
    sleep: Callable[[float], object] = Field(default=time.sleep, exclude=True, repr=False)

    @property
    def identity(self) -> str:
        """The model's name in the record."""
        return "demo"

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of the bound tools, in the order they were bound."""
        return tuple(self.tools)

    @property
    def _llm_type(self) -> str:
        return self.identity

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        """Return a copy of the model with these tools instead. Options such as `tool_choice` are ignored."""
        return self.model_copy(update={"tools": dict(_described(tool) for tool in tools)})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = compose(messages, self.tools)
        for _ in self._prepare(reply):
            pass
        return ChatResult(generations=[ChatGeneration(message=_whole(reply))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        reply = compose(messages, self.tools)
        for _ in self._prepare(reply):
            # An empty piece at each step of a wait lets the consumer of the stream stop it there.
            yield ChatGenerationChunk(message=_Piece(content=""))
        for piece in _pieces(reply):
            if self.delay:
                self.sleep(self.delay)
            yield ChatGenerationChunk(message=piece)

    def _prepare(self, reply: DemoReply) -> Iterator[None]:
        """Wait in small steps as the reply says, then fail if it says so."""
        left = reply.wait
        while left > 0:
            self.sleep(min(left, _WAIT_STEP))
            left -= _WAIT_STEP
            yield
        if reply.fail or (reply.fail_once and reply.key not in _failed_once):
            _failed_once.add(reply.key)
            raise DemoProviderError


def compose(messages: Sequence[BaseMessage], tools: Mapping[str, str]) -> DemoReply:
    """Return the reply to these messages. Never raises: a message that makes no sense gets an answer that says so."""
    place = next((i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], HumanMessage)), None)
    if place is None:
        return DemoReply("", offer(tools))
    human, turn = messages[place], messages[place + 1 :]
    step = sum(isinstance(message, AIMessage) for message in turn)
    text = str(human.text)
    key = f"{human.id or text}:{step}"
    results = _results(turn)
    script = _script(text)
    if script is None:
        return _answer_plainly(text, tools, step, results, key)
    reply = _read_reply(script[step], key) if step < len(script) else DemoReply(key)
    return reply if reply.text or reply.calls else replace(reply, text=closing(results))


# Plain requests.


def _answer_plainly(
    text: str, tools: Mapping[str, str], step: int, results: Sequence[CallResult], key: str
) -> DemoReply:
    plan = plan_for(text, tools)
    if step == 0:
        if plan is None:
            return DemoReply(key, offer(tools))
        return DemoReply(key, plan.question, _written(plan.calls, key))
    calls = follow_up(plan, results) if plan and step == 1 else ()
    return DemoReply(key, "" if calls else closing(results, plan), _written(calls, key))


def _written(calls: Sequence[ModelCall], key: str) -> tuple[RawCall, ...]:
    return tuple(
        RawCall(_call_id(key, place), call.tool, json.dumps(dict(call.args), ensure_ascii=False))
        for place, call in enumerate(calls)
    )


def _results(turn: Sequence[BaseMessage]) -> list[CallResult]:
    """Return the results of the turn so far, each with its tool's name."""
    names = {
        call["id"]: call["name"] or ""
        for message in turn
        if isinstance(message, AIMessage)
        for call in (*message.tool_calls, *message.invalid_tool_calls)
    }
    return [
        CallResult(names.get(m.tool_call_id) or m.name or "a call", str(m.text), m.status != "error")
        for m in turn
        if isinstance(m, ToolMessage)
    ]


# Directives.


@dataclass(frozen=True)
class _Directive:
    word: str
    id: str | None
    lines: list[str]
    """The rest of its line, and the lines up to the next directive."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def _script(text: str) -> list[list[_Directive]] | None:
    """Return the replies scripted in `text`, in order, or None if it has no directive."""
    replies: list[list[_Directive]] = [[]]
    latest: _Directive | None = None
    for line in text.split("\n"):
        found = _DIRECTIVE.match(line)
        if found:
            latest = _Directive(found["word"], found["id"], [found["rest"] or ""])
            replies += [[]] if latest.word == "then" else []
            replies[-1].append(latest)
        elif latest:
            latest.lines.append(line)
    return replies if latest else None


def _read_reply(directives: Sequence[_Directive], key: str) -> DemoReply:
    calls = [one for one in directives if one.word == "call" and one.text.strip()]
    fails = [one.text.split()[:1] == ["once"] for one in directives if one.word == "fail"]
    return DemoReply(
        key,
        text="\n".join(text for one in directives if (text := _said(one)) is not None),
        calls=tuple(_read_call(one, _call_id(key, place)) for place, one in enumerate(calls)),
        wait=min(MAX_WAIT, sum(_seconds(one) or 0.0 for one in directives)),
        fail=False in fails,
        fail_once=True in fails,
    )


def _said(directive: _Directive) -> str | None:
    """Return what a directive makes the model say; for a malformed one, what is wrong with it."""
    match directive.word:
        case "say":
            return directive.text.rstrip("\r\n")
        case "call" if not directive.text.strip():
            return "A /call line needs the name of a tool: /call TOOL {json}"
        case "slow" if _seconds(directive) is None:
            return "A /slow line needs a number of seconds: /slow 5"
    return None


def _seconds(directive: _Directive) -> float | None:
    number = re.match(r"\s*([0-9]+(?:\.[0-9]+)?)", directive.text) if directive.word == "slow" else None
    return float(number[1]) if number else None


def _read_call(directive: _Directive, own_id: str) -> RawCall:
    name = directive.text.split(maxsplit=1)[0]
    # Only JSON's own white space is stripped: anything else belongs to the raw arguments.
    raw = directive.text[directive.text.index(name) + len(name) :].strip(" \t\r\n")
    given = None if directive.id is None else directive.id.removeprefix("#")
    return RawCall(own_id if given is None else given or None, name, raw or "{}")


def _call_id(key: str, place: int) -> str:
    """Return an id that is unique in the thread and the same on a retry."""
    return "call_" + hashlib.sha256(f"{key}:{place}".encode(errors="surrogatepass")).hexdigest()[:12]


# From a reply to messages.


def _whole(reply: DemoReply) -> AIMessage:
    good, bad = _sorted(reply.calls)
    return AIMessage(
        content=reply.text,
        tool_calls=good,
        invalid_tool_calls=bad,
        additional_kwargs=_as_written(reply.calls),
    )


def _pieces(reply: DemoReply) -> Iterator[AIMessageChunk]:
    """Yield the same message as `_whole`, in the pieces a provider would send: words, then each call's text."""
    for words in re.findall(r"\S{1,24}\s*|\s+", reply.text):
        yield _Piece(content=words)
    for index, call in enumerate(reply.calls):
        first = tool_call_chunk(name=call.name, args="", id=call.id, index=index)
        # Only together with the first call: LangChain would take it for further calls if it came alone or repeatedly.
        written = {} if index else _as_written(reply.calls)
        yield _Piece(content="", tool_call_chunks=[first], additional_kwargs=written)
        for start in range(0, len(call.arguments), _PIECE):
            more = tool_call_chunk(args=call.arguments[start : start + _PIECE], index=index)
            yield _Piece(content="", tool_call_chunks=[more])
    yield _Piece(content="", chunk_position="last")


class _Piece(AIMessageChunk):
    """A streamed piece; the sum of pieces classifies calls as valid or invalid just as `_whole` does.

    LangChain's own sum completes unfinished JSON, so that `{"to": "a` would be a valid call, but only when streamed.
    """

    def __add__(self, other: Any) -> Any:
        total = super().__add__(other)
        if not isinstance(total, AIMessageChunk) or total.chunk_position != "last":
            return total
        calls = [RawCall(one["id"], one["name"] or "", one["args"] or "") for one in total.tool_call_chunks]
        good, bad = _sorted(calls)
        # Not through the constructor, which would complete the JSON again; and not a _Piece, because LangChain
        # makes the finished message an instance of the chunk's parent class.
        return AIMessageChunk.model_construct(
            **{**total.__dict__, "tool_calls": good, "invalid_tool_calls": bad}
        )


def _as_written(calls: Sequence[RawCall]) -> dict[str, Any]:
    if not calls:
        return {}
    functions = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return {
        "tool_calls": [
            {"id": call.id, "type": "function", "function": function}
            for call, function in zip(calls, functions, strict=True)
        ]
    }


def _sorted(calls: Sequence[RawCall]) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Return the calls whose arguments are one JSON object, and the others, each with the reason."""
    good, bad = [], []
    for call in calls:
        try:
            good.append(tool_call(name=call.name, args=_read_arguments(call.arguments), id=call.id))
        except (ValueError, RecursionError) as error:
            reason = f"The arguments of {call.name} cannot be read: {error}"
            bad.append(invalid_tool_call(name=call.name, args=call.arguments, id=call.id, error=reason))
    return good, bad


def _read_arguments(raw: str) -> dict[str, Any]:
    value = json.loads(raw, object_pairs_hook=_without_repeats, parse_constant=_refuse)
    if not isinstance(value, dict):
        raise ValueError("They are not a JSON object.")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("A key appears twice in one object.")
    return read


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON.")


def _described(tool: Any) -> tuple[str, str]:
    """Return a tool's name and description, in whatever form it was given."""
    spec = convert_to_openai_tool(tool)
    function = spec.get("function", spec)
    return str(function.get("name") or spec.get("type")), str(function.get("description") or "")
