"use strict";
// What part of the graph is seen, and how it is moved: pointer, wheel, resizing; and its labels.

const svg = find("graph"), scene = find("scene");
let shown = { nodes: new Map(), edges: [] }, lines = [];
const TEXT = { entity: [12, 600], event: [11, 400], episode: [11, 400], fact: [10, 400],
  memory: [10, 400], edge: [9.5, 400] };
const ink = document.createElement("canvas").getContext("2d");
const family = getComputedStyle(document.body).fontFamily;
const widths = new Map(), texts = new Map(), spots = new Map();
let scale = 1, left = 0, top_ = 0, touched = false, pointed = null, grip = null;

function wide(text, kind) {
  const key = kind + " " + text;
  if (!widths.has(key)) {
    const [size, weight] = TEXT[kind];
    ink.font = `${weight} ${size}px ${family}`;
    widths.set(key, ink.measureText(text).width + 6);
  }
  return widths.get(key);
}

const onScreen = (key) => {
  const point = layout.places.get(key);
  return { x: point.x * scale + left, y: point.y * scale + top_ };
};

function nodeText({ kind, label, version, value }) {
  return kind === "fact" ? short(version.predicate + " " + value, 36) : short(label, 28);
}

function edgeText(edge, lit) {
  const note = edge.note ? short(edge.note, 24) : "";
  if (!lit && !DIRECTED.has(edge.relation) && edge.relation !== "conflicts_with") return note;
  return RELATIONS[edge.relation] + (note ? ": " + note : "");
}

const isDim = (element) => element.classList.contains("dim");

// The labels that should be seen, the most important first; none of what is dim.
function wanted() {
  const order = ["entity", "event", "episode", "fact", "memory"], found = [];
  const first = new Set([pointed, chosen]), near = new Set();
  for (const { edge } of lines) {
    if (edge.source === chosen) near.add(edge.target);
    if (edge.target === chosen) near.add(edge.source);
  }
  const rank = (node) => first.has(node.key) ? -2 : hits && hits.has(node.key) ? -1
    : near.has(node.key) ? 0 : 1 + order.indexOf(node.kind);
  const roomy = scale > 1.3 || shown.nodes.size <= 60;
  for (const node of shown.nodes.values()) {
    const level = rank(node);
    if (node.kind === "memory" && level > 0 && !roomy) continue;
    if (level > -2 && isDim(elements.get(node.key))) continue;
    const text = nodeText(node), height = TEXT[node.kind][0] + 4;
    found.push({ key: node.key, level, must: level === -2, text, kind: node.kind, ...onScreen(node.key),
      width: wide(text, node.kind), height, gap: SIZE[node.kind] * scale * REACHES[node.kind] });
  }
  lines.forEach(({ line, edge }, place) => {
    const lit = edge.source === chosen || edge.target === chosen;
    const text = edgeText(edge, lit);
    if (!text || isDim(line)) return;
    const a = onScreen(edge.source), b = onScreen(edge.target);
    const along = [.5, .36, .64].map((part) =>
      ({ x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part }));
    found.push({ key: "edge:" + place, level: lit ? .5 : 4.5, text, kind: "edge", along,
      width: wide(text, "edge"), height: 13 });
  });
  return found.sort((one, other) => one.level - other.level);
}

function relabel() {
  const { width, height } = svg.getBoundingClientRect();
  // Many labels would make the frames slow: they come back when the nodes rest.
  const busy = moving && shown.nodes.size > BUSY && !chosen && !hits;
  find("labels").toggleAttribute("hidden", busy);
  if (!width || busy) return;
  const boxes = [...shown.nodes.values()].map(({ key, kind }) => {
    const { x, y } = onScreen(key), reach = SIZE[kind] * scale * REACHES[kind];
    return { x0: x - reach, x1: x + reach, y0: y - reach, y1: y + reach,
      dim: isDim(elements.get(key)) };
  });
  const labels = wanted();
  const places = placeLabels(labels, boxes, { x0: 0, y0: 0, x1: width, y1: height }, spots);
  const seen = new Set();
  for (const label of labels) {
    const place = places.get(label.key);
    if (!place) continue;
    seen.add(label.key);
    let text = texts.get(label.key);
    if (!text) texts.set(label.key, text = make("text", {}, find("labels")));
    text.setAttribute("class", "label " + label.kind);
    text.setAttribute("x", place.x.toFixed(1));
    text.setAttribute("y", place.y.toFixed(1));
    if (text.textContent !== label.text) text.textContent = label.text;
  }
  for (const [key, text] of texts) {
    if (seen.has(key)) continue;
    text.remove();
    texts.delete(key);
  }
}

function view() {
  scene.setAttribute("transform", `translate(${left} ${top_}) scale(${scale})`);
  relabel();
}

function fit() {
  const points = [...shown.nodes.keys()].map((key) => layout.places.get(key));
  const { width, height } = svg.getBoundingClientRect();
  if (!points.length || !width) return view();
  const xs = points.map((point) => point.x), ys = points.map((point) => point.y);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const [across, down] = [Math.min(70, width / 6), Math.min(40, height / 6)];
  scale = Math.min(1.5, (width - 2 * across) / (x1 - x0 + 1), (height - 2 * down) / (y1 - y0 + 1));
  left = width / 2 - (x0 + x1) / 2 * scale;
  top_ = height / 2 - (y0 + y1) / 2 * scale;
  view();
}

// Moves the chosen node into what is seen, for example after the details took a part of it.
function reveal() {
  if (!touched) return fit();
  if (chosen) {
    const { width, height } = svg.getBoundingClientRect(), { x, y } = onScreen(chosen), edge = 50;
    left += Math.max(0, edge - x) - Math.max(0, x - width + edge);
    top_ += Math.max(0, edge - y) - Math.max(0, y - height + edge);
  }
  view();
}

// -- pointer --------------------------------------------------------------------------------------

function point(key) {
  pointed = key;
  relabel();
}

function hold(event, key) {
  event.stopPropagation();
  grip = { key, x: event.clientX, y: event.clientY, moved: false };
  svg.setPointerCapture(event.pointerId);
}

svg.addEventListener("pointerdown", (event) => {
  hold(event, null);
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
    const place = layout.places.get(grip.key);
    place.held = true;
    place.x += x / scale;
    place.y += y / scale;
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
  if (grip && !grip.moved) choose(grip.key);
  grip = null;
  svg.classList.remove("held");
});

function zoom(factor, x, y) {
  touched = true;
  const next = Math.min(6, Math.max(.08, scale * factor));
  left = x - (x - left) * next / scale;
  top_ = y - (y - top_) * next / scale;
  scale = next;
  view();
}

svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = svg.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * .0015), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
svg.addEventListener("dblclick", () => {
  touched = false;
  fit();
});
