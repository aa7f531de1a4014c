"""A field for JSON: monospace, numbered lines, faults marked at theirs, hidden characters seen, every keystroke kept.

The text is the browser's to hold and the server's to judge: nothing in it is ever taken for HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

HTML = """
<div class="json-field">
  <div class="json-lines" aria-hidden="true"></div>
</div>
"""

CSS = """
.json-field {
  position: relative; max-height: 24rem; overflow: auto;
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius);
  background: var(--st-secondary-background-color);
}
.json-field:focus-within { outline: 2px solid var(--st-primary-color); outline-offset: -1px; }
.json-lines, .json-field textarea {
  font: var(--st-code-font-size)/1.6 var(--st-code-font); tab-size: 4; letter-spacing: normal;
  white-space: pre-wrap; overflow-wrap: anywhere; direction: ltr; unicode-bidi: bidi-override;
  padding: 0.5rem 0.75rem 0.5rem 3.25rem; margin: 0; box-sizing: border-box; width: 100%;
}
.json-field textarea {
  position: absolute; inset: 0; height: 100%; border: 0; outline: 0; resize: none; overflow: hidden;
  background: transparent; color: var(--st-text-color);
}
.json-lines { counter-reset: line; color: transparent; min-height: 6rem; }
.json-lines div { position: relative; counter-increment: line; min-height: 1.6em; unicode-bidi: inherit; }
.json-lines div::before {
  content: counter(line); position: absolute; left: -3.25rem; width: 2.5rem; text-align: right;
  color: var(--st-text-color); opacity: 0.75;
}
.json-lines div.wrong { background: var(--st-red-background-color); }
.json-lines div.wrong::before { content: "▸ " counter(line); opacity: 1; font-weight: 700; }
.json-lines mark {
  color: transparent; background: var(--st-yellow-background-color);
  box-shadow: 0 0 0 2px var(--st-yellow-color); border-radius: 1px;
}
"""

JS = r"""
const HIDDEN = /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u2800]/gu;
const AFTER = 250; // milliseconds without a keystroke
const fields = new WeakMap();

function line(text, wrong) {
  const made = document.createElement("div");
  made.classList.toggle("wrong", wrong);
  let done = 0;
  for (const found of text.matchAll(HIDDEN)) {
    const mark = document.createElement("mark");
    mark.textContent = found[0];
    made.append(text.slice(done, found.index), mark);
    done = found.index + found[0].length;
  }
  made.append(text.slice(done));
  return made;
}

class Field {
  constructor(lines) {
    const area = document.createElement("textarea");
    Object.assign(area, { spellcheck: false, autocapitalize: "off", autocomplete: "off" });
    area.setAttribute("autocorrect", "off");
    Object.assign(this, { area, lines, sent: [], wrong: [] });
    area.addEventListener("input", () => this.typed());
    area.addEventListener("blur", () => this.send());
    area.addEventListener("keydown", event => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.send();
      else if (event.key !== "Escape") event.stopPropagation(); // the page's letters are not meant
    });
  }

  typed() {
    this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), AFTER);
  }

  send() {
    clearTimeout(this.timer);
    if (this.area.value === this.kept) return;
    this.kept = this.area.value;
    this.sent.push(this.kept);
    this.tell(this.kept);
  }

  // What the server says may be older than what was typed since; only what was never sent comes from it.
  take({ text, wrong, label }) {
    this.area.setAttribute("aria-label", label);
    this.area.setAttribute("aria-invalid", String(wrong.length > 0));
    this.wrong = wrong;
    const known = this.sent.indexOf(text);
    if (known >= 0) this.sent.splice(0, known);
    else if (text !== this.kept) {
      this.area.value = text;
      this.kept = this.area.value;
      this.sent = [text];
      clearTimeout(this.timer);
    }
    this.draw();
  }

  // Only the lines that changed are made anew: of thousands, a key changes one.
  draw() {
    const texts = this.area.value.split("\n");
    const wrong = new Set(this.wrong);
    const drawn = [...this.lines.children];
    texts.forEach((text, n) => {
      const there = drawn[n];
      if (there?.textContent === text && there.classList.contains("wrong") === wrong.has(n + 1)) return;
      const made = line(text, wrong.has(n + 1));
      if (there) there.replaceWith(made);
      else this.lines.append(made);
    });
    drawn.slice(texts.length).forEach(gone => gone.remove());
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const lines = parentElement.querySelector(".json-lines");
  if (!fields.has(lines)) fields.set(lines, new Field(lines));
  const field = fields.get(lines);
  field.tell = text => setStateValue("text", text);
  field.take(data);
  if (!field.area.isConnected) lines.after(field.area); // never without its text: somebody may type at once
}
"""
_component = st.components.v2.component("json_field", html=HTML, css=CSS, js=JS, isolate_styles=False)


def json_field(
    label: str, text: str, *, key: str, wrong: Sequence[int], on_change: Callable[[str], None]
) -> None:
    """Draw the field over `text`; `on_change` gets what was typed, a moment after it was.

    `wrong` are the lines, from 1, that are marked.
    """

    def changed() -> None:
        typed = st.session_state[key].get("text")
        if isinstance(typed, str):
            on_change(typed)

    _component(data={"text": text, "wrong": tuple(wrong), "label": label}, key=key, on_text_change=changed)
