// Once for each thing it is about: a page drawn anew must not move under somebody who reads it.
const shown = new Map();
let coming = new MutationObserver(() => {});

// The field may be drawn later than this; by then somebody may be writing elsewhere.
function focus(selector) {
  coming.disconnect();
  const there = () => {
    const field = document.querySelector(`${selector} :is(textarea, input)`);
    if (!field) return false;
    if (!document.activeElement?.matches("input, textarea")) field.focus({ preventScroll: true });
    return true;
  };
  if (there()) return;
  coming = new MutationObserver(() => there() && coming.disconnect());
  coming.observe(document.body, { childList: true, subtree: true });
}

// On a narrow screen the list lies over what was just picked from it.
function fold() {
  if (innerWidth < 768) document.querySelector('button[aria-controls="stSidebar"][aria-expanded="true"]')?.click();
}

export default function ({ data, parentElement }) {
  if (shown.get(data.part) === data.about) return;
  fold();
  shown.set(data.part, data.about);
  const part = parentElement.closest(`.st-key-${data.part}`) ?? parentElement;
  const top = part.getBoundingClientRect().top;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  part.style.scrollMarginTop = "4.5rem";
  if (top < 60 || top > innerHeight / 2)
    part.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
  if (data.focus) focus(data.focus);
}
