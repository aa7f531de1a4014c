"""Execute runs in the server's own worker threads; no page and no request executes anything itself."""

from __future__ import annotations

import logging
import queue
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from agent.engine.process_lock import Owner
from agent.engine.recorder import End, Recorder, lose_executing
from agent.engine.scheduling import BEGINS, GOES_ON, Precedence
from agent.ports import (
    Clock,
    Engine,
    Ledger,
    Look,
    Moment,
    Paused,
    Progressed,
    Proposed,
    RunCutOff,
    Said,
    Stood,
    Superseded,
    Token,
)
from agent.review.actions import ActionState
from agent.review.errors import LedgerUnavailable, ReviewError
from agent.review.events import instant
from agent.review.facts import RunEndedFact, of_thread
from agent.review.threads import Progress, Run, RunState, Status

WORKERS = 16
MOST_TRACED = 20_000
"""Characters of a traceback that are kept on record."""
SWEEP_SECONDS = 1.0
BEAT_SECONDS = 5.0
LEASE_SECONDS = 30.0
ANCHOR_SECONDS = 0.5
CLOSING_SECONDS = 5.0
AFTER_SECONDS = 0.25
MOST_TOLD = 1_000
ENDED_KEPT = 64
"""Ended runs of which is kept what their agents' own code told."""

log = logging.getLogger(__name__)


@dataclass
class Live:
    """One run that is executing here, as its watchers see it."""

    run: Run
    recovered: bool = False
    after: threading.Event | None = None
    unanchored: ReviewError | None = None
    """Why the decisions could not be noted outside the record; if set, nothing may run on them."""
    stop: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    progress: Progress = field(default_factory=Progress)
    message_id: str = ""


