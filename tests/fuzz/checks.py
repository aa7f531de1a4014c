"""What holds whatever is drawn: one check for each kind of file, run a few times or many."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.forked import ROOT
from tests.fuzz import checkpoints, damage, files, looking, pages
from tests.fuzz.checkpoints import Change
from tests.fuzz.filled import copied, fill
from tests.fuzz.pages import Page


class Bench:
    """A folder that was filled once, and copies of it, each with something done to it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.filled = folder, folder / "filled"
        self.filled.mkdir()
        fill(self.filled)
        for name in ("langgraph.json", "agent"):  # what settings name by default
            (folder / name).symlink_to(ROOT / name)
        self.ledger = self.filled / "data" / "ledger.sqlite"

    def environment(self, times: int, number: int) -> None:
        """Any `.env` is read, or refused in words."""
        with _at_home(self.folder):
            _many(files.ENVIRONMENTS, lambda one: files.read_environment(self.folder, one), times, number)

    def scenarios(self, times: int, number: int) -> None:
        """Any scenario file is read, or refused with its line."""
        path = self.folder / "drawn.scenario.yaml"
        _many(files.SCENARIOS, lambda one: files.read_scenario(path, one), times, number)

    def rows(self, times: int, number: int) -> None:
        """Over any rows the API answers without a 500, and the command line without a trace."""

        def check(drawn: tuple[list[damage.Damage], list[str], tuple[str, ...]]) -> None:
            done, gets, words = drawn
            check_none(self.looked_at(done, gets, [words]))

        gets = st.lists(st.sampled_from(looking.GETS), min_size=12, max_size=12, unique=True)
        drawn = st.tuples(self._damages(), gets, st.sampled_from(looking.COMMANDS))
        _many(drawn, check, times, number)

    def pages(self, times: int, number: int) -> None:
        """Over any rows every page opens."""

        def check(drawn: tuple[list[damage.Damage], list[Page]]) -> None:
            check_none(self.drawn(drawn[0], [pages.PAGES[0], *drawn[1]]))

        some = st.lists(st.sampled_from(pages.PAGES[1:]), min_size=3, max_size=3, unique=True)
        _many(st.tuples(self._damages(), some), check, times, number)

    def checkpoints(self, times: int, number: int) -> None:
        """Whatever the checkpoints of a thread are, none of it runs, its page says so, and others go on."""

        def check(drawn: tuple[str, list[Change]]) -> None:
            check_none(self.written_over(*drawn))

        drawn = st.tuples(st.sampled_from(checkpoints.VICTIMS), checkpoints.changes())
        _many(drawn, check, times, number)

    def looked_at(
        self, done: Sequence[damage.Damage], gets: Sequence[str], words: Sequence[tuple[str, ...]]
    ) -> list[str]:
        """What fails of the API and the command line over these damages."""
        with self._damaged(done) as folder:
            opened, found = looking.opened_or_refused(folder, at_work=False)
            if opened is not None:
                found += looking.api(opened, gets)
                opened.close()
            return found + looking.commands(folder, words)

    def drawn(self, done: Sequence[damage.Damage], wanted: Sequence[Page]) -> list[str]:
        """What fails of these pages over these damages."""
        with self._damaged(done) as folder:
            return pages.pages(folder, wanted)

    def written_over(self, thread_id: str, done: Sequence[Change]) -> list[str]:
        """What is wrong where a thread's checkpoints were written over."""
        with self.copied() as folder:
            checkpoints.apply(folder / "data" / "checkpoints.sqlite", thread_id, done)
            mark = Path(checkpoints.MARK)
            mark.unlink(missing_ok=True)
            found = checkpoints.faults(folder, thread_id)
            if mark.exists():
                mark.unlink()
                found.append("bytes of a checkpoint were run")
            return found

    def _damages(self) -> st.SearchStrategy[list[damage.Damage]]:
        return st.lists(damage.damages(self.ledger), min_size=1, max_size=4)

    @contextmanager
    def _damaged(self, done: Sequence[damage.Damage]) -> Iterator[Path]:
        with self.copied() as folder:
            damage.apply(folder / "data" / "ledger.sqlite", done)
            yield folder

    @contextmanager
    def copied(self) -> Iterator[Path]:
        """A copy of the filled folder."""
        logging.disable(logging.CRITICAL)  # what the console logs of all this is no news
        try:
            with copied(self.filled, self.folder / "drawn") as folder:
                yield folder
        finally:
            logging.disable(logging.NOTSET)


CHECKS: Mapping[str, Callable[[Bench, int, int], None]] = {
    "environment": Bench.environment,
    "scenarios": Bench.scenarios,
    "rows": Bench.rows,
    "pages": Bench.pages,
    "checkpoints": Bench.checkpoints,
}


def check_none(faults: Sequence[str]) -> None:
    """Raise AssertionError with every fault, if there are any."""
    if faults:
        raise AssertionError("\n\n".join(faults))


def _many(strategy: st.SearchStrategy[Any], check: Callable[[Any], None], times: int, number: int) -> None:
    """Check as many draws as are wanted; the seed's number gives the same ones again."""
    checks = list(HealthCheck)
    bound = settings(
        max_examples=times,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # what is drawn is small, and to make it smaller takes minutes
        suppress_health_check=checks,
        report_multiple_bugs=False,
    )
    seed(number)(bound(given(strategy)(check)))()


@contextmanager
def _at_home(folder: Path) -> Iterator[None]:
    """Have this process in the folder, with nothing set but what a `.env` there says."""
    before, kept = Path.cwd(), dict(os.environ)
    for name in files.NAMES:
        os.environ.pop(name, None)
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(kept)


@contextmanager
def bench() -> Iterator[Bench]:
    """A bench on a folder of its own, taken away in the end."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-")).resolve()
    try:
        yield Bench(folder)
    finally:
        shutil.rmtree(folder)
