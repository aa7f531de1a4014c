"""URLs that name a user before their host: `https://google.com@evil.com` leads to evil.com."""

from __future__ import annotations

import re

MAX_SHOWN_PART = 60  # characters of a user and of a host that are shown

_AUTHORITY = re.compile(r"""://([^\s/?#"'<>]*+)""")
_BY_NAME = ("ssh", "sftp", "scp")
"""Schemes, or the ends of schemes, with which a plain user name is usual."""


def url_users(text: str) -> list[str]:
    """Return what the URLs in a text have before the `@` of their host: one short text each, with the host they lead to.

    A plain user name in an `ssh` URL, or one like it, is usual and not reported.
    """
    if "://" not in text or "@" not in text:
        return []
    return list(dict.fromkeys(filter(None, map(_told, _AUTHORITY.finditer(text)))))


def _told(url: re.Match[str]) -> str:
    user, at, host = url[1].rpartition("@")
    scheme = url.string[max(0, url.start() - 4) : url.start()].lower()
    if not at or (user.isidentifier() and scheme.endswith(_BY_NAME)):
        return ""
    return f"{_cut(user)}@{_cut(host)} leads to {_cut(host) or 'no host'}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_PART else text[:MAX_SHOWN_PART] + "…"
