"""Origins are compared in the one form in which browsers send them."""

from __future__ import annotations

import pytest

from agent.review.origins import host_of, normal


@pytest.mark.parametrize(
    ("text", "origin", "host"),
    [
        ("http://localhost:8501", "http://localhost:8501", "localhost"),
        ("HTTP://LocalHost:80", "http://localhost", "localhost"),
        ("https://review.example.org:443", "https://review.example.org", "review.example.org"),
        ("https://review.example.org:80", "https://review.example.org:80", "review.example.org"),
        ("http://[::1]:8501", "http://[::1]:8501", "[::1]"),
        ("http://[0:0:0:0:0:0:0:1]", "http://[::1]", "[::1]"),
        ("http://xn--bcher-kva.example", "http://xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_case_and_default_ports_do_not_count(text: str, origin: str, host: str) -> None:
    assert (normal(text), host_of(normal(text))) == (origin, host)


@pytest.mark.parametrize(
    "text",
    [
        *("null", "", "localhost", "//localhost", "file://", "ftp://localhost", "http://", "http:localhost"),
        *(
            "http://localhost.",
            "http://.localhost",
            "http://a..b",
            "http://a:b",
            "http://a:70000",
            "http://[::1",
        ),
        *(
            "http://ana@localhost",
            "http://localhost/",
            "http://localhost?",
            "http://localhost#",
            "http://a\\b",
        ),
        *(
            "http://a b",
            "http://a\n",
            "http://bücher.example",
            "http://*.example.org",
            "http://a;b",
            "http://a'",
        ),
        *("http://[fe80::1%25eth0]", "http://[fe80::1%;x]", " http://localhost"),
    ],
)
def test_what_is_no_origin_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"use one such as https://review\.example\.org"):
        normal(text)
