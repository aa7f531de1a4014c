"""Decode checkpoints, each message once: they are read several times in a turn, and their messages stay the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import EXT_DELTA_SNAPSHOT, EXT_PYDANTIC_V2, JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot

KEPT = 4_096
"""Messages that this process keeps decoded: enough for the windows of a dozen long threads."""
LARGEST = 16_384
"""Bytes. A larger message is decoded again each time, so that the cache stays bounded."""
NAMES_A_MESSAGE = b"langchain_core.messages."

Hook = Callable[[int, bytes], Any]


WRITTEN = frozenset(["null", "bytes", "bytearray", "msgpack"])
"""The kinds that LangGraph writes. It also reads JSON, and would create the LangChain objects that this names."""


class Strict(JsonPlusSerializer):
    """LangGraph's serializer, restricted to reading the kinds that it writes."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if data[0] not in WRITTEN:
            raise ValueError(f"checkpoints are not written as {data[0]!r}")
        return super().loads_typed(data)


class DecodesOnce(Strict):
    """LangGraph's serializer, except that equal bytes give the same message object again.

    Only for graphs whose nodes never change a message in place. Everything else is decoded again each time, because
    LangGraph itself changes checkpoints after reading them.
    """

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, encoded = data
        return self._unpacked(encoded) if kind == "msgpack" else super().loads_typed(data)

    def _unpacked(self, encoded: bytes) -> Any:
        return ormsgpack.unpackb(encoded, ext_hook=self._hook, option=ormsgpack.OPT_NON_STR_KEYS)

    def _hook(self, code: int, encoded: bytes) -> Any:
        if code == EXT_DELTA_SNAPSHOT:
            return _DeltaSnapshot(self._unpacked(encoded))
        # The encoding begins with the name of the class's module.
        if code == EXT_PYDANTIC_V2 and len(encoded) <= LARGEST and NAMES_A_MESSAGE in encoded[:32]:
            return _decoded(self._unpack_ext_hook, code, encoded)
        return self._unpack_ext_hook(code, encoded)


@lru_cache(maxsize=KEPT)
def _decoded(hook: Hook, code: int, encoded: bytes) -> Any:
    # The hook is part of the key: which types it lets through depends on its graph.
    return hook(code, encoded)