class Supervisor:
    """The workers that execute runs, and the sweeper that takes over the runs of dead and frozen processes."""

    def __init__(
        self,
        ledger: Ledger,
        engine: Engine,
        recorder: Recorder,
        owner: Owner,
        clock: Clock,
        *,
        lease: float = LEASE_SECONDS,
        workers: int = WORKERS,
    ) -> None:
        self._ledger, self._engine, self._recorder = ledger, engine, recorder
        self._owner, self._clock, self._lease = owner, clock, lease
        self._work: queue.SimpleQueue[Live | None] = queue.SimpleQueue()
        self._live: dict[str, Live] = {}
        self._told: dict[str, tuple[str, ...]] = {}
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._unrecorded: set[str] = set()
        self._silent: dict[str, tuple[int | None, float]] = {}
        self._beat, self._beaten = 0, 0.0
        self._sweeps: list[Callable[[], None]] = []
        self._precedence = Precedence()
        self._threads = [
            threading.Thread(target=self._serve, name=f"run-worker-{n}", daemon=True) for n in range(workers)
        ]
        self._sweeper = threading.Thread(target=self._sweep, name="sweeper", daemon=True)
        self._anchor: Callable[[], None] = lambda: None
        self._anchors_fail = ""
        self._anchorer = threading.Thread(target=self._anchor_often, name="anchors", daemon=True)

    @property
    def owner(self) -> str:
        return self._owner.name

    @property
    def was_opened(self) -> bool:
        return self._sweeper.ident is not None

    def open(self, *sweeps: Callable[[], None], anchor: Callable[[], None]) -> None:
        """Start the workers, reconcile what a dead process left, and start the sweeper, which calls `sweeps`.

        `anchor` notes the record's head outside it: before a run goes on from a decision, and soon after all else.
        """
        self._sweeps.extend(sweeps)
        self._anchor = anchor
        self._owner.sweep()
        for thread in self._threads:
            thread.start()
        self.reconcile()
        self._sweeper.start()
        self._anchorer.start()

    def wind_down(self) -> None:
        """Let runs stop at their next step and stay open in the ledger, and release whoever waits for them."""
        self._closing.set()
        for one in self._all_live():
            one.stop.set()

    def shut(self) -> None:
        """Let runs stop at their next step, and abandon those that do not; another process goes on with both."""
        self.wind_down()
        live = self._all_live()
        deadline = time.monotonic() + CLOSING_SECONDS
        for one in live:
            one.ended.wait(max(0.0, deadline - time.monotonic()))
        for _ in self._threads:
            self._work.put(None)
        for thread in (self._sweeper, self._anchorer):
            if thread.is_alive():
                thread.join(CLOSING_SECONDS)
        if all(one.ended.is_set() for one in live):
            self._owner.close()
        # Otherwise a tool is still at work, and the lock must be held until this process ends.

    def start(self, run: Run, after: threading.Event | None = None) -> None:
        """Queue a run that is open in the ledger under this owner.

        With `after`, it first waits for that event, but no longer than `AFTER_SECONDS`.
        """
        self._enqueue(Live(run, after=after))

    def stop(self, thread_id: str | None) -> None:
        """Stop the thread's run, or every run for None, at its next step, if it is executing here."""
        for one in self._all_live():
            if thread_id is None or one.run.thread_id == thread_id:
                one.stop.set()

    def progressed(self, run_id: str) -> tuple[str, ...]:
        """Return what the agent's own code reported of its progress in this run, until shortly after the run's end."""
        with self._guard:
            live = self._live.get(run_id)
            return live.progress.told if live else self._told.get(run_id, ())

    def progress(self, thread_id: str) -> Progress | None:
        """Return what the thread's run is doing now, or None if it is not executing here."""
        found = [one.progress for one in self._all_live() if one.run.thread_id == thread_id]
        return found[0] if found else None

    def lives(self, owner: str) -> bool:
        """Return whether another process under this name could still act; a frozen one counts as alive."""
        return owner != self.owner and self._owner.lives(owner)

    def wait(self, run_id: str, seconds: float | None) -> bool:
        """Wait until the run has ended; return False if it had not after `seconds`. Runs of others are polled.

        The wait also ends when this process is asked to end, because it leaves its runs to the next process.
        """
        with self._guard:
            live = self._live.get(run_id)
        deadline = None if seconds is None else time.monotonic() + seconds
        if live is not None and not live.ended.wait(seconds):
            return self._closing.is_set()
        # It may have been taken over and go on elsewhere. A run whose end cannot be recorded is not waited for.
        while run_id not in self._unrecorded and self._is_open(run_id) and not self._closing.is_set():
            if deadline is not None and time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def tool_moved(self, run_id: str, tool: str, what: str) -> None:
        """Update the run's progress; the guard calls this when a tool of the run started or finished."""
        with self._guard:
            live = self._live.get(run_id)
        if live is None:
            return
        if what == "started":
            live.progress = replace(live.progress, running=tool)
        else:
            live.progress = replace(live.progress, running="", finished=(*live.progress.finished, tool))

    def reconcile(self) -> None:
        """Take over every open run whose process is dead, or silent for longer than its lease."""
        if self._ledger.halt() is not None:
            return  # it would start something; once released, the next sweep does
        with self._guard:
            ours = set(self._live)
        others = [run for run in self._ledger.open_runs() if run.run_id not in ours]
        self._silent = {run.run_id: self._silent[run.run_id] for run in others if run.run_id in self._silent}
        for run in others:
            try:
                if self._is_lost(run):
                    self._take_over(run)
            except ReviewError:
                raise
            except (
                Exception
            ):  # a row that was changed outside the console must not keep other runs from being taken over
                log.exception("run %s could not be taken over", run.run_id)

    def _enqueue(self, live: Live) -> None:
        with self._guard:
            self._live[live.run.run_id] = live
        if self._closing.is_set():
            live.stop.set()
        self._work.put(live)

    def _serve(self) -> None:
        while (live := self._work.get()) is not None:
            try:
                self._note_what_was_decided(live)
                if live.after is not None:
                    live.after.wait(AFTER_SECONDS)
                with self._precedence.held(BEGINS if live.run.delivery.kind == "send" else GOES_ON):
                    self._execute(live)
            except BaseException:
                # A tool may even raise SystemExit. The run stays open in the ledger; the sweep finds it and goes
                # on from its checkpoint.
                log.exception("run %s could not be recorded", live.run.run_id)
                self._unrecorded.add(live.run.run_id)
            finally:
                with self._guard:
                    self._live.pop(live.run.run_id, None)
                    self._keep_told(live)
                live.ended.set()

    def _keep_told(self, live: Live) -> None:
        """Keep for who follows the run what it told: the run may have ended before they looked."""
        if live.progress.told:
            self._told[live.run.run_id] = live.progress.told
        while len(self._told) > ENDED_KEPT:
            self._told.pop(next(iter(self._told)))

    def _note_what_was_decided(self, live: Live) -> None:
        """Have the decisions that the run carries noted outside the record before any tool may run on them."""
        decided = live.recovered or live.run.delivery.kind != "send"
        if decided or self._anchors_fail:  # no new run starts while nothing can be noted
            try:
                self._anchor()
            except ReviewError as error:
                live.unanchored = error

    def _execute(self, live: Live) -> None:
        said: list[Said] = []
        end: End | None = None
        try:
            end = self._drive(live, said)
        except RunCutOff as cut:
            end = None if self._closing.is_set() else self._broken_off(live, RunState.STOPPED, str(cut))
        except Exception as error:
            if self._closing.is_set():
                # Its files may have been closed under it; the next process finds out whether it fails by itself.
                return
            # An error of this console's is a sentence that says enough.
            level = logging.INFO if isinstance(error, ReviewError) else logging.ERROR
            log.log(level, "run %s failed", live.run.run_id, exc_info=True)
            end = self._broken_off(live, RunState.FAILED, described(error))
            end = replace(end, traceback=traced(error))
        if end is not None:
            self._recorder.end(live.run, said, end)

    def _drive(self, live: Live, said: list[Said]) -> End | None:
        """Follow the run to its natural end; return None if it is left open for the next process to continue."""
        if live.unanchored is not None:
            raise live.unanchored
        paused: Paused | None = None
        look = Look()
        if live.recovered or live.run.delivery.kind not in ("send", "resume"):
            before = self._engine.look(live.run.agent, live.run.thread_id)
            self._recorder.record(live.run, [Said(before.messages)], [Proposed(before.calls)])
        for moment in self._engine.stream(live.run, live.stop, partial(_hear, live)):
            match moment:
                case Paused():
                    paused = moment
                case Stood():
                    look = moment.look
                case _:
                    self._note(live, said, moment)
        if live.stop.is_set() and self._closing.is_set() and paused is None:
            return None
        return _natural_end(live, paused, look)

    def _note(self, live: Live, said: list[Said], moment: Moment) -> None:
        """Record what a moment tells, or keep it in `said` until the next proposal or the run's end."""
        match moment:
            case Said():
                said.append(moment)
            case Proposed():
                self._recorder.record(live.run, said, [moment])
                said.clear()
            case Progressed():
                _note_progress(live, moment)
            case Superseded():
                self._recorder.supersede(live.run, moment.review_id)

    def _broken_off(self, live: Live, state: RunState, error: str) -> End:
        """Return the end of a run that could not go on, with the answers it was stuck on, if any."""
        try:
            look = self._engine.look(live.run.agent, live.run.thread_id)
        except Exception:  # the run failed for the same reason that makes its checkpoint unreadable
            return End(state, error=error)
        standing = (*look.waiting, *look.answered) if look.exists else None
        return End(state, error=error, stuck=look.stuck, calls=look.calls, standing=standing)

    def _sweep(self) -> None:
        while not self._closing.wait(SWEEP_SECONDS):
            for duty in (self._heartbeat, self._heed_stops, self.reconcile, *self._sweeps):
                try:
                    duty()
                except ReviewError as error:
                    log.warning("sweep: %s", error)
                except Exception:
                    log.exception("sweep")

    def _anchor_often(self) -> None:
        while not self._closing.wait(ANCHOR_SECONDS):
            try:
                self._anchor()
                self._anchors_fail = ""
            except Exception as error:
                if str(error) != self._anchors_fail:  # logged once, not twice a second
                    log.warning("anchors: %s", error, exc_info=not isinstance(error, ReviewError))
                self._anchors_fail = str(error)

    def _heartbeat(self) -> None:
        """Show that this process is alive while it has runs. Only a change of the number counts, not any clock."""
        if self._all_live() and time.monotonic() - self._beaten >= BEAT_SECONDS:
            self._beat += 1
            with self._ledger.write() as tx:
                tx.set_beat(self.owner, self._beat)
            self._beaten = time.monotonic()

    def _heed_stops(self) -> None:
        """Stop the runs here whose stop was asked for through another process; the ledger passes it on."""
        for one in self._all_live():
            kept = self._ledger.run(one.run.run_id)
            if kept is not None and kept.stop_by:
                one.stop.set()

    def _is_lost(self, run: Run) -> bool:
        if run.owner == self.owner:
            return run.run_id in self._unrecorded
        if not self._owner.lives(run.owner):
            return True
        beat, now = self._ledger.beat(run.owner), time.monotonic()
        # By run, not by owner: before this run the owner may have been silent for hours with nothing to do.
        seen, since = self._silent.get(run.run_id, (None, now))
        if run.run_id not in self._silent or seen != beat:
            self._silent[run.run_id] = (beat, now)
            return False
        return now - since > self._lease

    def _take_over(self, run: Run) -> None:
        taken = replace(run, owner=self.owner, fence=run.fence + 1)
        now = instant(self._clock())
        with self._ledger.write() as tx:
            if not tx.take_over(run.run_id, taken.owner, taken.fence):
                return
            lose_executing(tx, taken, now, "its process died or fell silent while it was executing")
            cut = bool(tx.actions(run.thread_id, states=[ActionState.UNKNOWN]))
            if cut:
                tx.close(run.run_id, self.owner, RunState.UNKNOWN, now, "cut off")
                tx.set_thread(run.thread_id, Status.UNKNOWN_OUTCOME, now)
                tx.append(
                    of_thread(run, RunEndedFact(run_id=run.run_id, ended="unknown", error="cut off"), now)
                )
        self._unrecorded.discard(run.run_id)
        if not cut:
            self._enqueue(Live(taken, recovered=True))

    def _is_open(self, run_id: str) -> bool:
        run = self._ledger.run(run_id)
        return run is not None and run.state is RunState.OPEN

    def _all_live(self) -> list[Live]:
        with self._guard:
            return list(self._live.values())


