"""`review_console`, a second name of the package `agent`: the same modules, also where another `agent` has its place."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

ALIAS = "review_console"
NAMED = __name__.partition(".")[0]


class _AliasFinder:
    """Find each module of the package under the alias. A module keeps its own spec, and so its own name."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.startswith(f"{ALIAS}.") else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(NAMED + spec.name.removeprefix(ALIAS))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        alias = module.__spec__
        if alias is not None and alias.name.startswith(f"{ALIAS}."):
            module.__spec__ = alias.loader_state


def register() -> None:
    """Let `import review_console` mean this package, from anywhere in the process. Idempotent."""
    if sys.modules.get(ALIAS) is not sys.modules[NAMED]:
        sys.modules[ALIAS] = sys.modules[NAMED]
        sys.meta_path.insert(0, _AliasFinder())
