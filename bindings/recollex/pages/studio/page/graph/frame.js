"use strict";
// The frame itself: the page around it gives the drawing, and holds the clock of the world.

const elements = new Map();
const layout = new Layout();
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
const CROWD = 100; // of so many memories, those beside facts or events are hidden at first
const BUSY = 300; // of so many nodes, labels are drawn only at rest, or if some are asked for
let moving = false;

function nodeElement(node) {
  let group = elements.get(node.key);
  if (!group) {
    group = make("g", { class: "node " + node.kind, "data-key": node.key, tabindex: 0,
      role: "button" });
    shape(node.kind, group);
    make("title", {}, group);
    group.addEventListener("pointerdown", (event) => hold(event, node.key));
    for (const name of ["pointerenter", "focus"]) {
      group.addEventListener(name, () => point(node.key));
    }
    for (const name of ["pointerleave", "blur"]) group.addEventListener(name, () => point(null));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") choose(node.key);
    });
    elements.set(node.key, group);
  }
  group.querySelector("title").textContent = node.label;
  group.setAttribute("aria-label", node.kind + ": " + short(node.label, 120));
  return group;
}

function redraw() {
  const cut = cutAt(drawing, drawing.until, world);
  const nodes = new Map([...cut.nodes].filter(([, node]) => !hiddenKinds.has(node.kind)));
  const edges = cut.edges.filter((edge) => nodes.has(edge.source) && nodes.has(edge.target) &&
    !hiddenRelations.has(edge.relation));
  shown = { nodes, edges };
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
      (edge.note ? " (" + edge.note + ")" : "") + ": " + short(nodes.get(edge.target).label, 120);
    return { line, edge };
  });
  layout.set(nodes, edges);
  find("count").textContent = nodes.size + (nodes.size === 1 ? " node, " : " nodes, ") +
    edges.length + (edges.length === 1 ? " edge" : " edges");
  find("empty").hidden = nodes.size > 0;
  find("empty").textContent = emptiness(cut);
  legend(cut);
  if (chosen && !nodes.has(chosen)) choose(null);
  search();
  if (chosen) details();
  move();
}

function emptiness(cut) {
  if (cut.nodes.size) return "All kinds are hidden: click them in the legend.";
  return world === null ? "Nothing was known at this time."
    : "Of the world at this time, nothing was known.";
}

function leftOut({ facts, memories }) {
  const some = (count, what) => count ? count.toLocaleString("en") + " " + what : "";
  const older = [some(facts, "facts and events"), some(memories, "memories")].filter(Boolean);
  return older.length ? older.join(" and ") + " are left out, the oldest" : "";
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
      else relabel();
      if (moving) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}

function settle() {
  const until = performance.now() + 1500;
  for (let count = 0; count < 260 && performance.now() < until && layout.step(); count++);
  place();
  fit();
}

// -- begin ----------------------------------------------------------------------------------------

addEventListener("keydown", (event) => {
  if (event.key === "Escape") choose(null);
});
find("search").addEventListener("input", search);
find("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && hits && hits.size && !hits.has(chosen)) choose([...hits][0]);
});
make("path", { d: "M0,0 L8,4 L0,8 z", fill: "context-stroke" },
  make("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7,
    markerHeight: 7, orient: "auto" }, svg.querySelector("defs")));

const narrow = matchMedia("(max-width: 700px)");
const unfold = () => { find("legend").open = !narrow.matches; };
narrow.addEventListener("change", unfold);
unfold();
const crowded = drawing.memories.length > CROWD && drawing.facts.length + drawing.events.length > 0;
if (crowded) hiddenKinds.add("memory");
find("said").textContent = [leftOut(drawing.left_out),
  crowded ? "memories are hidden: the legend shows them" : ""].filter(Boolean).join(" \u00b7 ");
addEventListener("message", (event) => {
  if (event.source !== parent || event.origin !== location.origin) return;
  world = event.data.world;
  redraw();
});
redraw();
settle();
new ResizeObserver(reveal).observe(svg);
