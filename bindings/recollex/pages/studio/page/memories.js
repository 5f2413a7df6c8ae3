// The memories of an agent, the newest first: pages of a filter, or the best for a search.

import { html, useEffect, useState } from "/studio/html.js";
import { ofAgent, read, useRead } from "/studio/api.js";
import { clocksOf } from "/studio/route.js";
import { cutInWords } from "/studio/clocks.js";
import { Empty, Failure, MemoryLink, Waiting } from "/studio/parts.js";
import { counted, readMoment } from "/studio/words.js";

const PAGE = 50;
const MOST_FOUND = 500;
const LISTS = ["tags", "speakers", "entities"];
export const FILTERS = ["tags", "speakers", "entities", "document_id", "network", "roles", "trust",
  "since", "until"];

/** Return the filter that a route names, as the API takes it. */
export function filterOf(route) {
  const found = {};
  for (const name of FILTERS) {
    if (!route[name]) continue;
    if (LISTS.includes(name)) {
      found[name] = route[name].split(",").map((each) => each.trim()).filter(Boolean);
    } else {
      found[name] = name === "since" || name === "until" ? readMoment(route[name]) : route[name];
    }
  }
  return found;
}

function Choice({ name, title, values, route, go }) {
  return html`<label>${title}
    <select value=${route[name] ?? ""} onChange=${(event) => go({ [name]: event.target.value })}>
      <option value="">any</option>
      ${values.map((value) => html`<option value=${value}>${value}</option>`)}
    </select></label>`;
}

function Field({ name, title, hint, route, go, values = [] }) {
  return html`<label>${title}
    <input type="text" value=${route[name] ?? ""} placeholder=${hint} autocomplete="off"
      list=${values.length ? `values-${name}` : null}
      onChange=${(event) => go({ [name]: event.target.value.trim() })} />
    ${values.length > 0 && html`<datalist id=${`values-${name}`}>
      ${values.map((value) => html`<option value=${value} />`)}</datalist>`}
  </label>`;
}

function Filters({ route, go }) {
  const chosen = FILTERS.filter((name) => route[name]);
  const [open, setOpen] = useState(chosen.length > 0);
  const counts = (field) => (signal) =>
    read(ofAgent(route.agent, "/value_counts"), { body: { field, most: 50 }, signal });
  const tags = useRead(open ? `tags ${route.agent}` : null, counts("tags"));
  const speakers = useRead(open ? `speakers ${route.agent}` : null, counts("speakers"));
  const names = (found) => Object.keys(found.data?.counts ?? {});
  return html`<details class="filters" open=${open} onToggle=${(event) => setOpen(event.target.open)}>
    <summary>Filters${chosen.length > 0 && html` <span class="chip">${chosen.length}</span>`}</summary>
    <div class="fields">
      <${Field} name="tags" title="Tags" hint="work, home" values=${names(tags)} route=${route} go=${go} />
      <${Field} name="speakers" title="Speakers" values=${names(speakers)} route=${route} go=${go} />
      <${Field} name="entities" title="Names" hint="Alice, Google" route=${route} go=${go} />
      <${Field} name="document_id" title="Document" route=${route} go=${go} />
      <${Choice} name="network" title="Network" values=${["world", "agent", "opinion"]} route=${route} go=${go} />
      <${Choice} name="roles" title="Role" values=${["user", "assistant", "system", "tool"]} route=${route} go=${go} />
      <${Choice} name="trust" title="Least trust" values=${["user", "assistant", "tool", "web"]} route=${route} go=${go} />
      <${Field} name="since" title="Since" hint="2024-05-01" route=${route} go=${go} />
      <${Field} name="until" title="Until" hint="2024-06-01" route=${route} go=${go} />
      ${chosen.length > 0 && html`<button type="button"
        onClick=${() => go(Object.fromEntries(FILTERS.map((name) => [name, null])))}>Clear</button>`}
    </div>
  </details>`;
}

