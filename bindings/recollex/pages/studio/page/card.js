// One memory: what it says, who wrote it, its versions, the facts it proves, what stands next to it.

import { html, useEffect, useRef } from "/studio/html.js";
import { ofAgent, ofMemory, read, useRead } from "/studio/api.js";
import { address, clocksOf } from "/studio/route.js";
import { Chip, Failure, Marks, MemoryLink, Waiting } from "/studio/parts.js";
import { counted, moment, span } from "/studio/words.js";

/** The interval [start, end) in words; one time if it is as short as a time. */
const momentsOf = ([start, end]) => moment(start) === moment(end) ? moment(start)
  : `${moment(start)} to ${moment(end)}`;

const hinted = (value) => typeof value === "string" ? value : JSON.stringify(value);

function Fields({ memory }) {
  const rows = [
    ["id", memory.id],
    ["said", moment(memory.event_at)],
    ["speaks of", momentsOf(memory.event)],
    ["recorded", moment(memory.recorded_at)],
    ["valid until", memory.valid_until && moment(memory.valid_until)],
    ["network", memory.network],
    ["speaker", memory.speaker && `${memory.speaker}${memory.role ? ` (${memory.role})` : ""}`],
    ["source", memory.source && `${memory.source}, trusted as ${memory.trust}`],
    ["document", memory.document_id],
    ["context", memory.context],
    ["tokens", memory.tokens],
    ...Object.entries(memory.metadata).map(([name, value]) => [name, hinted(value)]),
  ];
  return html`<dl>${rows.filter(([, value]) => value).map(([name, value]) => html`
    <dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

const whoAndWhy = ({ by, why }) => [by && `by ${by}`, why && `\u201c${why}\u201d`].filter(Boolean).join(", ");

function History({ versions, origins }) {
  const origin = (version) =>
    origins?.entries.find((entry) => entry.recorded_at === version.recorded_at);
  return html`<ol class="history">${versions.toReversed().map((version) => {
    const written = origin(version);
    return html`<li key=${version.recorded_at}>
      <p class="soft"><time datetime=${version.recorded_at}>${moment(version.recorded_at)}</time>
        ${" "}${written?.kind ?? "recorded"}${written ? `, operation ${written.op}` : ""}
        ${written && whoAndWhy(written) ? html`, <strong>${whoAndWhy(written)}</strong>` : ""}</p>
      <p class="said">${version.text}</p>
      ${version.closed && html`<p class="soft">${version.closed.how}
        ${" "}${moment(version.closed.at)}${whoAndWhy(version.closed) ? `, ${whoAndWhy(version.closed)}` : ""}</p>`}
    </li>`;
  })}</ol>`;
}

const objectOf = (fact) => typeof fact.object === "string" ? fact.object : hinted(fact.object);
const validOf = ([start, end]) => !start && !end ? "always"
  : `${start ? `from ${moment(start)}` : ""}${end ? ` until ${moment(end)}` : ""}`.trim();

function Evidence({ facts }) {
  if (!facts.length) return html`<p class="soft">No fact cites it.</p>`;
  return html`<ul class="facts">${facts.map((fact) => html`<li key=${fact.id}>
    <span class="fact"><strong>${fact.subject}</strong> ${fact.predicate} <strong>${objectOf(fact)}</strong></span>
    <span class="soft">${validOf(fact.valid)}, confidence ${fact.confidence}</span>
  </li>`)}</ul>`;
}

function Neighbours({ near, route }) {
  const { alike, named, in_time: timed } = near;
  if (!alike.length && !named.length && !timed.length) {
    return html`<p class="soft">Nothing stands next to it.</p>`;
  }
  const row = (memory, says) => html`<li key=${memory.id}>
    <${MemoryLink} memory=${memory} route=${route}><span class="text">${memory.text}</span>
      <span class="marks">${says}</span><//></li>`;
  return html`<div class="near">
    ${alike.length > 0 && html`<h4>Alike</h4><ul>${alike.map(({ memory, cosine }) =>
      row(memory, `cosine ${cosine.toFixed(2)}`))}</ul>`}
    ${named.map(({ entity, memories }) => html`<h4>Names ${entity}</h4>
      <ul>${memories.map((memory) => row(memory, moment(memory.event_at)))}</ul>`)}
    ${timed.length > 0 && html`<h4>Near in time</h4><ul>${timed.map(({ memory, seconds }) =>
      row(memory, seconds === 0 ? "at the same time" : `${span(seconds)} ${seconds < 0 ? "before" : "after"}`))}</ul>`}
  </div>`;
}

const Section = ({ title, of, what, children }) => html`<section><h3>${title}</h3>
  ${of.data ? children(of.data) : html`<${Waiting} of=${of} what=${what} />`}</section>`;

export function Card({ route, go }) {
  const { agent, memory: id } = route;
  const { as_recorded, as_world } = clocksOf(route);
  const key = JSON.stringify([agent, id, as_recorded, as_world]);
  const query = { as_recorded };
  const ask = (rest, more) => (signal) =>
    read(ofMemory(agent, id, rest), { query: { ...query, ...more }, signal });
  const memory = useRead(`get ${key}`, ask(""));
  const versions = useRead(`history ${key}`, ask("/history"));
  const origins = useRead(`origins ${key}`, ask("/origins"));
  const near = useRead(`near ${key}`, ask("/neighbours", { as_world, limit: 5 }));
  const facts = useRead(`facts ${key}`, (signal) =>
    read(ofAgent(agent, "/facts"), { query: { evidence: id, as_recorded, as_world }, signal }));
  const title = useRef(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), [id]);
  const said = memory.data;
  const writer = origins.data?.entries.at(-1);
  return html`<aside class="card" aria-labelledby="card-title">
    <header><h2 id="card-title" tabindex="-1" ref=${title}>Memory</h2>
      <a class="close" href=${address(route, { memory: null })} aria-label="Close the memory"
        onClick=${(event) => { event.preventDefault(); go({ memory: null }); }}>\u00d7</a></header>
    ${memory.error && html`<${Failure} error=${memory.error} />`}
    ${said && html`
      <p class="whole">${said.text}</p>
      <${Marks} memory=${said} />
      ${said.entities.length > 0 && html`<p class="marks">${said.entities.map((name) => html`<a
        href=${address(route, { view: "memories", entities: name, q: null })}><${Chip} kind="name">${name}<//></a>`)}</p>`}
      ${writer && html`<p class="writer">${writer.by ? html`Written by <strong>${writer.by}</strong>` : "Written"}
        ${" "}${moment(writer.recorded_at)}, operation ${writer.op}${writer.why ? `: \u201c${writer.why}\u201d` : ""}</p>`}
      <${Fields} memory=${said} />`}
    <${Section} title=${versions.data ? `History: ${counted(versions.data.memories.length, "version")}` : "History"}
      of=${versions} what="its versions">${(data) => html`<${History} versions=${data.memories} origins=${origins.data} />`}<//>
    ${said && html`<${Section} title="Evidence for" of=${facts} what="facts">${(data) => html`<${Evidence} facts=${data.facts} />`}<//>
    <${Section} title="Neighbours" of=${near} what="neighbours">${(data) => html`<${Neighbours} near=${data} route=${route} />`}<//>`}
  </aside>`;
}
