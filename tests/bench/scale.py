"""How much is measured: all of it, or so little that a test can see it run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Sizes of what is measured, and how often."""

    turns: int
    """Turns of the thread that the peer drives as well."""
    long: int
    """Turns of the thread that the console drives on alone."""
    early: int
    """The turn that later ones are held against."""
    threads: int
    """First turns, each in a thread of its own."""
    waiting: int
    few_waiting: int
    served_waiting: int
    """As many as an Agent Server brings to their interrupt in a minute or two."""
    events: int
    reads: int
    """How often each read of the queue is timed."""
    decisions: int
    clicks: int
    openings: int
    """How often each page is opened in a new browser."""
    cold_starts: int
    messages: int
    few_messages: int
    page_of_waiting: int
    sessions: int
    clients: int
    turns_of_each: int
    """Turns of each API client under load."""
    soak: int
    """Turns over which memory has to stay flat."""
    argument: int
    """Characters of the large argument."""
    actions: int
    """Actions of the large review."""


FULL = Scale(
    turns=300,
    long=2_000,
    early=20,
    threads=15,
    waiting=100_000,
    few_waiting=1_000,
    served_waiting=3_000,
    events=1_000_000,
    reads=30,
    decisions=200,
    clicks=15,
    openings=7,
    cold_starts=3,
    messages=2_000,
    few_messages=20,
    page_of_waiting=50,
    sessions=20,
    clients=8,
    turns_of_each=25,
    soak=10_000,
    argument=1_000_000,
    actions=200,
)
QUICK = Scale(
    turns=6,
    long=8,
    early=3,
    threads=2,
    waiting=60,
    few_waiting=20,
    served_waiting=60,
    events=900,
    reads=2,
    decisions=5,
    clicks=2,
    openings=1,
    cold_starts=1,
    messages=60,
    few_messages=20,
    page_of_waiting=20,
    sessions=2,
    clients=2,
    turns_of_each=2,
    soak=20,
    argument=50_000,
    actions=5,
)
