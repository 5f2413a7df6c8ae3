"use strict";
// The page itself: it draws the cut at the slider's time. Every text goes in as text, never as HTML.

const drawing = JSON.parse(document.getElementById("drawing").textContent);
const SVG = "http://www.w3.org/2000/svg";
const KINDS = ["event", "fact", "entity", "memory", "episode"];
const RELATIONS = {
  includes_fact: "includes fact", subject: "subject", object: "object", evidence: "evidence",
  has_participant: "participant", conflicts_with: "conflicts with", mentions: "mentions",
  related_to: "related to", subevent_of: "part of", causes: "causes", corefers: "is the same as",
  aggregates: "holds event",
};
const DIRECTED = new Set(["related_to", "subevent_of", "causes", "corefers"]);
const find = (id) => document.getElementById(id);
const svg = find("graph"), world = find("world"), slider = find("time");
const hiddenKinds = new Set(), hiddenRelations = new Set();
const elements = new Map();
const layout = new Layout();
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
let shown = { nodes: new Map(), edges: [] };
let lines = [], chosen = null, hits = null, moving = false;
let scale = 1, left = 0, top_ = 0, touched = false;

function make(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (parent) parent.append(element);
  return element;
}

function html(name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined && text !== null) element.textContent = text;
  if (className) element.className = className;
  return element;
}

const short = (text, most) => {
  const plain = text.replace(/\s+/g, " ").trim(), letters = [...plain];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "\u2026" : plain;
};
const written = (moment) => {
  const date = new Date(moment / 1000);
  return Number.isNaN(date.getTime()) ? String(moment)
    : date.toISOString().slice(0, 19).replace("T", " ") + " UTC";
};
const span = (ends) => {
  const [start, end] = ends.map((each) => each && each.replace("T00:00:00+00:00", "")
    .replace("T", " ").replace("+00:00", ""));
  if (!start && !end) return "always";
  return !start ? "until " + end : !end ? "since " + start : start + " to " + end;
};

// -- shapes -----------------------------------------------------------------------------------

const SIZE = { event: 13, fact: 7, entity: 11, memory: 7, episode: 13 };

function shape(kind, parent, x = 0, y = 0, size = SIZE[kind]) {
  const at = { class: "shape" };
  if (kind === "event") {
    return make("rect", { ...at, x: x - size, y: y - size * .72, width: size * 2,
      height: size * 1.44, rx: 5 }, parent);
  }
  if (kind === "memory") {
    return make("rect", { ...at, x: x - size, y: y - size, width: size * 2, height: size * 2, rx: 2 },
      parent);
  }
  if (kind === "episode") {
    const points = [0, 1, 2, 3, 4, 5].map((side) => [x + size * Math.cos(side * Math.PI / 3),
      y + size * Math.sin(side * Math.PI / 3)].map((each) => each.toFixed(2)).join(","));
    return make("polygon", { ...at, points: points.join(" ") }, parent);
  }
  if (kind === "fact") {
    return make("polygon", { ...at,
      points: `${x},${y - size * 1.2} ${x + size * 1.2},${y} ${x},${y + size * 1.2} ${x - size * 1.2},${y}` },
    parent);
  }
  return make("circle", { ...at, cx: x, cy: y, r: size }, parent);
}

function nodeElement(node) {
  let group = elements.get(node.key);
  if (!group) {
    group = make("g", { class: "node " + node.kind, "data-key": node.key, tabindex: 0,
      role: "button" });
    shape(node.kind, group);
    make("text", { y: SIZE[node.kind] + 12 }, group);
    make("title", {}, group);
    group.addEventListener("pointerdown", (event) => hold(event, node.key));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") choose(node.key);
    });
    elements.set(node.key, group);
  }
  // A fact hangs between its subject and object, which have their names already.
  const text = node.kind !== "fact" ? node.label : node.version.object === null
    ? node.version.predicate + " " + node.version.value : node.version.predicate;
  group.children[1].textContent = short(text, 26);
  group.children[2].textContent = node.label;
  group.setAttribute("aria-label", node.kind + ": " + short(node.label, 120));
  return group;
}

// -- drawing a cut ----------------------------------------------------------------------------

