"""What is masked where the record is read, and what stays."""

from __future__ import annotations

from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.review.text.secret_names import names_a_secret
from agent.review.text.secrets import masked

SECRETS = [
    "sk-proj-abcdefghijklmnop1234567890",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-1234567890-abcdefghij",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQ\nIBADAN\n-----END PRIVATE KEY-----",
    "4111 1111 1111 1111",
    "5500000000000004",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_of_a_common_form_is_masked_wherever_it_stands(secret: str) -> None:
    found = masked({"body": f"here it is: {secret} ok", "list": [secret]})
    assert secret not in str(found)
    assert "masked]" in found["body"]
    assert found["body"].startswith("here it is: ")
    assert found["body"].endswith(" ok")


@pytest.mark.parametrize(
    "text", ["password: hunter2hunter2", 'api_key="abcdef123456"', "Bearer abcdef.123456"]
)
def test_a_value_that_is_called_a_secret_is_masked_and_its_name_stays(text: str) -> None:
    assert "masked]" in masked(text)
    assert masked(text)[:6] == text[:6]


@pytest.mark.parametrize(
    "text",
    [
        "The meeting moved to 10.",
        "order 1234567890123456",  # no card: its check sum is wrong
        "0000000000000000",
        "2030-01-01T12:00:00.000000Z",
        "task-force",
        "a token of thanks",
        "DELETE FROM notes WHERE id = 7",
        "4111111111111111.5",
        "0.4111111111111111",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    "text", ["My card: 4111111111111111.", "(4111-1111-1111-1111)", "card-4111111111111111, say"]
)
def test_a_card_is_masked_whatever_signs_stand_around_it(text: str) -> None:
    assert "masked]" in masked(text)


def test_an_id_is_no_card_whatever_digits_are_in_it() -> None:
    chance = Random(7)
    ids = [UUID(int=chance.getrandbits(128), version=4) for _ in range(20_000)]
    names = [name for one in ids for name in (str(one), one.hex, f"run--{one}", one.hex[:12])]
    assert [name for name in names if masked(name) != name] == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False), st.lists
    )
)
def test_what_holds_neither_text_nor_a_card_is_never_changed(value: object) -> None:
    assert masked(value) == value


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("DB_PASSWORD=x9", "x9"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
        ("export FOO_TOKEN: abc123", "abc123"),
        ("spring.datasource.password=geheim", "geheim"),
        ("Authorization: Bearer abcdef.123", "abcdef"),
        ("curl --token abcdefg https://example.com", "abcdefg"),
        ("curl -H 'X-Api-Key: abc123xyz'", "abc123xyz"),
        ("https://example.com/?access_token=abcdef&user=ann", "abcdef"),
        ('{"user": "ann", "password": "it is long"}', "it is long"),
        ('{"user": "ann", "password": "a"}', '"a"'),
        (r"{\"password\": \"hunter2\"}", "hunter2"),
        ("config['db']['passwd'] = 'hunter2'", "hunter2"),
        ("postgres://user:pw@host/db", "pw"),
        ("redis://:s3cret@host, and more", "s3cret"),
        ("see amqp://u:p@ss@host", "p@ss"),
        ("Server=h;AccountKey=abcd1234==;End", "abcd1234"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEvQ\nIBAD", "MIIEvQ"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----", "\nx\n"),
        ("paid 5 with 4111111111111111", "4111111111111111"),
        ("4111 1111 1111 1111 12/27 123", "1111 1111 1111"),
        ("on 12 3782 822463 10005", "822463"),
        ("sk-proj-abcdefghijklmnop1234567890-Ab_cd", "Ab_cd"),
        ("eyJa.eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefgh", "eyJzdWIi"),
    ],
)
def test_a_secret_in_text_is_masked_by_its_name_or_form(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in masked(text)
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "token_count=1000000 max_tokens: 4096000 tokens=123456789",
        "page_token=abcdefgh next_page_token: abcdefgh",
        "password_policy_url=https://example.com/policy",
        "secretary: Annabel",
        "type Login = { password: string; token: string }",
        "std::token::value, Token::from(value)",
        "https://example.com:8080/path@v1 and ftp://ann@example.com",
        "monkey=abcdefgh, primary_key: abcdefgh",
        "password: ok, token = x",
        "at 1735689600 and 20300101",
    ],
)
def test_a_name_that_only_sounds_like_a_secrets_is_not_masked(text: str) -> None:
    assert masked(text) == text


