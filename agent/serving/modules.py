"""The modules of a configuration, imported as its own Python would, although this console is in the same process.

Its folders are appended to `sys.path`, as LangGraph's servers do, and its modules have the names they have there. Only
where such a name is taken, by this console's own packages (`agent`, `app`, `pages`, `tests`) or by another
configuration's, they are loaded under a private prefix. What they themselves import by that name is then theirs, because
an import statement calls the `__import__` of the builtins that its module was given, and these modules are given their
own. Nothing changes for any other module of the process.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

OURS = Path(__file__).parents[2]
NAMES_OF_OURS = ("agent", "app", "pages", "tests")
PREFIX = "_served_"
PRIVATE = re.compile(rf"{PREFIX}[0-9a-f]{{12}}\.")

_roots: set[Path] = set()
"""The folders of all configurations that this process has served."""


def public_name(module: str) -> str:
    """Return a module's name without the prefix: the same wherever the configuration is, and whatever else is served."""
    return PRIVATE.sub("", module, count=1)


def modules_of(folder: Path, roots: Sequence[Path]) -> Modules:
    """Return the modules of the configuration in this folder, which are imported once in a process."""
    importlib.invalidate_caches()
    return _modules_of(
        folder.resolve(), tuple(roots), frozenset(n for root in roots for n in _names_in(root))
    )


class Modules:
    """The modules that one configuration's `roots` hold, with their top-level `names`."""

    def __init__(self, folder: Path, roots: tuple[Path, ...], names: frozenset[str]) -> None:
        self._folder, self._roots, self._names = folder, roots, names
        self._prefix = PREFIX + hashlib.sha256(str(folder).encode()).hexdigest()[:12]
        sys.path.extend(str(root) for root in roots if str(root) not in sys.path)
        self._hidden = frozenset(name for name in names if self._is_taken(name))
        self._builtins = vars(builtins)
        _roots.update(roots)
        self._prepare()

    def named(self, where: str) -> Any:
        """Return what `./file.py:name` or `module:name` names. Raises whatever importing it does."""
        file, separator, name = where.rpartition(":")
        if not separator or not name:
            raise ValueError(f"{where!r} names no variable: write ./file.py:name or module:name")
        module = self._module(file)
        if name not in vars(module) and not hasattr(module, name):
            raise AttributeError(f"{file} has no {name}; it has {', '.join(_public(module)) or 'no names'}")
        return getattr(module, name)

    def _module(self, file: str) -> ModuleType:
        place = self._folder / file
        if place.is_file():
            return self._of_file(place.resolve())
        dotted = Path(file).with_suffix("") if "/" in file or file.endswith(".py") else Path(file)
        return self.imported(dotted.as_posix().removeprefix("./").replace("/", "."))

    def imported(self, name: str) -> ModuleType:
        """Import a module as one of the configuration's own modules would. Raises whatever importing it does."""
        return importlib.import_module(self._own(name))

    def _of_file(self, place: Path) -> ModuleType:
        """Import a file by the name that others import it by, so that there is one of each of its classes."""
        roots = [root for root in self._roots if place.is_relative_to(root)]
        root = max(roots, key=lambda one: len(one.parts), default=None)
        parts = place.relative_to(root).with_suffix("").parts if root else ()
        if not parts or any("." in part for part in parts):
            return self._by_location(place)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        plain = parts[0] not in self._hidden and _holder(parts[0]) in self._roots
        module = importlib.import_module(name if plain else f"{self._prefix}.{name}")
        return module if _is_of(module, place) else self._by_location(place)

    def _by_location(self, place: Path) -> ModuleType:
        shown = re.sub(r"\W", "_", os.path.relpath(place.with_suffix(""), self._folder))
        name = f"{self._prefix}.{shown}"
        if name in sys.modules:
            return sys.modules[name]
        spec = importlib.util.spec_from_file_location(
            name, place, loader=_Loader(name, str(place), self._builtins)
        )
        if spec is None or spec.loader is None:
            raise ImportError(f"{place} is no Python file")
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module

    # Names that are taken

    def _is_taken(self, name: str) -> bool:
        holder = _holder(name)
        if holder is None or holder in self._roots:
            return False
        return holder in _roots or (holder == OURS and name in NAMES_OF_OURS)

    def _prepare(self) -> None:
        """Make a package of the prefix, whose modules are looked for in the roots."""
        if self._hidden:
            self._builtins = {**vars(builtins), "__import__": self._import}
            finder = _Finder(self._roots, self._names, self._prefix, self._builtins)
            sys.meta_path.insert(0, finder)
        if self._prefix not in sys.modules:
            package = ModuleType(self._prefix)
            package.__path__ = [str(root) for root in self._roots]
            package.__spec__ = ModuleSpec(self._prefix, None, is_package=True)
            sys.modules[self._prefix] = package

    def _own(self, name: str) -> str:
        return f"{self._prefix}.{name}" if name.partition(".")[0] in self._hidden else name

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Do what an import statement of the configuration's modules means."""
        own = name if level else self._own(name)
        found = builtins.__import__(own, globals, locals, fromlist or (), level)
        if found is importlib:
            return _Importlib(self)
        if own == name or fromlist:
            return found
        return sys.modules[self._own(name.partition(".")[0])]


@cache
def _modules_of(folder: Path, roots: tuple[Path, ...], names: frozenset[str]) -> Modules:
    return Modules(folder, roots, names)


class _Importlib(ModuleType):
    """`importlib` as the configuration's modules see it."""

    def __init__(self, modules: Modules) -> None:
        super().__init__("importlib")
        self._modules = modules

    def import_module(self, name: str, package: str | None = None) -> ModuleType:
        if name.startswith("."):
            return importlib.import_module(name, package and self._modules._own(package))
        return self._modules.imported(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib, name)


class _Loader(SourceFileLoader):
    """Run a module's source with the builtins of its configuration."""

    def __init__(self, fullname: str, path: str, own: dict[str, Any]) -> None:
        super().__init__(fullname, path)
        self._own = own

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = self._own
        super().exec_module(module)


class _Finder:
    """Find the modules that lie in the roots, to be run with their configuration's builtins."""

    def __init__(
        self, roots: Sequence[Path], names: frozenset[str], prefix: str, own: dict[str, Any]
    ) -> None:
        self._roots, self._names, self._prefix, self._own = tuple(map(str, roots)), names, prefix, own

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top = name.partition(".")[0]
        if top != self._prefix and top not in self._names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader and self._is_theirs(spec.loader.path):
            spec.loader = _Loader(name, spec.loader.path, self._own)
        return spec

    def _is_theirs(self, file: str) -> bool:
        return any(file.startswith(root + os.sep) for root in self._roots)


def _names_in(root: Path) -> Iterator[str]:
    """Yield the names of the modules and packages in a folder."""
    for path in root.iterdir():
        if path.suffix == ".py" and path.is_file():
            yield path.stem
        elif (
            path.is_dir()
            and path.name.isidentifier()
            and (any(path.glob("*.py")) or any(path.glob("*/*.py")))
        ):
            yield path.name


def _holder(name: str) -> Path | None:
    """Return the folder that a top-level module is imported from in this process; None if no folder has it."""
    module = sys.modules.get(name)
    spec = module.__spec__ if module is not None else PathFinder.find_spec(name)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).resolve().parent
    return Path(spec.origin).resolve().parent if spec.has_location and spec.origin else None


def _is_of(module: ModuleType, place: Path) -> bool:
    return module.__file__ is not None and Path(module.__file__).resolve() == place


def _public(module: ModuleType) -> list[str]:
    return [name for name in vars(module) if not name.startswith("_")][:20]
