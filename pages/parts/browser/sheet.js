// Builds a sheet in the browser from text nodes only: nothing is ever parsed as HTML.
function made(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function filled(element, nodes, sheet) {
  element.append(...nodes.map(node => makers[node.is](node, sheet)));
  return element;
}

function block(text) {
  const copy = made("button", "copy", "Copy");
  copy.type = "button";
  copy.onclick = async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
    copy.classList.add("copied");
  };
  copy.onblur = () => {
    copy.textContent = "Copy";
    copy.classList.remove("copied");
  };
  const box = made("div", "block"), pre = made("pre");
  pre.append(made("code", "code", text));
  box.append(pre, copy);
  return box;
}

// A long text is fetched when its fold is first opened; from then on it opens and closes here.
function fold(node, sheet) {
  const details = made("details"), summary = made("summary", "", node.label);
  summary.dataset.name = node.name;
  details.append(summary);
  if (node.text === null) summary.onclick = () => { sheet.open.add(node.name); sheet.ask(node.name); };
  else {
    details.append(block(node.text));
    details.open = sheet.open.has(node.name);
    details.ontoggle = () => sheet.open[details.open ? "add" : "delete"](node.name);
  }
  return details;
}

// Only the tab in view is built; the chosen tab is kept from one card to the next.
function tabs(node, sheet) {
  const list = made("div"), panel = made("div", "nodes");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", node.label);
  panel.setAttribute("role", "tabpanel");
  const named = node.label.replaceAll(" ", "-"); // an id must not contain spaces
  panel.id = `panel-${named}`;
  const all = node.tabs.map(([label], place) => {
    const tab = made("button", "", label);
    tab.type = "button";
    tab.id = tab.dataset.name = `tab-${named}-${place}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    tab.onclick = () => show(place);
    return tab;
  });
  const show = place => {
    sheet.tabs.set(node.label, place);
    all.forEach((tab, n) => {
      tab.setAttribute("aria-selected", n === place);
      tab.tabIndex = n === place ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", all[place].id);
    panel.replaceChildren();
    filled(panel, node.tabs[place][1], sheet);
  };
  list.onkeydown = event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const place = (sheet.tabs.get(node.label) + step + all.length) % all.length;
    show(place);
    all[place].focus();
  };
  list.append(...all);
  show(Math.min(sheet.tabs.get(node.label) ?? 0, all.length - 1));
  const box = made("div");
  box.append(list, panel);
  return box;
}

const makers = {
  line: node => made("p", "line", node.text),
  said: node => Object.assign(made("p", "said", node.text), { title: node.more ?? "" }),
  badge: node => made("span", "badge", node.text),
  code: node => block(node.text),
  fold,
  tabs,
  warning: node => {
    const box = made("div", "warning", node.text);
    box.setAttribute("role", "alert");
    return box;
  },
  across: (node, sheet) => filled(made("div", "across"), node.nodes, sheet),
  row: (node, sheet) => {
    const row = made("div", "row"), about = made("div"), nodes = made("div", "nodes");
    about.append(made("p", "line", node.name), made("p", "said", node.more));
    row.append(about, filled(nodes, node.nodes, sheet));
    return row;
  },
};

const sheets = new WeakMap();

// An unchanged sheet is left alone: somebody may be reading, selecting or copying it.
export default function ({ data, parentElement, setTriggerValue }) {
  const there = parentElement.querySelector(".sheet");
  if (!sheets.has(there)) sheets.set(there, { open: new Set(), tabs: new Map() });
  const sheet = sheets.get(there), told = JSON.stringify(data);
  sheet.ask = name => setTriggerValue("opened", name);
  if (sheet.told === told) return;
  sheet.told = told;
  const focused = there.getRootNode().activeElement?.dataset.name;
  there.replaceChildren();
  filled(there, data, sheet);
  if (focused) [...there.querySelectorAll("[data-name]")].find(one => one.dataset.name === focused)?.focus();
}
