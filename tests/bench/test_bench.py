"""Every figure is there, whatever it is: how fast a machine is, is no test's matter."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.bench import agent_server, figures, subjects, waiting
from tests.bench.figures import Amount, Figure, least, most
from tests.bench.scale import QUICK

FIGURES = {"turns": 6, "deciding": 1, "queue": 16, "trail": 3}
"""The subjects without a browser or a crowd, and how many figures each has; the others are left to a quiet machine."""


@pytest.mark.process
@pytest.mark.parametrize("subject", FIGURES)
def test_every_figure_of_a_subject_is_measured(subject: str, tmp_path: Path) -> None:
    found = list(subjects.ALL[subject](QUICK, tmp_path))
    assert len(found) == FIGURES[subject]
    for figure in found:
        if not figure.why_not:
            assert figure.value is not None
            assert figure.value >= 0
        assert json.loads(json.dumps(figure.kept()))["verdict"] == figure.verdict
    assert len(figures.table(found).splitlines()) == len(found) + 2


@pytest.mark.parametrize(
    ("figure", "value", "verdict"),
    [
        (Figure("a", Amount(3, "ms"), most(1.5), "b", Amount(2, "ms")), 1.5, "reached"),
        (Figure("a", Amount(4, "ms"), most(1.5), "b", Amount(2, "ms")), 2, "not reached"),
        (Figure("a", Amount(1, "/s"), least(0.25), "b", Amount(4, "/s")), 0.25, "reached"),
        (Figure("a", Amount(6, "ms"), most(5)), 6, "not reached"),
        (Figure("a", Amount(0, ""), most(0)), 0, "reached"),
        (Figure("a", Amount(6, "ms"), None, "b", Amount(2, "ms")), 3, "for comparison"),
        (Figure("a", None, most(5), "b", why_not="no b"), None, "not measured: no b"),
    ],
)
def test_a_figure_is_held_against_its_target(figure: Figure, value: float | None, verdict: str) -> None:
    assert (figure.value, figure.verdict) == (value, verdict)
    assert verdict in figure.row()


def test_without_the_command_the_figures_say_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = list(waiting.over_http(QUICK, tmp_path))
    assert [figure.value for figure in found] == [None, None]
    for figure in found:
        assert agent_server.INSTALL in figure.verdict
        assert "there is no `langgraph` command" in figure.verdict


def test_a_command_that_does_not_serve_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / agent_server.COMMAND
    command.write_text("#!/bin/sh\necho \"Error: No such command '$1'.\" >&2\nexit 2\n", encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    for figure in waiting.over_http(QUICK, tmp_path):
        assert figure.value is None
        assert "ended at its start (Error: No such command 'dev'.)" in figure.verdict
        assert agent_server.INSTALL in figure.verdict
