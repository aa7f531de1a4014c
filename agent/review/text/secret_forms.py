"""Where text holds a secret: by the name it is given, or by a form of its own.

Every search takes time that is linear in the size of the text: it does not look again at what it has passed, except for
a bounded number of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.review.text.secret_names import MAX_SECRET_NAME, names_a_secret

Span = tuple[int, int]

_SHORTEST = len("basic 123456")
"""The length of the shortest text that can hold any secret other than a named value or a URL's password."""


def is_named(name: object) -> bool:
    """Return whether a value of this name is a secret."""
    return isinstance(name, str) and names_a_secret(name[-MAX_SECRET_NAME:])


def secrets_in(text: str) -> Iterator[Span]:
    """Yield where secrets are, by name or form, in no order; they may overlap."""
    if ":" in text or "=" in text or "--" in text:
        yield from _named(text)
    if "://" in text:
        yield from _passwords_in_urls(text)
    if len(text) < _SHORTEST:
        return
    yield from (match.span(1) for match in _BEARER.finditer(text))
    yield from _prefixed(text)
    if "eyJ" in text:
        yield from _web_tokens(text)
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)
    yield from _cards(text)


def is_card_number(value: object) -> bool:
    """Return whether a number, by its check sum too, is one that an issuer of payment cards could have given."""
    if type(value) is not int or not _LEAST <= value < _MOST:
        return False
    digits = str(value)
    return _ISSUED.fullmatch(digits) is not None and _adds_up(digits)


# Values that text calls secret: `DB_PASSWORD=…`, `"password": "…"`, `export FOO_TOKEN: …`, `--token …`.

_NAME = re.compile(
    r"""(?<![\w-])(?<!masked\])
    (?: (?P<name>[\w-]++) (?:\\{0,3}["'`])?\]? \s*+ (?P<sign>:=|=>|={1,3}|:(?!:)) \s*+
      | --?(?P<flag>[A-Za-z][\w-]*+) [ ]++ (?![-\s]) )
    """,
    re.VERBOSE,
)
_SCHEME = re.compile(r"(?i:bearer|basic|digest|token|negotiate|apikey)\s++(?=\S)")
_QUOTE = re.compile(r"""\\{0,3}["'`]""")
_QUOTED = {quote: re.compile(rf"((?:[^{quote}\\\n]|\\[^\n])++){quote}") for quote in "\"'`"}
_BARE = re.compile(r"""[^\s"',;]++""")
_IN_QUERY = re.compile(r"""[^\s"',;&\#]++""")
_SAYS = re.compile(r"\w")
_PLACEHOLDERS = frozenset(("true", "false", "null", "none", "undefined", "string"))


def _named(text: str) -> Iterator[Span]:
    place = 0
    while found := _NAME.search(text, place):
        place = found.end()
        if is_named(found["name"] or found["flag"]) and (span := _value(text, found)):
            yield span
            place = span[1]


def _value(text: str, named: re.Match[str]) -> Span | None:
    """Return where the value of a name is; None if it is a placeholder, or too short to be a secret."""
    start = named.end()
    if quote := _QUOTE.match(text, start):
        if span := _between(text, quote):
            return None if text[span[0] : span[1]].lower() in _PLACEHOLDERS else span
        start = quote.end()
    if scheme := _SCHEME.match(text, start):
        start = scheme.end()
    in_query = named.start() > 0 and text[named.start() - 1] in "?&"
    bare = (_IN_QUERY if in_query else _BARE).match(text, start)
    if bare is None or len(bare[0]) < _least(named) or bare[0].lower() in _PLACEHOLDERS:
        return None
    if not _SAYS.search(bare[0]):
        return None
    return bare.span()


def _least(named: re.Match[str]) -> int:
    """Return how long a value without quotes must be to count: after a colon it may be a word of prose."""
    if named["name"] and "_" in named["name"] and named["name"].isupper():
        return 1
    return 6 if named["sign"] == ":" else 4


def _between(text: str, quote: re.Match[str]) -> Span | None:
    if "\\" in quote[0]:  # JSON within a JSON text
        start, end = quote.end(), text.find(quote[0], quote.end())
    else:
        closed = _QUOTED[quote[0]].match(text, quote.end())
        start, end = closed.span(1) if closed else (0, 0)
    return (start, end) if start < end else None


# Values of a form of their own.

