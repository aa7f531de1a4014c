"""The chat models an agent can use, by name. Each is imported on first use, because their packages are large."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from agent.review.errors import UnknownModel
from agent.review.replies import RecordedReply

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

DEMO = "demo"
RECORDED = "recorded"


@dataclass(frozen=True)
class Provider:
    """A provider of real models: how it is reached, and which of its models are offered."""

    key: SecretStr
    base_url: str | None
    names: tuple[str, ...]

    def reach(self) -> str:
        """Return what keeps the console from reaching these models, with the remedy; "" if nothing does."""
        from agent.engine.models import openai

        return openai.reach(self.names, self.key, self.base_url)


class Models:
    """The models offered, the default first. `demo` makes the demo model when it is first asked for.

    With `replies`, one more model returns these recorded replies. Raises `UnknownModel` if `default` is not offered.
    """

    def __init__(
        self,
        demo: Callable[[], BaseChatModel],
        *,
        provider: Provider | None = None,
        default: str = DEMO,
        replies: Sequence[RecordedReply] = (),
    ) -> None:
        self._demo, self._provider, self._replies = demo, provider, tuple(replies)
        recorded = (RECORDED,) if replies else ()
        offered = (DEMO, *(provider.names if provider else ()), *recorded)
        if default not in offered:
            raise UnknownModel(default, offered)
        self._names = (default, *(name for name in offered if name != default))
        self._made: dict[str, BaseChatModel] = {}
        self._turn = threading.Lock()

    def names(self) -> Sequence[str]:
        return self._names

    def named(self, name: str | None) -> BaseChatModel:
        """Return the model of that name, or the default for None. Raises `UnknownModel`."""
        name = self._names[0] if name is None else name
        with self._turn:
            if name not in self._made:
                self._made[name] = self._make(name)
            return self._made[name]

    def _make(self, name: str) -> BaseChatModel:
        if name == DEMO:
            return self._demo()
        if name == RECORDED and self._replies:
            from agent.engine.models.recorded import RecordedModel

            return RecordedModel(replies=self._replies)
        if self._provider is None or name not in self._provider.names:
            raise UnknownModel(name, self._names)
        from agent.engine.models import openai

        return openai.connect(name, self._provider.key, self._provider.base_url)
