"""Read everything but the trail: threads, queue, history, agents. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.console.checks import known, undecided_last
from agent.console.views import CardView, View, as_recorded, view
from agent.ports import Clock, Engine, Inside, Ledger, Runs, Sought
from agent.review.actions import Action, ActionState, AskedAction, Review, Waiting
from agent.review.agents import Agent, Denial, LoadFailure
from agent.review.damage import as_read, review_is_damaged, waiting_as_read
from agent.review.edits import edited_away
from agent.review.errors import AgentNotLoaded, CheckpointLost, UnknownAgent
from agent.review.events import EventKind, instant
from agent.review.policy import Tier
from agent.review.preconditions import since
from agent.review.simulation import Simulation, edit, simulate
from agent.review.thread_exports import WholeThread
from agent.review.threads import Halt, Message, Run, Thread

SIMULATED = 2_000
"""How many of an agent's latest proposals a simulation covers."""

EDITS = 20
"""How many of a thread's latest edits of a tool are searched for a call that is proposed again."""

EVERYTHING = 2**62


class Queries:
    """The read-only use cases of pages, API and command line."""

    def __init__(self, *, ledger: Ledger, engine: Engine, runs: Runs, secret: bytes, clock: Clock) -> None:
        self._ledger, self._engine, self._runs = ledger, engine, runs
        self._secret, self._clock = secret, clock

    def now(self) -> str:
        return instant(self._clock())

    def view(self, thread_id: str) -> View:
        """Return the thread as it is at one instant. Raises `UnknownThread`."""
        thread = known(self._ledger, thread_id)
        found = self._view(thread)
        while (now := known(self._ledger, thread_id)) != thread:  # it changed between two reads
            thread, found = now, self._view(now)
        return found

    def _view(self, thread: Thread) -> View:
        return view(self._ledger, thread, runs=self._runs, secret=self._secret)

    def halt(self) -> Halt | None:
        """Return who stopped everything, and when; None if nothing is stopped."""
        return self._ledger.halt()

    def history(self, thread_id: str, *, before: int | None = None, limit: int = 50) -> list[Message]:
        """Return the last messages before index `before`, in order."""
        return self._ledger.messages(thread_id, before=before, limit=limit)

    def history_length(self, thread_id: str) -> int:
        return self._ledger.message_count(thread_id)

    def may_ask_again(self, thread_id: str) -> bool:
        """Return whether the last review ended without a decision and can be asked again."""
        thread = known(self._ledger, thread_id)
        served = thread.agent in self._engine.agents() and not self._engine.agent(thread.agent).gates_itself
        return served and bool(undecided_last(self._ledger, thread))

    def opening(self, thread_id: str) -> str:
        """Return the full text of the message that started the thread."""
        first = self._ledger.messages(thread_id, before=1, limit=1)
        return first[0].content if first else ""

    def actions(self, thread_id: str, message_ids: Sequence[str] | None = None) -> list[Action]:
        """Return the thread's actions in the order they were proposed, all or those of some messages."""
        if message_ids is None:
            found = self._ledger.actions(thread_id)
        else:
            found = self._ledger.actions_of(thread_id, message_ids)
        return [as_read(one, self._secret) for one in found]

    def card(self, review: Review, action: Action) -> CardView:
        """Return all that the card shows of this action. Raises `UnknownAgent` and `AgentNotLoaded`."""
        agent, key, tool = self._engine.agent(action.agent), action.key, action.proposed_tool
        entry = agent.policy.tools.get(action.tool)
        siblings = self.actions(key.thread_id, [key.message_id])
        decided = self._ledger.last_decided(key.thread_id, tool)
        edited = decided and self._ledger.last_decided(key.thread_id, tool, kind="edit", limit=EDITS)
        message = self._ledger.message(key.thread_id, key.message_id)
        return CardView(
            review=review,
            action=action,
            agent=agent,
            denial=agent.denial(action.tool, action.args),
            since=since(entry.precondition if entry else None, action.args or {}, action.notes),
            edited_away=edited_away(action, edited, agent) if edited else None,
            unasked=tuple(one for one in siblings if one.state is ActionState.APPROVED),
            decided_before=decided[0] if decided else None,
            claim=message.content if message else "",
        )

    def denial(self, agent: str, action: Action | AskedAction) -> Denial | None:
        """Return why a waiting action cannot be approved under the present policy; None if it can.

        Also None if the agent is not served: a decision is then refused in any case.
        """
        try:
            return self._engine.agent(agent).denial(action.tool, action.args)
        except (UnknownAgent, AgentNotLoaded):
            return None

    def action(self, thread_id: str, tool_call_id: str) -> Action | None:
        """Return the latest action under this call id."""
        found = self._ledger.latest_action(thread_id, tool_call_id)
        return as_read(found, self._secret) if found else None

    def review(self, review_id: str) -> Review | None:
        """Return a review, open or ended."""
        found = self._ledger.review(review_id)
        return as_recorded(self._ledger, found, secret=self._secret) if found else None

    def inside(self, thread_id: str) -> Inside:
        """Return the thread as the engine holds it. Raises `UnknownThread`, and whatever a damaged checkpoint causes."""
        thread = known(self._ledger, thread_id)
        return self._engine.inside(thread.agent, thread_id)

    def output(self, thread_id: str) -> Mapping[str, Any] | None:
        """Return what an external agent's state gives back besides messages; None if nothing, or if it is lost."""
        thread = known(self._ledger, thread_id)
        try:
            if not self._engine.agent(thread.agent).gates_itself:
                return None
            return self._engine.look(thread.agent, thread_id).output
        except (UnknownAgent, AgentNotLoaded, CheckpointLost):
            return None

    def progressed(self, run: Run) -> Sequence[str]:
        """Return what the agent's own code told of its progress in this run so far, if it is executed here."""
        return self._runs.progressed(run.run_id)

    def pulse(self, thread_id: str | None = None) -> int:
        """Return a number that grows with every event, of all threads or of one, except `ReviewShown`."""
        return self._ledger.last_seq(thread_id)

    def threads(self, limit: int = 50) -> list[Thread]:
        """Return the threads, the most recently changed first."""
        return self._ledger.threads(limit=limit)

    def queue(
        self,
        *,
        limit: int = 50,
        after: tuple[str, str] | None = None,
        sought: Sought = Sought(),  # noqa: B008
    ) -> list[Waiting]:
        """Return the waiting reviews of all threads that match `sought`, oldest first."""
        found = self._ledger.queue(limit=limit, after=after, sought=sought)
        return [waiting_as_read(one, self._secret) for one in found]

    def damaged_reviews(self, *, page: int = 500) -> Iterator[str]:
        """Yield the ids of waiting reviews that cannot be decided, as their record was changed outside the console."""
        after: tuple[str, str] | None = None
        while found := self._ledger.queue(limit=page, after=after):
            read = (waiting_as_read(one, self._secret) for one in found)
            yield from (one.review_id for one in read if review_is_damaged(one))
            after = (found[-1].opened_at, found[-1].review_id)

    def unknown(self) -> list[Action]:
        """Return the actions of all threads whose outcome is unknown."""
        return self._ledger.unknown()

    def ran_without_asking(self) -> list[Action]:
        """Return the actions of tier `log` that nobody has looked over yet."""
        return self._ledger.not_looked_over()

    def running(self) -> list[Thread]:
        return self._ledger.running()

    def done_today(self) -> list[Action]:
        """Return the actions a person decided that have ended since midnight UTC, the latest first."""
        midnight = self._clock().replace(hour=0, minute=0, second=0, microsecond=0)
        return self._ledger.decided_since(instant(midnight))

    def queue_length(self) -> int:
        """Return how many reviews wait, over all threads."""
        return self._ledger.queue_length()

    def whole_thread(self, thread_id: str) -> WholeThread:
        """Return everything the record holds on a thread. Raises `UnknownThread`."""
        thread = known(self._ledger, thread_id)
        return WholeThread(
            thread,
            self._ledger.messages(thread_id, limit=EVERYTHING),
            self.actions(thread_id),
            self._ledger.events(thread_id=thread_id, limit=EVERYTHING),
            self._ledger.notes(thread_id),
            self.now(),
        )

    def simulate(
        self, agent: str, tiers: Mapping[str, Tier], *, ask_for_everything: bool = False
    ) -> Simulation:
        """Return what would happen to the agent's latest proposals if its tools had these tiers. Changes nothing.

        Newest first, at most `SIMULATED`.
        """
        about = self._engine.agent(agent)
        proposals = self._ledger.events(
            agent=agent, kind=EventKind.ACTION_PROPOSED, newest_first=True, limit=SIMULATED
        )
        since = proposals[-1].seq if proposals else 0
        decisions = self._ledger.events(
            agent=agent, kind=EventKind.DECISION_MADE, after=since, newest_first=True, limit=SIMULATED
        )
        edited = edit(about.policy, tiers, ask_for_everything=ask_for_everything)
        return simulate(about, edited, [*proposals, *decisions])

    def agents(self) -> Sequence[str]:
        return self._engine.agents()

    def tools(self) -> Sequence[str]:
        """Return the tools that the agents' policies name, each once, in order."""
        return self._engine.tools()

    def agent(self, name: str) -> Agent:
        return self._engine.agent(name)

    def broken_agents(self) -> Mapping[str, LoadFailure]:
        """Return the agents that are configured but could not be loaded, with the reason."""
        return self._engine.broken()

    def models(self) -> Sequence[str]:
        return self._engine.models()

    def current_run(self, thread_id: str) -> Run | None:
        """Return the thread's open run, if there is one."""
        return self._ledger.open_run(thread_id)

    def health(self) -> dict[str, Any]:
        """Return that the ledger answers, and how many runs are open. Raises `LedgerUnavailable`."""
        self._ledger.check()
        return {"status": "ok", "ledger": "ok", "runs": len(self._ledger.open_runs())}

    def draft(self, review_id: str, reviewer: str) -> str | None:
        """Return what this reviewer has written on this review and not sent."""
        return self._ledger.draft(review_id, reviewer)