_BEARER = re.compile(r"""(?=[bB])(?i:\b(?:bearer|basic)\s++)([^\s"',;]{6,})""")
_PREFIXED = re.compile(
    r"""(?=[sprgAx])\b(?:
      (?P<keys>(?:sk|pk|rk)[-_][A-Za-z0-9_-]*+)              # OpenAI, Stripe and their like
    | gh[opusr]_[A-Za-z0-9]{20,} | github_pat_\w{20,}
    | (?:AKIA|ASIA)[A-Z0-9]{16}\b                            # AWS access keys
    | AIza[\w-]{30,}                                         # Google
    | xox[abprs]-[\w-]{10,}                                  # Slack
    | glpat-[\w-]{16,}                                       # GitLab
    )""",
    re.VERBOSE,
)
_LONG_PART = re.compile(r"[A-Za-z0-9]{16}")
_DOTTED = re.compile(r"\beyJ[\w-]*+(?:\.[\w-]*+)*+")
_HEADER = re.compile(r"\beyJ[\w-]{8,}")
_AUTHORITY = re.compile(r"""://([^\s/?\#"'<>]*+)""")
_BEGIN = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"[A-Za-z0-9+/=\s\\]*+")


def _prefixed(text: str) -> Iterator[Span]:
    for match in _PREFIXED.finditer(text):
        if match["keys"] is None or _LONG_PART.search(match["keys"], 3):
            yield match.span()


def _web_tokens(text: str) -> Iterator[Span]:
    """Yield JSON web tokens: a header, its claims and their signature, with dots between."""
    for match in _DOTTED.finditer(text):
        parts = match[0].split(".")
        place = match.start()
        for part, claims, signed in zip(parts, parts[1:], parts[2:], strict=False):
            if len(claims) >= 8 and (header := _HEADER.search(part)):
                yield place + header.start(), place + len(part) + len(claims) + len(signed) + 2
            place += len(part) + 1


def _passwords_in_urls(text: str) -> Iterator[Span]:
    for match in _AUTHORITY.finditer(text):
        user, at, _ = match[1].rpartition("@")
        name, colon, password = user.partition(":")
        if at and colon and password:
            yield match.start(1) + len(name) + 1, match.start(1) + len(user)


def _private_keys(text: str) -> Iterator[Span]:
    """Yield private keys as text; one that is cut off, as far as it goes."""
    place, is_closed = 0, True
    while begin := _BEGIN.search(text, place):
        end = _END.search(text, begin.end()) if is_closed else None
        is_closed = end is not None
        place = end.end() if end else _end_of_body(text, begin.end())
        yield begin.start(), place


def _end_of_body(text: str, start: int) -> int:
    body = _BODY.match(text, start)
    return body.end() if body else start


# Payment cards: 13 to 19 digits with the check sum of ISO/IEC 7812-1, not part of a longer number or of an id.

_BEFORE, _AFTER = r"(?<!\w)(?<!\d\.)(?<![0-9a-f]{4}-)", r"(?!\.?\w|-[0-9a-f]{4})"
_DIGITS = re.compile(rf"(?=\d){_BEFORE}\d(?:[ -]?\d){{12,}}+")
_ALONE = re.compile(_AFTER)
_WRITTEN = [
    re.compile(rf"{_BEFORE}(?=({digits}){_AFTER})")
    for digits in (
        r"\d{13,19}",
        r"\d{4}([ -])\d{4}\2\d{4}\2\d{4}",
        r"\d{4}([ -])\d{4}\2\d{4}\2\d{4}\2\d{3}",
        r"\d{4}([ -])\d{6}\2\d{4,5}",
    )
]
"""How cards are written among other numbers."""
_LOOKED_AT = 5  # characters after a number that decide whether it ends there
_DOUBLED = bytes.maketrans(b"0123456789", b"0246813579")
_LONGEST_CARD = 19
_LEAST, _MOST = 10**12, 10**_LONGEST_CARD
_ISSUED = re.compile(r"4(?:.{12}|.{15}|.{18})|(?:5[0-9]|6\d|2[2-7]|35|62).{10,17}|3[0689].{12,17}|3[47].{13}")
"""Numbers as issuers of cards give them; an instant in milliseconds, say, is not one of them."""


def _cards(text: str) -> Iterator[Span]:
    for run in _DIGITS.finditer(text):
        if _ALONE.match(text, run.end()) and _is_card(run[0]):
            yield run.span()
            continue
        for written in _WRITTEN:
            for match in written.finditer(text, run.start(), run.end() + _LOOKED_AT):
                if _is_card(match[1]):
                    yield match.span(1)


def _is_card(written: str) -> bool:
    """Return whether the digits have the check sum of payment cards (Luhn)."""
    digits = written.replace(" ", "").replace("-", "") if len(written) < 2 * _LONGEST_CARD else ""
    if not digits.isascii():  # the digits of other scripts
        digits = "".join(str(int(sign)) for sign in digits)
    return 13 <= len(digits) <= _LONGEST_CARD and _adds_up(digits)


def _adds_up(digits: str) -> bool:
    signs = digits.encode("ascii")
    total = sum(signs[::-2]) + sum(signs[-2::-2].translate(_DOUBLED)) - ord("0") * len(signs)
    return len(set(digits)) > 1 and total % 10 == 0
