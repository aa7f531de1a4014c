"""How the rooms of the use cases are made: each from what it needs, by name, with its type."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import agent.console
from agent.console import Console


def rooms() -> Iterator[type]:
    """Every class of the package that is made with arguments of its own."""
    for module in pkgutil.iter_modules(agent.console.__path__, "agent.console."):
        for one in vars(import_module(module.name)).values():
            if inspect.isclass(one) and one.__module__ == module.name and "__init__" in vars(one):
                yield one


@pytest.mark.parametrize("room", list(rooms()), ids=lambda room: room.__name__)
def test_a_room_says_the_type_of_everything_it_is_made_from(room: type) -> None:
    parameters = inspect.signature(room, eval_str=True).parameters.values()
    kinds = {one.kind for one in parameters}
    assert kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    assert not {one.annotation for one in parameters} & {Any, inspect.Parameter.empty}


def test_the_console_is_made_by_name_only() -> None:
    made: Any = Console
    with pytest.raises(TypeError, match="positional"):
        made(1, "x", None)