const moments = (() => {
  const found = new Set();
  const each = (item) => {
    found.add(item.from);
    if (item.to !== null && item.to !== undefined) found.add(item.to);
  };
  for (const kind of ["facts", "events", "episodes"]) {
    for (const item of drawing[kind]) {
      item.versions.forEach(each);
      (item.links || []).forEach(each);
    }
  }
  drawing.memories.forEach(each);
  drawing.merges.forEach(each);
  drawing.entities.forEach((entity) => entity.records.forEach(each));
  return [...found].filter((moment) => moment <= drawing.until).sort((a, b) => a - b);
})();

const now = () => moments.length ? moments[Number(slider.value)] : drawing.until;

function redraw() {
  const cut = cutAt(drawing, now());
  const nodes = new Map([...cut.nodes].filter(([, node]) => !hiddenKinds.has(node.kind)));
  const edges = cut.edges.filter((edge) => nodes.has(edge.source) && nodes.has(edge.target) &&
    !hiddenRelations.has(edge.relation));
  shown = { nodes, edges, all: cut };
  const clashing = new Set(cut.edges.filter((edge) => edge.relation === "conflicts_with")
    .flatMap((edge) => [edge.source, edge.target]));
  const above = ["memory", "fact", "episode", "event", "entity"]; // names are never covered
  const ordered = [...nodes.values()].sort((a, b) => above.indexOf(a.kind) - above.indexOf(b.kind));
  find("nodes").replaceChildren(...ordered.map((node) => {
    const group = nodeElement(node);
    group.classList.toggle("clash", clashing.has(node.key));
    return group;
  }));
  find("edges").replaceChildren();
  lines = edges.map((edge) => {
    const line = make("line", { class: "edge " + edge.relation, "data-relation": edge.relation },
      find("edges"));
    if (DIRECTED.has(edge.relation)) line.setAttribute("marker-end", "url(#arrow)");
    make("title", {}, line).textContent = RELATIONS[edge.relation] +
      (edge.note ? " (" + edge.note + ")" : "");
    return { line, edge };
  });
  layout.set(nodes, edges);
  find("moment").textContent = moments.length ? written(now()) : "\u2013";
  find("count").textContent = nodes.size + (nodes.size === 1 ? " node, " : " nodes, ") +
    edges.length + (edges.length === 1 ? " edge" : " edges");
  find("empty").hidden = nodes.size > 0;
  legend(cut);
  if (chosen && !nodes.has(chosen)) choose(null);
  search();
  if (chosen) details();
  move();
}

function place() {
  for (const key of shown.nodes.keys()) {
    const { x, y } = layout.places.get(key);
    elements.get(key).setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  }
  for (const { line, edge } of lines) {
    const a = layout.places.get(edge.source), b = layout.places.get(edge.target);
    let { x, y } = b;
    if (DIRECTED.has(edge.relation)) {
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      x -= (b.x - a.x) / length * 17;
      y -= (b.y - a.y) / length * 17;
    }
    line.setAttribute("x1", a.x.toFixed(1));
    line.setAttribute("y1", a.y.toFixed(1));
    line.setAttribute("x2", x.toFixed(1));
    line.setAttribute("y2", y.toFixed(1));
  }
}

