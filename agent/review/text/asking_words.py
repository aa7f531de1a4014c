"""The words by which a form asks for a secret, in English, German, French, Spanish, Indonesian and Korean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache


def _in_order(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(_in_order(phrase) for phrase in text.split(","))


# The words are written as they are compared: in small letters, without accents, Korean ones without particles.
_WORDS = _words("""
    password passwords passwd pwd passphrase passphrases passcode passcodes secret secrets credential credentials otp totp
    cvv cvc ssn apikey apikeys accesskey secretkey privatekey authkey apitoken accesstoken authtoken secrettoken
    privatetoken clientsecret

    kennworte geheimnis geheimnisse geheimzahl geheimcode geheimschlussel zugangsdaten anmeldedaten zugangscode
    zugangsschlussel zugriffsschlussel privatschlussel zugangstoken zugriffstoken authentifizierungstoken
    sicherheitscode bestatigungscode

    mdp secrete secretes cryptogramme

    contrasena contrasenas contrasenia secreto secretos credenciales

    sandi rahasia kredensial

    비밀번호 패스워드 비번 암호 시크릿 비밀키 개인키 인증번호 인증코드 보안코드 보안번호 자격증명 패스프레이즈 액세스키
    액세스토큰 인증토큰 접근키 접근토큰
    """)
"""Words that ask for a secret wherever they stand."""
_ENDINGS = ("passwort", "passworts", "passworter", "kennwort", "kennworter", "비밀번호", "패스워드")
"""Ends of words that are written together: `Datenbankpasswort`."""
_UPPERCASE = frozenset({"PIN", "TAN"})
"""Words that ask for a secret in capitals only; `pin` also where it stands alone."""
_PHRASES = _phrases(
    """
    pass word, pass phrase, pass code, pass key, pin code, your pin, enter pin, user pin, card pin, bank pin, sim pin,
    security code, verification code, authentication code, one time code, recovery code, recovery codes, backup code,
    backup codes, recovery phrase, seed phrase, social security number, credit card number, login details, two factor code,
    mot de passe, mots de passe, phrase de passe, code confidentiel, code de securite, code de verification,
    identifiants de connexion, vos identifiants, code pin, numero de carte bancaire,
    codigo de seguridad, codigo de verificacion, datos de acceso, numero de tarjeta de credito, frase semilla,
    su clave, tu clave, codigo pin,
    kata sandi, frasa sandi, kode keamanan, kode verifikasi, kode otp, kode pin, nomor kartu kredit,
    비밀 번호, 보안 코드, 인증 번호, 인증 코드, 자격 증명, 비밀 값, 비밀 문구, 시드 구문, 복구 구문, 핀 번호
    """
)
"""Words that ask for a secret one after the other."""
_KEYS = _words(
    "key keys token tokens schlussel schlussels cle cles clef clefs jeton jetons clave claves llave llaves kunci 키 토큰"
)
"""Words that ask for a secret only next to a word of `_QUALIFIERS`."""
_QUALIFIERS = _words("""
    access api secret private auth authentication
    zugang zugriff zugangs zugriffs privat privater privaten privatem privates geheim geheimer geheimen geheimem geheimes
    acces secrete prive privee authentification
    acceso secreta privada privado autenticacion
    akses rahasia pribadi privat autentikasi otentikasi
    액세스 접근 비밀 개인 인증
    """)
_CONNECTORS = _words("de d du des del la le l les el para")
"""Words that may stand between the two: `clé d'accès`, `clave de la API`."""
_ABOUT_AFTER = _words(
    "length policy policies count limit age expiry expiration rotation strength manager attempts 길이 정책"
)
_ABOUT_BEFORE = _words("length longueur longitud panjang politique politica kebijakan")
"""Words that make what follows, but for connectors, a property of secrets; `_ABOUT_AFTER` those that come after."""

_PARTICLES = _in_order("입니다 이란 이나 으로 를 을 는 은 이 가 와 과 의 로 도 만 에 란 나")
_BY_FIRST: Mapping[str, tuple[tuple[str, ...], ...]] = {
    first: tuple(one for one in _PHRASES if one[0] == first) for first in {one[0] for one in _PHRASES}
}
_KOREAN = frozenset(
    word
    for word in (
        *_WORDS,
        *_KEYS,
        *_QUALIFIERS,
        *_ABOUT_AFTER,
        *(one for phrase in _PHRASES for one in phrase),
    )
    if "가" <= word[0] <= "힣"
)
_WORD = re.compile(r"[가-힣]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z가-힣]+|[.!?;](?=\s)")
"""One word of a sentence, or of a name in snake, kebab or camel case; or the end of a sentence."""


def asks_for_a_secret(text: str) -> str:
    """Return the words of a name, title or description that ask for a secret, or ""."""
    written: list[str] = _WORD.findall(_folded(text))
    words = [_without_particle(word.lower()) for word in written]
    if words == ["pin"]:
        return "pin"
    place = 0
    while place < len(words):
        if written[place] in _UPPERCASE:
            return written[place]
        length = _secret_at(words, place)
        if length and not _is_about(words, place, length):
            return " ".join(words[place : place + length])
        if words[place] in _KEYS and (span := _qualified(words, place)):
            return " ".join(words[span])
        place += max(length, 1)
    return ""


def _secret_at(words: Sequence[str], place: int) -> int:
    """Return how many words from this place on ask for a secret by themselves."""
    word = words[place]
    for phrase in _BY_FIRST.get(word, ()):
        if tuple(words[place : place + len(phrase)]) == phrase:
            return len(phrase)
    return int(word in _WORDS or word.endswith(_ENDINGS))


def _is_about(words: Sequence[str], place: int, length: int) -> bool:
    """Return whether the words at this place only say what something else is about: `password length`."""
    after = place + length
    before = _beyond_connectors(words, place, -1)
    return (after < len(words) and words[after] in _ABOUT_AFTER) or (
        before is not None and words[before] in _ABOUT_BEFORE
    )


def _qualified(words: Sequence[str], place: int) -> slice | None:
    """Return where a key or token stands together with the word that makes it a secret; None if there is none."""
    for step in (-1, 1):
        other = _beyond_connectors(words, place, step)
        if other is not None and words[other] in _QUALIFIERS:
            return slice(min(place, other), max(place, other) + 1)
    return None


def _beyond_connectors(words: Sequence[str], place: int, step: int) -> int | None:
    """Return the place of the next word in this direction, past two connectors at most."""
    for other in (place + step, place + 2 * step, place + 3 * step):
        if not 0 <= other < len(words):
            return None
        if words[other] not in _CONNECTORS:
            return other
    return None


def _folded(text: str) -> str:
    """Return the text without invisible characters and accents, in its usual characters."""
    if text.isascii():
        return text
    # Long runs of marks go first: to order them takes longer than in proportion.
    kept = "".join(char for char in text if unicodedata.category(char) not in ("Cf", "Mn", "Me"))
    return "".join(map(_base, unicodedata.normalize("NFKC", kept)))


@lru_cache(maxsize=4_096)
def _base(char: str) -> str:
    """Return a letter without its accents; a Korean syllable stays whole."""
    if char.isascii() or "가" <= char <= "힣":
        return char
    return "".join(one for one in unicodedata.normalize("NFD", char) if unicodedata.category(one) != "Mn")


def _without_particle(word: str) -> str:
    if word[0] < "가" or word in _KOREAN:
        return word
    for particle in _PARTICLES:
        stem = word.removesuffix(particle)
        if stem != word and (stem in _KOREAN or stem.endswith(_ENDINGS)):
            return stem
    return word
