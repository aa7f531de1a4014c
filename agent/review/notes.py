"""Testers' notes on a thread: whether it went as it should, why, and a link to where it is followed up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from agent.review.errors import InvalidNote
from agent.review.threads import text_fault

MAX_NOTE = 10_000
MAX_LINK = 2_000


class NoteVerdict(StrEnum):
    PASS = "pass"  # noqa: S105  a verdict
    FAIL = "fail"
    UNSURE = "unsure"


@dataclass(frozen=True)
class Note:
    """One note on a thread. A thread may have many; the verdict of the last is the thread's."""

    thread_id: str
    verdict: NoteVerdict
    text: str
    link: str
    """An http or https address, or ""."""
    by: str
    at: str


def checked(verdict: str, text: str, link: str) -> tuple[NoteVerdict, str, str]:
    """Return the three values as a note holds them. Raises `InvalidNote`."""
    if verdict not in set(NoteVerdict):
        raise InvalidNote(f"There is no verdict {verdict!r}. Use one of {', '.join(NoteVerdict)}.")
    if fault := text_fault(text):
        raise InvalidNote(f"The note {fault}")
    if len(text) > MAX_NOTE:
        raise InvalidNote(
            f"The note has {len(text):,} characters; at most {MAX_NOTE:,} are taken. Shorten it."
        )
    if link.strip() and not _is_link(link.strip()):
        raise InvalidNote(
            "The link is not a web address. Give one such as https://tracker.example/123, or none."
        )
    return NoteVerdict(verdict), text.strip(), link.strip()


def _is_link(link: str) -> bool:
    if len(link) > MAX_LINK or not re.fullmatch(r"[!-~]+", link):
        return False
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
