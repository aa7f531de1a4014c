"""Decode checkpoints, each message once: they are read several times in a turn, and their messages stay the same."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_DELTA_SNAPSHOT,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
    JsonPlusSerializer,
    _send_from_args,
)
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Send

from agent.serving.modules import public_name

log = logging.getLogger(__name__)

KEPT = 4_096
"""Messages that this process keeps decoded: enough for the windows of a dozen long threads."""
LARGEST = 16_384
"""Bytes. A larger message is decoded again each time, so that the cache stays bounded."""
NAMES_A_MESSAGE = b"langchain_core.messages."

MOST_NAMED = 1_000
"""Classes that are read as plain data and of which the log tells."""

Hook = Callable[[int, bytes], Any]
Classes = Mapping[tuple[str, str], type]
"""Classes by their module's public name and their own name."""


WRITTEN = frozenset(["null", "bytes", "bytearray", "msgpack"])
"""The kinds that LangGraph writes. It also reads JSON, and would create the LangChain objects that this names."""


class Strict(JsonPlusSerializer):
    """LangGraph's serializer, restricted to reading the kinds that it writes."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, encoded = data
        if kind not in WRITTEN:
            raise ValueError(f"checkpoints are not written as {kind!r}")
        return self._unpacked(encoded) if kind == "msgpack" else super().loads_typed(data)

    def _unpacked(self, encoded: bytes) -> Any:
        return ormsgpack.unpackb(encoded, ext_hook=self._hook, option=ormsgpack.OPT_NON_STR_KEYS)

    def _hook(self, code: int, encoded: bytes) -> Any:
        """Return what an extension type of LangGraph's encoding holds."""
        if code == EXT_DELTA_SNAPSHOT:
            return _DeltaSnapshot(self._unpacked(encoded))
        return self._unpack_ext_hook(code, encoded)


class Reaching(Strict):
    """LangGraph's serializer for one external graph: it makes objects of the `classes` given, and LangGraph's safe ones.

    The classes are looked up, never imported, so that nothing in a checkpoint decides what is made of it. What names
    any other class is read as the plain data that it was saved as, as LangGraph itself does under strict decoding.
    """

    def __init__(self, classes: Classes) -> None:
        super().__init__()
        self._classes, self._refused = dict(classes), set[tuple[str, str]]()

    def with_msgpack_allowlist(self, extra_allowlist: Iterable[tuple[str, ...] | type]) -> Reaching:
        """Return a serializer for a graph inside the graph: LangGraph gives the names in its schemas."""
        named = [(str(one[0]), str(one[1])) for one in extra_allowlist if isinstance(one, tuple)]
        unknown = [one for one in named if one not in SAFE_MSGPACK_TYPES and _key(*one) not in self._classes]
        loaded = {_key(*one): getattr(sys.modules.get(one[0]), one[1], None) for one in unknown}
        more = {key: found for key, found in loaded.items() if isinstance(found, type)}
        return Reaching({**self._classes, **more}) if more else self

    def _hook(self, code: int, encoded: bytes) -> Any:
        if code not in MAKES:
            return super()._hook(code, encoded)  # dates and arrays, which hold no object of a class
        module, name, content, *_ = self._unpacked(encoded)
        found = self._class(module, name)
        if found is None:
            return content
        try:
            return MAKES[code](found, content)
        except Exception as error:  # a class that was changed since may refuse what it once took
            log.warning("%s.%s could not be made from a checkpoint: %r", module, name, error)
            return content

    def _class(self, module: str, name: str) -> Any:
        if (module, name) in SAFE_MSGPACK_TYPES:
            return getattr(importlib.import_module(module), name)
        found = self._classes.get(_key(module, name))
        if found is None and (module, name) not in self._refused and len(self._refused) < MOST_NAMED:
            self._refused.add((module, name))
            log.warning("%s.%s is in no schema of its graph, so it is read as plain data", module, name)
        return found


def _key(module: str, name: str) -> tuple[str, str]:
    return public_name(module), name


def _positional(found: Any, content: Any) -> Any:
    return _send_from_args(content) if found is Send else found(*content)


def _validated(found: Any, content: Any) -> Any:
    try:
        return found(**content)
    except Exception:  # as LangGraph does: what was saved was valid, by the class as it was then
        make = getattr(found, "model_construct", None) or found.construct
        return make(**content)


MAKES: Mapping[int, Callable[[Any, Any], Any]] = {
    EXT_CONSTRUCTOR_SINGLE_ARG: lambda found, content: found(content),
    EXT_CONSTRUCTOR_POS_ARGS: _positional,
    EXT_CONSTRUCTOR_KW_ARGS: lambda found, content: found(**content),
    EXT_PYDANTIC_V1: _validated,
    EXT_PYDANTIC_V2: _validated,
}
"""How LangGraph's encoding has an object of a class made, by its code."""


class DecodesOnce(Strict):
    """LangGraph's serializer, except that equal bytes give the same message object again.

    Only for graphs whose nodes never change a message in place. Everything else is decoded again each time, because
    LangGraph itself changes checkpoints after reading them.
    """

    def _hook(self, code: int, encoded: bytes) -> Any:
        # The encoding begins with the name of the class's module.
        if code == EXT_PYDANTIC_V2 and len(encoded) <= LARGEST and NAMES_A_MESSAGE in encoded[:32]:
            return _decoded(self._unpack_ext_hook, code, encoded)
        return super()._hook(code, encoded)


@lru_cache(maxsize=KEPT)
def _decoded(hook: Hook, code: int, encoded: bytes) -> Any:
    # The hook is part of the key: which types it lets through depends on its graph.
    return hook(code, encoded)