SECRET_NAMES = (
    "password passwd pwd secret token api_key access_key private_key client_secret authorization passphrase "
    "DB_PASSWORD db-password dbPassword dbpassword clientSecret APIKey apikey X-Api-Key AWS_SECRET_ACCESS_KEY "
    "accessToken refresh_tokens credentials Set-Cookie password2 new_password_confirmation SECRET_KEY_BASE "
    "smtp_pass signingKey user.password GITHUB_TOKEN"
)
HARMLESS_NAMES = (
    "token_count tokens max_tokens secretary password_policy_url input_tokens next_page_token pageToken tokenizer "
    "key keys primary_key public_key keyboard bypass pass compass passenger secrets_manager_url author is_secret "
    "access_key_id api_key_count private value name"
)


@pytest.mark.parametrize("name", SECRET_NAMES.split())
@pytest.mark.parametrize("value", ["hunter2", 123456, 1.5, ["a", {"b": "hunter2"}], {"deep": {"er": "x"}}])
def test_the_value_of_a_key_that_names_a_secret_is_masked_whole(name: str, value: object) -> None:
    found = masked({"of": [{name: value, "kept": "as it is"}]})
    (inner,) = found["of"]
    assert inner["kept"] == "as it is"
    assert list(inner) == [name, "kept"]
    for text in ("hunter2", "123456", "1.5", "'a'", "'x'"):
        assert text not in str(inner)
    assert "masked]" in str(inner[name])
    assert masked(found) == found


@pytest.mark.parametrize("name", HARMLESS_NAMES.split())
def test_a_key_that_only_sounds_like_a_secrets_is_not_masked(name: str) -> None:
    assert masked({name: "some text", "n": {name: 7}}) == {name: "some text", "n": {name: 7}}
    assert not names_a_secret(name)


def test_nothing_under_a_secrets_key_is_nothing_to_mask() -> None:
    nothing: dict[str, object] = {"password": None, "token": True, "secret": "", "credentials": []}
    assert masked(nothing) == nothing


def test_a_named_value_is_masked_where_name_and_value_are_entries_of_their_own() -> None:
    given = [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "city", "value": "Ghent"}]
    assert masked(given) == [{"name": "DB_PASSWORD", "value": "hu…[7 characters masked]"}, given[1]]


@pytest.mark.parametrize("card", [4111111111111111, 5500000000000004, 378282246310005, 6011111111111117])
def test_a_card_is_masked_where_its_number_is_a_json_number(card: int) -> None:
    assert masked({"charge": [card]}) == {"charge": [masked(str(card))]} != {"charge": [str(card)]}


def test_an_instant_is_no_card() -> None:
    instants = range(1_735_689_600_000, 1_735_689_610_000)
    assert [one for one in instants if masked(one) != one] == []


def test_two_keys_with_the_same_mask_stay_two_entries() -> None:
    found = masked({"4111 1111 1111 1111": "a", "4111-1111-1111-1111": "b"})
    assert sorted(found.values()) == ["a", "b"]


def test_a_short_secret_shows_at_most_a_third_of_itself() -> None:
    assert [masked({"password": "abcdefghijkl"[:n]})["password"][:n] for n in (2, 3, 6, 12)] == [
        "…[",
        "a…[",
        "ab…[6 ",
        "abcd…[12 cha",
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"see {before}{one}{after}"
        for one in SECRETS
        for before in ("", "token=", '"pwd": "')
        for after in ("", '", and')
    ],
)
def test_a_mask_is_not_masked_again(text: str) -> None:
    once = masked({"body": text, "password": text})
    assert "masked]" in once["body"]
    assert masked(once) == once