/** Pages of the filter, one after another; a changed key begins again. */
function usePages(key, load) {
  const [cursor, setCursor] = useState({ key, after: null });
  const [rows, setRows] = useState({ key: null, memories: [], ended: false });
  const after = cursor.key === key ? cursor.after : null;
  const page = useRead(key === null ? null : `${key} ${after ?? ""}`, (signal) => load(after, signal));
  useEffect(() => {
    if (!page.data || page.loading) return;
    const { memories } = page.data;
    setRows((before) => ({
      key,
      memories: after !== null && before.key === key ? [...before.memories, ...memories] : memories,
      ended: memories.length < PAGE,
    }));
  }, [page.data]);
  const more = () => setCursor({ key, after: rows.memories.at(-1).id });
  return { ...page, rows: rows.memories, ended: rows.ended, more, shown: rows.key !== null };
}

export function Memories({ route, go }) {
  const { agent, q = "" } = route;
  const filter = filterOf(route), clocks = clocksOf(route);
  const asked = { ...filter, ...clocks };
  const key = JSON.stringify([agent, asked]);
  const [limit, setLimit] = useState(PAGE);
  useEffect(() => setLimit(PAGE), [key, q]);
  const listed = usePages(q ? null : key, (after, signal) => read(ofAgent(agent, "/list"), {
    body: { ...asked, newest: true, limit: PAGE, after }, signal }));
  const found = useRead(q ? `${key} ${q} ${limit}` : null, (signal) => read(ofAgent(agent, "/search"), {
    body: { ...asked, query: q, limit, thinking_budget: Math.max(100, limit), max_tokens: 2 ** 31 },
    signal }));
  const count = useRead(`count ${key}`, (signal) =>
    read(ofAgent(agent, "/count"), { body: asked, signal }));
  const memories = q ? found.data?.memories : listed.shown ? listed.rows : null;
  const state = q ? found : listed;
  const cut = cutInWords(route);
  const filtered = Object.keys(filter).length > 0;
  const search = (event) => {
    event.preventDefault();
    go({ q: new FormData(event.target).get("q").trim() });
  };
  return html`<section aria-labelledby="memories-title" aria-busy=${state.loading}>
    <div class="heading"><h2 id="memories-title">Memories</h2>
      <p class="soft" role="status">${count.data ? counted(count.data.count, "memory", "memories") : ""}
        ${filtered ? " that pass the filter" : ""}${cut ? `, ${cut}` : ""}</p></div>
    <form role="search" class="search" onSubmit=${search}>
      <input type="search" name="q" id="search" key=${q} defaultValue=${q} autocomplete="off"
        placeholder='Search by meaning and words; "quoted" words as they are' aria-label="Search memories" />
      <button type="submit">Search</button>
    </form>
    <${Filters} route=${route} go=${go} />
    ${state.error && html`<${Failure} error=${state.error} again=${state.again} />`}
    ${!memories && !state.error && html`<${Waiting} of=${state} what="memories" />`}
    ${memories && !state.error && !memories.length && html`<${Nothing} q=${q} filtered=${filtered} cut=${cut} agent=${agent} />`}
    ${memories && memories.length > 0 && html`
      <ol class=${state.loading ? "memories old" : "memories"}>
        ${memories.map((memory) => html`<li key=${memory.id}>
          <${MemoryLink} memory=${memory} route=${route} /></li>`)}
      </ol>
      ${q ? memories.length >= limit && limit < MOST_FOUND && html`<button type="button" class="more"
          onClick=${() => setLimit(Math.min(MOST_FOUND, 2 * limit))}>More results</button>`
        : !listed.ended && html`<button type="button" class="more" disabled=${listed.loading}
          onClick=${listed.more}>Older memories</button>`}`}
  </section>`;
}

function Nothing({ q, filtered, cut, agent }) {
  if (q || filtered) {
    return html`<${Empty} title="Nothing was found.">
      <p>Try other words${filtered ? ", or clear a filter" : ""}${cut ? ", or set the clocks back to now" : ""}.</p><//>`;
  }
  if (cut) {
    return html`<${Empty} title="Nothing was known at this time.">
      <p>Move the clocks, or set them back to now.</p><//>`;
  }
  return html`<${Empty} title=${`${agent} remembers nothing yet.`}>
    <pre>recollex retain STORE "Alice joined Google." --agent ${agent}</pre><//>`;
}
