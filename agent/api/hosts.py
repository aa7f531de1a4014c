"""By which names the server may be asked."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def local_only(hosts: Sequence[str] = LOCAL_HOSTS) -> Middleware:
    """Answer only to names of this machine: a page elsewhere could point a name of its own at it."""
    return Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
