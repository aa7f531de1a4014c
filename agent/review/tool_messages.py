"""The tool results that are sent to the model, for every way in which an action can end."""

from __future__ import annotations

from collections.abc import Iterable

from agent.review.actions import Action, ActionState

NOT_EXECUTED = "It was not executed."
MIDWAY = (
    "It had been started and asked in its middle: what it had done by then is done, and it did not go on."
)
"""Used in place of `NOT_EXECUTED` where that would be false."""

REJECTED = f"User rejected this action. {NOT_EXECUTED}"
NOT_AGAIN = "Do not try it again unless the user asks for it."
"""Follows a rejection without a reason; a reason may itself ask for another try."""
UNDECIDED = f"No decision was given for this action. {NOT_EXECUTED}"
UNREADABLE_EDIT = f"The edit did not name a tool and its arguments. {NOT_EXECUTED}"
STILL_OPEN = "The question is still open: do not repeat this call unless the user asks for it."
CANCELLED = f"The review was closed without a decision. {NOT_EXECUTED} {STILL_OPEN}"
CLOSED_WITH_OTHERS = f"The turn's reviews were closed without a decision. {STILL_OPEN}"
LAPSED = f"The approval came too late: its time had passed. {NOT_EXECUTED} Ask again if it is still wanted."
EXPIRED = f"Nobody decided in time. {NOT_EXECUTED} Ask again if it is still wanted."
EXPIRED_ANSWER = (
    "I stopped here, because nobody decided in time. Nothing more of this was done. "
    "Ask again if it is still wanted."
)
ENDED_ANSWER = "I stopped here: this was rejected, and the turn ended with it. Nothing more of it was done."
ASK_ME_AGAIN = "Ask me again: I closed this without deciding."
ASK_ME_AGAIN_LATE = "Ask me again: nobody decided on this in time."
WITHDRAWN = f"It was stopped by a person before it started. {NOT_EXECUTED}"
UNREADABLE = f"Its arguments are not a JSON object that can be read. {NOT_EXECUTED}"
BLOCKED = f"What would have run was not what was approved. {NOT_EXECUTED}"
SUPERSEDED = "Another client answered in the reviewer's place before this decision arrived. This console did not run it."
ASKED_AGAIN = "It was asked about once more before it started. It was not executed on the earlier approval."
NEVER_STARTED = "The turn ended without it being started where this console can see it."
NEVER_ENDED = "The turn ended without it coming to its end where this console can see it."
NOT_ASKED_AGAIN = (
    "It did not take effect; a person confirmed it after the run was cut off. It was not run again. "
    "Propose it again if it is still wanted."
)
FAILED_TURN = f"The turn ended before this call was run. {NOT_EXECUTED}"
NO_RESULT = "The turn ended before this call had a result."
"""For a call that is not on record: the console cannot say how much of it was done."""

RULE_OVER = (
    f"The rule that allowed it ended before it started. {NOT_EXECUTED} "
    "Propose it again if it is still wanted: a person is asked then."
)
OF_A_BEGUN = {
    FAILED_TURN: f"The turn ended before this call came to its end. {MIDWAY}",
    NEVER_STARTED: NEVER_ENDED,
    ASKED_AGAIN: "It was asked about once more before it went on. On the earlier approval it did not go on.",
    SUPERSEDED: "Another client answered in the reviewer's place before this decision arrived. "
    "This console did not go on with it.",
}
"""The texts for an action that had begun, where more than one sentence differs from the usual text."""


def midway(text: str) -> str:
    """Return the text as it is true of an action whose tool was started and then suspended to ask."""
    return OF_A_BEGUN.get(
        text, text.replace(NOT_EXECUTED, MIDWAY, 1)
    )  # only once: what follows may be a person's words


def of(action: Action, text: str) -> str:
    """Return the text as it is true of this action, which runs no further."""
    return midway(text) if action.begun else text


