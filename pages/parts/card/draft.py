"""A reviewer's unsent choices and texts on a review, saved on the server at once."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter

from agent.review.actions import Action, Review
from agent.review.arguments.args import dumps, parse
from agent.review.edits import to_edit
from agent.review.errors import ArgumentsRefused
from agent.review.questions import QUESTION
from pages.parts.common.words import SEND
from pages.parts.state import app, identity
from pages.parts.state import on_screen as state_on_screen

WRITTEN = ("text", "json")
YES_OR_NO = {"yes": True, "no": False}


@dataclass(frozen=True)
class Choice:
    """The choice for one action. `text` is the JSON of the edited arguments as it was typed."""

    type: str = ""
    text: str | None = None
    reason: str = ""
    reply: str = ""
    form: str = "text"
    """What the answer to a question of the agent's own is sent as: `text`, `yes`, `no` or `json`."""
    typed: str = ""
    """The dangerous value of an irreversible call, typed again."""
    comment: str = ""


@dataclass(frozen=True)
class Draft:
    """The choices of one reviewer on one review, by tool call id, and the action in view."""

    choices: dict[str, Choice] = field(default_factory=dict)
    at: int = 0

    def of(self, action: Action) -> Choice:
        return self.choices.get(action.key.tool_call_id, Choice())

    def with_choice(self, action: Action, **changes: Any) -> Draft:
        chosen = replace(self.of(action), **changes)
        return replace(self, choices={**self.choices, action.key.tool_call_id: chosen})


_DRAFT = TypeAdapter(Draft)


def load(review: Review) -> Draft:
    """Return the draft from the ledger, or an empty one, and make it the one on screen."""
    console, named = app.console(), identity.draft_owner()
    kept = console.queries.draft(review.review_id, named) or console.queries.draft(
        review.review_id, identity.browsers_own()
    )
    state_on_screen.put_draft_on_screen(review, kept)
    return _read(kept)


def is_kept(review: Review) -> bool:
    """Return whether the ledger holds a draft of this reviewer on this review."""
    return app.console().queries.draft(review.review_id, identity.draft_owner()) is not None


def on_screen(review: Review) -> Draft:
    """Return the draft that this session shows: what was chosen here, whatever another tab has written since."""
    return _read(state_on_screen.draft_of(review.review_id))


def chosen_on_screen() -> str:
    """Return the type of decision that the card on screen shows as chosen, or ""."""
    card, _ = state_on_screen.card_on_screen()
    if card is None:
        return ""
    review_id, tool_call_id, _ = card
    return _read(state_on_screen.draft_of(review_id)).choices.get(tool_call_id, Choice()).type


def _read(kept: str | None) -> Draft:
    """Return the saved draft, or an empty one if no card can have saved this text."""
    try:
        found = _DRAFT.validate_json(kept or "{}", strict=True)
    except ValueError:
        return Draft()
    is_one = found.at >= 0 and all(one.type in SEND for one in found.choices.values())
    return found if is_one else Draft()


def save(review: Review, draft: Draft) -> None:
    body = json.dumps(asdict(draft))
    app.console().keep_draft(review.review_id, identity.draft_owner(), body)
    state_on_screen.put_draft_on_screen(review, body)


def forget(review: Review) -> None:
    app.console().keep_draft(review.review_id, identity.draft_owner(), None)


def args_text(action: Action, choice: Choice) -> str:
    """Return the JSON the editor shows: what was typed, or the proposal."""
    return dumps(to_edit(action)) if choice.text is None else choice.text


def decision(review: Review, action: Action, choice: Choice) -> dict[str, Any]:
    """Return the choice in the wire format, with the digests that this session was shown.

    Arguments that nobody edited are the server's own copy, whatever a text field made of them. Raises
    `ArgumentsRefused` if an edit's text is not a JSON object.
    """
    made: dict[str, Any] = {"type": choice.type, "shown_digest": action.shown_digest}
    if choice.comment.strip():
        made["comment"] = choice.comment
    match choice.type:
        case "reject":
            made["message"] = choice.reason
        case "respond":
            made |= _answered(action, choice)
        case "edit":
            made["edited_action"] = {"name": action.tool, "args": _args(action, choice)}
            made["edited_digest"] = state_on_screen.edited_digest_seen(review, action)
    return made


def _answered(action: Action, choice: Choice) -> dict[str, Any]:
    """Return the fields that hold the answer. Raises `ArgumentsRefused` for JSON that is none."""
    if action.tool == QUESTION and choice.form in YES_OR_NO:
        return {"value": YES_OR_NO[choice.form]}
    if action.tool == QUESTION and choice.form == "json":
        return {"value": parse(choice.reply)}
    return {"message": choice.reply}


def _args(action: Action, choice: Choice) -> Any:
    if choice.text is None:
        return to_edit(action)
    args = parse(choice.text)
    if not isinstance(args, dict):
        raise ArgumentsRefused(["args: expected an object with the tool's arguments by name"])
    return args
