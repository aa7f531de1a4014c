"""Stop every run, in every process, until somebody releases them."""

from __future__ import annotations

from agent.ports import Transaction
from agent.review.facts import AllReleasedFact, AllStoppedFact, of_console
from agent.review.threads import Halt


def stop_all(tx: Transaction, *, by: str, now: str) -> bool:
    """Ask every open run to stop, and let none start until the halt is released. Returns false if it is set already."""
    if tx.halt() is not None:
        return False
    tx.set_halt(Halt(by, now))
    for run in tx.open_runs():
        tx.ask_stop(run.run_id, by)
    tx.append(of_console(AllStoppedFact(), now, by))
    return True


def release(tx: Transaction, *, by: str, now: str) -> None:
    """Release the halt, if one is set, so that runs can start again."""
    if tx.halt() is None:
        return
    tx.set_halt(None)
    tx.append(of_console(AllReleasedFact(), now, by))
