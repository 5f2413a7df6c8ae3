// The two clocks: sliders over the moments at which something changed, and an exact time as text.

import { html, useEffect, useRef, useState } from "/studio/html.js";
import { moment, readMoment } from "/studio/words.js";

/** Return the last moment at or before a time, as its place; -1 if all are later. */
export function placeOf(moments, at) {
  const time = Date.parse(at);
  let low = 0, high = moments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Date.parse(moments[middle]) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function Histogram({ counts }) {
  if (counts.length < 2) return null;
  const top = Math.max(...counts, 1), step = 100 / counts.length;
  const points = counts.map((count, place) =>
    `L${(place * step).toFixed(2)},${(20 - 18 * count / top).toFixed(2)}`);
  return html`<svg aria-hidden="true" viewBox="0 0 100 20" preserveAspectRatio="none">
    <path d=${`M0,20 ${points.join(" ")} L100,${(20 - 18 * counts.at(-1) / top).toFixed(2)} L100,20 z`} />
  </svg>`;
}

/** One clock. at: ISO 8601, or null for the present or for any time. */
export function Clock({ title, free, about, moments, counts, at, change, id }) {
  const last = moments.length;
  const place = at === null ? last : Math.max(0, placeOf(moments, at));
  const [held, hold] = useState(null);
  const [typed, type] = useState(null);
  const [wrong, setWrong] = useState(false);
  const timer = useRef(0);
  useEffect(() => {
    hold(null);
    type(null);
    setWrong(false);
  }, [at]);
  const shownPlace = held ?? place;
  const value = held === null ? at : held === last ? null : moments[held];
  const text = value === null ? free : moment(value);
  const slide = (event) => {
    const to = Number(event.target.value);
    hold(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change(to === last ? null : moments[to]), 120);
  };
  const accept = (event) => {
    event.preventDefault();
    if (typed === null) return;
    const found = typed.trim() && typed.trim() !== free ? readMoment(typed) : null;
    setWrong(found === undefined);
    if (found === undefined) return;
    if (found === at) type(null);
    else change(found);
  };
  return html`<div class="clock" id=${id}>
    <label class="title" for=${`${id}-slider`} title=${about}>${title}</label>
    <div class="slide">
      <${Histogram} counts=${counts} />
      <input id=${`${id}-slider`} type="range" min="0" max=${last} step="1" value=${shownPlace}
        disabled=${!last} aria-valuetext=${text} onInput=${slide} />
    </div>
    <form class="exact" onSubmit=${accept}>
      <input type="text" aria-label=${`${title}: exact time in UTC`} value=${typed ?? text}
        aria-invalid=${wrong ? "true" : null} spellcheck=${false} autocomplete="off"
        title="A time such as 2024-05-01 or 2024-05-01 09:30, then Enter"
        onInput=${(event) => type(event.target.value)} onBlur=${accept} />
    </form>
    <button type="button" class="free" aria-pressed=${at === null ? "true" : "false"}
      onClick=${() => change(null)}>${free}</button>
  </div>`;
}

/** Both clocks. suffix: of their names in the route, for a second pair. */
export function Clocks({ moments, route, go, suffix = "", label = "Clocks" }) {
  const { recorded, world } = moments;
  const set = (name) => (at) => go({ [`${name}${suffix}`]: at, before: null, page: null }, true);
  return html`<section class="clocks" aria-label=${label}>
    <${Clock} id=${`recorded${suffix}`} title="As recorded by" free="now"
      about="What the agent knew at this time" moments=${recorded.moments}
      counts=${recorded.memories} at=${route[`recorded${suffix}`] ?? null} change=${set("recorded")} />
    <${Clock} id=${`world${suffix}`} title="True in the world at" free="any time"
      about="What was so at this time, by what the agent knew" moments=${world.moments}
      counts=${world.memories} at=${route[`world${suffix}`] ?? null} change=${set("world")} />
  </section>`;
}

export const NO_MOMENTS = {
  recorded: { moments: [], memories: [] }, world: { moments: [], memories: [] },
};

/** What the clocks say, in words; "" if both are at the present. */
export const cutInWords = (route, suffix = "") => [
  route[`recorded${suffix}`] && `as recorded by ${moment(route[`recorded${suffix}`])}`,
  route[`world${suffix}`] && `true in the world at ${moment(route[`world${suffix}`])}`,
].filter(Boolean).join(", ");

