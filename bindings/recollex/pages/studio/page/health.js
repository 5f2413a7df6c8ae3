// Health: how much the agent holds and how it is kept, and how fast the server answers.

import { html, useEffect } from "/studio/html.js";
import { ofAgent, read, useRead } from "/studio/api.js";
import { Bars, Failure, OfNow, Waiting } from "/studio/parts.js";
import { bytes, counted, moment, number, seconds } from "/studio/words.js";

const EVERY = 5000; // milliseconds between two looks

const Facts = ({ rows }) => html`<dl class="facts-of">${rows.map(([name, value]) => html`
  <div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

function Kept({ kept }) {
  const { stats, checkpoint } = kept;
  const files = Object.entries(kept.files).filter(([, size]) => size);
  return html`
    <h3>What it holds</h3>
    <${Facts} rows=${[
      ["memories", number(stats.memories)], ["archived", number(stats.archived)],
      ["forgotten or corrected", number(stats.forgotten)], ["passages", number(stats.passages)],
      ["entities", number(stats.entities)], ["facts", number(stats.facts)], ["events", number(stats.events)],
      ["links", number(stats.links)], ["operations", number(kept.operations)],
      ["last recorded", moment(kept.recorded_at)], ["model", stats.model ?? "\u2013"],
      ["encrypted", kept.encrypted ? "yes" : "no"],
    ]} />
    <h3>How it is kept</h3>
    <${Facts} rows=${[
      ["open for writing", kept.writer ? "yes, by a process" : "no"],
      ["tail, not in a segment", counted(kept.tail_memories, "memory", "memories")],
      ["operations after the checkpoint", number(kept.tail_operations)],
      ["last checkpoint", checkpoint ? `${moment(checkpoint.written_at)}, up to operation ${number(checkpoint.op)}` : "none yet"],
      ...(checkpoint ? [["segments", number(checkpoint.segments)], ["graphs", number(checkpoint.graphs)]] : []),
    ]} />
    <h3>On disk: ${bytes(stats.bytes_on_disk)}</h3>
    <${Bars} label="Bytes by part" rows=${files.map(([name, size]) => [name, size, bytes(size)])} />`;
}

function Latencies({ title, rows }) {
  const shown = Object.entries(rows).filter(([, each]) => each.p50 !== null);
  if (!shown.length) return null;
  const top = Math.max(...shown.map(([, each]) => each.p99));
  return html`<div class="scroll"><table class="latencies"><caption>${title}</caption>
    <thead><tr><th scope="col">of</th><th scope="col" class="right">p50</th><th scope="col" class="right">p99</th>
      <th scope="col" aria-hidden="true"></th></tr></thead>
    <tbody>${shown.map(([name, each]) => html`<tr key=${name}><th scope="row">${name}</th>
      <td class="right">${seconds(each.p50)}</td><td class="right">${seconds(each.p99)}</td>
      <td class="track" aria-hidden="true"><span class="bar faint" style=${{ width: `${100 * each.p99 / top}%` }}></span>
        <span class="bar" style=${{ width: `${100 * each.p50 / top}%` }}></span></td></tr>`)}</tbody></table></div>`;
}

function Server({ state }) {
  return html`<h3>The server</h3>
    <${Facts} rows=${[
      ["up", seconds(state.up)], ["memory", bytes(state.memory_bytes)],
      ["agents open", number(state.open_agents)], ["connections", number(state.http_connections + state.connections)],
      ["reader threads", number(state.reader_threads)], ["reader processes", number(state.reader_processes)],
      ["calls running", number(state.running)], ["calls waiting", number(state.waiting)],
      ["waited for a thread, p99", seconds(state.queue.p99)],
    ]} />
    <${Latencies} title="Latency of the stages of a recall, since the start" rows=${state.stages} />
    <${Latencies} title="Latency of calls, since the start" rows=${state.calls} />`;
}

export function HealthView({ route }) {
  const kept = useRead(`health ${route.agent}`, (signal) => read(ofAgent(route.agent, "/health"), { signal }));
  const server = useRead("state", (signal) => read("/state", { signal }));
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return;
      kept.again();
      server.again();
    }, EVERY);
    return () => clearInterval(timer);
  }, []);
  return html`<section class="health" aria-labelledby="health-title">
    <div class="heading"><h2 id="health-title">Health</h2>
      <p class="soft">As of now, looked at every ${EVERY / 1000} seconds.</p></div>
    <${OfNow} route=${route} />
    ${kept.error && html`<${Failure} error=${kept.error} again=${kept.again} />`}
    ${kept.data ? html`<${Kept} kept=${kept.data} />` : !kept.error && html`<${Waiting} of=${kept} what="health" />`}
    ${server.data && html`<${Server} state=${server.data} />`}
  </section>`;
}
