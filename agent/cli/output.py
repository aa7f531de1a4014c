"""Write what the command line prints. No printed text can move the cursor, colour a line or hide itself."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from agent.review.actions import Action, AskedAction, Review, Waiting
from agent.review.arguments.args import show
from agent.review.damage import review_is_damaged
from agent.review.errors import ReviewError
from agent.review.shapes import Denies
from agent.review.text.counts import are, counted
from agent.review.verify_chain import Verification

KEPT = "\n\t"
UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Unicode categories that are not drawn: controls, formats, surrogates, private use, unassigned, separators."""


def literal(text: str) -> str:
    """Return the text with every character that a terminal would obey or not draw written as an escape."""
    return "".join(
        char if char in KEPT or unicodedata.category(char) not in UNSEEN else f"\\u{{{ord(char):04x}}}"
        for char in text
    )


def review(one: Review | Waiting, denies: Denies) -> str:
    """Return a review as text: what is to be decided, what can no longer be approved, and the command to decide."""
    return literal("\n".join(_review(one, denies)))


def verification(found: Verification) -> str:
    """Return the result of a verification as text: what holds, and what could not be checked."""
    return literal("\n".join(_verification(found)))


def _verification(found: Verification) -> Iterator[str]:
    yield f"{counted(found.count, 'event')}, the last with the hash {found.head}."
    if found.unkeyed:
        since = "unchanged since it was keyed" if found.unkeyed < found.count else "as its writer left it"
        yield f"The first {counted(found.unkeyed, 'event')} {are(found.unkeyed)} from before the record had a key, {since}."
    if found.masked:
        yield f"The data of {found.masked} is masked or erased."
    if found.first_fault:
        yield found.first_fault
    elif found.unchecked:
        yield (
            f"{found.unchecked} could not be checked without the key of their record. They are numbered without gaps, "
            "and their data matches their commitments; whether they were rewritten cannot be checked. "
            "Give the key's file with --key."
        )
    else:
        yield "The chain holds."


def _review(one: Review | Waiting, denies: Denies) -> Iterator[str]:
    until = f", open until {one.expires_at}" if one.expires_at else ""
    yield f"Review {one.review_id} on thread {one.thread_id} ({one.agent}), since {one.opened_at}{until}"
    actions: tuple[Action | AskedAction, ...] = one.actions
    for place, action in enumerate(actions, start=1):
        yield from _action(place, action)
        if denial := denies(one.agent, action):
            yield f"     It cannot be approved: {denial.reason}"
    if review_is_damaged(one):
        yield "Its record was changed past the console: it can only be closed."
    elif len(one.actions) == 1:
        (only,) = actions
        kinds = "|".join(only.allowed)
        yield f"Decide it: python -m agent decide {one.thread_id} {kinds} --digest {only.shown_digest}"
    else:
        yield f"Decide it: python -m agent decide {one.thread_id} --decisions FILE (one decision per action)"


def _action(place: int, action: Action | AskedAction) -> Iterator[str]:
    yield f"  {place}. {action.tool} [{', '.join(action.allowed)}]"
    yield f"     {action.summary}"
    yield from (f"     {line}" for line in show(action.args).splitlines())
    yield f"     digest {action.shown_digest}"


def refusal(error: ReviewError, denies: Denies) -> str:
    """Return a refusal as text, with the review as it is now if another one was meant."""
    shown = getattr(error, "review", None)
    return literal(str(error)) + (f"\n\n{review(shown, denies)}" if shown is not None else "")


def answer(found: dict[str, Any], reviews: tuple[Review, ...], denies: Denies) -> str:
    """Return a thread's state after a run as text: its reviews, its answer, or why it gave no answer."""
    head = f"Thread {found['thread_id']}: {found['status']}"
    if reviews:
        return "\n".join([head, *(review(one, denies) for one in reviews)])
    said = found["answer"] or found.get("error") or "Open the thread to see its state."
    return f"{head}\n{literal(said)}"
