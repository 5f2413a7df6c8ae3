"use strict";
// Legend, search and details: what is shown beside the graph.

const hiddenKinds = new Set(), hiddenRelations = new Set();
let chosen = null, hits = null;

function legend(cut) {
  const count = (items, of) => {
    const found = new Map();
    for (const item of items) found.set(of(item), (found.get(of(item)) || 0) + 1);
    return found;
  };
  const kinds = count(cut.nodes.values(), (node) => node.kind);
  const relations = count(cut.edges, (edge) => edge.relation);
  const row = (name, text, number, hidden, draw) => {
    const button = html("button");
    button.type = "button";
    button.dataset.hides = name;
    button.setAttribute("aria-pressed", String(!hidden.has(name)));
    draw(make("svg", { viewBox: "0 0 24 16", "aria-hidden": "true" }, button));
    button.append(html("span", text), html("span", number, "number"));
    button.addEventListener("click", () => {
      if (!hidden.delete(name)) hidden.add(name);
      redraw();
    });
    return button;
  };
  find("legend").querySelector("nav").replaceChildren(
    ...KINDS.filter((kind) => kinds.has(kind)).map((kind) =>
      row(kind, kind, kinds.get(kind), hiddenKinds, (icon) => shape(kind,
        make("g", { class: "node " + kind }, icon), 12, 8, 6))),
    ...(relations.size ? [html("hr")] : []),
    ...Object.keys(RELATIONS).filter((relation) => relations.has(relation)).map((relation) =>
      row(relation, RELATIONS[relation], relations.get(relation), hiddenRelations, (icon) =>
        make("line", { class: "edge " + relation, x1: 1, y1: 8, x2: 23, y2: 8 }, icon))),
  );
  find("legend").hidden = !kinds.size;
}

function search() {
  const typed = find("search").value.trim();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  hits = null;
  if (words.length) {
    hits = new Set([...shown.nodes.values()].filter((node) => {
      const text = node.label.toLowerCase();
      return node.item.id === typed || words.every((word) => text.includes(word));
    }).map((node) => node.key));
  }
  find("found").textContent = hits ? hits.size + " found" : "";
  light();
}

function light() {
  const near = new Set(chosen ? [chosen] : []);
  for (const { edge } of lines) {
    if (edge.source === chosen) near.add(edge.target);
    if (edge.target === chosen) near.add(edge.source);
  }
  for (const key of shown.nodes.keys()) {
    const element = elements.get(key);
    element.classList.toggle("chosen", key === chosen);
    element.classList.toggle("hit", Boolean(hits && hits.has(key)));
    element.classList.toggle("dim", Boolean(hits ? !hits.has(key) : chosen && !near.has(key)));
  }
  for (const { line, edge } of lines) {
    const touches = edge.source === chosen || edge.target === chosen;
    line.classList.toggle("lit", Boolean(chosen && touches));
    line.classList.toggle("dim", Boolean(hits ? !(hits.has(edge.source) && hits.has(edge.target))
      : chosen && !touches));
  }
  relabel();
}

function choose(key) {
  chosen = key === chosen ? null : key;
  find("details").hidden = !chosen;
  if (chosen) details();
  light();
}

function details() {
  const node = shown.nodes.get(chosen), panel = find("details");
  const close = html("button", "\u00d7", "close");
  close.type = "button";
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => choose(null));
  const list = html("dl");
  const say = (name, value) => {
    if (value === null || value === undefined || value === "" || value.length === 0) return;
    list.append(html("dt", name), html("dd", value));
  };
  if (node.item.id) say("id", node.item.id);
  if (node.version) {
    say("recorded", written(node.version.from));
    for (const [name, value] of Object.entries(node.version.said || {})) {
      if (name === "valid" || name === "span") say(name === "span" ? "happened" : name, span(value));
      else if (name === "source" && value) say(name, value.uri);
      else if (name === "mentions") {
        say(name, value.map((each) => each.document + ": \u201c" + each.text + "\u201d").join("\n"));
      } else if (Array.isArray(value)) say(name, value.join(", "));
      else if (name === "event_at") say("happened", span([value, null]).replace("since ", ""));
      else if (value !== null) say(name.replace("_", " "), String(value));
    }
    const versions = (node.item.versions || []).filter((version) => version.from <= drawing.until);
    if (versions.length > 1) say("versions", String(versions.length));
  }
  const rows = html("div", null, "rows");
  for (const { edge } of lines) {
    if (edge.source !== chosen && edge.target !== chosen) continue;
    const outward = edge.source === chosen;
    const other = shown.nodes.get(outward ? edge.target : edge.source);
    const button = html("button");
    button.type = "button";
    const arrow = (outward ? "" : "\u2190 ") + RELATIONS[edge.relation];
    button.append(html("span", arrow + (edge.note ? " (" + edge.note + ")" : ""),
      edge.relation === "conflicts_with" ? "relation clashes" : "relation"),
    html("span", short(other.label, 90)));
    button.addEventListener("click", () => choose(other.key));
    rows.append(button);
  }
  panel.replaceChildren(close, html("div", node.kind, "kind"), html("h2", node.label), list);
  if (rows.children.length) panel.append(html("h3", "Connected with"), rows);
  panel.scrollTop = 0;
}
