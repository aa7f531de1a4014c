"""Everything that can be looked at, but for the trail: threads, queue, history, agents. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.console.checks import closed_last, known
from agent.console.views import CardView, View, as_recorded, view
from agent.ports import Clock, Engine, Inside, Ledger, Runs, Sought
from agent.review.actions import Action, ActionState, AskedAction, Review, Waiting
from agent.review.agents import Agent, Denial
from agent.review.damage import as_read, review_is_damaged, waiting_as_read
from agent.review.edits import edited_away
from agent.review.errors import AgentNotLoaded, UnknownAgent
from agent.review.events import EventKind, instant
from agent.review.policy import Tier
from agent.review.preconditions import since
from agent.review.simulation import Simulation, edit, simulate
from agent.review.thread_exports import WholeThread
from agent.review.threads import Halt, Message, Run, Thread

SIMULATED = 2_000
"""How many of an agent's last proposals a simulation looks at."""

EDITS = 20
"""How many of a thread's last edits of a tool are looked at for a call that comes back."""

EVERYTHING = 2**62


class Queries:
    """The questions of pages, API and command line."""

    def __init__(self, *, ledger: Ledger, engine: Engine, runs: Runs, secret: bytes, clock: Clock) -> None:
        self._ledger, self._engine, self._runs = ledger, engine, runs
        self._secret, self._clock = secret, clock

    def now(self) -> str:
        return instant(self._clock())

    def view(self, thread_id: str) -> View:
        """The thread as it is, all of it at one instant. Raises `UnknownThread`."""
        thread = known(self._ledger, thread_id)
        found = self._view(thread)
        while (now := known(self._ledger, thread_id)) != thread:  # it moved on between two reads
            thread, found = now, self._view(now)
        return found

    def _view(self, thread: Thread) -> View:
        return view(self._ledger, thread, runs=self._runs, secret=self._secret)

    def halt(self) -> Halt | None:
        """Who stopped everything, if it is stopped."""
        return self._ledger.halt()

    def history(self, thread_id: str, *, before: int | None = None, limit: int = 50) -> list[Message]:
        """The last messages before index `before`, in order."""
        return self._ledger.messages(thread_id, before=before, limit=limit)

    def history_length(self, thread_id: str) -> int:
        return self._ledger.message_count(thread_id)

    def may_ask_again(self, thread_id: str) -> bool:
        """Whether something was closed last without deciding, and can be asked about again."""
        thread = known(self._ledger, thread_id)
        served = thread.agent in self._engine.agents() and not self._engine.agent(thread.agent).gates_itself
        return served and bool(closed_last(self._ledger, thread))

    def opening(self, thread_id: str) -> str:
        """The message the thread began with, whole."""
        first = self._ledger.messages(thread_id, before=1, limit=1)
        return first[0].content if first else ""

    def actions(self, thread_id: str, message_ids: Sequence[str] | None = None) -> list[Action]:
        """The thread's actions as they were proposed, all or those of some messages."""
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
        """Why a waiting action cannot be approved under the policy as it is now; None if it can.

        Of an agent that is not served nothing is known: a decision on it is refused in any case.
        """
        try:
            return self._engine.agent(agent).denial(action.tool, action.args)
        except (UnknownAgent, AgentNotLoaded):
            return None

    def action(self, thread_id: str, tool_call_id: str) -> Action | None:
        """The latest action under this call id."""
        found = self._ledger.latest_action(thread_id, tool_call_id)
        return as_read(found, self._secret) if found else None

    def review(self, review_id: str) -> Review | None:
        """A review, open or ended."""
        found = self._ledger.review(review_id)
        return as_recorded(self._ledger, found, secret=self._secret) if found else None

    def inside(self, thread_id: str) -> Inside:
        """The thread as the engine holds it. Raises `UnknownThread`, and what a damaged checkpoint makes it raise."""
        thread = known(self._ledger, thread_id)
        return self._engine.inside(thread.agent, thread_id)

    def pulse(self, thread_id: str | None = None) -> int:
        """A number that moves whenever anything was recorded, of all threads or of one, but that a review was seen."""
        return self._ledger.last_seq(thread_id)

    def threads(self, limit: int = 50) -> list[Thread]:
        """Threads, the one that moved last first."""
        return self._ledger.threads(limit=limit)

    def queue(
        self,
        *,
        limit: int = 50,
        after: tuple[str, str] | None = None,
        sought: Sought = Sought(),  # noqa: B008
    ) -> list[Waiting]:
        """Reviews that wait, over all threads, oldest first, narrowed to what is sought."""
        found = self._ledger.queue(limit=limit, after=after, sought=sought)
        return [waiting_as_read(one, self._secret) for one in found]

    def damaged_reviews(self, *, page: int = 500) -> Iterator[str]:
        """The ids of the reviews that wait and cannot be decided, because their record was changed past the console."""
        after: tuple[str, str] | None = None
        while found := self._ledger.queue(limit=page, after=after):
            read = (waiting_as_read(one, self._secret) for one in found)
            yield from (one.review_id for one in read if review_is_damaged(one))
            after = (found[-1].opened_at, found[-1].review_id)

    def unknown(self) -> list[Action]:
        """Actions over all threads whose outcome is unknown."""
        return self._ledger.unknown()

    def ran_without_asking(self) -> list[Action]:
        """Actions of tier `log` that nobody has looked over yet."""
        return self._ledger.not_looked_over()

    def running(self) -> list[Thread]:
        return self._ledger.running()

    def done_today(self) -> list[Action]:
        """Actions a person decided that have ended since midnight, UTC, the last first."""
        midnight = self._clock().replace(hour=0, minute=0, second=0, microsecond=0)
        return self._ledger.decided_since(instant(midnight))

    def queue_length(self) -> int:
        """How many reviews wait, over all threads."""
        return self._ledger.queue_length()

    def whole_thread(self, thread_id: str) -> WholeThread:
        """Everything the record holds of a thread. Raises `UnknownThread`."""
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
        """What the agent's last proposals would come to if its tools had these tiers; nothing is changed by it.

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
        """The tools that the agents' policies name, each once, in order."""
        return self._engine.tools()

    def agent(self, name: str) -> Agent:
        return self._engine.agent(name)

    def broken_agents(self) -> Mapping[str, str]:
        """The agents that are configured and could not be loaded, with the reason."""
        return self._engine.broken()

    def models(self) -> Sequence[str]:
        return self._engine.models()

    def current_run(self, thread_id: str) -> Run | None:
        """The thread's run that is open now."""
        return self._ledger.open_run(thread_id)

    def health(self) -> dict[str, Any]:
        """Whether the ledger answers, and how many runs are open. Raises `LedgerUnavailable`."""
        self._ledger.check()
        return {"status": "ok", "ledger": "ok", "runs": len(self._ledger.open_runs())}

    def draft(self, review_id: str, reviewer: str) -> str | None:
        """What this reviewer has written on this review and not sent."""
        return self._ledger.draft(review_id, reviewer)
