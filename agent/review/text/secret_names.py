"""Names that mark a value as secret: `password`, `DB_PASSWORD`, `x-api-key`, `clientSecret`."""

from __future__ import annotations

import re
from functools import lru_cache

MAX_SECRET_NAME = 100
"""Characters at the end of a name by which it is judged."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")
"""One word of a name in snake, kebab, dotted or camel case."""
_QUALIFIERS = _words(
    "value text string plain plaintext raw confirm confirmation again repeat repeated old new current hash hashed "
    "base b hex encoded encrypted prod production dev development staging live test main default"
)
"""Words that may follow a secret's name, which then still names one: `password_confirmation`, `SECRET_KEY_BASE`."""
_SECRETS = _words(
    "pwd pwds secret secrets token apikey apikeys accesskey secretkey privatekey authtoken accesstoken refreshtoken "
    "sessiontoken bearertoken clientsecret authorization credential credentials cookie cookies passcode otp totp cvv cvc"
)
_ENDINGS = ("password", "passwords", "passwd", "passphrase", "passphrases")
_KINDS = {
    "token": _words(
        "page next prev previous continuation sync stop eos bos pad unk mask sep cls special per first last max min "
        "end start"
    ),
    "tokens": _words("access refresh auth api bearer session secret"),
    "key": _words(
        "api access private secret signing encryption decryption auth account master shared ssh gpg pgp service deploy "
        "session client symmetric hmac aes rsa jwt webhook storage license"
    ),
    "pass": _words(
        "db database user smtp imap mysql pg postgres redis mail email ftp sftp admin root login api auth ssh proxy "
        "http https ldap wifi"
    ),
}
"""By a name's last word: the words before it that make the name a secret's; for `token`, those that do not."""


@lru_cache(maxsize=4_096)
def names_a_secret(name: str) -> bool:
    """Return whether a value of this name is a secret. A count, a limit or an address of secrets is not.

    The caller cuts the name to its last `MAX_SECRET_NAME` characters.
    """
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and (words[-1] in _QUALIFIERS or words[-1].isdigit()):
        words.pop()
    if not words or words[0] in ("is", "has"):
        return False
    *before, last = words
    kind = before[-1] if before else ""
    if last == "token":
        return kind not in _KINDS["token"]
    if last in ("tokens", "key", "keys", "pass"):
        return kind in _KINDS[last.removesuffix("s") if last == "keys" else last]
    return last in _SECRETS or last.endswith(_ENDINGS)
