"""Foreign text on the pages: literal, nothing hidden, warned of by argument, folded where it is long."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from agent.console import Console
from agent.review.actions import Review
from pages.parts.common.literal import MAX_UNFOLDED, MOST_LINES, fold_key
from tests.conftest import ask, waiting
from tests.forked import ROOT
from tests.pages.conftest import Opens, calls, of, send

LONG = "word " * MAX_UNFOLDED + "end"
Waits = Callable[..., Review]


@pytest.fixture
def waits(console: Console) -> Waits:
    """A review of an e-mail with this body, or of several."""

    def mail(*bodies: str) -> Review:
        made = [{"to": "alice@example.com", "subject": "Hello", "body": body} for body in bodies]
        return waiting(console, ask(console, calls(*(f"send_email {json.dumps(one)}" for one in made))))

    return mail


def drawn(script: Callable[..., None], **kwargs: Any) -> AppTest:
    page = AppTest.from_function(script, kwargs=kwargs, default_timeout=60)
    page.run()
    assert not page.exception, [one.message for one in page.exception]
    return page


def several(texts: list[str]) -> None:
    from pages.parts.common.literal import line, literal

    for text in texts:
        literal(text)
        line(text)


def test_hidden_characters_in_an_argument_are_marked_and_the_warning_names_it(
    opens: Opens, waits: Waits
) -> None:
    waits("Pay \u202eeciov")
    screen = opens()
    assert "Pay ⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩eciov" in screen.texts("code")
    assert any("Hidden characters" in one for one in screen.texts("warning"))
    assert "body · U+202E RIGHT-TO-LEFT OVERRIDE" in screen.texts("line")
    assert "\u202e" not in screen.said()


def test_no_word_of_an_agents_is_part_of_a_warning(opens: Opens, waits: Waits) -> None:
    waits("![x](http://evil.example)\u200b https://\u0430pple.com")
    screen = opens()
    assert screen.texts("warning")
    assert not any("apple" in one or "evil" in one for one in screen.texts("warning"))


def test_an_ordinary_action_has_no_warning(opens: Opens, mail: Review) -> None:
    screen = opens()
    assert not screen.at.warning
    assert not screen.texts("warning")


def test_text_that_looks_like_markdown_is_shown_as_it_is() -> None:
    text = "# *a* :red[b] <b>c</b> ![](http://127.0.0.1:9/x.png)"
    page = drawn(several, texts=[text])
    assert page.code[0].value == page.text[0].value == text
    assert not page.markdown


@pytest.mark.parametrize("text", ["  a\n    b", "a\n", "\n\na", " a ", "a\n" * 3])
def test_no_blank_is_lost_on_the_way_to_the_page(text: str) -> None:
    from agent.review.text.deception import visible

    page = drawn(several, texts=[text])
    assert page.code[0].value == page.text[0].value == visible(text)


@pytest.mark.parametrize("text", [LONG, "line\n" * MOST_LINES + "end"])
def test_a_long_value_leaves_the_server_only_once_its_fold_is_opened(text: str) -> None:
    page = drawn(several, texts=[text])
    assert not page.code
    assert not page.text
    page.session_state[fold_key(text)] = True
    page.run()
    assert [one.value for one in page.code] == [text]


def test_the_same_long_text_may_stand_on_a_page_more_than_once() -> None:
    page = drawn(several, texts=[LONG, LONG])
    page.session_state[fold_key(LONG, 3)] = True
    page.run()
    assert [one.value for one in page.code] == [LONG]


def test_text_that_still_grows_is_not_folded() -> None:
    def growing(text: str) -> None:
        from pages.parts.common.literal import line

        line(text, grows=True)

    assert drawn(growing, text=LONG).text[0].value == LONG


def test_approve_stays_off_until_every_long_value_was_opened(opens: Opens, waits: Waits) -> None:
    review = waits(LONG)
    screen = opens()
    assert screen.is_off(of("approve", review))
    assert not screen.is_off(of("reject", review))
    assert "1 to go" in screen.said()
    assert LONG not in screen.said()
    screen.open_text(LONG)
    assert LONG in screen.said()
    assert not screen.run().is_off(of("approve", review))


def test_an_approval_drafted_in_one_session_is_not_sent_from_another_that_opened_nothing(
    opens: Opens, waits: Waits
) -> None:
    review = waits(LONG)
    first = opens()
    first.open_text(LONG).approve(review)
    assert not first.is_off(send(review))
    assert opens().is_off(send(review))


def test_a_value_of_a_megabyte_is_shown_in_full_when_it_is_asked_for() -> None:
    text = "0123456789" * 99_900 + "end"
    page = drawn(several, texts=[text])
    assert not page.code
    page.session_state[fold_key(text)] = True
    page.run()
    assert [one.value for one in page.code] == [text]


def test_a_card_with_a_very_long_value_carries_none_of_it_before_it_is_asked_for(
    opens: Opens, waits: Waits
) -> None:
    waits("0123456789" * 9_900)
    assert max(len(str(node.proto)) for node in opens().nodes()) < 10_000


def test_pages_show_text_through_the_literal_renderer_alone() -> None:
    direct = re.compile(r"\bst\.(?:text|code|write|json|html|latex)\((?!visible\()")
    for path in (ROOT / "pages").rglob("*.py"):
        if path.name != "literal.py":
            assert not direct.search(path.read_text("utf-8")), path.name
