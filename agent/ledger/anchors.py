"""Anchors: the trail's head, noted in a file outside the ledger's folder, so that a cut tail or an old copy shows."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict
from pathlib import Path

from agent.review.events import Anchor

log = logging.getLogger(__name__)


class AnchorFile:
    """One anchor a line, appended only. A file that cannot be written is a warning: the trail itself goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Anchor]:
        """The anchors noted so far; a line that was cut short while it was written is passed over."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except OSError:
            return []
        return [anchor for line in lines if (anchor := _parsed(line))]

    def append(self, anchor: Anchor) -> None:
        line = json.dumps(asdict(anchor)) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            log.warning("the trail's anchor could not be written to %s: %s", self.path, error.strerror)


def _parsed(line: str) -> Anchor | None:
    try:
        return Anchor(**json.loads(line))
    except (ValueError, TypeError):
        return None
