"""Scenarios as files: readable YAML, in which a value is what it looks like in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from agent.review.errors import InvalidScenario
from agent.review.scenarios import Scenario, json_schema

ENDING = ".scenario.yaml"
SCHEMA_NAME = "scenario.schema.json"
HEADING = f"# yaml-language-server: $schema={SCHEMA_NAME}\n"
"""By this line editors find the schema, which stands beside the file."""
LONGEST = 5_000_000
"""Characters a file may have."""
WIDTH = 110

# YAML's own rules would read `no` as false, 10:30 as 630 and 2030-01-01 as a date. Here, as in JSON, those are text.
PLAIN = (
    ("tag:yaml.org,2002:null", r"~|null|", ["~", "n", ""]),
    ("tag:yaml.org,2002:bool", r"true|false", ["t", "f"]),
    ("tag:yaml.org,2002:int", r"-?(?:0|[1-9]\d*)", list("-0123456789")),
    ("tag:yaml.org,2002:float", r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", list("-0123456789")),
)


class _Reader(yaml.SafeLoader):
    """Reads what `_Writer` writes; a key that stands twice in one object is an error."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        for place, name in enumerate(names):
            if not isinstance(name, str):
                raise _misplaced(node.value[place][0], f"{name!r} is no name; put it in quotation marks")
            if name in names[:place]:
                raise _misplaced(node.value[place][0], f"{name!r} stands twice")
        return super().construct_mapping(node, deep)


class _Writer(yaml.SafeDumper):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _tag, _form, _first in PLAIN:
    for _side in (_Reader, _Writer):
        _side.add_implicit_resolver(_tag, re.compile(rf"(?:{_form})\Z"), _first)


def _text(writer: _Writer, text: str) -> yaml.Node:
    """Text of several lines as a block, where a block holds it exactly; what is not drawn as an escape."""
    lines = text.split("\n")
    is_drawn = all(line.isprintable() for line in lines)
    is_block = is_drawn and len(lines) > 1 and all(line == line.rstrip() for line in lines)
    style = "|" if is_block else None if is_drawn else '"'
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Writer.add_representer(str, _text)


def _misplaced(node: yaml.Node, problem: str) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def read_text(text: str, name: str) -> Scenario:
    """The scenario that is written there. Raises `InvalidScenario`, naming every place that is wrong."""
    if len(text) > LONGEST:
        raise InvalidScenario(name, [f"it has {len(text):,} characters, and {LONGEST:,} are the most"])
    try:
        return Scenario.model_validate(yaml.load(text, _Reader))  # noqa: S506  a safe loader
    except yaml.YAMLError as error:
        raise InvalidScenario(name, [" ".join(str(error).split())]) from None
    except ValidationError as error:
        raise InvalidScenario(name, [_problem(one) for one in error.errors()]) from None
    except RecursionError:
        raise InvalidScenario(name, ["it is nested too deeply"]) from None


def read_file(path: Path) -> Scenario:
    """The scenario in this file. Raises `InvalidScenario`."""
    try:
        return read_text(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidScenario(path.name, [str(error)]) from None


def write_text(scenario: Scenario) -> str:
    """The scenario as a file; `read_text` gives it back. What says nothing is left out."""
    plain = json.loads(scenario.model_dump_json(exclude_defaults=True))
    return HEADING + yaml.dump(plain, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=WIDTH)


def schema_text() -> str:
    """The schema that stands beside the files."""
    return json.dumps(json_schema(), indent=2) + "\n"


def save(folder: Path, name: str, text: str) -> Path:
    """Put a scenario's text, and the schema, into the folder, under a name that is not taken; gives its path."""
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
    """The scenario files these paths name, folders searched through, in order and each once.

    Raises `InvalidScenario` for a path that is not there.
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
