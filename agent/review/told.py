"""What the model is told, as the tool's result, for every end an action can come to."""

from __future__ import annotations

from collections.abc import Iterable

from agent.review.actions import State

REJECTED = "User rejected this action. It was not executed."
UNDECIDED = "No decision was given for this action. It was not executed."
UNREADABLE_EDIT = "The edit did not name a tool and its arguments. It was not executed."
CANCELLED = (
    "The review was closed without a decision. It was not executed. The question is still open: "
    "do not repeat this call unless the user asks for it."
)
LAPSED = (
    "The approval came too late: its time had passed. It was not executed. Ask again if it is still wanted."
)
EXPIRED = "Nobody decided in time. It was not executed. Ask again if it is still wanted."
EXPIRED_ANSWER = (
    "I stopped here, because nobody decided in time. Nothing more of this was done. "
    "Ask again if it is still wanted."
)
ENDED_ANSWER = "I stopped here: this was rejected, and the turn ended with it. Nothing more of it was done."
ASK_ME_AGAIN = "Ask me again: I closed this without deciding."
WITHDRAWN = "It was stopped by a person before it started. It was not executed."
BLOCKED = "It was not run, because it was not what was approved."
SUPERSEDED = "Another client answered in the reviewer's place before this decision arrived. This console did not run it."
ASKED_AGAIN = "It was asked about once more before it started. It was not executed on the earlier approval."
NEVER_STARTED = "The turn ended without it being started where this console can see it."
NOT_ASKED_AGAIN = (
    "It did not take effect; a person confirmed it after the run was cut off. It was not run again. "
    "Propose it again if it is still wanted."
)
FAILED_TURN = "The turn ended before this call was run. It was not executed."


RULE_OVER = (
    "The rule that allowed it ended before it started. It was not executed. "
    "Propose it again if it is still wanted: a person is asked then."
)


def rejected(reason: str) -> str:
    """The reason, introduced as the user's."""
    return (
        f"User rejected this action. It was not executed. The user's reason: {reason}" if reason else REJECTED
    )


def repeated(tool: str, times: int) -> str:
    """For a turn in which a call comes back although it was rejected again and again."""
    return (
        f"The user rejected this same call of {tool} {times} times in this turn, so it is not asked about again and "
        "the turn ends. None of this message's calls was executed."
    )


REPEATED_ANSWER = (
    "I stopped here: I kept proposing a call that was rejected {times} times in this turn. Nothing more of it was done. "
    "Tell me what to do instead."
)


def not_allowed(kind: str, allowed: Iterable[str]) -> str:
    """For a decision of a kind that the action does not allow, which only a caller past the console can send."""
    return (
        f"The decision on this action was {kind!r}, which it does not allow; it allows {', '.join(allowed)}. "
        "It was not executed."
    )


def denied(tool: str) -> str:
    return f"{tool} may not be used by this agent. It was not executed."


def denied_so(tool: str, why: str) -> str:
    """For a call that is denied because of its arguments."""
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


def rejected_elsewhere(reason: str) -> str:
    """What is recorded of a rejection that an agent of another make puts into words of its own."""
    return (
        f"Rejected; its agent says so in its own words. {f'The reason: {reason}' if reason else ''}".strip()
    )


def ran_before(result: str) -> str:
    """For a call that is entered again after a crash, where the agent marks whatever it did not run as an error."""
    return f"This call ran before and is not run again. Its result was: {result}"


def failed(error: BaseException) -> str:
    return f"Error: {error}" if str(error) else f"Error: {type(error).__name__}"


HAPPENED = "It took effect; a person confirmed it after the run was cut off."
DID_NOT_HAPPEN = (
    "It did not take effect; a person confirmed it after the run was cut off, and it is asked about again."
)


def settled_as_failed(words: str) -> str:
    return f"Error: it failed, as a person found after the run was cut off. {words}".strip()


STATUS_OF_END = {State.DONE: "success", State.RESPONDED: "success"}


def status(end: State) -> str:
    """`success` or `error`, as a tool message carries it."""
    return STATUS_OF_END.get(end, "error")
