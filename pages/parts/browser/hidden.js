let stop = () => {}; // this is called again whenever the page is drawn
let since = document.hidden ? performance.now() : null;

export default function ({ setTriggerValue }) {
  stop();
  const turn = () => {
    if (document.hidden) since ??= performance.now();
    else if (since !== null) {
      setTriggerValue("seconds", (performance.now() - since) / 1000);
      since = null;
    }
  };
  document.addEventListener("visibilitychange", turn);
  stop = () => document.removeEventListener("visibilitychange", turn);
  return () => stop();
}
