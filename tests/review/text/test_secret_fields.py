"""A form that asks for a secret is noticed by its words, in six languages; one that only speaks of keys is not."""

from __future__ import annotations

from typing import Any

import pytest

from agent.review.text.secret_fields import secret_fields

TEXT = {"type": "string"}


def form(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def flagged(schema: dict[str, Any]) -> list[str]:
    return [one.name for one in secret_fields(schema)]


ASKING: dict[str, tuple[str, ...]] = {
    "names": (
        *(
            "password",
            "user_password",
            "newPassword",
            "DB-PASSWD",
            "pwd",
            "passphrase",
            "passcode",
            "client_secret",
        ),
        *(
            "clientSecret",
            "credentials",
            "api_key",
            "apiKey",
            "apikey",
            "x-api-key",
            "secret_key",
            "private_key",
        ),
        *(
            "PRIVATE_KEY",
            "access_token",
            "accessToken",
            "authToken",
            "auth_token",
            "secret_token",
            "otp",
            "totp",
        ),
        *(
            "pin",
            "pin_code",
            "cvv",
            "ssn",
            "seed_phrase",
            "recovery_code",
            "2fa_verification_code",
            "accesskey",
        ),
    ),
    "English": (
        *(
            "Password",
            "Your password, please",
            "Enter the passphrase of the key",
            "API key",
            "The key: API, staging",
        ),
        *(
            "Access token for the repository",
            "Token (auth)",
            "Your PIN",
            "Please enter your pin",
            "One-time code",
        ),
        *(
            "Security code on the back",
            "OAuth token",
            "What are your credentials?",
            "pass word",
            "Private key (PEM)",
        ),
    ),
    "German": (
        *(
            "Passwort",
            "Bitte geben Sie Ihr Kennwort ein",
            "Datenbankpasswort",
            "Ihre Zugangsdaten",
            "Geheimzahl",
        ),
        *("API-Schlüssel", "privater Schlüssel", "den geheimen Schlüssel einfügen", "Zugriffstoken", "TAN"),
        *("Sicherheitscode", "WLAN-Passwort"),
    ),
    "French": (
        *("Mot de passe", "Votre mot de passe actuel", "Clé d'accès", "Clé API", "clé secrète", "Clé privée"),
        *(
            "Jeton d’accès",
            "Code confidentiel",
            "Vos identifiants de connexion",
            "Phrase de passe",
            "Code de sécurité",
        ),
    ),
    "Spanish": (
        *(
            "Contraseña",
            "Escriba su contraseña",
            "contrasena",
            "Clave de acceso",
            "Clave secreta",
            "Clave privada",
        ),
        *("clave de la API", "Token de acceso", "Credenciales", "Ingrese su clave", "Código de verificación"),
    ),
    "Indonesian": (
        *(
            "Kata sandi",
            "Masukkan kata sandi Anda",
            "Sandi",
            "Kunci API",
            "Kunci rahasia",
            "kunci akses",
            "Token akses",
        ),
        *("Kredensial", "Kode OTP", "Kode keamanan", "PIN"),
    ),
    "Korean": (
        *(
            "비밀번호",
            "비밀번호를 입력하세요",
            "새 비밀번호는 무엇입니까?",
            "로그인비밀번호",
            "암호",
            "암호를 입력",
            "패스워드",
        ),
        *(
            "API 키",
            "API키를 붙여 넣으세요",
            "비밀 키",
            "개인 키",
            "액세스 토큰",
            "인증번호",
            "보안 코드",
            "자격 증명",
        ),
    ),
    "written oddly": (
        *(
            "pass\u200bword",
            "pa\u00adssword",
            "ｐａｓｓｗｏｒｄ",
            "Contrasen\u0303a",
            "Cle\u0301 API",
            "𝗽𝗮𝘀𝘀𝘄𝗼𝗿𝗱",
        ),
        *(
            "PASSWORD",
            "pass-word",
            "비밀번호".encode().decode(),
            "\u1107\u1175\u1106\u1175\u11af\u1107\u1165\u11ab\u1112\u1169",
        ),
    ),
}

HARMLESS: tuple[str, ...] = (
    # keys and tokens that unlock nothing
    *(
        "key",
        "keys",
        "Key",
        "sort_key",
        "primary_key",
        "foreignKey",
        "public_key",
        "partition key",
        "Key of the map",
    ),
    *(
        "keyword",
        "keywords",
        "keyboard",
        "key_color",
        "Key takeaways",
        "cache key",
        "translation key",
        "key signature",
    ),
    *("token", "tokens", "max_tokens", "token_count", "next_page_token", "Tokens per request", "token limit"),
    *(
        "Number of tokens",
        "stop_token",
        "page token",
        "Board game token",
        "key_value",
        "The sort key. API version 2 has none",
    ),
    # neighbours in the dictionary
    *(
        "passport",
        "Passport number",
        "passenger",
        "Passengers",
        "pass",
        "Bypass",
        "Boarding pass",
        "Compass heading",
    ),
    *(
        "secretary",
        "Secretary of the board",
        "secretion",
        "discreet",
        "author",
        "authority",
        "Author of the book",
    ),
    *(
        "pinned",
        "Pin the message to the top",
        "gpio_pin",
        "spin",
        "pineapple",
        "tan",
        "Tan lines",
        "credit",
        "credits",
    ),
    *(
        "private",
        "Private notes",
        "access",
        "Access level",
        "api",
        "API version",
        "auth",
        "Auth method",
        "apiUrl",
    ),
    *("password_policy", "Password length", "password_count", "Password manager in use", "secret_count"),
    # what forms usually ask for
    *(
        "name",
        "Full name",
        "email",
        "E-mail address",
        "city",
        "postal_code",
        "country",
        "date",
        "Start date",
        "amount",
    ),
    *(
        "quantity",
        "comment",
        "Comment for the reviewer",
        "subject",
        "body",
        "priority",
        "Which account should I use?",
    ),
    *(
        "Library card number",
        "Order number",
        "Colour of the cover",
        "Code of the product",
        "phone",
        "Status code",
    ),
    *("ZIP code", "Source code", "Which branch?", "file path", "url", "query", "language", "Time zone"),
    # the other languages
    *(
        "Schlüssel",
        "Schlüsselwort",
        "Tonart und Schlüssel",
        "Passwortlänge",
        "Passagier",
        "Ausweisnummer",
        "Kennzeichen",
    ),
    *(
        "Clé de sol",
        "Mot-clé",
        "Mot du jour",
        "Passe-temps",
        "Jeton de présence",
        "Code postal",
        "Longueur du mot de passe",
    ),
    *(
        "Palabra clave",
        "Clave primaria",
        "Clave de sol",
        "Código postal",
        "Token",
        "Longitud de la contraseña",
    ),
    *("Kata kunci", "Kunci jawaban", "Kode pos", "Alamat", "Kebijakan kata sandi", "Kunci inggris"),
    *(
        "키",
        "키(cm)",
        "열쇠",
        "암호화 방식",
        "암호화폐",
        "우편번호",
        "전화번호",
        "토큰 수",
        "비밀 유지 계약",
        "비밀번호 길이",
    ),
)


def test_there_are_at_least_a_hundred_harmless_texts() -> None:
    assert len(set(HARMLESS)) >= 100


@pytest.mark.parametrize("text", [text for texts in ASKING.values() for text in texts])
def test_a_field_is_flagged_by_its_title_its_description_and_its_name(text: str) -> None:
    assert flagged(form(a={**TEXT, "title": text})) == ["a"]
    assert flagged(form(a={**TEXT, "description": f"{text}."})) == ["a"]
    assert flagged(form(**{text: TEXT})) == [text]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_field_is_not_flagged(text: str) -> None:
    assert flagged(form(a={**TEXT, "title": text, "description": f"{text}."}, **{text: TEXT})) == []


@pytest.mark.parametrize(
    ("schema", "why"), [({"format": "password"}, "format: password"), ({"writeOnly": True}, "writeOnly")]
)
def test_a_field_is_flagged_by_what_its_schema_says(schema: dict[str, Any], why: str) -> None:
    (one,) = secret_fields(form(a={**TEXT, **schema}, b=TEXT))
    assert (one.name, one.why) == ("a", why)


def test_the_reason_is_the_words_that_ask() -> None:
    (one,) = secret_fields(form(a={**TEXT, "description": "Please give your API key here."}))
    assert one.why == "api key"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "boolean", "title": "Reset the password?"},
        {"type": ["boolean", "null"], "title": "Rotate the API key?"},
        {"enum": ["change the password", "keep the password"], "title": "What about the password?"},
        {"const": "password"},
    ],
)
def test_what_can_only_be_one_of_given_values_asks_for_no_secret(schema: dict[str, Any]) -> None:
    assert flagged(form(password=schema)) == []


