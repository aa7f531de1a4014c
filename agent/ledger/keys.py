"""The key of a record, from which its digests and its chain are made: a file outside the record's own folder."""

from __future__ import annotations

import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from agent.review.errors import SettingsError

SIZE = 32


@dataclass(frozen=True)
class RecordKeys:
    """The two keys derived from a record's key; neither can be computed from the other."""

    digest: bytes
    chain: bytes
    file: Path | None = None
    """The file that the key was read from."""

    @classmethod
    def of(cls, key: bytes, file: Path | None = None) -> RecordKeys:
        return cls(hmac.digest(key, b"digest", "sha256"), hmac.digest(key, b"chain", "sha256"), file)


def key_in(path: Path) -> bytes:
    """Return the key in this file; create the file if it does not exist.

    If several processes do so at once, all of them get the same key. A file that exists is never replaced: raises
    `SettingsError` if it does not hold a key.
    """
    try:
        if not os.path.lexists(path):
            _make(path)
    except OSError as error:
        raise SettingsError(
            [
                f"{path}: no key can be created there ({error.strerror}); allow it, or name a file as REVIEW_KEY"
            ]
        ) from None
    return read_key(path)


def read_key(path: Path) -> bytes:
    """Return the key in this file. Raises `SettingsError` if it does not hold one."""
    try:
        if not path.is_file():
            raise SettingsError(
                [f"{path}: it is not a key file; put the key back, or name its file as REVIEW_KEY"]
            )
        with path.open("rb") as file:
            key = file.read(SIZE + 1)
    except OSError as error:
        raise SettingsError([f"{path}: {error.strerror}; allow the console to read its key"]) from None
    if len(key) != SIZE:
        held = "more" if len(key) > SIZE else str(len(key))
        raise SettingsError(
            [f"{path}: a key has {SIZE} bytes, and it holds {held}; put the key back from a copy"]
        )
    return key


def _make(path: Path) -> None:
    """Write a new key to disk, then link it to `path`, unless another process was quicker."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unnamed = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    file = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(file, "wb") as whole:
            whole.write(secrets.token_bytes(SIZE))
            whole.flush()
            os.fsync(whole.fileno())
        try:
            os.link(unnamed, path)  # unlike a rename it replaces nothing
        except FileExistsError:
            return
        sync_folder(path.parent)
    finally:
        unnamed.unlink()


def sync_folder(folder: Path) -> None:
    """Flush the folder's entries to disk, including a file that was just created."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
