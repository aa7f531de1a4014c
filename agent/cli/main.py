"""The command line, `python -m agent`. It works on the same data folder as a running server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from agent import bootstrap
from agent import settings as settings_module
from agent.api import PREFIX, responses, server
from agent.bootstrap import Opened
from agent.cli import doctor, exported, scenarios
from agent.cli import output as cli_output
from agent.console import Console
from agent.ports import Sought
from agent.review import exports, shapes
from agent.review.actions import Action, AskedAction
from agent.review.errors import (
    InvalidDecision,
    LedgerUnavailable,
    RecordDamaged,
    ReviewChanged,
    ReviewError,
    SettingsError,
)
from agent.review.events import Anchor, kept_anchor
from agent.review.people import check_name
from agent.review.text.counts import counted
from agent.review.threads import Run
from agent.review.verify_chain import Verification

ENDINGS = "Exit codes: 0 done, 1 refused or failed, 2 wrong usage or settings."
GRACE = 5
"""Seconds a closing server gives to waiting requests; their runs go on in the next process."""

app = typer.Typer(
    help=f"The review console from the command line. {ENDINGS}",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
audit_app = typer.Typer(help="The audit trail.", no_args_is_help=True)
app.add_typer(audit_app, name="audit")
app.add_typer(scenarios.app, name="scenarios")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, in the shapes of the HTTP API.")]
By = Annotated[str | None, typer.Option(help="Who acts; by default REVIEW_REVIEWER.")]


class DecisionKind(StrEnum):
    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    RESPOND = "respond"


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


@app.command("serve-api")
def serve_api(
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port to listen on.")] = 8600,
) -> None:
    """Serve the HTTP API alone, without the pages, to this machine."""
    import uvicorn

    with _refusals(as_json=False):
        bootstrap.opened()
    typer.echo(f"http://127.0.0.1:{port}{PREFIX}/docs", err=True)
    uvicorn.run(
        server.standalone(), host="127.0.0.1", port=port, log_level="warning", timeout_graceful_shutdown=GRACE
    )


@app.command()
def chat(
    message: Annotated[str, typer.Argument(help="What the agent should do; - reads it from standard input.")],
    thread: Annotated[
        str | None, typer.Option(help="The thread; an unknown or absent id starts a new one.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="The agent of a new thread.")] = None,
    model: Annotated[str | None, typer.Option(help="The model of a new thread.")] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Send one message, wait, and print the review or the answer."""
    text = sys.stdin.read() if message == "-" else message
    with _refusals(as_json), _console() as opened:
        who = _who(by, opened)
        run = opened.console.send(text, by=who, thread_id=thread, agent=agent, model=model)
        _await(opened, run, who, as_json)


