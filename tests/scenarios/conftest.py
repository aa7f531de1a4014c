"""Every `*.scenario.yaml` here is a test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest._code.code import TracebackStyle

from agent.scenarios.batch import run_file
from agent.scenarios.files import ENDING
from agent.scenarios.reporting import in_words

ROOT = Path(__file__).parents[2]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.endswith(ENDING):
        return None
    return ScenarioFile.from_parent(parent, path=file_path)


class ScenarioFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        yield ScenarioItem.from_parent(self, name=self.path.name.removesuffix(ENDING))


class ScenarioFailed(Exception):
    """What a scenario expected is not what came."""


class ScenarioItem(pytest.Item):
    def runtest(self) -> None:
        report = run_file(self.path, ROOT / "langgraph.json", stop=threading.Event())
        if not report.passed:
            raise ScenarioFailed("\n".join(map(in_words, report.faults)))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: TracebackStyle | None = None
    ) -> str:
        if isinstance(excinfo.value, ScenarioFailed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"scenario {self.name}"
