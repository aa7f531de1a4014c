"""Anybody's text is data: wherever it comes from, it stands only in elements that show it as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.bootstrap import Opened
from agent.console import Console
from agent.lessons.playing import STAGES
from agent.review.actions import Action, Review
from agent.review.events import EventKind
from agent.scenarios import batch, shelf
from pages.parts.state import identity, widget_keys
from tests.conftest import ask, start_deciding, waiting
from tests.pages.conftest import LITERAL, TYPED, Opens, Screen, of, send

MARK = "EVIL7"
HOSTILE = (
    f"# {MARK} **{MARK}** :red[{MARK}] :material/{MARK}: [{MARK}](http://evil.example/{MARK}) "
    f"![{MARK}](http://evil.example/{MARK}.png) <img src=http://evil.example/{MARK}> $${MARK}$$ `{MARK}`"
)
DATA = {"arrow_data_frame", "bidi_component"}
"""Tables draw text on a canvas; the component that keeps the name gets it as data."""


def misplaced(screen: Screen) -> list[str]:
    """Every element, block or label that shows the hostile text in another way than as it is."""
    found = [
        f"page title or navigation: {one}" for one in screen.at._registered_pages.values() if MARK in str(one)
    ]
    for node in every_node(screen.at._tree):
        kind, proto = getattr(node, "type", ""), getattr(node, "proto", None)
        if proto is None or MARK not in shown(proto) or kind in LITERAL | DATA:
            continue
        labels = [getattr(proto, name, "") for name in ("label", "help", "placeholder")]
        if kind in TYPED and not any(MARK in str(label) for label in labels):
            continue
        found.append(f"{kind}: {proto}")
    return found


def shown(proto: Any) -> str:
    """What of an element a browser shows: its id is for the server."""
    if not hasattr(proto, "DESCRIPTOR") or "id" not in proto.DESCRIPTOR.fields_by_name:
        return str(proto)
    copy = type(proto)()
    copy.CopyFrom(proto)
    copy.ClearField("id")
    return str(copy)


def every_node(block: Any) -> list[Any]:
    children = getattr(block, "children", {})
    return [block, *(one for child in children.values() for one in every_node(child))]


def shows(screen: Screen) -> Screen:
    """The hostile text is there, and nowhere out of place."""
    assert misplaced(screen) == []
    assert MARK in screen.said()
    return screen


@pytest.fixture
def letter(console: Console) -> Review:
    """A review in which the message, the claim and every argument are hostile."""
    args = json.dumps({"to": f"{MARK}@evil.example", "subject": HOSTILE, "body": HOSTILE})
    return waiting(console, ask(console, f"{HOSTILE}\n/say {HOSTILE}\n/call send_email {args}"))


def test_on_the_card(opens: Opens, letter: Review) -> None:
    shows(opens())


@pytest.mark.parametrize("kind", ["approve", "edit", "reject"])
def test_in_what_is_chosen(opens: Opens, letter: Review, kind: str) -> None:
    shows(opens().click(of(kind, letter)))


def test_in_the_reason_and_what_the_agent_is_told(opens: Opens, mail: Review) -> None:
    shows(opens().click(of("reject", mail)).type(of("reason", mail), HOSTILE))


def test_in_the_answer_given_in_the_tools_place(opens: Opens, console: Console) -> None:
    call = json.dumps({"question": HOSTILE})
    review = waiting(console, ask(console, f"/call ask_user {call}", agent="operations"))
    shows(opens().click(of("respond", review)).type(of("reply", review), HOSTILE))


@pytest.mark.parametrize("text", [HOSTILE, json.dumps({HOSTILE: HOSTILE}), json.dumps({"to": [HOSTILE]})])
def test_in_faults_of_an_edit(opens: Opens, mail: Review, text: str) -> None:
    screen = opens().click(of("edit", mail)).write_args(mail, text)
    assert misplaced(screen) == []


@pytest.mark.parametrize("view", ["Form", "JSON"])
def test_in_both_views_of_an_edit(opens: Opens, letter: Review, view: str) -> None:
    screen = opens().click(of("edit", letter))
    screen.at.button_group(key=of("edit-view", letter)).set_value(view)
    shows(screen.run())


def test_in_the_names_of_arguments(opens: Opens, console: Console) -> None:
    call = json.dumps({HOSTILE: 1, "to": "a@b.c", "subject": "s", "body": "b"})
    thread_id = ask(console, f"/call send_email {call}")
    shows(opens("chat", thread=thread_id))
    assert misplaced(opens()) == []


def test_in_the_name_of_a_tool(opens: Opens, console: Console) -> None:
    name = f"[{MARK}](http://evil.example)"
    thread_id = ask(console, f"/call {name} {{}}")
    shows(opens("chat", thread=thread_id))
    (event,) = console.trail.events(kind=EventKind.ACTION_REFUSED)
    shows(opens("audit", event=str(event.seq)))


def test_in_the_id_of_a_call(opens: Opens, console: Console) -> None:
    call = '{"to": "a@b.c", "subject": "s", "body": "b"}'
    thread_id = ask(console, f"/call#:red[{MARK}] send_email {call}")
    shows(opens())
    assert misplaced(opens("chat", thread=thread_id)) == []


def test_in_the_conversation_before_and_after_the_decision(
    opens: Opens, console: Console, letter: Review
) -> None:
    shows(opens("chat", thread=letter.thread_id))
    decision = [{"type": "reject", "message": HOSTILE}]
    assert console.wait(start_deciding(console, letter.thread_id, decision, by=HOSTILE), 30)
    shows(opens("chat", thread=letter.thread_id))
    shows(opens().open_fold("Done today"))
    shows(opens(review=letter.review_id))


def test_under_the_hood(opens: Opens, letter: Review) -> None:
    screen = opens("chat", thread=letter.thread_id)
    screen.at.button_group(key="view").set_value("Under the hood")
    shows(screen.run())


def test_in_the_list_of_threads(opens: Opens, letter: Review) -> None:
    shows(opens("chat"))


def test_in_every_event_of_the_record(opens: Opens, console: Console, letter: Review) -> None:
    decision = [{"type": "reject", "message": HOSTILE}]
    assert console.wait(start_deciding(console, letter.thread_id, decision, by=HOSTILE), 30)
    for event in console.trail.events():
        assert misplaced(opens("audit", event=str(event.seq))) == [], event.kind


def test_in_the_world(opens: Opens, console: Console) -> None:
    call = json.dumps({"path": f"{HOSTILE}.txt", "content": HOSTILE})
    review = waiting(console, ask(console, f"/call write_file {call}", agent="operations"))
    screen = opens("chat", thread=review.thread_id).approve(review).send(review)
    shows(screen)


def test_in_the_name_of_a_reviewer(opens: Opens, mail: Review) -> None:
    name = f"**{MARK}** :red[x] [x](http://evil.example)"
    shows(opens(reviewer=name))
    shows(opens("audit", reviewer=name))
    shows(opens("chat", reviewer=name, thread=mail.thread_id))


def test_in_an_error(opens: Opens, console: Console) -> None:
    shows(opens("chat", thread=f":red[{MARK}]"))
    assert misplaced(opens(review=HOSTILE, action=HOSTILE, q=HOSTILE, after=HOSTILE)) == []
    assert misplaced(opens("audit", event=HOSTILE, thread_id=HOSTILE, by=HOSTILE, before=HOSTILE)) == []


def test_in_the_words_of_one_who_decided_before(opens: Opens, mail: Review, console: Console) -> None:
    screen = opens(review=mail.review_id).approve(mail)
    decision = [{"type": "reject", "message": HOSTILE}]
    assert console.wait(start_deciding(console, mail.thread_id, decision, by=HOSTILE), 30)
    shows(screen.click(send(mail)))


def test_on_the_page_that_settles(opens: Opens, unknown: Action, console: Console) -> None:
    named = f"{unknown.key.thread_id}/{unknown.key.tool_call_id}"
    screen = opens(action=named, reviewer=f":red[{MARK}]")
    screen.at.button_group(key="outcome").set_value("happened")
    screen.run().type("settled-result", HOSTILE)
    shows(screen)
    assert screen.at.session_state[identity.REVIEWER] == f":red[{MARK}]"


def test_in_a_scenario_and_in_what_came_of_it(opens: Opens, page_console: Opened) -> None:
    made = {
        "scenario": HOSTILE,
        "agent": "mail",
        "message": f"/say {HOSTILE}",
        "expect": {"answer": f"not {HOSTILE}", "world": [HOSTILE]},
    }
    folder = shelf.saved_in(page_console)
    folder.mkdir()
    (folder / "odd.scenario.yaml").write_text(json.dumps(made))
    screen = opens("qa").click(widget_keys.key("run", "odd.scenario.yaml"))
    latest = batch.latest()
    assert latest is not None
    assert latest.wait(60)
    shows(screen.run())
    assert "failed" in screen.said()
    batch.forget()


def test_in_a_pasted_payload_of_any_shape(opens: Opens) -> None:
    batched = {
        "action_requests": [{"name": HOSTILE, "args": {HOSTILE: HOSTILE}, "description": HOSTILE}],
        "review_configs": [{"action_name": HOSTILE, "allowed_decisions": ["approve", "reject"]}],
    }
    for value in (batched, HOSTILE, {"value": {HOSTILE: 1}, "id": HOSTILE, "response_schema": {HOSTILE: {}}}):
        screen = opens("qa")
        screen.at.radio(key="qa-view").set_value("Paste a payload")
        screen.run().at.text_area(key="payload").set_value(json.dumps(value))
        shows(screen.click("read-payload"))


def test_on_the_way_to_a_scenario(opens: Opens, console: Console) -> None:
    thread_id = ask(console, f"/call search_mail {json.dumps({'text': HOSTILE})}")
    screen = shows(opens("chat", thread=thread_id).open_fold("scenario"))
    (box, _) = (one for one in screen.at.checkbox if str(one.key).startswith("scenario-never:"))
    box.check()
    shows(screen.run())


def test_in_a_testers_note(opens: Opens, console: Console) -> None:
    thread_id = ask(console, "/say Hello")
    console.notes.add(
        thread_id, by=HOSTILE, verdict="unsure", text=HOSTILE, link=f"https://a.example/**{MARK}**"
    )
    shows(opens("chat", thread=thread_id))


def test_in_what_a_learner_writes(opens: Opens) -> None:
    screen = opens("lessons", lesson="again")
    written = widget_keys.key("written", "again", screen.at.query_params["stage"], 0)
    screen.type(written, HOSTILE).click("step")
    shows(screen.click("step"))
    STAGES.close()


def test_on_the_way_to_a_rule_and_in_the_list_of_them(opens: Opens, console: Console) -> None:
    args = {"path": f"{MARK}.txt", "content": HOSTILE}
    message = f"/call#c1 write_file {json.dumps(args)}"
    ask(console, message.replace(f"{MARK}.txt", HOSTILE.replace('"', "")), agent="operations")
    review = waiting(console, ask(console, message, agent="operations"))
    screen = opens(review=review.review_id)
    screen.at.session_state[of("remember", review)] = True
    shows(screen.run())
    console.rules.make(
        review.thread_id, "c1", free=["content"], scope="agent", lasting="today", by=f":red[{MARK}]"
    )
    shows(opens("policies", policy="operations"))
