// The graph: in a frame of its own, at the times of this page's clocks.

import { html, useEffect, useRef, useState } from "/studio/html.js";
import { ofAgent, read, useRead } from "/studio/api.js";
import { clocksOf } from "/studio/route.js";
import { cutInWords } from "/studio/clocks.js";
import { Empty, Failure, Waiting } from "/studio/parts.js";

const SIZES = [100, 400, 1000];
const micros = (at) => at === null ? null : Date.parse(at) * 1000;

export function Graph({ route, go }) {
  const { as_recorded, as_world } = clocksOf(route);
  const size = route.size ?? "100";
  const key = JSON.stringify([route.agent, as_recorded, route.about, size]);
  const found = useRead(key, (signal) => read(ofAgent(route.agent, "/graph"),
    { query: { as_recorded, query: route.about, limit: size }, signal }));
  const frame = useRef(null);
  const [drawn, setDrawn] = useState(0);
  useEffect(() => {
    if (!found.data) return;
    window.graphDrawing = JSON.stringify(found.data);
    window.graphWorld = micros(as_world);
    setDrawn((before) => before + 1);
  }, [found.data]);
  useEffect(() => {
    window.graphWorld = micros(as_world);
    frame.current?.contentWindow?.postMessage({ world: micros(as_world) }, location.origin);
  }, [as_world]);
  const { data } = found;
  const nothing = data && !data.memories.length && !data.facts.length && !data.events.length;
  const cut = cutInWords(route);
  const look = (event) => {
    event.preventDefault();
    go({ about: new FormData(event.target).get("about").trim() });
  };
  return html`<section class="graph" aria-labelledby="graph-title" aria-busy=${found.loading}>
    <div class="heading"><h2 id="graph-title">Graph</h2><p class="soft">${cut}</p></div>
    <form class="ask" role="search" onSubmit=${look}>
      <input type="search" name="about" id="search" key=${route.about} defaultValue=${route.about ?? ""}
        placeholder="Draw what bears on a question; empty: the newest" aria-label="What the graph is about" autocomplete="off" />
      <label>At most <select value=${size} onChange=${(event) => go({ size: event.target.value })}>
        ${SIZES.map((each) => html`<option value=${each}>${each}</option>`)}</select></label>
      <button type="submit">Draw</button>
    </form>
    ${found.error && html`<${Failure} error=${found.error} again=${found.again} />`}
    ${!data && !found.error && html`<${Waiting} of=${found} what="the graph" />`}
    ${nothing && html`<${Empty} title="There is nothing to draw."><p>Nothing was known${cut ? ` ${cut}` : ""}.</p><//>`}
    ${data && !nothing && drawn > 0 && html`<iframe key=${drawn} ref=${frame} src="/studio/graph/frame.html"
      title="The graph of facts, events, entities and memories"></iframe>`}
  </section>`;
}
