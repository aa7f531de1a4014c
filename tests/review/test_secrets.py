"""What is masked where the record is read, and what stays."""

from __future__ import annotations

from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.review.secrets import masked

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


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False), st.lists))
def test_what_holds_no_text_is_never_changed(value: object) -> None:
    assert masked(value) == value
