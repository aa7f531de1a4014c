"""Large cards: an argument of a megabyte, a review of many actions; against a card of one small action."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.bench import apps
from tests.bench.browser import MISSING, chromium, has_chromium, in_turns, opening
from tests.bench.figures import Amount, Figure, most
from tests.bench.scale import Scale
from tests.bench.seed import cards

SMALL, LONG, MANY = "r-small", "r-argument", "r-actions"
CARD = "document.querySelector(\"[class*='st-key-send-'] button\")"


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    names = {
        LONG: f"card with an argument of {scale.argument:,} characters",
        MANY: f"card of {scale.actions} actions",
    }
    if not has_chromium():
        yield from (Figure(name, None, most(3), "a small card", why_not=MISSING) for name in names.values())
        return
    sizes = {SMALL: (1, 200), LONG: (1, scale.argument), MANY: (scale.actions, 200)}
    app = apps.console(cards(folder, sizes))
    with chromium() as browser, apps.running(app):
        acts = [partial(opening, browser, f"{app.url}/?review={name}", CARD) for name in sizes]
        small, *others = in_turns(scale.openings, *acts)
        for name, took in zip(names.values(), others, strict=True):
            yield Figure(
                f"{name} opens",
                Amount(took * 1000, "ms"),
                most(3),
                "a small card",
                Amount(small * 1000, "ms"),
            )
