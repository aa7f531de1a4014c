let stop = () => {}; // this is called again whenever the page is drawn

export default function ({ setTriggerValue }) {
  stop();
  const asked = event => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable=true]")) return;
    setTriggerValue("asked", true);
  };
  document.addEventListener("keydown", asked);
  stop = () => document.removeEventListener("keydown", asked);
  return () => stop();
}
