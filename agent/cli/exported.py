"""Verify an exported trail, on any machine, with or without the key of its record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from agent import settings as settings_module
from agent.ledger.anchors import AnchorFile
from agent.ledger.keys import RecordKeys, read_key
from agent.review.errors import SettingsError
from agent.review.events import GENESIS, Anchor, Event, EventKind, is_sealed
from agent.review.exports import read_json_lines
from agent.review.verify_chain import Verification, verify


def verify_file(path: Path, key_file: Path | None, kept: Sequence[Anchor]) -> Verification:
    """Verify the file's lines with the key in `key_file`, or with this console's own key if that sealed them.

    Without either key, check only what needs none. This console's record is not opened.
    Raises `SettingsError` for a key that cannot be read, `ValueError` for a line that is not an event, and `OSError`.
    """
    if key_file is not None:
        return verify(_events(path), kept, key=RecordKeys.of(read_key(key_file)).chain)
    own = _own_key()
    if own is None or not _sealed_some(path, own):
        return verify(_events(path), kept, key=None)
    anchors = AnchorFile(settings_module.anchor_path(settings_module.read())).read()
    return verify(_events(path), [*anchors, *kept], key=own)


def _own_key() -> bytes | None:
    try:
        return RecordKeys.of(read_key(settings_module.key_path(settings_module.read()))).chain
    except SettingsError:
        return None


def _sealed_some(path: Path, key: bytes) -> bool:
    """Return whether the key sealed one of the events that identify a record: first, last, or `ChainKeyed`."""
    previous, last = GENESIS, None
    for event in _events(path):
        if (last is None or event.kind is EventKind.CHAIN_KEYED) and _is_sealed(event, previous, key):
            return True
        before, previous, last = previous, event.hash, event
    return last is not None and _is_sealed(last, before, key)


def _is_sealed(event: Event, previous: str, key: bytes) -> bool:
    try:
        return is_sealed(event, previous, key)
    except (TypeError, ValueError):
        return False


def _events(path: Path) -> Iterator[Event]:
    with path.open(encoding="utf-8") as lines:
        yield from read_json_lines(lines)
