"""The worst inputs known for masking: what could be searched again and again, at any length."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, islice
from typing import Any

from agent.review.edits import new_masks
from agent.review.text.secrets import masked, masks

Case = tuple[Callable[[Any], object], Callable[[int], Any]]


def repeated(piece: str) -> Callable[[int], str]:
    """A maker of a text of about n characters out of one piece."""
    return lambda n: piece * max(1, n // len(piece))


def numbered(piece: str) -> Callable[[int], str]:
    """The same, each piece with a number of its own, so that nothing kept of one helps with the next."""

    def text(n: int) -> str:
        return "".join(piece.format(at) for at in range(max(1, n // (len(piece) + 3))))

    return text


def objects(key: str, value: Any) -> Callable[[int], Any]:
    """An object of about n characters, each key with a number of its own."""
    size = len(key) + 3 + len(str(value))
    return lambda n: {key.format(at): value for at in range(max(1, n // size))}


def digits(gap: str) -> Callable[[int], str]:
    """Digits of which no number is a card's for long, with the gap after so many of them."""
    turning = (str(at * 7 % 10) for at in count(1))
    return lambda n: gap.join(islice(turning, n // (len(gap) + 1)))


TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": repeated("a"),
    "words": repeated("word "),
    "dashes": repeated("-"),
    "spaces": repeated(" "),
    "backslashes": repeated("\\"),
    "base64": repeated("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo"),
    "keys' prefixes": repeated("sk-a-a-a-"),
    "keys' prefixes in a row": repeated("sk-"),
    "prefixes of many makers": repeated("ghp_ AIza xoxb- AKIA glpat- github_pat_ "),
    "one maker's prefix": repeated("AIza-"),
    "private keys begun": repeated("-----BEGIN PRIVATE KEY-----"),
    "private keys half begun": repeated("-----BEGIN "),
    "a private key's capitals": repeated("-----BEGIN AAAA PRIVATE "),
    "private keys whole": repeated("-----BEGIN PRIVATE KEY-----a-----END PRIVATE KEY-----"),
    "private keys ended": repeated("-----END PRIVATE KEY-----"),
    "web tokens' headers": repeated("eyJhbGciOiJIUzI1NiJ9-"),
    "web tokens' headers and dots": repeated("eyJhbGciOiJIUzI1NiJ9."),
    "web tokens' starts": repeated("eyJ."),
    "web tokens' starts in a row": repeated("eyJ-"),
    "names": repeated("token="),
    "names with spaces": repeated("token "),
    "names, numbered": numbered("token_{}="),
    "names and values": numbered("DB_PASSWORD_{}=abcdef\n"),
    "names and opened quotes": repeated("token=\"token='"),
    "names and escaped quotes": repeated('token=\\"'),
    "names and quotes with backslashes": repeated('token="\\'),
    "quoted names": repeated('"password": "a", '),
    "a name and a long value": lambda n: "token=" + "a" * n,
    "a name and a long quoted value": lambda n: 'token="' + "\\a" * (n // 2),
    "a long name": lambda n: "a" * n + "=abcdef",
    "colons": repeated(":"),
    "equals signs": repeated("="),
    "flags": repeated("--token --"),
    "flags and spaces": lambda n: "--token" + " " * n,
    "bearers": repeated("bearer "),
    "bearers and short words": repeated("bearer a "),
    "a bearer and spaces": lambda n: "bearer" + " " * n + ";",
    "URLs": repeated("://"),
    "URLs with at signs": repeated("://a:b@"),
    "a URL of at signs": lambda n: "://" + "@" * n,
    "a URL of colons": lambda n: "://" + ":" * n + "@",
    "digits": digits(""),
    "digits with spaces": digits(" "),
    "digits with dashes": digits("-"),
    "digits by four": repeated("1234 "),
    "digits by thirteen": repeated("1234567890123 "),
    "digits by twelve": repeated("123456789012x"),
    "cards": repeated("4111111111111111 "),
    "cards by four": repeated("4111 1111 1111 1111 12 "),
    "cards, and a letter": repeated("4111111111111111a "),
    "masks": repeated("abcd…[12 characters masked]"),
    "masks half written": repeated("…[12 characters masked"),
    "values that are masks": repeated("token=abcd…[12 characters masked]"),
    "all of it": repeated("sk-a eyJa.b token='x\" ://u:p@ 4111 1111 --token "),
}

CASES: dict[str, Case] = {
    **{f"masked: {name}": (masked, make) for name, make in TEXTS.items()},
    "masked: an object of secrets": (masked, objects("password_{}", "hunter2")),
    "masked: an object of cards as keys": (masked, objects("4111111111111111 {}", 1)),
    "masked: an object of long keys": (masked, lambda n: {"a" * (n // 2) + "_token": "b" * (n // 2)}),
    "masked: a list of numbers": (masked, lambda n: [4111111111111111] * (n // 18)),
    "masked: a list of short texts": (masked, lambda n: ["a: b"] * (n // 8)),
    "masked: a secret list": (masked, lambda n: {"passwords": ["hunter2"] * (n // 11)}),
    "masks: masks": (masks, repeated("…[12 characters masked]")),
    "masks: masks half written": (masks, repeated("…[12 characters masked")),
    "masks: a list of masks": (masks, lambda n: ["…[12 characters masked]"] * (n // 27)),
    "new_masks: masks": (
        lambda text: new_masks({"body": text}, {"body": text}),
        repeated("…[12 characters masked]"),
    ),
}
