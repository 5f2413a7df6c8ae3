// The page: its head with agent, views and clocks; the view; the card of a memory; shortcuts.

import { html, render, useEffect, useRef, useState } from "/studio/html.js";
import { ofAgent, read, setToken, takeToken, useRead } from "/studio/api.js";
import { address, useRoute, VIEWS } from "/studio/route.js";
import { Clocks, NO_MOMENTS } from "/studio/clocks.js";
import { Failure } from "/studio/parts.js";
import { Agents } from "/studio/agents.js";
import { Memories } from "/studio/memories.js";
import { Card } from "/studio/card.js";
import { RecallView } from "/studio/recall.js";
import { Compare } from "/studio/compare.js";
import { Graph } from "/studio/graph.js";
import { Log } from "/studio/log.js";
import { HealthView } from "/studio/health.js";

const SHOWN = { memories: Memories, recall: RecallView, compare: Compare, graph: Graph, log: Log,
  health: HealthView };
const SHORTCUTS = [
  ["1 to 6", "memories, recall, compare, graph, log, health"],
  ["/", "search or ask"],
  ["j, k", "the next and the previous memory"],
  ["Enter", "open it"],
  ["Esc", "close the memory, or this list"],
  ["[ and ]", "what was recorded before and after"],
  ["n", "both clocks back to the present"],
  ["a", "all agents"],
  ["?", "this list"],
];

function Shortcuts({ dialog }) {
  return html`<dialog ref=${dialog} aria-labelledby="shortcuts-title">
    <h2 id="shortcuts-title">Keyboard shortcuts</h2>
    <dl>${SHORTCUTS.map(([keys, about]) => html`<dt><kbd>${keys}</kbd></dt><dd>${about}</dd>`)}</dl>
    <form method="dialog"><button>Close</button></form>
  </dialog>`;
}

function Gate({ error, enter }) {
  const submit = (event) => {
    event.preventDefault();
    enter(new FormData(event.target).get("token").trim());
  };
  return html`<main class="gate" id="main">
    <h1>recollex studio</h1>
    <form onSubmit=${submit}>
      <label for="token">This server asks for a token. It is kept for this tab alone.</label>
      <input id="token" name="token" type="password" autocomplete="off" required />
      <button type="submit">Enter</button>
    </form>
    ${error && html`<p class="soft">${error.message}</p>`}
  </main>`;
}

function step(by) {
  const links = [...document.querySelectorAll("main .view a.memory")];
  const at = links.indexOf(document.activeElement);
  const next = links[Math.max(0, Math.min(links.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function useShortcuts(route, go, moments, dialog) {
  const latest = useRef();
  latest.current = (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range";
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.current?.open) return;
    if (event.key === "Escape") {
      if (typing) event.target.blur();
      else if (route.memory) go({ memory: null });
      return;
    }
    if (typing) return;
    const view = VIEWS[Number(event.key) - 1];
    const { moments: times } = moments.recorded;
    const recorded = (by) => {
      const now = route.recorded ? times.filter((each) => Date.parse(each) <= Date.parse(route.recorded)).length - 1
        : times.length;
      const next = Math.max(0, Math.min(times.length, now + by));
      if (times.length) go({ recorded: times[next] ?? null }, true);
    };
    const actions = {
      "/": () => document.getElementById("search")?.focus(), j: () => step(1), k: () => step(-1),
      "?": () => dialog.current?.showModal(), a: () => go({ agent: "" }), "[": () => recorded(-1),
      "]": () => recorded(1), n: () => go({ recorded: null, world: null }, true),
    };
    const act = view && route.agent ? () => go({ view, memory: null }) : actions[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  useEffect(() => {
    const press = (event) => latest.current(event);
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/** What stays of the route in another view: the clocks, and what several views share. */
const keptIn = (route, view) => {
  const { agent, recorded, world, recorded2, world2, ask, preset, limit, q } = route;
  return { agent, view, recorded, world, recorded2, world2, ask, preset, limit, q };
};

function Studio() {
  const [route, go] = useRoute();
  const [entered, setEntered] = useState(0);
  const names = useRead(`agents ${entered}`, (signal) => read("/summaries", { query: { limit: 1000, counts: false }, signal }));
  const clocks = useRead(route.agent && names.data ? `clocks ${route.agent} ${entered}` : null, (signal) =>
    read(ofAgent(route.agent, "/clocks"), { signal }));
  const moments = clocks.data ?? NO_MOMENTS;
  const dialog = useRef(null);
  useShortcuts(route, go, moments, dialog);
  useEffect(() => {
    document.title = route.agent ? `${route.agent}: ${route.view} \u2013 recollex studio` : "recollex studio";
  }, [route.agent, route.view]);
  const head = useRef(null);
  useEffect(() => {  // the card of a memory begins below the head, however high that is
    if (!head.current) return undefined;
    const seen = new ResizeObserver(([entry]) => document.documentElement.style
      .setProperty("--top", `${entry.target.offsetHeight}px`));
    seen.observe(head.current);
    return () => seen.disconnect();
  }, [names.error]);
  if (names.error?.status === 401) {
    return html`<${Gate} error=${entered ? names.error : null}
      enter=${(token) => { setToken(token); setEntered(entered + 1); }} />`;
  }
  const View = SHOWN[route.view];
  const known = names.data?.agents.map((agent) => agent.id) ?? [];
  const choices = route.agent && !known.includes(route.agent) ? [route.agent, ...known] : known;
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>
      Skip to the content</a>
    <header class="top" ref=${head}>
      <div class="bar-of">
        <h1><a href="#/">recollex studio</a></h1>
        ${route.agent && html`<label class="agent"><span class="hidden">Agent</span>
          <select id="agent" value=${route.agent} onChange=${(event) => {
            location.hash = address({ agent: event.target.value, view: route.view }, {});
          }}>
            ${choices.map((each) => html`<option value=${each}>${each}</option>`)}</select></label>
        <nav aria-label="Views">${VIEWS.map((view) => html`<a key=${view}
          href=${address(keptIn(route, view), {})} aria-current=${view === route.view ? "page" : null}>${view}</a>`)}</nav>`}
        <button type="button" class="help" aria-label="Keyboard shortcuts" onClick=${() => dialog.current.showModal()}>?</button>
      </div>
      ${route.agent && html`<${Clocks} moments=${moments} route=${route} go=${go} />`}
    </header>
    <main id="main" tabindex="-1" class=${route.agent && route.memory ? "with-card" : ""}>
      <div class="view">
        ${names.error && html`<${Failure} error=${names.error} again=${names.again} />`}
        ${clocks.error && html`<${Failure} error=${clocks.error} again=${clocks.again} />`}
        ${names.data && !clocks.error && (route.agent
          ? html`<${View} key=${`${route.agent} ${route.view}`} route=${route} go=${go} moments=${moments} />`
          : html`<${Agents} route=${route} />`)}
      </div>
      ${route.agent && route.memory && names.data && html`<${Card} key=${route.memory} route=${route} go=${go} />`}
    </main>
    <${Shortcuts} dialog=${dialog} />`;
}

takeToken();
render(html`<${Studio} />`, document.getElementById("studio"));
