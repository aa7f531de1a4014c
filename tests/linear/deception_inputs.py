"""The worst inputs known for looking for what deceives: what could be searched again and again, at any length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.review.text.deception import cautions, visible
from agent.review.text.lookalikes import lookalikes
from agent.review.text.url_users import url_users
from tests.linear.secrets_inputs import Case, numbered, repeated


def all_different(start: int, kinds: int, gap: str = "") -> Callable[[int], str]:
    """A maker of a text of about n characters, of so many kinds from a code point on, with a gap between."""
    return lambda n: gap.join(chr(start + at % kinds) for at in range(n // (len(gap) + 1)))


TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": repeated("я"),
    "words": repeated("слово "),
    "words, numbered": numbered("я{}x "),
    "words of look-alikes": repeated("сор "),
    "a word of look-alikes": repeated("сор"),
    "a word of two scripts": repeated("аa"),
    "a word of full-width letters": repeated("ａ"),
    "words of mathematical letters": repeated("𝐚𝐝 "),
    "a word of mathematical letters": repeated("𝐚𝐝"),
    "words with a dotless i": numbered("admın{} "),
    "a word of dotless letters": repeated("ı"),
    "consonants and a dotless i": repeated("bcı"),
    "at signs": repeated("@"),
    "letters and at signs": repeated("я@"),
    "one at sign after letters": lambda n: "я" * n + "@",
    "one at sign before letters": lambda n: "@" + "я" * n,
    "URLs": repeated("://"),
    "URLs of letters": repeated("://я"),
    "URLs with users": repeated("://я@я"),
    "a URL of users": lambda n: "://" + "я@" * (n // 2),
    "a URL of letters": lambda n: "://" + "я" * n,
    "URLs, numbered": numbered("https://gооgle{}.com@x "),
    "hosts": numbered("яя{}.com "),
    "labels of a host": repeated("яя."),
    "short labels of a host": repeated("я."),
    "dots": lambda n: "я" + "." * n,
    "addresses, numbered": numbered("я{}@я.com "),
    "punycode": repeated("xn--a."),
    "punycode, numbered": numbered("xn--80ak6aa{}e.com "),
    "one long label of punycode": lambda n: "http://xn--" + "a" * n,
    "slashes": repeated("/я"),
    "backslashes": repeated("\\я"),
    "hidden characters that change": repeated("\u200b\u202e"),
    "the same hidden character": repeated("\u202e"),
    "hidden characters between letters": repeated("a\u200b"),
    "hidden characters between spaces": repeated(" \u200b"),
    "hidden characters between line breaks": repeated("\u200b\n"),
    "joiners": repeated("\u200c\u200d"),
    "joiners in words": repeated("م\u200c"),
    "no-break spaces": repeated("1\u00a0"),
    "ideographic spaces": repeated("会\u3000"),
    "controls": repeated("\x00\x01"),
    "controls between letters": repeated("a\x00"),
    "tags": repeated("\U000e0041\U000e0042"),
    "flags": repeated("\U0001f3f4"),
    "flags half spelt": repeated("\U0001f3f4\U000e0067\U000e0062"),
    "private characters": all_different(0xF0000, 0x20000),
    "private characters between letters": all_different(0xF0000, 0x20000, "a"),
    "all kinds of characters": all_different(0x100, 0x8000),
    "tabs": repeated("a\t"),
    "spaces": repeated(" "),
    "spaces at the ends of lines": repeated("a \n"),
    "many spaces and a letter": repeated(" " * 79 + "a"),
    "carriage returns": repeated("\r"),
    "line breaks": repeated("\n"),
    "nine line breaks": repeated("\n" * 9 + "a"),
    "imitated marks": repeated("⟨U+"),
    "imitated marks, numbered": repeated("⟨" + "1" * 50),
    "an imitated mark's digits": lambda n: "⟨" + "1" * n,
    "one stack of marks": repeated("\u0301\u0302"),
    "stacks of marks": repeated("a\u0301\u0302\u0303\u0304\u0308"),
    "stacks of one mark": repeated("a\u0301\u0301\u0301"),
    "small stacks of marks": repeated("a\u0301\u0302\u0303"),
    "strokes": repeated("a\u0336"),
}


def _cautions(text: Any) -> object:
    return cautions("argument", text)


def _in_a_name(text: Any) -> object:
    return lookalikes(text, "name")


_MARKED = (
    "hidden characters between letters",
    "the same hidden character",
    "tabs",
    "one stack of marks",
    "tags",
)
_NAMES = (
    "a word of two scripts",
    "a URL of users",
    "short labels of a host",
    "consonants and a dotless i",
    "slashes",
)

CASES: dict[str, Case] = {
    **{f"cautions: {name}": (_cautions, make) for name, make in TEXTS.items()},
    **{f"visible: {name}": (visible, TEXTS[name]) for name in _MARKED},
    **{f"lookalikes in a name: {name}": (_in_a_name, TEXTS[name]) for name in _NAMES},
    **{f"url_users: {name}": (url_users, make) for name, make in TEXTS.items() if "URL" in name},
}
