"use strict";
// A force layout: springs along edges, repulsion between neighbours found through a grid, a pull to
// the middle. It starts from a spiral, so the same drawing always comes to rest in the same places.

const REACH = 340;

class Layout {
  constructor() {
    this.places = new Map();
    this.heat = 0;
  }

  set(nodes, edges) {
    const springs = edges.filter((edge) => nodes.has(edge.source) && nodes.has(edge.target));
    const near = new Map();
    for (const { source, target } of springs) {
      for (const [one, other] of [[source, target], [target, source]]) {
        if (!near.has(one)) near.set(one, []);
        near.get(one).push(other);
      }
    }
    let fresh = 0;
    for (const key of nodes.keys()) {
      if (this.places.has(key)) continue;
      const beside = (near.get(key) || []).map((other) => this.places.get(other)).find(Boolean);
      const turn = this.places.size * 2.39996;
      const far = beside ? 34 : 20 * Math.sqrt(this.places.size + 1);
      const x = (beside ? beside.x : 0) + far * Math.cos(turn);
      const y = (beside ? beside.y : 0) + far * Math.sin(turn);
      this.places.set(key, { x, y, dx: 0, dy: 0, held: false });
      fresh++;
    }
    this.keys = [...nodes.keys()];
    this.points = this.keys.map((key) => this.places.get(key));
    const index = new Map(this.keys.map((key, place) => [key, place]));
    this.springs = springs.map(({ source, target, relation }) => ({
      one: index.get(source), other: index.get(target),
      length: relation === "mentions" ? 90 : relation === "evidence" ? 62 : 74,
    }));
    this.degree = new Array(this.points.length).fill(1);
    for (const { one, other } of this.springs) {
      this.degree[one]++;
      this.degree[other]++;
    }
    if (fresh) this.heat = Math.max(this.heat, 1);
  }

  step() {
    const { points, springs, degree } = this;
    const cells = new Map();
    points.forEach((point, place) => {
      const cell = Math.floor(point.x / REACH) + "," + Math.floor(point.y / REACH);
      if (!cells.has(cell)) cells.set(cell, []);
      cells.get(cell).push(place);
    });
    points.forEach((point, place) => {
      const column = Math.floor(point.x / REACH), row = Math.floor(point.y / REACH);
      for (let i = column - 1; i <= column + 1; i++) {
        for (let j = row - 1; j <= row + 1; j++) {
          for (const beside of cells.get(i + "," + j) || []) {
            if (beside === place) continue;
            const other = points[beside];
            let x = point.x - other.x, y = point.y - other.y;
            if (x === 0 && y === 0) x = place < beside ? 0.5 : -0.5;
            const square = Math.max(x * x + y * y, 100);
            if (square > REACH * REACH) continue;
            const push = 9000 / square * this.heat;
            const length = Math.sqrt(square);
            point.dx += x / length * push;
            point.dy += y / length * push;
          }
        }
      }
      point.dx -= point.x * 0.0045 * this.heat;
      point.dy -= point.y * 0.012 * this.heat;
    });
    for (const { one, other, length } of springs) {
      const a = points[one], b = points[other];
      const x = b.x - a.x, y = b.y - a.y;
      const distance = Math.sqrt(x * x + y * y) || 1;
      const pull = (distance - length) / distance * this.heat * 0.4;
      const share = degree[other] / (degree[one] + degree[other]);
      a.dx += x * pull * share;
      a.dy += y * pull * share;
      b.dx -= x * pull * (1 - share);
      b.dy -= y * pull * (1 - share);
    }
    for (const point of points) {
      if (!point.held) {
        point.x += Math.max(-40, Math.min(40, point.dx));
        point.y += Math.max(-40, Math.min(40, point.dy));
      }
      point.dx *= 0.55;
      point.dy *= 0.55;
    }
    this.heat *= 0.985;
    return this.heat > 0.02;
  }
}
