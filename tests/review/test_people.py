"""Which names a person may act under."""

from __future__ import annotations

import pytest

from agent.review.errors import InvalidMessage
from agent.review.people import MAX_NAME, RESERVED, check_name, is_name


@pytest.mark.parametrize(
    "name",
    [
        "ana",
        "Zoë Ångström",
        "李雷",
        "O'Brien-Smith",
        "reviewer",
        "Nobody Jones",
        "api-team",
        "7",
        "b" * MAX_NAME,
        "🙂",
    ],
)
def test_a_name_is_taken_as_it_is(name: str) -> None:
    assert check_name(f" {name}\t") == name
    assert is_name(name)


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize(
    "spelt",
    [
        str,
        str.upper,
        str.title,
        lambda name: f"  {name} ",
        lambda name: name.replace(" ", ""),
        lambda name: " ".join(name),
        lambda name: "".join(chr(ord(char) + 0xFEE0) if "a" <= char <= "z" else char for char in name),
        lambda name: "".join(chr(ord(char) - ord("a") + 0x1D41A) if char != " " else char for char in name),
    ],
    ids=[
        "as it is",
        "upper",
        "title",
        "blanks around",
        "without blanks",
        "spaced",
        "full width",
        "mathematical",
    ],
)
def test_no_person_acts_under_a_name_that_the_console_writes(name: str, spelt: object) -> None:
    with pytest.raises(InvalidMessage, match="Use a name of your own"):
        check_name(spelt(name))  # type: ignore[operator]


@pytest.mark.parametrize("name", ["", " ", "\n", "\u0301", "\u0301 \u0302"])
def test_an_empty_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidMessage, match="The name is empty"):
        check_name(name)


@pytest.mark.parametrize(
    "char",
    "\x00\t\n\x1b\x7f\x85\xa0\xad\u034f\u061c\u115f\u1160\u180b\u180e\u2000\u200b\u200d\u200e\u2028\u202e\u2066\u2800\u3000"
    "\u3164\ufe0f\ufeff\uffa0\ue000\ud800\U000e0041\U000e0100",
)
def test_what_shows_nothing_or_moves_text_is_refused_and_named(char: str) -> None:
    for name in (f"an{char}a", f"{char}ana" if char.strip() else f"a{char}b", f"no{char}body"):
        with pytest.raises(InvalidMessage, match=rf"U\+{ord(char):04X}, which is hidden"):
            check_name(name)
        assert not is_name(name)


def test_a_name_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidMessage, match="The name has 81 characters; at most 80 are taken"):
        check_name("b" * 81)


@pytest.mark.parametrize("name", [" ana", "ana\n"])
def test_what_is_kept_by_others_has_to_be_a_name_as_it_is(name: str) -> None:
    assert not is_name(name)
