"""Report on scenarios: as text for a person, and as JUnit XML for a build server."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from agent.scenarios.comparing import Mismatch
from agent.scenarios.running import Report

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def place(fault: Mismatch) -> str:
    return "at the end" if fault.step is None else f"step {fault.step}"


def ways_to_green(report: Report) -> list[str]:
    """Return what to do for the scenario to become green, without repeats."""
    return list(dict.fromkeys(fault.green for fault in report.faults))


def in_words(fault: Mismatch) -> str:
    """Write a fault as text, with the expectation above the actual result."""
    return f"{place(fault)}: {fault.about}\n  expected {fault.expected}\n  got      {fault.got}"


def lines(report: Report) -> Iterator[str]:
    """Yield a report's lines for a terminal. The caller escapes control characters."""
    word = "ok    " if report.passed else "stop  " if report.stopped else "FAILED"
    yield f"{word} {report.name} ({report.seconds:.1f} s)"
    for fault in report.faults:
        yield from (f"       {line}" for line in in_words(fault).splitlines())
    yield from (f"       {line}" for line in ways_to_green(report))


def junit(reports: Sequence[Report]) -> str:
    """Return the reports as JUnit XML."""
    suite = ET.Element(
        "testsuite",
        name="scenarios",
        tests=str(len(reports)),
        failures=str(sum(bool(one.faults) for one in reports)),
        skipped=str(sum(one.stopped for one in reports)),
        errors="0",
        time=f"{sum(one.seconds for one in reports):.3f}",
    )
    for one in reports:
        case = ET.SubElement(
            suite, "testcase", name=_xml(one.name), classname=_xml(one.path), time=f"{one.seconds:.3f}"
        )
        if one.faults:
            text = "\n".join(map(in_words, one.faults))
            ET.SubElement(case, "failure", message=_xml(one.faults[0].about)).text = _xml(text)
        elif one.stopped:
            ET.SubElement(case, "skipped")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Replace characters that XML cannot hold by their numbers."""
    return NOT_XML.sub(lambda found: f"\\u{{{ord(found[0]):04x}}}", text)
