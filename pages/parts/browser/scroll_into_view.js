// Scroll once per `about`: a redrawn page must not move while somebody reads it.
const shown = new Map();
let coming = new MutationObserver(() => {});

// The field may be drawn later than this, and by then somebody may be typing elsewhere.
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

// On a narrow screen the list covers what was just picked from it.
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
