"""Secrets of common forms, masked where text is only read: in the record on screen and in exports.

What a reviewer decides on is never masked, and neither is what is kept. This finds forms, not meanings: a
password that looks like a word stays visible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

FORMS = re.compile(
    r"""
    (?P<key>
        -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?-----END\ [A-Z ]*PRIVATE\ KEY-----
      | \b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}        # OpenAI, Stripe and their like
      | \b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,} | \bgithub_pat_\w{20,}
      | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                                   # AWS access keys
      | \bAIza[\w-]{30,}                                                # Google
      | \bxox[abprs]-[\w-]{10,}                                         # Slack
      | \bglpat-[\w-]{16,}                                              # GitLab
      | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*                               # JSON web tokens
    )
  | (?P<named> (?i:\b(?:bearer|basic)\s+|\b(?:api[_-]?key|token|secret|password|passwd|pwd)\b["']?\s*[:=]\s*["']?) )
    (?P<value> [^\s"',;]{6,} )
  # No part of a longer number, and no piece of an id.
  | (?P<card> (?<!\w) (?<!\d\.) (?<![0-9a-f]{4}-) (?:\d[ -]?){12,18}\d (?! \.?\w | -[0-9a-f]{4} ) )
    """,
    re.VERBOSE | re.DOTALL,
)


def masked(value: Any) -> Any:
    """The same JSON value, with what looks like a secret replaced in every text; equal to it if nothing does."""
    if isinstance(value, str):
        return FORMS.sub(_mask, value)
    if isinstance(value, Mapping):
        return {masked(name): masked(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(inner) for inner in value]
    return value


def _mask(found: re.Match[str]) -> str:
    if found["key"]:
        return _stars(found["key"])
    if found["value"]:
        return found["named"] + _stars(found["value"])
    digits = re.sub(r"\D", "", found["card"])
    return _stars(found["card"]) if _is_card(digits) else found["card"]


def _stars(secret: str) -> str:
    """Its first characters, so that one can tell which it is, and its length."""
    return f"{secret[:4]}…[{len(secret)} characters masked]"


def _is_card(digits: str) -> bool:
    """Whether the digits have the check sum of payment cards (Luhn, ISO/IEC 7812-1)."""
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return len(set(digits)) > 1 and sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0
