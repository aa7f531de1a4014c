"""What a run brings to its agent. Each delivery looks first whether it arrived already, so that a run whose
process died can simply be delivered again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from agent.engine.breakpoints import BREAKPOINT, is_of
from agent.engine.checkpoints import Graph, Reading, read, saver_of
from agent.engine.drivers import Make
from agent.engine.messages import results_for
from agent.engine.unsaved import Saver, unsaved_messages
from agent.ports import Look, Moment, Proposed, Said, Superseded
from agent.review.deliveries import AnswerCalls, AskAgain, CatchUp, Continue, Repeat, Resume, Send, readable
from agent.review.errors import CheckpointLost
from agent.review.threads import Run

DELIVERED = "console_run"
"""Under this the checkpoints of a run name it."""
LAST = 20
"""Messages that a breakpoint's decisions may have changed."""
CHECKPOINTS_DELETED = "its checkpoints were deleted"


@dataclass(frozen=True)
class Start:
    """How a run starts: what to tell first, and what to give the graph, if it is to run at all."""

    config: RunnableConfig
    runs: bool
    begin: Any = None
    """None: go on from where the checkpoint stands."""
    moments: tuple[Moment, ...] = ()


def deliver(make: Make, graph: Graph, config: RunnableConfig, run: Run) -> Start:
    """Bring what the run delivers, unless it has arrived. Raises `CheckpointLost` if there is nothing to bring it to."""
    reading = read(graph, config)
    look = make.look(reading)
    delivery = readable(run.delivery, run.thread_id)
    if not look.exists and not isinstance(delivery, Send):
        raise CheckpointLost(run.thread_id, CHECKPOINTS_DELETED)
    match delivery:
        case Send() as send if not _has_arrived(send, run, reading):
            make.set_aside(graph, config, reading)
            reading = read(graph, config)
            return Start(config, True, _message(send, make.look(reading), reading, saver_of(graph)))
        case Resume() as resume:
            return _resume(make, graph, config, resume, reading, look)
        case AnswerCalls() as answers:
            make.answer_calls(graph, config, answers, reading)
            look = make.look(read(graph, config))
            return Start(config, look.unfinished, moments=(Said(look.messages), Proposed(look.calls)))
        case Repeat() as repeat if not reading.holds(repeat.proposal_id):
            make.repeat(graph, config, repeat)
            look = make.look(read(graph, config))
            return Start(config, look.unfinished, moments=(Said(look.messages),))
        case AskAgain() if look.stuck or any(not one.static for one in reading.waiting):
            return Start(_at(config, reading), True)
        case CatchUp():
            return Start(config, False, moments=(Said(look.messages),))
        case Send() | Continue() | AskAgain() | Repeat():
            make.go_on(graph, config, reading)
            return _going_on(config, make.look(read(graph, config)))


def _has_arrived(send: Send, run: Run, reading: Reading) -> bool:
    """Whether the message is in the conversation, or the graph took in what was sent in its place."""
    if send.says:
        return reading.holds(send.message_id)
    return (reading.snapshot.metadata or {}).get(DELIVERED) == run.run_id


def _resume(
    make: Make, graph: Graph, config: RunnableConfig, resume: Resume, reading: Reading, look: Look
) -> Start:
    """Deliver the decisions, unless their interrupt was answered before: by an earlier attempt, or by another client.

    Another client's hand shows in its answer, where that is not the one we bring, or in a last checkpoint that this
    console did not write.
    """
    if resume.review_id.startswith(BREAKPOINT) and is_of(resume.review_id, reading.snapshot):
        return _passing(make, graph, config, resume, reading)
    value, raised = make.answer(reading, resume), reading.raised_as(resume.review_id)
    if resume.review_id in look.waiting:
        return Start(config, True, Command(resume={resume.review_id: value}))
    ours = raised.answered.value == value if raised and raised.answered else look.own
    if ours:
        return _going_on(config, look)
    return Start(config, False, moments=(Superseded(resume.review_id), Said(look.messages)))


def _passing(make: Make, graph: Graph, config: RunnableConfig, resume: Resume, reading: Reading) -> Start:
    """Past a breakpoint, with the calls changed as was decided, unless an earlier try of ours has changed them."""
    if reading.raised_as(resume.review_id) is not None:
        make.pass_breakpoint(graph, config, resume, reading)
    return Start(config, True, moments=(Said(make.look(read(graph, config)).messages[-LAST:]),))


def _going_on(config: RunnableConfig, look: Look) -> Start:
    """From where an earlier try stands, and what it told: it may have been cut off before that was recorded."""
    return Start(config, look.unfinished, moments=(Said(look.messages), Proposed(look.calls)))


def _message(send: Send, look: Look, reading: Reading, saver: Saver) -> dict[str, Any]:
    """Return the message, after a result for every call that a broken turn left open: a model sees no call without one."""
    before = unsaved_messages(saver, reading.snapshot)
    results: list[AnyMessage] = [*before, *results_for(look.messages, send.results)]
    said = [HumanMessage(send.text, id=send.message_id)] if send.says else []
    messages = [*results, *said]
    return {**({"messages": messages} if messages else {}), **(send.input or {})}


def _at(config: RunnableConfig, reading: Reading) -> RunnableConfig:
    """Return the config of the reading's own checkpoint: LangGraph then forks, and asks under a new interrupt id."""
    place = reading.snapshot.config["configurable"]
    return {**config, "configurable": {**config["configurable"], **place}}
