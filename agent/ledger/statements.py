"""How the parts of the ledger run one statement; a whole ledger, and a transaction of it, each say what with."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from typing import Any


class Reads(ABC):
    """What reads."""

    @abstractmethod
    def _all(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Every row of the statement's answer."""


class Writes(ABC):
    """What writes, within a transaction."""

    @abstractmethod
    def _did(self, sql: str, *values: Any) -> bool:
        """Whether the statement changed anything."""
