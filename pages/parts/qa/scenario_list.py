"""The list of scenarios. They run on the server's own threads: a page starts a batch, follows it, or stops it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from agent import bootstrap
from agent.scenarios import batch
from agent.scenarios.batch import Batch
from agent.scenarios.reporting import place, ways_to_green
from agent.scenarios.running import Report
from agent.scenarios.shelf import on_shelf, saved_in
from pages.parts.common.literal import line, literal, whole
from pages.parts.state import address, flash, widget_keys

EVERY = 0.5  # seconds between two polls of a batch
SHORT = 1.5  # seconds a click waits on the batch itself, so that a quick one is drawn at once
SCENARIO = "scenario"
"""The query parameter with the file whose report and text are open."""


def scenario_list() -> None:
    """Draw every scenario with its last result, next to the chosen one."""
    paths = on_shelf(bootstrap.opened())
    if not paths:
        st.caption("There is no scenario yet. Open a thread on the Chat page and save it as one.")
        return
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _run_all(paths)
        reports = batch.reports()
        for path in paths:
            _row(path, reports.get(str(path)))
        st.caption("Saved scenarios, and any file ending in .scenario.yaml that you put there, are read from")
        literal(str(saved_in(bootstrap.opened())))
    with right:
        chosen = [path for path in paths if path.name == address.in_address(SCENARIO)]
        if chosen:
            _open(chosen[0], reports.get(str(chosen[0])))
        else:
            st.caption("Choose a scenario to see what it expects and what its last run gave.")


def _run_all(paths: Sequence[Path]) -> None:
    latest = batch.latest()
    if latest is not None and not latest.over:
        _progress()
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            f"Run all {len(paths)}",
            key="run-all",
            type="primary",
            icon=":material/play_arrow:",
            on_click=run_scenarios,
            args=(paths,),
        )
        if latest is not None:
            _summary(paths, latest)


def _summary(paths: Sequence[Path], latest: Batch) -> None:
    known = [report for path in paths if (report := batch.reports().get(str(path)))]
    failed = sum(bool(one.faults) for one in known)
    passed = len(known) - failed
    st.badge(f"{passed} passed", color="green" if passed else "gray", icon=":material/check_circle:")
    if failed:
        st.badge(f"{failed} failed", color="red", icon=":material/cancel:")
    if left := len(latest.paths) - sum(not one.stopped for one in latest.reports):
        st.badge(f"{left} not run: stopped", color="gray", icon=":material/stop_circle:")


@st.fragment(run_every=EVERY)
def _progress() -> None:
    """Show how far the batch is; redraw the page when it is over."""
    latest = batch.latest()
    if latest is None or latest.over:
        flash.keep_flash()
        st.rerun()
        return
    st.progress(len(latest.reports) / len(latest.paths), f"{len(latest.reports)} of {len(latest.paths)} run")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        line(latest.at, width="content")
        st.button("Stop", key="stop-batch", on_click=latest.stop)


def _row(path: Path, report: Report | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        _mark(report)
        line(path.name.removesuffix(".scenario.yaml"), width="content")
        st.button(
            "Open", key=widget_keys.key("open", path.name), type="tertiary", on_click=_choose, args=(path,)
        )
        st.button(
            "Run",
            key=widget_keys.key("run", path.name),
            type="tertiary",
            on_click=run_scenarios,
            args=([path],),
        )


def _mark(report: Report | None) -> None:
    if report is None:
        st.badge("not run", color="gray", icon=":material/radio_button_unchecked:")
    elif report.passed:
        st.badge("passed", color="green", icon=":material/check_circle:")
    else:
        st.badge("failed", color="red", icon=":material/cancel:")


def _open(path: Path, report: Report | None) -> None:
    with st.container(border=True, key="scenario-report"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _mark(report)
            line(report.name if report else path.name)
        if report is not None:
            _faults(report)
        red = report is not None and not report.passed
        fold = st.expander(
            "The file", expanded=not red, key=widget_keys.key("file", path.name, red), on_change="rerun"
        )
        if fold.open:
            with fold:
                whole(path.read_text(encoding="utf-8", errors="replace").removesuffix("\n"))
        st.download_button(
            "Download it", path.read_bytes, file_name=path.name, key="download-scenario", on_click="ignore"
        )


def _faults(report: Report) -> None:
    for fault in report.faults:
        line(f"{place(fault).capitalize()}: {fault.about}")
        expected, got = st.columns(2, gap="small")
        with expected:
            st.caption("Expected")
            literal(fault.expected)
        with got:
            st.caption("What happened")
            literal(fault.got)
    for way in ways_to_green(report):
        line(way)


def _choose(path: Path) -> None:
    address.put_in_address(SCENARIO, path.name)


def run_scenarios(paths: Sequence[Path]) -> None:
    """Start these scenarios and wait `SHORT` seconds for a quick batch; a single scenario is also opened."""
    started = batch.start(paths, bootstrap.opened().settings.review_agents)
    if tuple(paths) != started.paths:
        flash.flash("warning", "Scenarios are running already. Wait until they are done, or stop them.")
        return
    started.wait(SHORT)
    if len(paths) == 1:
        _choose(paths[0])
