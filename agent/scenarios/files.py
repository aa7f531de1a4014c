"""Read and write scenarios as YAML files in which plain values mean what they mean in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from agent.review.arguments.argument_faults import cut
from agent.review.errors import InvalidScenario
from agent.scenarios.format import Scenario, json_schema

ENDING = ".scenario.yaml"
SCHEMA_NAME = "scenario.schema.json"
HEADING = f"# yaml-language-server: $schema={SCHEMA_NAME}\n"
"""The line by which editors find the schema, which is next to the file."""
MAX_FILE = 5_000_000
"""The most characters of a file, with its aliases expanded."""
DEEPEST = 120
"""The most levels of nesting: the arguments of a call may have 100, and are themselves a few levels down."""
WIDTH = 110
MOST_PROBLEMS = 100
"""The most problems of one file that are reported."""
TAGS = (None, "!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")

# YAML's own rules would read `no` as false, 10:30 as 630 and 2030-01-01 as a date. Here these are text.
PLAIN = (
    ("tag:yaml.org,2002:null", r"~|null|", ["~", "n", ""]),
    ("tag:yaml.org,2002:bool", r"true|false", ["t", "f"]),
    ("tag:yaml.org,2002:int", r"-?(?:0|[1-9]\d*)", list("-0123456789")),
    ("tag:yaml.org,2002:float", r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", list("-0123456789")),
)


class _Reader(yaml.CSafeLoader):
    """A loader of what `_Writer` writes, which refuses a repeated key."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names: set[str] = set()
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if not isinstance(name, str):
                raise _misplaced(key, f"{cut(repr(name))} is not a name; put it in quotation marks")
            if name in names:
                raise _misplaced(key, f"{cut(repr(name))} appears twice")
            names.add(name)
        return super().construct_mapping(node, deep)


class _Writer(yaml.SafeDumper):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, _form, _first in PLAIN:
    for _side in (_Reader, _Writer):
        _side.add_implicit_resolver(_tag, re.compile(rf"(?:{_form})\Z"), _first)


def _text(writer: _Writer, text: str) -> yaml.Node:
    """Write text of several lines as a block if a block holds it exactly, and invisible characters as escapes."""
    lines = text.split("\n")
    is_drawn = all(line.isprintable() for line in lines)
    is_block = is_drawn and len(lines) > 1 and all(line == line.rstrip() for line in lines)
    style = "|" if is_block else None if is_drawn else '"'
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _integer(reader: _Reader, node: yaml.ScalarNode) -> int:
    try:
        return int(node.value)
    except ValueError:  # Python refuses more than 4,300 digits
        problem = f"an integer of {len(node.value):,} digits is not accepted; put it in quotation marks"
        raise _misplaced(node, problem) from None


_Writer.add_representer(str, _text)
_Reader.add_constructor("tag:yaml.org,2002:int", _integer)


def _misplaced(node: yaml.Node | yaml.Event, problem: str) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)  # type: ignore[arg-type]  # C has its own


def read_text(text: str, name: str) -> Scenario:
    """Parse a scenario. Raises `InvalidScenario`, which names every place that is wrong."""
    if len(text) > MAX_FILE:
        raise InvalidScenario(name, [f"it has {len(text):,} characters; {MAX_FILE:,} are the most"])
    try:
        _check_bounds(yaml.parse(text, _Reader))
        return _scenario(text, name)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise InvalidScenario(name, [line + " ".join(str(error.problem).split())]) from None
    except yaml.YAMLError as error:
        raise InvalidScenario(name, [" ".join(str(error).split())]) from None


def _scenario(text: str, name: str) -> Scenario:
    reader = _Reader(text)
    node = reader.get_single_node()
    try:
        return Scenario.model_validate(None if node is None else reader.construct_document(node))
    except ValidationError as error:
        problems = [
            f"line {_line(node, one['loc'])}: {_problem(one)}" for one in error.errors()[:MOST_PROBLEMS]
        ]
        raise InvalidScenario(name, problems) from None
    except RecursionError:
        raise InvalidScenario(name, ["it is nested too deeply"]) from None


