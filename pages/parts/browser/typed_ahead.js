const QUIET = 3000; // milliseconds without a letter after which keys are shortcuts again
const WRITES = "input, textarea, select, [contenteditable=true]";
let held = null;
let stop = () => {}; // this is called again whenever the page is drawn

function hold(choice) {
  held = { choice, text: "", at: performance.now() };
}

function swallow(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function take(event) {
  const { key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) {
    if (key === "Enter" && held.text) swallow(event);
    return;
  }
  if (key === "Escape") held = null;
  else if (key.length === 1) held.text += key;
  else if (key === "Backspace") held.text = held.text.slice(0, -1);
  else return;
  if (!held) return;
  held.at = performance.now();
  swallow(event);
}

// A field gets its own value shortly after it appears, which overwrites what was typed into it before. Until then,
// hold what is typed, so that it ends up there in order.
function fill(field) {
  held.field = field;
  requestAnimationFrame(() => setTimeout(() => {
    if (held?.field !== field) return;
    const { text } = held;
    held = null;
    if (text && document.activeElement === field) document.execCommand("insertText", false, text);
  }));
}

export default function ({ data }) {
  stop();
  const pressed = event => {
    if (held && performance.now() - held.at > QUIET) held = null;
    if (event.target.closest?.(WRITES) && event.target !== held?.field) held = null;
    else if (held) take(event);
    else if (!event.ctrlKey && !event.metaKey && !event.altKey) {
      const choice = data.keys && data.choices.find(one => one.key === event.key.toLowerCase());
      if (choice && data.chosen) swallow(event);
      else if (choice?.asks) hold(choice);
    }
  };
  const clicked = event => {
    const choice = data.choices.find(one => event.target.closest?.(`${one.button} button`));
    if (choice?.asks) hold(choice);
  };
  const focused = event => {
    if (held?.choice.field && event.target.closest(held.choice.field)) fill(event.target);
  };
  addEventListener("keydown", pressed, true);
  addEventListener("click", clicked, true);
  addEventListener("focusin", focused, true);
  stop = () => {
    removeEventListener("keydown", pressed, true);
    removeEventListener("click", clicked, true);
    removeEventListener("focusin", focused, true);
  };
  return () => stop();
}
