"""Web origins: scheme, host and port of a page, in the one form in which browsers send them."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from urllib.parse import urlsplit

DEFAULT_PORT = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*", re.ASCII)


def normal(text: str) -> str:
    """Return the origin in lower case and without its scheme's default port. Raises `ValueError` with a remedy.

    To a browser, a host with a dot at its end is another origin; such a host is not accepted here.
    """
    scheme, separator, authority = text.partition("://")
    if scheme.lower() not in DEFAULT_PORT or not separator or re.search(r"[^!-~]|[/?#@\\]", authority):
        raise ValueError(f"{text[:200]!a} is not an origin; use one such as https://review.example.org")
    scheme = scheme.lower()
    try:
        parts = urlsplit(f"{scheme}://{authority}")
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:
        raise ValueError(
            f"{text[:200]!a} has no host that a browser would send; use one such as https://review.example.org"
        ) from None
    return f"{scheme}://{host}" if port in (None, DEFAULT_PORT[scheme]) else f"{scheme}://{host}:{port}"


def host_of(origin: str) -> str:
    """Return the host of a normal origin, an IPv6 address in its brackets."""
    return re.sub(r":\d+\Z", "", origin.partition("://")[2])


def _host(name: str) -> str:
    if ":" in name and "%" not in name:
        return f"[{IPv6Address(name).compressed}]"
    if not _NAME.fullmatch(name):
        raise ValueError(name)
    return name
