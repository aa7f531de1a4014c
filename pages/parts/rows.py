"""Rows to pick one from, as one element: a page of fifty is drawn as fast as a button.

What stands in them is anybody's text: the browser gets it as data and puts it on the page as text alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from agent.review.deception import visible

HTML = "<ul></ul>"

CSS = """
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: 0.25rem; }
li { padding: 0; margin: 0; }
button {
  display: grid; gap: 0.1rem; width: 100%; padding: 0.35rem 0.6rem; text-align: left; cursor: pointer;
  font: inherit; line-height: 1.35; color: var(--st-text-color); background: transparent;
  border: 1px solid var(--st-border-color); border-left-width: 4px; border-radius: var(--st-base-radius);
}
button:hover { border-color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
button[aria-current=true] { background: var(--st-secondary-background-color); border-color: var(--st-primary-color); font-weight: 600; }
span { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
span:first-child { font-family: var(--st-code-font); font-size: var(--st-code-font-size); }
span:last-child { font-size: 0.85em; font-weight: 400; }
"""

JS = """
function made(id) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.append(document.createElement("span"), document.createElement("span"));
  item.append(button);
  item.dataset.name = id;
  return item;
}

// A row that stays is never moved: it may be focused, or under a finger.
export default function ({ data, parentElement, setTriggerValue }) {
  const list = parentElement.querySelector("ul");
  list.setAttribute("aria-label", data.label);
  const there = new Map([...list.children].map(item => [item.dataset.name, item]));
  const wanted = data.rows.map(([name]) => there.get(name) ?? made(name));
  for (const item of there.values()) if (!wanted.includes(item)) item.remove();
  data.rows.forEach(([name, first, second], place) => {
    const item = wanted[place];
    if (list.children[place] !== item) list.insertBefore(item, list.children[place] ?? null);
    const button = item.firstChild;
    button.firstChild.textContent = first;
    button.lastChild.textContent = second;
    button.setAttribute("aria-current", name === data.current);
    button.onclick = () => setTriggerValue("picked", name);
  });
}
"""
_component = st.components.v2.component("rows", html=HTML, css=CSS, js=JS)


@dataclass(frozen=True)
class Row:
    """One thing to pick: the name it is picked by, and two lines about it."""

    name: str
    first: str
    second: str


def rows(
    label: str,
    made: Sequence[Row],
    *,
    key: str,
    on_pick: Callable[[str], None] = lambda _: None,
    current: str | None = None,
) -> str | None:
    """Draw the rows, whose names all differ; `on_pick` gets the name of the one that was clicked, and so does the caller.

    The one is told before the page is drawn, as a callback; the other may leave the page.
    """

    def picked() -> None:
        if name := _picked(st.session_state[key]):
            on_pick(name)

    shown = [(row.name, visible(row.first), visible(row.second)) for row in made]
    data = {"label": label, "rows": shown, "current": current}
    return _picked(_component(data=data, key=key, on_picked_change=picked))


def _picked(state: Mapping[str, object]) -> str | None:
    name = state.get("picked")
    return name if isinstance(name, str) else None