function move() {
  if (still) while (layout.step());
  if (!moving) {
    moving = true;
    const frame = () => {
      moving = layout.step();
      place();
      if (!touched) fit();
      if (moving) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}

function settle() {
  for (let count = 0; count < 260 && layout.step(); count++);
  place();
  fit();
}

function view() {
  world.setAttribute("transform", `translate(${left} ${top_}) scale(${scale})`);
  svg.classList.toggle("far", scale < .55);
  svg.classList.toggle("near", scale > 1.6);
}

function fit() {
  const points = [...shown.nodes.keys()].map((key) => layout.places.get(key));
  const { width, height } = svg.getBoundingClientRect();
  if (!points.length || !width) return view();
  const xs = points.map((point) => point.x), ys = points.map((point) => point.y);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const margin = 70, side = width > 700 ? 185 : 0; // the legend stands on the left
  scale = Math.min(1.5, (width - side) / (x1 - x0 + 2 * margin), height / (y1 - y0 + 2 * margin));
  left = side + (width - side) / 2 - (x0 + x1) / 2 * scale;
  top_ = height / 2 - (y0 + y1) / 2 * scale;
  view();
}

// -- legend, search, details ------------------------------------------------------------------

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
  find("legend").replaceChildren(
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
  const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  hits = null;
  if (words.length) {
    hits = new Set([...shown.nodes.values()].filter((node) => {
      const text = (node.label + " " + (node.item.id || "")).toLowerCase();
      return words.every((word) => text.includes(word));
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
    const versions = (node.item.versions || []).filter((version) => version.from <= now());
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

// -- pointer and time -------------------------------------------------------------------------

let grip = null;

function hold(event, key) {
  event.stopPropagation();
  grip = { key, x: event.clientX, y: event.clientY, moved: false };
  svg.setPointerCapture(event.pointerId);
}

svg.addEventListener("pointerdown", (event) => {
  grip = { key: null, x: event.clientX, y: event.clientY, moved: false };
  svg.setPointerCapture(event.pointerId);
  svg.classList.add("held");
});
svg.addEventListener("pointermove", (event) => {
  if (!grip) return;
  const x = event.clientX - grip.x, y = event.clientY - grip.y;
  if (!grip.moved && Math.hypot(x, y) < 4) return;
  touched = grip.moved = true;
  grip.x = event.clientX;
  grip.y = event.clientY;
  if (grip.key) {
    const point = layout.places.get(grip.key);
    point.held = true;
    point.x += x / scale;
    point.y += y / scale;
    layout.heat = Math.max(layout.heat, .25);
    move();
  } else {
    left += x;
    top_ += y;
    view();
  }
});
svg.addEventListener("pointerup", () => {
  if (grip && grip.key && grip.moved) layout.places.get(grip.key).held = false;
  if (grip && !grip.moved) choose(grip.key === null ? null : grip.key);
  grip = null;
  svg.classList.remove("held");
});
svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  touched = true;
  const box = svg.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const next = Math.min(6, Math.max(.08, scale * Math.exp(-event.deltaY * .0015)));
  left = x - (x - left) * next / scale;
  top_ = y - (y - top_) * next / scale;
  scale = next;
  view();
}, { passive: false });
svg.addEventListener("dblclick", () => {
  touched = false;
  fit();
});
addEventListener("resize", () => touched || fit());
addEventListener("keydown", (event) => {
  if (event.key === "Escape") choose(null);
});
find("search").addEventListener("input", search);
find("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && hits && hits.size && !hits.has(chosen)) choose([...hits][0]);
});

let playing = null;

function stop() {
  clearInterval(playing);
  playing = null;
  find("play").textContent = "\u25b6";
}

slider.addEventListener("input", () => {
  stop();
  redraw();
});
find("play").addEventListener("click", () => {
  if (playing) return stop();
  if (Number(slider.value) >= moments.length - 1) slider.value = 0;
  find("play").textContent = "\u275a\u275a";
  redraw();
  const every = Math.max(60, Math.min(700, 12000 / moments.length));
  playing = setInterval(() => {
    slider.value = Number(slider.value) + 1;
    redraw();
    if (Number(slider.value) >= moments.length - 1) stop();
  }, every);
});

// -- begin ------------------------------------------------------------------------------------

make("path", { d: "M0,0 L8,4 L0,8 z", fill: "context-stroke" },
  make("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7,
    markerHeight: 7, orient: "auto" }, svg.querySelector("defs")));

slider.max = Math.max(0, moments.length - 1);
slider.value = slider.max;
slider.disabled = find("play").disabled = moments.length < 2;
if (moments.length > 1) {
  const counts = moments.map((moment) => ["facts", "events"].reduce((sum, kind) => sum +
    drawing[kind].filter((item) => item.versions[0].from <= moment).length, 0) +
    drawing.memories.filter((memory) => memory.from <= moment).length);
  const most = Math.max(...counts, 1), step = 100 / (moments.length - 1);
  make("path", { d: "M0,20 " + counts.map((count, index) =>
    `L${(index * step).toFixed(2)},${(20 - 18 * count / most).toFixed(2)}`).join(" ") + " L100,20 z" },
  find("growth"));
}
find("subtitle").textContent = [drawing.subtitle,
  drawing.left_out ? drawing.left_out + " older items are left out" : ""].filter(Boolean).join(" \u00b7 ");
redraw();
settle();
