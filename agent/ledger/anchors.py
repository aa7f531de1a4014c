"""Note the trail's head in a file outside the ledger's folder, so that a cut tail or an old copy is detected."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from agent.ledger.keys import sync_folder
from agent.review.errors import AnchorsUnavailable
from agent.review.events import Anchor

BEGINS = "{"
"""The first character of every line of the file, even of one that was cut short while it was written."""
NO_ANCHORS = "it is not an anchor file"


class AnchorFile:
    """A file of anchors, one a line, only ever appended to. A line is on disk before `append` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Anchor]:
        """Return the anchors noted so far, skipping lines that were cut short. Raises `AnchorsUnavailable`."""
        try:
            if self.path.exists() and not self.path.is_file():
                raise AnchorsUnavailable(self.path, "it is not a file")
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise AnchorsUnavailable(self.path, str(error.strerror)) from error
        return [anchor for line in lines if (anchor := self._parsed(line))]

    def append(self, anchor: Anchor) -> None:
        """Note an anchor for good. Raises `AnchorsUnavailable` if it may not be on disk."""
        line = json.dumps({name: value for name, value in asdict(anchor).items() if value is not None})
        try:
            self._write(line.encode("ascii") + b"\n")
        except OSError as error:
            raise AnchorsUnavailable(self.path, str(error.strerror)) from error

    def _write(self, line: bytes) -> None:
        new = not self.path.exists()
        if new:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(file).st_size
            if size and os.pread(file, 1, 0) != b"{":
                raise OSError(None, NO_ANCHORS)
            if size and os.pread(file, 1, size - 1) != b"\n":
                line = b"\n" + line  # the last line was cut short
            if os.write(file, line) != len(line):
                raise OSError(None, "no room for a complete line")
            os.fsync(file)
        finally:
            os.close(file)
        if new:
            sync_folder(self.path.parent)

    def _parsed(self, raw: bytes) -> Anchor | None:
        line = raw.decode("utf-8", errors="replace").strip(
            "\0 "
        )  # a power cut may leave zeros in place of a line
        try:
            found = json.loads(line)
            return Anchor(int(found["count"]), str(found["head"]), str(found["at"]), found.get("keyed"))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            if line and not line.startswith(BEGINS):
                raise AnchorsUnavailable(self.path, NO_ANCHORS) from None
            return None
