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
      else if (event.key !== "Escape") event.stopPropagation(); // typing here must not trigger the page's shortcuts
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

  // The server's text may be older than what was typed since: take it only if this field has not sent it.
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

  // Rebuild only the lines that changed: of thousands, a keystroke changes one.
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
  if (!field.area.isConnected) lines.after(field.area); // only now that it has its text: somebody may type at once
}
