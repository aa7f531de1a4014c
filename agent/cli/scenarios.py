"""`python -m agent scenarios`: run scenarios, and print the schema of their files."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Annotated

import typer

from agent import settings as settings_module
from agent.cli import output
from agent.review.errors import ReviewError, SettingsError
from agent.scenarios import reporting
from agent.scenarios.batch import run_file
from agent.scenarios.files import found, schema_text
from agent.scenarios.running import Report

app = typer.Typer(help="Scenarios: regression tests of agents under review.", no_args_is_help=True)


@app.command()
def run(
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders with *.scenario.yaml in them.")],
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit XML report to this file.")] = None,
) -> None:
    """Run scenarios, each with its own record and world; exit code 1 if one of them fails."""
    try:
        files, agents = list(found(paths)), settings_module.read().review_agents
    except ReviewError as error:
        typer.echo(output.literal(str(error)), err=True)
        raise typer.Exit(2 if isinstance(error, SettingsError) else 1) from None
    if not files:
        raise typer.BadParameter("There is no *.scenario.yaml in these folders.")
    reports = [_shown(run_file(path, agents, stop=threading.Event())) for path in files]
    if junit is not None:
        junit.write_text(reporting.junit(reports), encoding="utf-8")
    failed = sum(not one.passed for one in reports)
    typer.echo(f"{len(reports) - failed} passed, {failed} failed.")
    raise typer.Exit(1 if failed else 0)


@app.command()
def schema() -> None:
    """Print the JSON schema with which editors complete and check scenarios."""
    typer.echo(schema_text(), nl=False)


def _shown(report: Report) -> Report:
    for line in reporting.lines(report):
        typer.echo(output.literal(line))
    return report
