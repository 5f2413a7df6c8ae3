"use strict";
// What is drawn, and the elements of the page. Every text is inserted as text, never as HTML.

const find = (id) => document.getElementById(id);
const drawing = JSON.parse(parent.graphDrawing);
let world = parent.graphWorld; // microseconds, or null for any time
const KINDS = ["event", "fact", "entity", "memory", "episode"];
const RELATIONS = {
  includes_fact: "includes fact", subject: "subject", object: "object", evidence: "evidence",
  has_participant: "participant", conflicts_with: "conflicts with", followed_by: "followed by",
  mentions: "mentions", related_to: "related to", subevent_of: "part of", causes: "causes",
  corefers: "is the same as", aggregates: "holds event",
};
const DIRECTED = new Set(["followed_by", "related_to", "subevent_of", "causes", "corefers"]);
const SVG = "http://www.w3.org/2000/svg";

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
    : date.toISOString().slice(0, 19).replace("T", " ").replace(/ 00:00:00$/, "") + " UTC";
};
const span = (ends) => {
  const [start, end] = ends.map((each) => each && each.replace("T00:00:00+00:00", "")
    .replace("T", " ").replace("+00:00", ""));
  if (!start && !end) return "always";
  return !start ? "until " + end : !end ? "since " + start : start + " to " + end;
};

// -- shapes -----------------------------------------------------------------------------------

const SIZE = { event: 13, fact: 7, entity: 11, memory: 7, episode: 13 };
const REACHES = { event: 1, fact: 1.2, entity: 1, memory: 1, episode: 1 }; // of a shape, in sizes

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
