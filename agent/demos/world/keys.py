"""Keys of services: their fingerprints and versions, never the keys themselves."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.demos.world.store import Ref, Store, WorldError, WorldPart, existing, quoted


@dataclass(frozen=True)
class ServiceKey:
    service: str
    fingerprint: str
    version: int


class Keys(Store):
    """Services and the fingerprints of their keys."""

    def service_keys(self) -> tuple[ServiceKey, ...]:
        """Every service's key as it is now: its fingerprint, never the key."""
        rows = self._read("SELECT service, key_fingerprint, version FROM service_keys ORDER BY service")
        return tuple(ServiceKey(*row) for row in rows)

    def service_key(self, service: str) -> ServiceKey | None:
        """Return the key of that service, if it exists."""
        return next((key for key in self.service_keys() if key.service == service), None)

    def rotating(self, service: str) -> dict[str, Any]:
        """Return the facts that rotating a key depends on."""
        with self._connection() as connection:
            return _rotating(connection, service)

    def rotate(self, service: str, ref: Ref) -> ServiceKey:
        """Replace a service's key; return the new one's fingerprint and version."""
        with self._changing() as connection:
            if fault := cannot_rotate(_rotating(connection, service)):
                raise WorldError(f"{fault} {existing(connection, 'service_keys', 'service')}")
            old = connection.execute(
                "SELECT key_fingerprint, version FROM service_keys WHERE service = ?", (service,)
            ).fetchone()
            new = ServiceKey(service, secrets.token_hex(8), old["version"] + 1)
            connection.execute(
                "UPDATE service_keys SET key_fingerprint = ?, version = ? WHERE service = ?",
                (new.fingerprint, new.version, service),
            )
            after = {"key_fingerprint": new.fingerprint, "version": new.version}
            self._log(connection, ref, "key_rotated", f"service_keys/{service}", dict(old), after)
        return new


def cannot_rotate(facts: Mapping[str, Any]) -> str:
    """Return why the key of a service with these facts cannot be rotated, or ""."""
    return "" if facts["version"] is not None else f"There is no service {quoted(facts['service'])}."


def _rotating(connection: sqlite3.Connection, service: str) -> dict[str, Any]:
    row = connection.execute("SELECT version FROM service_keys WHERE service = ?", (service,)).fetchone()
    return {"service": service, "version": row["version"] if row else None}


PART = WorldPart(
    (
        """
        CREATE TABLE IF NOT EXISTS service_keys (
            service TEXT PRIMARY KEY, key_fingerprint TEXT NOT NULL, version INTEGER NOT NULL
        )
        """,
    ),
    {
        "service_keys": (("billing", "7c1e5a0b94d2f683", 3), ("mail", "e09b3d41a7c8560f", 1)),
    },
)