@app.command()
def reviews(
    agent: Annotated[str, typer.Option(help="Only this agent's.")] = "",
    tool: Annotated[str, typer.Option(help="Only those with a call of this tool.")] = "",
    thread: Annotated[str, typer.Option(help="Only this thread's.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1_000)] = 50,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """List the reviews that wait, oldest first."""
    with _refusals(as_json), _console(at_work=False) as opened:
        found = opened.console.queries.queue(
            limit=limit, sought=Sought(agent=agent, tool=tool, thread_id=thread)
        )
        opened.console.given.give(found, to=_who(by, opened), face="cli")
        if as_json:
            _print_json({"reviews": [responses.queued(opened.console, one) for one in found]})
            return
        typer.echo(
            "\n\n".join(cli_output.review(one, opened.console.queries.denial) for one in found)
            or "Nothing waits for a decision."
        )


@app.command()
def decide(
    thread: Annotated[str, typer.Argument(help="The thread whose review it is.")],
    kind: Annotated[DecisionKind | None, typer.Argument(help="The decision on its one action.")] = None,
    message: Annotated[
        str | None, typer.Option(help="The reason of a reject, or the answer of a respond.")
    ] = None,
    args: Annotated[str | None, typer.Option(help="For an edit: all arguments, as a JSON object.")] = None,
    tool: Annotated[str | None, typer.Option(help="For an edit to another tool: its name.")] = None,
    comment: Annotated[str | None, typer.Option(help="For the record only.")] = None,
    digest: Annotated[
        str | None,
        typer.Option(help="The digest that was shown; if something else waits, the decision is refused."),
    ] = None,
    decisions: Annotated[
        str | None,
        typer.Option(help="A file with a JSON list, one decision per action; - reads standard input."),
    ] = None,
    review: Annotated[str | None, typer.Option(help="The review's id, if several wait.")] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Decide a review, wait, and print the next review or the answer.

    Without --digest and --review, decide the one that `chat`, `reviews` or `decide` last printed for you on the thread.
    """
    if (kind is None) == (decisions is None):
        raise typer.BadParameter("Give either a decision, or --decisions with one per action.")
    with _refusals(as_json), _console() as opened:
        if decisions is not None:
            given = _json(sys.stdin.read() if decisions == "-" else _text(decisions), "--decisions")
        else:
            one = {"type": str(kind), "message": message, "comment": comment, "shown_digest": digest}
            edited = _edited(opened.console, thread, args, tool) if kind is DecisionKind.EDIT else None
            given = [{**one, "edited_action": edited}]
        who = _who(by, opened)
        run = opened.console.decide(thread, given, by=who, review_id=review, face="cli")
        _await(opened, run, who, as_json)


@audit_app.command("export")
def audit_export(
    form: Annotated[
        Format, typer.Option("--format", help="jsonl loses nothing; csv is for spreadsheets.")
    ] = Format.JSONL,
    output: Annotated[
        Path | None, typer.Option(help="The file to write; by default standard output.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Include what looks like a secret; by default it is masked.")
    ] = False,
) -> None:
    """Export the complete trail."""
    with _refusals(as_json=False), _console(at_work=False) as opened:
        console = opened.console
        lines = (
            exports.as_csv(console.trail.whole())
            if form is Format.CSV
            else console.trail.exported(values=values)
        )
        if output is None:
            for line in lines:
                sys.stdout.buffer.write(line.encode())
            sys.stdout.buffer.flush()
            return
        with output.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)


@audit_app.command("verify")
def audit_verify(
    file: Annotated[
        Path | None, typer.Argument(help="An exported trail (JSON lines) to check instead.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="For an exported trail: the file with the key of its record."),
    ] = None,
    anchor: Annotated[
        list[str] | None,
        typer.Option(help="A line from `audit anchor` that was kept elsewhere; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the chain of the complete trail against its anchors; exit code 1 if it fails or cannot be checked."""
    try:
        kept = [kept_anchor(line) for line in anchor or ()]
    except ValueError as error:
        raise typer.BadParameter(f"--anchor: {error}") from None
    with _refusals(as_json):
        found = _verify(kept) if file is None else _verify_file(file, key, kept)
    if as_json:
        _print_json(vars(found))
    else:
        typer.echo(cli_output.verification(found))
    raise typer.Exit(0 if found.ok else 1)


@audit_app.command("anchor")
def audit_anchor() -> None:
    """Print the present end of the trail, as a line to keep elsewhere and give to `audit verify --anchor` later."""
    with _refusals(as_json=False), _console(at_work=False) as opened:
        typer.echo(opened.console.trail.head() or "Nothing has been recorded yet.")


@audit_app.command("erase")
def audit_erase(
    numbers: Annotated[list[int], typer.Argument(help="The numbers of the events.")],
    why: Annotated[str, typer.Option(help="The reason, for the record.")],
    by: By = None,
) -> None:
    """Remove the data of events for good. The events stay; who erased it, when and why is recorded.

    The thread's messages, its actions and its agent's state are not touched.
    """
    with _refusals(as_json=False), _console(at_work=False) as opened:
        opened.console.trail.erase(numbers, by=by or opened.settings.review_reviewer, why=why)
        opened.console.trail.anchor()
    count = len(set(numbers))
    typer.echo(f"Erased the data of {counted(count, 'event')}.")


def _verify(kept: Sequence[Anchor]) -> Verification:
    with _console(at_work=False) as opened:
        return opened.console.trail.verify(kept=kept)


def _verify_file(path: Path, key: Path | None, kept: Sequence[Anchor]) -> Verification:
    try:
        return exported.verify_file(path, key, kept)
    except (OSError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error


@app.command("doctor")
def examine(as_json: AsJson = False) -> None:
    """Check that everything the console needs is present and intact, and say what to fix."""
    findings = list(doctor.examine())
    if as_json:
        _print_json({"well": all(one.well for one in findings), "findings": [vars(one) for one in findings]})
    else:
        for one in findings:
            typer.echo(f"{'ok ' if one.well else 'FIX'} {one.about}: {cli_output.literal(one.said)}")
    raise typer.Exit(0 if all(one.well for one in findings) else 1)


@contextmanager
def _console(*, at_work: bool = True) -> Iterator[Opened]:
    """Open a console in this process; unless `at_work`, it starts no runs and takes none over."""
    try:
        opened = bootstrap.open_console(settings_module.read(), at_work=at_work)
    except LedgerUnavailable as error:
        # Nothing was started yet, so an unusable record is reported like a wrong setting.
        raise SettingsError([str(error)]) from error
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def _refusals(as_json: bool) -> Iterator[None]:
    """Print a refusal on standard error, and exit with its code."""
    try:
        yield
    except ReviewError as error:
        typer.echo(
            _refused_as_json(error) if as_json else cli_output.refusal(error, _not_looked_up), err=True
        )
        raise typer.Exit(2 if isinstance(error, SettingsError) else 1) from None


def _who(by: str | None, opened: Opened) -> str:
    return opened.settings.review_reviewer if by is None else check_name(by)


def _not_looked_up(agent: str, action: Action | AskedAction) -> None:
    """Return no denial: the console is closed by now, and deciding will report what its policies deny."""


def _refused_as_json(error: ReviewError) -> str:
    body: dict[str, Any] = {"detail": str(error), "code": error.code}
    if isinstance(error, ReviewChanged | RecordDamaged) and error.review is not None:
        body["pending_review"] = shapes.pending_review(error.review, _not_looked_up)
    return json.dumps(body)


def _await(opened: Opened, run: Run, who: str, as_json: bool) -> None:
    """Wait for the run in this process and print its result; exit with code 1 unless it answered or waits."""
    opened.console.wait(run)
    found = responses.answer(opened.console, run.thread_id, to=who, face="cli")
    if as_json:
        _print_json(found)
    else:
        typer.echo(
            cli_output.answer(
                found, opened.console.queries.view(run.thread_id).reviews, opened.console.queries.denial
            )
        )
    if found["status"] not in ("idle", "waiting"):
        raise typer.Exit(1)


def _edited(console: Console, thread: str, args: str | None, tool: str | None) -> dict[str, Any]:
    if args is None:
        raise InvalidDecision("An edit needs all arguments. Give them with --args.")
    waiting = [action.tool for review in console.queries.view(thread).reviews for action in review.actions]
    return {"name": tool or (waiting or [""])[0], "args": _json(args, "--args")}


def _json(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option} is not JSON: {error}") from None


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} cannot be read: {error}") from None


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2))
