"""All that is tried: what it is called, how it is done once, and how often."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from tests.faults import clocks, damage, deaths, freezes, load, moments, races, record, rows, storage
from tests.faults.bench import Bench
from tests.faults.crowd import Crowd

KILLED = (
    moments.DECISION,
    moments.RESUME,
    moments.GUARD,
    moments.FIRST_LINE,
    moments.EFFECT,
    moments.TOOL_END,
    moments.CHECKPOINT,
    moments.IN_CHECKPOINT,
    moments.MODEL,
    moments.RUN_END,
)
FROZEN = (moments.RESUME, moments.FIRST_LINE, moments.EFFECT, moments.CHECKPOINT, moments.MODEL)
ILLNESSES: tuple[storage.Illness, ...] = ("locked", "full", "read-only")


@dataclass(frozen=True)
class Trial:
    group: str
    name: str
    once: Callable[[Bench], None]
    quick: int = 1
    """How often pytest does it; 0 leaves it to the harness."""
    full: float = 1.0
    """How often the harness does it, as a multiple of `--times`."""
    own_clock: bool = False
    """It needs libfaketime."""

    def __str__(self) -> str:
        return f"{self.group}: {self.name}"


class TheCrowd:
    """The sixteen processes of the races, made when the first race needs them."""

    def __init__(self) -> None:
        self._crowd: Crowd | None = None
        self._turn = threading.Lock()

    def gather(self, wanted: bool) -> None:
        if wanted and self._crowd is None:
            self._crowd = Crowd()

    def __call__(self, race: Callable[[Bench, Crowd], None]) -> Callable[[Bench], None]:
        def once(bench: Bench) -> None:
            with self._turn:
                self.gather(True)
                assert self._crowd is not None
                race(bench, self._crowd)

        return once

    def close(self) -> None:
        if self._crowd is not None:
            self._crowd.close()
            self._crowd = None


crowd = TheCrowd()


def _deaths() -> list[Trial]:
    found = [Trial("killed", moment, deaths.at(moment)) for moment in KILLED]
    found += [
        Trial("killed", moment, deaths.during_reconcile(moment))
        for moment in (moments.RECONCILE, moments.RECONCILED)
    ]
    found.append(
        Trial("killed", "again and again, in each server that goes on with the turn", deaths.again_and_again)
    )
    found.append(Trial("killed", "at random times under load", load.random_deaths))
    return found


def _freezes() -> list[Trial]:
    found = [Trial("frozen past its lease", moment, freezes.at(moment)) for moment in FROZEN]
    found.append(Trial("frozen", "inside a transaction of the ledger", freezes.inside_a_transaction))
    return found


def _races() -> list[Trial]:
    return [
        Trial("race of 16", name, crowd(race), full=full)
        for name, race, full in [
            ("approve, edit and reject one review", races.one_review, 15.0),
            ("late rejects of what has run", races.late_reject, 5.0),
            ("stale screens while the next question comes", races.stale_screen, 5.0),
            ("messages to one thread", races.two_messages, 5.0),
            ("decide against close against expire", races.decide_close_expire, 5.0),
        ]
    ]


def _storage() -> list[Trial]:
    found = [
        Trial("storage", f"{file} {illness}", make(illness), quick=int(illness in in_short))
        for file, make, in_short in [
            ("ledger", storage.ledger, ("locked", "full")),
            ("while a tool acts, ledger", storage.ledger_in_a_tool, ("locked",)),
            ("checkpoints", storage.checkpoints, ("locked", "full")),
            ("while a tool acts, checkpoints", storage.checkpoints_in_a_tool, ("full",)),
            ("world", storage.world, ("read-only",)),
        ]
        for illness in ILLNESSES
    ]
    return found + [
        Trial("storage", name, once, quick)
        for name, once, quick in [
            ("ledger read-only at start", damage.read_only_at_start, 1),
            ("ledger no database at start", damage.no_database_at_start, 1),
            ("pages of checkpoints corrupt", damage.corrupt_checkpoints, 1),
            ("pages of messages corrupt", damage.corrupt_ledger, 0),
            ("pages of events corrupt", damage.corrupt_trail, 0),
        ]
    ]


def _clocks() -> list[Trial]:
    return [
        Trial("clock", name, once)
        for name, once in [
            ("forward a day while a review waits, then back", clocks.forward_while_waiting),
            ("forward a day between approval and tool", clocks.forward_after_approval),
            ("back an hour while a review waits", clocks.back_while_waiting),
            ("a jump while a tool is about to run", clocks.jump_while_running),
        ]
    ] + [
        Trial("clock", f"the process's own {name} across a restart", clocks.restarted(ahead), own_clock=True)
        for name, ahead in [("back an hour", -clocks.HOUR), ("forward half a day", clocks.DAY // 2)]
    ]


def _record() -> list[Trial]:
    tamperings: list[tuple[str, record.Tampering, int]] = [
        ("data edited", record.edit_data, 1),
        ("who did it edited", record.edit_who, 0),
        ("a row removed", record.remove, 1),
        ("a row removed and the gap closed", record.remove_and_close_the_gap, 0),
        ("a row inserted", record.insert, 1),
        ("two rows in each other's place", record.swap, 1),
        ("the tail cut", record.cut, 1),
    ]
    found = [Trial("record", name, record.tampered(how), quick) for name, how, quick in tamperings]
    found += [
        Trial("record", "a row of a waiting review edited", rows.while_waiting, full=5.0),
        Trial("record", "a row edited between decision and delivery", rows.after_the_decision, full=5.0),
    ]
    killed: list[tuple[str, record.Tampering, float, int]] = [
        ("the last approval and its execution deleted", record.delete_the_last_approval, 0.0, 1),
        ("the decider renamed and all hashes made again", record.rename_the_decider, 0.0, 1),
        ("all of it written again without the key", record.write_it_all_again, 0.0, 0),
        ("data blanked", record.blank, 0.0, 1),
        ("data blanked and a forged erasure added", record.blank_and_say_so, 0.0, 0),
        ("a tail cut that is older than a second", record.cut, 1.0, 0),
    ]
    for name, how, after, quick in killed:
        once = record.tampered_after_a_kill(how, after=after)
        found.append(Trial("record, right after a kill", name, once, quick))
    return [*found, Trial("record", "an older copy of the folder put back", record.older_copy)]


ALL = (*_deaths(), *_freezes(), *_races(), *_storage(), *_clocks(), *_record())
