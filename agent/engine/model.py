"""The chat models an agent can be given, by name. Nothing but the demo model is imported unasked."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel

from agent.engine.demo_model import DemoModel
from agent.review.errors import UnknownModel

DEMO = "demo"


class Models:
    """The models offered, the default first. `delay` is the demo model's pause between words, in seconds."""

    def __init__(self, *, delay: float = 0.0) -> None:
        self._demo = DemoModel(delay=delay)

    def names(self) -> Sequence[str]:
        return (DEMO,)

    def named(self, name: str | None) -> BaseChatModel:
        """The model of that name, or the default for None. Raises `UnknownModel`."""
        if name is None or name == DEMO:
            return self._demo
        raise UnknownModel(name, self.names())
