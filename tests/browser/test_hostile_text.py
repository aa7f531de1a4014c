"""Text made to load, link or look like the console itself does none of that, wherever it stands."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Browses, Tab, waiting
from tests.conftest import Server, until

pytestmark = [pytest.mark.browser, pytest.mark.process]

LINES = (
    "# EVIL heading",
    "[EVIL](http://evil.example/link)",
    "![EVIL](http://evil.example/x.png)",
    "<img src='http://evil.example/y.png'><b>EVIL</b><script>document.title='EVIL'</script>",
    ":red[EVIL] :material/skull: $EVIL^2$ `EVIL`",
    "http://evil.example/bare www.evil.example evil@evil.example",
)
HOSTILE = "\n".join(LINES)
NAME = "[EVIL](http://evil.example) :red[x]"
FORGED = "h1, h2, h3, h4, h5, h6, a, img, b, em, script, iframe, video, audio, svg.katex, .katex, .stMarkdownColoredText"


def is_clean(tab: Tab) -> None:
    """Nothing on the page was made from the text, and nothing was asked of anybody else."""
    tab.settled()
    expect(tab.page.get_by_text("EVIL").first).to_be_attached()
    forged = tab.page.evaluate(
        """selector => [document, ...[...document.querySelectorAll('*')].flatMap(one => one.shadowRoot ?? [])]
            .flatMap(root => [...root.querySelectorAll(selector)])
            .filter(one => /EVIL|evil[.]example/.test(one.outerHTML)).map(one => one.outerHTML)""",
        FORGED,
    )
    assert forged == []
    assert "EVIL" not in tab.page.title()
    assert tab.strangers == []


def test_hostile_text_forges_nothing_and_fetches_nothing(shared: Server, browses: Browses) -> None:
    args = json.dumps({"path": f"{LINES[2]}.txt", "content": HOSTILE})
    claim = HOSTILE.replace("\n", " ")
    message = f"{HOSTILE}\n/say {claim}\n/call {LINES[1]} {{}}\n/call#{LINES[1]} write_file {args}"
    review = waiting(shared, message, agent="operations")
    tab = browses(shared, None).open()
    tab.take_name(NAME)
    is_clean(tab)
    for name in ("JSON", "Raw call"):
        tab.at("card").get_by_role("tab", name=name).first.click(delay=50)
        is_clean(tab)
    tab.choose("edit").write("args", json.dumps({"path": LINES[1], "content": LINES, HOSTILE: 1}))
    tab.sees("expected")
    is_clean(tab)
    tab.choose("reject").write("reason", HOSTILE).sees("What will be sent to the agent")
    is_clean(tab)
    thread = f"/chat?thread={review['thread_id']}"
    is_clean(tab.open(thread))
    tab.page.get_by_role("radio", name="Under the hood").click(delay=50)
    tab.sees("Checkpoints")
    is_clean(tab)
    tab.open(thread).choose("approve").send()
    until(lambda: shared.get(f"threads/{review['thread_id']}")["status"] == "idle")
    expect(tab.at("message").locator("textarea")).to_be_enabled()
    is_clean(tab)
    is_clean(tab.open("/chat"))
    is_clean(tab.open(f"/chat?thread={LINES[1]}"))
    is_clean(tab.open(f"/?review={review['review_id']}"))
    is_clean(tab.open("/audit"))
    for kind in ("DecisionMade", "ActionRefused", "MessageSent"):
        (event,) = shared.get("audit", kind=kind, thread_id=review["thread_id"])["events"]
        is_clean(tab.open(f"/audit?event={event['seq']}"))
