// The agents of the store, with how much each holds.

import { html, useState } from "/studio/html.js";
import { read, useRead } from "/studio/api.js";
import { address } from "/studio/route.js";
import { Empty, Waiting } from "/studio/parts.js";
import { bytes, counted, moment, number } from "/studio/words.js";

const PAGE = 100;

export function Agents({ route }) {
  const [pages, setPages] = useState(1);
  const found = useRead(`agents ${pages}`, (signal) =>
    read("/summaries", { query: { limit: Math.min(1000, PAGE * pages) }, signal }));
  if (!found.data) return html`<${Waiting} of=${found} what="the agents" />`;
  const { agents, count } = found.data;
  if (!count) {
    return html`<${Empty} title="This store holds no agent yet.">
      <p>An agent begins with its first memory:</p>
      <pre>recollex retain STORE "Alice joined Google." --agent alice</pre>
      <button type="button" onClick=${found.again}>Look again</button>
    <//>`;
  }
  return html`<section aria-labelledby="agents-title">
    <div class="heading"><h2 id="agents-title">${counted(count, "agent")}</h2>
      <p class="soft">As of now: the clocks are in the views of one agent.</p></div>
    <div class="scroll"><table class="agents">
      <thead><tr><th scope="col">agent</th><th scope="col" class="right">memories</th>
        <th scope="col" class="right">operations</th><th scope="col">last written</th>
        <th scope="col" class="right">on disk</th></tr></thead>
      <tbody>${agents.map((agent) => html`<tr key=${agent.id}>
        <th scope="row"><a href=${address({ ...route, agent: agent.id, view: "memories" }, {})}>
          ${agent.id}</a></th>
        <td class="right">${number(agent.memories)}</td>
        <td class="right">${number(agent.operations)}</td>
        <td>${moment(agent.written_at)}</td>
        <td class="right">${bytes(agent.bytes_on_disk)}</td>
      </tr>`)}</tbody>
    </table></div>
    ${agents.length < count && pages < 10 && html`<button type="button"
      onClick=${() => setPages(pages + 1)}>More agents</button>`}
  </section>`;
}
