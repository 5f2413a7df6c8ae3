"use strict";
// A clock: a slider over moments, a button that plays them, and the moment as text.

class Clock {
  // moments: microseconds, ascending. change: called after each move. The elements are those of the
  // box `id`; one with class `any` lets go of the clock, which then is at null. `fixed`: where a page
  // around this one holds the clock, whatever the slider says.
  constructor(id, moments, change) {
    const part = (name) => find(id).querySelector(name);
    this.moments = moments;
    this.change = change;
    [this.slider, this.play, this.shown, this.any] =
      ["input", ".play", "output", ".any"].map(part);
    this.free = Boolean(this.any);
    this.playing = null;
    this.slider.max = Math.max(0, moments.length - 1);
    this.slider.value = this.slider.max;
    this.slider.disabled = this.play.disabled = moments.length < 2;
    this.slider.addEventListener("input", () => {
      this.stop();
      this.free = false;
      this.say();
    });
    this.play.addEventListener("click", () => this.playing ? this.stop() : this.start());
    if (this.any) {
      this.any.disabled = !moments.length;
      this.any.addEventListener("click", () => {
        this.stop();
        this.free = !this.free;
        this.say();
      });
    }
    this.tell();
  }

  get at() {
    if (this.fixed !== undefined) return this.fixed;
    return this.free || !this.moments.length ? null : this.moments[Number(this.slider.value)];
  }

  tell() {
    const text = this.at !== null ? written(this.at) : this.free ? "any time" : "\u2013";
    this.shown.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
    this.slider.classList.toggle("free", this.free);
    if (this.any) this.any.setAttribute("aria-pressed", String(this.free));
  }

  say() {
    this.tell();
    this.change();
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.play.textContent = "\u25b6";
  }

  start() {
    const last = this.moments.length - 1;
    if (this.free || Number(this.slider.value) >= last) this.slider.value = 0;
    this.free = false;
    this.play.textContent = "\u275a\u275a";
    this.say();
    this.playing = setInterval(() => {
      this.slider.value = Number(this.slider.value) + 1;
      this.say();
      if (Number(this.slider.value) >= last) this.stop();
    }, Math.max(60, Math.min(700, 12000 / this.moments.length)));
  }

  // Draws above the slider how many of the items, {start, end}, hold at each moment.
  draw(items) {
    if (this.moments.length < 2) return;
    const change = new Map();
    let count = 0;
    const add = (moment, by) => change.set(moment, (change.get(moment) || 0) + by);
    for (const { start, end } of items) {
      if (start === null) count++;
      else add(start, 1);
      if (end !== null && end !== undefined) add(end, -1);
    }
    const counts = this.moments.map((moment) => count += change.get(moment) || 0);
    const most = Math.max(...counts, 1);
    const step = 100 / (counts.length - 1);
    const line = counts.map((each, index) =>
      `L${(index * step).toFixed(2)},${(20 - 18 * each / most).toFixed(2)}`).join(" ");
    make("path", { d: "M0,20 " + line + " L100,20 z" }, this.slider.parentNode.querySelector("svg"));
  }
}

// The moments at which something that is drawn was recorded or closed, up to the drawing's own.
function recordedMoments(drawing) {
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
}

// The moments of the world at which a version of something begins or ends.
function worldMoments(drawing) {
  const found = new Set();
  for (const item of [...drawing.facts, ...drawing.events].flatMap((item) => item.versions)
    .concat(drawing.memories)) {
    for (const moment of [item.start, item.end]) {
      if (moment !== null && moment !== undefined) found.add(moment);
    }
  }
  return [...found].sort((a, b) => a - b);
}