def rejected(reason: str) -> str:
    """Return the result of a rejected call: with the reason introduced as the user's, or else with `NOT_AGAIN`."""
    return f"{REJECTED} {_users(reason) or NOT_AGAIN}"


def rejected_elsewhere(reason: str) -> str:
    """Return the same for an agent that gates itself, of which the console does not know what it did before it asked."""
    return f"User rejected this action. {_users(reason)}".strip()


def rejected_within(reasons: Iterable[str]) -> str:
    """Return the result of a call suspended to ask, where a rejection of what it asked ended the turn."""
    given = _users(_together(reasons))
    return f"The user rejected what this call asked for, and the turn ended with it. {MIDWAY} {given}".strip()


def ended_answer(reasons: Iterable[str]) -> str:
    """Return the agent's closing answer with the reasons: the conversation with the rejected calls may end too."""
    given = _together(reasons)
    return f"{ENDED_ANSWER} The reason given: {given}" if given else ENDED_ANSWER


def _together(reasons: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason))


def _users(reason: str) -> str:
    return f"The user's reason: {reason}" if reason else ""


def repeated(tool: str, times: int) -> str:
    """Return the result for a turn in which a call is proposed again although it was rejected several times."""
    return (
        f"The user rejected this same call of {tool} {times} times in this turn, so it is not asked about again and "
        "the turn ends. None of this message's calls was executed."
    )


REPEATED_ANSWER = (
    "I stopped here: I kept proposing a call that was rejected {times} times in this turn. Nothing more of it was done. "
    "Tell me what to do instead."
)


def not_allowed(kind: str, allowed: Iterable[str]) -> str:
    """Return the result for a decision the action does not allow. Only a caller that bypasses the console sends it."""
    return (
        f"The decision on this action was {kind!r}, which it does not allow; it allows {', '.join(allowed)}. "
        "It was not executed."
    )


def denied(tool: str) -> str:
    return f"{tool} may not be used by this agent. It was not executed."


def denied_so(tool: str, why: str) -> str:
    """Return the result of a call that is denied because of its arguments."""
    return f"{tool} may not be called with these arguments. It was not executed. {why}".strip()


def unknown_tool(tool: str, known: Iterable[str]) -> str:
    return f"There is no tool {tool!r}. It was not executed. The tools are: {', '.join(known)}."


def unfit(tool: str, faults: str) -> str:
    return f"The arguments do not fit {tool}. It was not executed. {faults}"


def malformed_turn(fault: str) -> str:
    return (
        f"This turn's tool calls were malformed ({fault}). None of them was executed. "
        "Propose them again, each with its own id and one JSON object of arguments."
    )


def ran_before(result: str) -> str:
    """Return the result of a call entered again after a crash; its agent marks whatever it did not run as an error."""
    return f"This call ran before and is not run again. Its result was: {result}"


def of_one_id(result: str | None) -> str:
    """Return the result of a call whose id is that of another call, which was run."""
    so_far = f"Its result was: {result}" if result else "It has not come to its end yet."
    return f"Another call had this call's id, and it was run. {so_far} This one was not executed."


def failed(error: BaseException) -> str:
    try:
        return f"Error: {error}" if str(error) else f"Error: {type(error).__name__}"
    except Exception:  # its own text cannot be made
        return f"Error: {type(error).__name__}"


HAPPENED = "It took effect; a person confirmed it after the run was cut off."
DID_NOT_HAPPEN = (
    "It did not take effect; a person confirmed it after the run was cut off, and it is asked about again."
)


def settled_as_failed(words: str) -> str:
    return f"Error: it failed, as a person found after the run was cut off. {words}".strip()


STATUS_OF_END = {ActionState.DONE: "success", ActionState.RESPONDED: "success"}


def status(end: ActionState) -> str:
    """Return `success` or `error`, as a tool message carries it."""
    return STATUS_OF_END.get(end, "error")
