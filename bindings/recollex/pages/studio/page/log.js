// The log: every operation, the newest first.

import { html, useEffect, useState } from "/studio/html.js";
import { ofAgent, read, useRead } from "/studio/api.js";
import { address } from "/studio/route.js";
import { Empty, Failure, Waiting } from "/studio/parts.js";
import { moment } from "/studio/words.js";

const PAGE = 50;
const KINDS = ["retain", "correct", "amend", "archive", "forget", "erase", "upsert_edge",
  "archive_edge", "retro_correct", "upsert_entity", "merge_entity", "upsert_event", "link",
  "upsert_episode", "retention", "create"];
const OF_MEMORIES = new Set(["retain", "correct", "amend", "archive"]);

/** What an operation records, in a line. */
function said({ payload }) {
  if (!payload) return "";
  if (payload.text ?? payload.summary) return payload.text ?? payload.summary;
  if (payload.predicate) {
    const [[kind, value]] = Object.entries(payload.object ?? { "": "" });
    const object = kind === "entity" ? value[0] : typeof value === "object" ? JSON.stringify(value) : value;
    return `${payload.subject[0]} ${payload.predicate} ${object}`;
  }
  return "";
}

export function Log({ route, go }) {
  const { agent, recorded = null, op = null } = route;
  const key = JSON.stringify([agent, recorded, op]);
  const [cursor, setCursor] = useState({ key, before: null });
  const before = cursor.key === key ? cursor.before : null;
  const [rows, setRows] = useState({ key: null, entries: [], ended: false });
  const page = useRead(`${key} ${before}`, (signal) => read(ofAgent(agent, "/log/newest"),
    { query: { as_recorded: recorded, op, before, limit: PAGE }, signal }));
  useEffect(() => {
    if (!page.data || page.loading) return;
    const { entries } = page.data;
    setRows((old) => ({ key, ended: entries.length < PAGE,
      entries: before !== null && old.key === key ? [...old.entries, ...entries] : entries }));
  }, [page.data]);
  const { entries } = rows;
  return html`<section aria-labelledby="log-title" aria-busy=${page.loading}>
    <div class="heading"><h2 id="log-title">Log</h2>
      <p class="soft">Every operation, the newest first${recorded ? `, up to ${moment(recorded)}` : ""}.
        ${route.world ? " The clock of the world changes nothing here: the log is what was recorded." : ""}</p></div>
    <form class="ask" onSubmit=${(event) => event.preventDefault()}>
      <label>Kind <select value=${op ?? ""} onChange=${(event) => go({ op: event.target.value })}>
        <option value="">all</option>
        ${KINDS.map((kind) => html`<option value=${kind}>${kind.replaceAll("_", " ")}</option>`)}</select></label>
    </form>
    ${page.error && html`<${Failure} error=${page.error} again=${page.again} />`}
    ${rows.key === null && !page.error && html`<${Waiting} of=${page} what="the log" />`}
    ${rows.key !== null && !page.error && !entries.length && html`<${Empty} title="No operation of this kind, in this cut."><//>`}
    ${entries.length > 0 && html`<div class="scroll"><table class=${page.loading ? "log old" : "log"}>
      <thead><tr><th scope="col" class="right">op</th><th scope="col">recorded</th><th scope="col">kind</th>
        <th scope="col">what</th><th scope="col">who and why</th></tr></thead>
      <tbody>${entries.map((entry) => html`<tr key=${entry.op}>
        <td class="right">${entry.op}</td>
        <td class="time">${moment(entry.recorded_at)}</td>
        <td><span class="chip">${entry.kind.replaceAll("_", " ")}</span></td>
        <td class="what">${said(entry)} ${OF_MEMORIES.has(entry.kind)
          ? entry.ids.slice(0, 3).map((id) => html`<a class="id" href=${address(route, { memory: id })}>${id}</a>`)
          : html`<span class="id">${entry.ids.slice(0, 3).join(", ")}</span>`}
          ${entry.ids.length > 3 ? ` and ${entry.ids.length - 3} more` : ""}
          ${entry.payload === null && html`<span class="soft">erased</span>`}</td>
        <td>${entry.by ?? ""}${entry.why ? html` <span class="soft">${"\u201c"}${entry.why}${"\u201d"}</span>` : ""}</td>
      </tr>`)}</tbody></table></div>
      ${!rows.ended && html`<button type="button" class="more" disabled=${page.loading}
        onClick=${() => setCursor({ key, before: entries.at(-1).op })}>Older operations</button>`}`}
  </section>`;
}
