"""The simulation of an edited policy: every recorded proposal is judged again, as of now and under the edit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.review.agents import Agent
from agent.review.errors import ArgumentsRefused
from agent.review.events import Event, EventKind
from agent.review.policy import STRICTNESS, Policy, Tier

UNASKED = (Tier.AUTO, Tier.LOG)
"""The tiers in which a call runs without a person being asked."""


@dataclass(frozen=True)
class PastProposal:
    """One proposal in the audit trail."""

    seq: int
    at: str
    thread_id: str
    tool: str
    args: dict[str, Any] | None
    """The arguments that were judged; None if they were never accepted."""
    proposed: Any
    tier: str
    """The tier it was given then."""
    decided: str
    """The last decision on it, such as `edit`; "" if nobody decided."""


@dataclass(frozen=True)
class Judged:
    """One proposal, judged under the current policy and under the edited one."""

    past: PastProposal
    now: Tier
    edited: Tier
    irreversible: bool
    """Whether the edited policy says that what the tool does cannot be undone."""

    @property
    def is_freed(self) -> bool:
        """Whether it would run unasked under the edit, and does not under the current policy."""
        return self.edited in UNASKED and self.now not in UNASKED

    @property
    def is_against_a_person(self) -> bool:
        """Whether the edit would let it run as proposed, although a person rejected or edited it."""
        return self.is_freed and self.past.decided in ("reject", "edit")


@dataclass(frozen=True)
class Simulation:
    """What the edit would have changed. Each counter holds the number of actions per tier."""

    judged: tuple[Judged, ...]
    """In the order of the proposals given."""
    unreadable: int = 0
    """The number of proposals whose data has been erased, so that they cannot be judged."""

    @property
    def recorded(self) -> Counter[str]:
        return Counter(one.past.tier for one in self.judged)

    @property
    def now(self) -> Counter[Tier]:
        return Counter(one.now for one in self.judged)

    @property
    def edited(self) -> Counter[Tier]:
        return Counter(one.edited for one in self.judged)

    @property
    def changed(self) -> tuple[Judged, ...]:
        """What would be treated differently, first what a person did not let run as it was proposed."""
        found = (one for one in self.judged if one.now is not one.edited)
        return tuple(sorted(found, key=lambda one: not one.is_against_a_person))

    @property
    def freed(self) -> tuple[Judged, ...]:
        return tuple(one for one in self.judged if one.is_freed)


def edit(policy: Policy, tiers: Mapping[str, Tier], *, ask_for_everything: bool = False) -> Policy:
    """Return the policy with other tiers for some of its tools, and with no tier below `ask` if `ask_for_everything`."""
    entries = {name: replace(entry, tier=tiers.get(name, entry.tier)) for name, entry in policy.tools.items()}
    if ask_for_everything:
        entries = {
            name: replace(entry, tier=max(entry.tier, Tier.ASK, key=STRICTNESS.__getitem__))
            for name, entry in entries.items()
        }
    return replace(policy, tools=entries)


def simulate(agent: Agent, edited: Policy, events: Iterable[Event]) -> Simulation:
    """Judge every proposal of the agent again, under its current policy and under the edited one.

    `events` are its proposals and the decisions on them. A call that was asked about again counts once.
    """
    judged, unreadable = [], 0
    kept = [event for event in events if event.agent == agent.name]
    decided = _decided(kept)
    for event in kept:
        if event.kind is not EventKind.ACTION_PROPOSED:
            continue
        if event.data is None:
            unreadable += 1
        elif _is_first(event):
            past = _past(event, event.data, decided.get(event.seq, ""))
            entry = edited.tools.get(past.tool)
            tiers = _tier(agent, agent.policy, past), _tier(agent, edited, past)
            judged.append(Judged(past, *tiers, entry is not None and entry.irreversible))
    return Simulation(tuple(judged), unreadable)


def line_of(tool: str, before: Tier, after: Tier) -> str:
    """Return the line of Python that makes the edit, as it would appear in the agent's policy."""
    return f'"{tool}": ToolPolicy(Tier.{after.name}, …),  # was Tier.{before.name}'


def _decided(events: Iterable[Event]) -> dict[int, str]:
    """Return the last decision on each call, by its proposal's `seq`: a call id may be used again in a thread."""
    last: dict[tuple[str | None, str | None], int] = {}
    found: dict[int, str] = {}
    for event in sorted(events, key=lambda one: one.seq):
        call = event.thread_id, event.tool_call_id
        if event.kind is EventKind.ACTION_PROPOSED and _is_first(event):
            last[call] = event.seq
        elif event.kind is EventKind.DECISION_MADE and call in last:
            found[last[call]] = str((event.data or {}).get("type", ""))
    return found


def _is_first(proposal: Event) -> bool:
    """Return whether it proposes a call for the first time, which is assumed if its data was erased."""
    return bool((proposal.data or {}).get("attempt", 1) == 1)


def _past(event: Event, data: Mapping[str, Any], decided: str) -> PastProposal:
    return PastProposal(
        seq=event.seq,
        at=event.at,
        thread_id=event.thread_id or "",
        tool=event.tool or "",
        args=data.get("args"),
        proposed=data.get("proposed"),
        tier=str(data.get("tier")),
        decided=decided,
    )


def _tier(agent: Agent, policy: Policy, past: PastProposal) -> Tier:
    """Return the policy's tier for the proposal; a call that does not fit its tool is refused under any policy."""
    args = past.args if past.args is not None else _fitted(agent, past)
    return Tier.DENY if args is None else policy.judge(past.tool, args).tier


def _fitted(agent: Agent, past: PastProposal) -> dict[str, Any] | None:
    """Return the arguments of a call that was refused before they were accepted, if they would fit its tool today."""
    tool = agent.tools_by_name.get(past.tool)
    if tool is None or not isinstance(past.proposed, dict):
        return None
    try:
        return agent.received(tool.name, past.proposed, unknown="drop").args
    except ArgumentsRefused:
        return None
