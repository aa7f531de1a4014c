"""Files that a person writes: `.env` and scenarios, with anything in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from agent import bootstrap
from agent import settings as settings_module
from agent.review.errors import InvalidScenario, ReviewError, SettingsError
from agent.scenarios.files import read_file, write_text
from agent.scenarios.format import Scenario

NAMES = [name.upper() for name in settings_module.Settings.model_fields]
WORDS: Sequence[str] = (
    *(
        "",
        "never",
        "24h",
        "0s",
        "999999d",
        "1.5h",
        "-1h",
        "none",
        "null",
        "\u0661h",
        "\u0661\u0662h",
        "1e9",
        "nan",
    ),
    *(
        "inf",
        "-0",
        "a" * 5_000,
        "/" * 5_000,
        "x\0y",
        "/dev/null",
        "/proc/self/mem",
        "/etc/passwd/x",
        ".",
        "..",
    ),
    *(
        "~",
        "~nobody/x",
        "$HOME",
        "${REVIEW_DATA}",
        "${",
        "'",
        '"open',
        "a\\",
        "#",
        " = ",
        "=",
        "demo",
        "nobody",
    ),
    *(
        "http://[1",
        "http://a:b@c",
        "http://x:99999",
        "https://x\u3002y",
        "//",
        "a,b,,a",
        ",",
        "http://localhost:-1",
    ),
    *(
        "\u202e",
        "\u200b",
        "\ud7ff",
        "[" * 2_000,
        "langgraph.json",
        "http://[::1]:80",
        "http://\u2100.example",
    ),
)
LINES = st.one_of(
    st.tuples(
        st.sampled_from([*NAMES, "", "X Y", "export A", "\u00e4"]),
        st.sampled_from(WORDS) | st.text(max_size=20),
    ).map(lambda pair: f"{pair[0]}={pair[1]}".encode("utf-8", "surrogatepass")),
    st.binary(max_size=30),
    st.sampled_from([b"\0", b"\xff\xfe", b"\xef\xbb\xbfREVIEW_MODEL=demo", b"=" * 9_000, b"A" * 100_000]),
)
ENVIRONMENTS = st.lists(LINES, max_size=6).map(b"\n".join)
"""The bytes of a `.env`."""

PIECES: Sequence[str] = (
    *(
        "scenario: x\n",
        "agent: mail\n",
        "message: /say Hello\n",
        "steps:\n",
        "expect: {}\n",
        "expect:\n",
        "  - ",
    ),
    *(
        "    ",
        "- close: x\n",
        "  - wait: 25h\n",
        "  - wait: 99999999d\n",
        "  - decisions: [{type: approve}]\n",
        "&a ",
        "*a ",
    ),
    *(
        "!!python/object/apply:os.system [x]",
        "!!set {a}",
        "!!binary x",
        "<<: ",
        "? ",
        "| \n",
        "> \n",
        "%YAML 9.9\n",
    ),
    *(
        "---\n",
        "...\n",
        "\t",
        "\0",
        "{",
        "}",
        "[",
        "]",
        "'",
        '"',
        "\\x",
        '"\\ud800"',
        "\u2028",
        "\ufeff",
        "1e999",
        ".inf",
    ),
    *(
        "9" * 5_000,
        "[" * 500,
        "{a: " * 500,
        "pattern: (",
        "  answer: {pattern: '(a+)+$'}\n",
        "status: nonsense\n",
    ),
    *("null: 1\n", "1: 2\n", "expect: {executions: [{tool: a, args: {x: {any: true}}}]}\n", "never: [{}]\n"),
    *(
        "&x [*x, *x]\n",
        "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
        "replies: [{text: x}]\n",
        "model: recorded\n",
    ),
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda one: (
        st.lists(one, max_size=3)
        | st.dictionaries(st.text(max_size=6) | st.sampled_from(list(Scenario.model_fields)), one, max_size=4)
    ),
    max_leaves=10,
)
SCENARIOS = st.one_of(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=14).map(
        lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass")
    ),
    _values.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries({"scenario": _values, "agent": _values, "message": _values, "expect": _values}).map(
        lambda value: json.dumps(value).encode()
    ),
    st.binary(max_size=60),
)
"""The bytes of a scenario file."""


def read_environment(folder: Path, content: bytes) -> None:
    """The settings, and a console that looks at what they name, are there or refused in words. The process is in `folder`."""
    (folder / ".env").write_bytes(content)
    try:
        settings = settings_module.read()
    except SettingsError as error:
        _check_said(error)
        return
    places = (settings.review_data, settings_module.anchor_path(settings), settings_module.key_path(settings))
    if all(one.resolve().is_relative_to(folder) for one in places):
        try:
            bootstrap.open_console(settings, at_work=False).close()
        except ReviewError as error:
            _check_said(error)


def _check_said(error: ReviewError) -> None:
    said = str(error)
    assert said.strip()
    assert "Traceback" not in said


def read_scenario(path: Path, content: bytes) -> None:
    """The file is read, and written so that it is read as the same; or it is refused, with the line."""
    path.write_bytes(content)
    try:
        found = read_file(path)
    except InvalidScenario as error:
        said = str(error)
        assert path.name in said
        assert "line" in said or any(one in said for one in WITHOUT_A_LINE), said
        return
    path.write_text(write_text(found), encoding="utf-8")
    assert read_file(path) == found


WITHOUT_A_LINE = ("UTF-8", "utf-8", "special characters", "position")
"""Faults of the bytes themselves, which have a position."""
