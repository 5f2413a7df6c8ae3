"use strict";
// Where does each label stand? None covers another label or a node; a label that finds no place is
// hidden, and shown when its node is pointed at, focused or chosen: then it must have a place, and the
// others make room.

const CELL = 64;

// Boxes are {x0, y0, x1, y1}, in pixels of the screen.
class Boxes {
  constructor() {
    this.cells = new Map();
  }

  *near(box) {
    for (let i = Math.floor(box.x0 / CELL); i <= Math.floor(box.x1 / CELL); i++) {
      for (let j = Math.floor(box.y0 / CELL); j <= Math.floor(box.y1 / CELL); j++) {
        const cell = i * 65536 + j;
        if (!this.cells.has(cell)) this.cells.set(cell, []);
        yield this.cells.get(cell);
      }
    }
  }

  add(box) {
    for (const cell of this.near(box)) cell.push(box);
  }

  meets(box) {
    for (const cell of this.near(box)) {
      if (cell.some((other) => box.x0 < other.x1 && other.x0 < box.x1 &&
        box.y0 < other.y1 && other.y0 < box.y1)) return true;
    }
    return false;
  }
}

// The middles of the places that a label may take, the best one first: below, above, right and left
// of its node, then at the corners; with `along`, three points of its edge.
function candidates({ x, y, width, height, gap, along, must }) {
  if (along) return along;
  if (must) {
    return [0, 12, 24, 40, 60, 90, 130].flatMap((more) =>
      candidates({ x, y, width, height, gap: gap + more }));
  }
  const side = gap + width / 2 + 3, up = gap + height / 2 + 1;
  return [
    { x, y: y + up }, { x, y: y - up }, { x: x + side, y }, { x: x - side, y },
    { x: x + side, y: y + up }, { x: x - side, y: y + up },
    { x: x + side, y: y - up }, { x: x - side, y: y - up },
  ];
}

const around = ({ x, y }, { width, height }) =>
  ({ x0: x - width / 2, x1: x + width / 2, y0: y - height / 2, y1: y + height / 2 });

// labels: {key, x, y, width, height, gap} or {key, width, height, along}, the most important first;
// one that `must` be shown may stand further from its node, and at worst on a node.
// nodes: boxes, of which the `dim` ones may be covered by a label that finds no other place. room: the box in which labels stand. last: key -> index of the candidate that the
// label had, which it keeps if it can; updated. Returns key -> middle of the label, of those shown.
function placeLabels(labels, nodes, room, last) {
  const taken = new Boxes(), dim = new Boxes(), places = new Map();
  for (const box of nodes) (box.dim ? dim : taken).add(box);
  for (const label of labels) {
    const points = candidates(label), had = last.get(label.key);
    const order = points.map((_, index) => index);
    if (had < points.length) order.unshift(had);
    const free = order.filter((index) => {
      const box = around(points[index], label);
      return box.x0 >= room.x0 && box.x1 <= room.x1 && box.y0 >= room.y0 && box.y1 <= room.y1 &&
        !taken.meets(box);
    });
    let index = free.find((index) => !dim.meets(around(points[index], label)));
    if (index === undefined) index = free[0];
    if (index === undefined && label.must) index = 0;
    if (index === undefined) continue;
    taken.add(around(points[index], label));
    places.set(label.key, points[index]);
    last.set(label.key, index);
  }
  return places;
}
