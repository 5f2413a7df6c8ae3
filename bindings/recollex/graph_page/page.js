"use strict";
// The page itself: draws the cut at the slider's time, and reacts to the pointer and the slider.

const drawing = JSON.parse(document.getElementById("drawing").textContent);
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
  // A fact is drawn between its subject and its object, which show their own names.
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
