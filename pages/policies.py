"""What the agents may do unasked: the rules that people have remembered."""

from __future__ import annotations

from pages.parts.rules import rules

rules()