def _note_progress(live: Live, moment: Progressed) -> None:
    live.progress = replace(live.progress, told=(*live.progress.told, moment.text)[-MOST_TOLD:])


def _hear(live: Live, token: Token) -> None:
    before = live.progress.text if live.message_id == token.message_id else ""
    live.message_id = token.message_id
    live.progress = replace(live.progress, text=before + token.text)


def _natural_end(live: Live, paused: Paused | None, look: Look) -> End:
    standing = (*look.waiting, *look.answered)
    if paused is not None:
        return End(RunState.PAUSED, paused, calls=look.calls, standing=standing)
    if live.stop.is_set() and look.unfinished:
        return End(RunState.STOPPED, error="Stopped by a person.", calls=look.calls, standing=standing)
    return End(RunState.ANSWERED, calls=look.calls, standing=standing)


def described(error: Exception) -> str:
    """Return what a person reads about a failed run: our own errors as they are, others with their type; no trace."""
    if isinstance(error, LedgerUnavailable):
        return error.of_a_run[:2_000]
    if isinstance(error, ReviewError):
        return str(error)[:2_000]
    return f"{type(error).__name__}: {error}"[:2_000] if str(error) else type(error).__name__


def traced(error: Exception) -> str:
    """Return the traceback of an error in an agent's code; its end, if it is very long."""
    if isinstance(error, ReviewError):
        return ""
    return "".join(traceback.format_exception(error))[-MOST_TRACED:]
