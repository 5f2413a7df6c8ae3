// One recall, explained: the parts of each result's score as bars, and the time of each stage.

import { html, useState } from "/studio/html.js";
import { ofAgent, read, useRead } from "/studio/api.js";
import { clocksOf } from "/studio/route.js";
import { cutInWords } from "/studio/clocks.js";
import { Bars, Empty, Failure, Marks, MemoryLink, Waiting } from "/studio/parts.js";
import { counted, moment, seconds } from "/studio/words.js";
import { filterOf } from "/studio/memories.js";

export const PRESETS = ["default", "tempr", "tempr-printed", "memora", "satf", "memotrace"];

/** Ask a question as the route's options and one pair of clocks say. */
export const recall = (route, suffix, signal) => read(ofAgent(route.agent, "/search"), {
  body: {
    query: route.ask, explain: true, preset: route.preset, limit: Number(route.limit ?? 10),
    ...filterOf(route), ...clocksOf(route, suffix),
  }, signal });

const shownParts = (memory) => Object.entries(memory.parts)
  .filter(([, part]) => Math.abs(part) > 1e-6).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));

function Why({ memory, most }) {
  const parts = shownParts(memory);
  const arms = Object.entries(memory.ranks);
  return html`<div class="why">
    ${parts.length > 0
      ? html`<${Bars} label="Parts of the score" most=${most}
          rows=${parts.map(([name, part]) => [name.replaceAll("_", " "), part, (part > 0 ? "+" : "") + part.toFixed(3)])} />`
      : html`<p class="soft">This preset tells no parts of its score.</p>`}
    <p class="marks">${arms.length ? arms.map(([arm, rank]) => html`<span class="chip">
      ${arm} no. ${rank}${memory.scores[arm] === undefined ? "" : ` (${memory.scores[arm].toFixed(3)})`}</span>`)
      : "no arm found it: it stands next to one that was found"}
      ${memory.collapsed.length > 0 && html`<span class="chip">${counted(memory.collapsed.length, "repetition")} folded in</span>`}</p>
  </div>`;
}

export function Stages({ trace }) {
  const rows = Object.entries(trace.stages).map(([name, micros]) => [name, micros, seconds(micros / 1e6)]);
  const sum = rows.reduce((all, [, micros]) => all + micros, 0), between = trace.total - sum;
  return html`<section class="stages"><h3>Time of each stage: ${seconds(trace.total / 1e6)} in all</h3>
    <${Bars} rows=${rows} label="Time of each stage" />
    <p class="soft">The stages add up to ${seconds(sum / 1e6)}: ${between < 0 ? "some ran at the same time."
      : `at least ${seconds(between / 1e6)} passed between them.`}</p>
    ${Object.entries(trace.errors).map(([arm, error]) => html`<p class="notice wrong" role="alert">
      <strong>${arm}</strong> failed, and the others answered: ${error}</p>`)}
  </section>`;
}

export function Ask({ route, go, title = "Ask" }) {
  const ask = (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    go({ ask: given.get("ask").trim(), preset: given.get("preset"), limit: given.get("limit") });
  };
  return html`<form class="ask" role="search" onSubmit=${ask}>
    <input type="search" name="ask" id="search" key=${route.ask} defaultValue=${route.ask ?? ""} autocomplete="off"
      placeholder="A question, as the agent would ask it" aria-label="Question" />
    <label>Preset <select name="preset" key=${route.preset}>${PRESETS.map((name) => html`
      <option value=${name} selected=${name === (route.preset ?? "default")}>${name}</option>`)}</select></label>
    <label>Results <input type="number" name="limit" min="1" max="100" required
      key=${route.limit} defaultValue=${route.limit ?? 10} /></label>
    <button type="submit">${title}</button>
  </form>`;
}

export function RecallView({ route, go }) {
  const key = JSON.stringify([route.agent, route.ask, route.preset, route.limit, filterOf(route), clocksOf(route)]);
  const [turn, setTurn] = useState(0);
  const found = useRead(route.ask ? `${key} ${turn}` : null, (signal) => recall(route, "", signal));
  const cut = cutInWords(route);
  return html`<section aria-labelledby="recall-title" aria-busy=${found.loading}>
    <div class="heading"><h2 id="recall-title">Recall</h2>
      <p class="soft">${cut && `${cut}, compared with every vector`}</p></div>
    <${Ask} route=${route} go=${go} />
    ${!route.ask && html`<${Empty} title="Ask something.">
      <p>Each result shows what each part of the ranking added, and the recall how long each stage took.</p><//>`}
    ${found.error && html`<${Failure} error=${found.error} again=${() => setTurn(turn + 1)} />`}
    ${route.ask && !found.data && !found.error && html`<${Waiting} of=${found} what="the answer" />`}
    ${found.data && html`<${Answer} found=${found.data} old=${found.loading} route=${route} />
      <button type="button" onClick=${() => setTurn(turn + 1)}>Ask again</button>`}
  </section>`;
}

function Answer({ found, old, route }) {
  const { memories, confidence, time_range: range } = found;
  const most = Math.max(...memories.flatMap((memory) => Object.values(memory.parts).map(Math.abs)), 1e-9);
  return html`<p class="soft" role="status">${counted(memories.length, "memory", "memories")},
      ${" "}${counted(found.tokens, "token")}${confidence === null ? "" :
        `, an answer is there with a probability of ${(100 * confidence).toFixed(0)} %`}
      ${range ? `, the question names ${moment(range[0])} to ${moment(range[1])}` : ""}</p>
    ${!memories.length && html`<${Empty} title="Nothing was found."><p>The agent holds nothing that bears on it in this cut.</p><//>`}
    <div class="answer"><ol class=${old ? "results old" : "results"}>${memories.map((memory, place) => html`<li key=${memory.id}>
      <${MemoryLink} memory=${memory} route=${route}>
        <span class="text"><span class="place" aria-hidden="true">${place + 1}</span>${memory.text}</span>
        <${Marks} memory=${memory} /><//>
      <p class="score">score <strong>${memory.score.toFixed(3)}</strong></p>
      <${Why} memory=${memory} most=${most} />
    </li>`)}</ol>
    <${Stages} trace=${found.trace} /></div>`;
}