LOGIN = form(user=TEXT, password=TEXT)
NESTED: dict[str, dict[str, Any]] = {
    "object": LOGIN,
    "array": {"type": "array", "items": LOGIN},
    "tuple": {"prefixItems": [TEXT, LOGIN]},
    "map": {"additionalProperties": {"title": "Password"}},
    "pattern": {"patternProperties": {"^password$": TEXT}},
    "union": {"anyOf": [{"type": "null"}, LOGIN]},
    "one of": {"oneOf": [TEXT, {"allOf": [LOGIN]}]},
    "condition": {"if": {}, "then": LOGIN},
    "dependent": {"dependentSchemas": {"user": LOGIN}},
    "required alone": {"type": "object", "required": ["password"]},
    "reference": {"$ref": "#/$defs/login"},
    "escaped reference": {"$ref": "#/$defs/a~1b%20c"},
    "reference by anchor": {"$ref": "#login"},
    "reference in a circle": {"$ref": "#/$defs/circle"},
}
DEFINITIONS = {
    "login": LOGIN,
    "a/b c": LOGIN,
    "circle": {"anyOf": [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/login"}]},
    "harmless": {"items": {"$ref": "#/$defs/harmless"}, "title": "Tree"},
}


@pytest.mark.parametrize("inner", NESTED.values(), ids=NESTED)
def test_a_field_is_flagged_by_what_is_asked_for_inside_it(inner: dict[str, Any]) -> None:
    assert flagged({**form(a=TEXT, b=inner), "$defs": DEFINITIONS}) == ["b"]


def test_two_fields_with_the_same_definition_are_both_flagged() -> None:
    login = {"$ref": "#/$defs/login"}
    assert flagged({**form(a=login, b={"$ref": "#/$defs/harmless"}, c=login), "$defs": DEFINITIONS}) == [
        "a",
        "c",
    ]


def test_a_form_that_is_one_value_or_asks_in_its_own_title_is_flagged_as_a_whole() -> None:
    assert flagged({"type": "string", "title": "Your password"}) == [""]
    assert flagged({**form(value=TEXT), "title": "Your password"}) == [""]
    assert flagged({"type": "array", "items": LOGIN}) == [""]


def test_the_fields_of_a_forms_branches_are_its_own() -> None:
    assert flagged({"allOf": [form(a=TEXT), LOGIN]}) == ["password"]
    assert flagged({"$ref": "#/$defs/login", "$defs": DEFINITIONS}) == ["password"]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": None, "required": 3, "allOf": 7, "$defs": []},
        {"properties": {"a": True, "b": None, "c": 3}},
        {"$ref": "#/nowhere/0"},
        {"$ref": "#"},
        {"$ref": 3, "title": 4, "description": ["password"], "type": {}},
        {"type": []},
    ],
)
def test_what_is_no_schema_is_walked_as_far_as_it_goes(schema: dict[str, Any]) -> None:
    assert flagged(schema) == []
