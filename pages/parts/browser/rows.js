function made(id) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.append(document.createElement("span"), document.createElement("span"));
  item.append(button);
  item.dataset.name = id;
  return item;
}

// A row that remains is never moved: it may be focused, or under a finger.
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
