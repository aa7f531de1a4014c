"""The whole table: every way in which a value can change between what a model writes and what a function gets."""

from __future__ import annotations

from tests.received import rows_defaults, rows_dumping, rows_tools, rows_types, rows_values  # noqa: F401  they fill it
from tests.received.rows import REFUSED, ROWS, Row

__all__ = ["BY_NAME", "REFUSED", "ROWS", "Row"]

BY_NAME = {one.name: one for one in ROWS}