def _check_bounds(events: Iterable[yaml.Event]) -> None:
    """Raise `YAMLError`, with the line, for nesting that is too deep or aliases that expand to too much.

    Tags are refused: one could name a Python type, or a kind of number that takes very long to parse.
    """
    opened: list[tuple[str | None, int]] = []
    sizes: dict[str | None, int] = {}
    size = 0
    for event in events:
        tag = getattr(event, "tag", None)
        if tag not in TAGS:
            raise _misplaced(
                event,
                f"the tag {cut(str(tag))} is not accepted here; write plain JSON values, in quotes if text",
            )
        match event:
            case yaml.AliasEvent():
                if event.anchor not in sizes:  # it is inside what it names, or names nothing
                    raise _misplaced(
                        event,
                        f"the alias {cut(str(event.anchor))} names nothing that is complete; write it out",
                    )
                size += sizes[event.anchor]
            case yaml.ScalarEvent():
                size += 1 + len(event.value)
                sizes[event.anchor] = 1 + len(event.value)
            case yaml.CollectionStartEvent():
                size += 1
                opened.append((event.anchor, size))
            case yaml.CollectionEndEvent():
                anchor, before = opened.pop()
                sizes[anchor] = 1 + size - before
        if len(opened) > DEEPEST:
            raise _misplaced(event, f"it is nested too deeply; {DEEPEST} levels are the most")
        if size > MAX_FILE:
            raise _misplaced(event, f"its aliases expand to more than {MAX_FILE:,} characters; shorten it")


def _line(node: Any, place: Iterable[int | str]) -> int:
    """Return the line, counted from 1, of the deepest existing node on the way to a place."""
    found = node
    for step in place:
        inner = _entry(found, step)
        if inner is None:
            break
        found = inner
    return found.start_mark.line + 1 if found is not None else 1


def _entry(node: Any, step: int | str) -> Any:
    match node:
        case yaml.MappingNode():
            return next((value for key, value in node.value if key.value == step), None)
        case yaml.SequenceNode() if isinstance(step, int) and step < len(node.value):
            return node.value[step]
        case _:
            return None


def read_file(path: Path) -> Scenario:
    """Read the scenario in this file. Raises `InvalidScenario`."""
    try:
        return read_text(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidScenario(path.name, [str(error)]) from None


def write_text(scenario: Scenario) -> str:
    """Return the scenario as YAML, without default values; `read_text` reads it back."""
    plain = json.loads(scenario.model_dump_json(exclude_defaults=True))
    return HEADING + yaml.dump(plain, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=WIDTH)


def schema_text() -> str:
    """Return the JSON schema that is kept next to the files."""
    return json.dumps(json_schema(), indent=2) + "\n"


def save(folder: Path, name: str, text: str) -> Path:
    """Write a scenario and the schema into the folder, under an unused name; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SCHEMA_NAME).write_text(schema_text(), encoding="utf-8")
    stem, number = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "scenario", 1
    while True:
        path = folder / f"{stem}{'' if number == 1 else f'-{number}'}{ENDING}"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
            return path
        except FileExistsError:
            number += 1


def found(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the scenario files at these paths, searching folders, in order and each once.

    Raises `InvalidScenario` for a path that does not exist.
    """
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise InvalidScenario(str(path), ["there is no such file or folder"])
        for one in sorted(path.rglob(f"*{ENDING}")) if path.is_dir() else [path]:
            if one.resolve() not in seen:
                seen.add(one.resolve())
                yield one


def _problem(one: Any) -> str:
    place = ".".join(str(step) for step in one["loc"]) or "the file"
    return f"{place}: {str(one['msg']).removeprefix('Value error, ')}"
