"""Run several scenarios in sequence in a background thread, which a page can follow and a person can stop."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.review.errors import InvalidScenario
from agent.scenarios.comparing import Mismatch
from agent.scenarios.files import read_file
from agent.scenarios.running import Follow, Report, run

UNREAD = "It is green once the file can be read, and everything is as it expects."


def run_file(
    path: Path, agents: Path, *, follow: Follow = lambda step: None, stop: threading.Event
) -> Report:
    """Run one file and return its report; a file that cannot be read is a fault like any other."""
    try:
        scenario = read_file(path)
    except InvalidScenario as error:
        return Report(path.name, str(path), (Mismatch(None, "the file", "a scenario", str(error), UNREAD),))
    return run(scenario, agents, path=str(path), follow=follow, stop=stop)


class Batch:
    """A running or finished batch. Its fields may be read while it runs."""

    def __init__(self, paths: Sequence[Path], agents: Path) -> None:
        self.paths, self._agents = tuple(paths), agents
        self.reports: tuple[Report, ...] = ()
        self.at = ""
        """The file that runs now, and its step; "" when the batch is over."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="scenarios", daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Stop the batch soon; scenarios that did not run are not reported."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the batch is over; return False if it is not after `seconds`."""
        self._thread.join(seconds)
        return self.over

    def _work(self) -> None:
        for path in self.paths:
            if self._stop.is_set():
                break

            def follow(step: int, name: str = path.name) -> None:
                self.at = f"{name}, step {step}" if step else name

            follow(0)
            report = run_file(path, self._agents, follow=follow, stop=self._stop)
            self.reports = (*self.reports, report)
            if not report.stopped:
                _reports[str(path)] = report
        self.at = ""


_reports: dict[str, Report] = {}
_turn = threading.Lock()
_latest: Batch | None = None


def start(paths: Sequence[Path], agents: Path) -> Batch:
    """Return the running batch, or start one if none runs."""
    global _latest
    with _turn:
        if _latest is None or _latest.over:
            _latest = Batch(paths, agents)
        return _latest


def latest() -> Batch | None:
    """Return the batch that this process started last, if any."""
    return _latest


def reports() -> Mapping[str, Report]:
    """Return the last complete report on each file that this process has run, by path."""
    return dict(_reports)


def forget() -> None:
    """Stop the running batch, and drop all reports."""
    global _latest
    with _turn:
        if _latest is not None:
            _latest.stop()
            _latest.wait()
        _latest = None
        _reports.clear()
