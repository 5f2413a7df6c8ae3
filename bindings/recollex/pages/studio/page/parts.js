// Small parts that every view uses: notices, a memory in a list, bars.

import { html } from "/studio/html.js";
import { address } from "/studio/route.js";
import { cutInWords } from "/studio/clocks.js";
import { moment } from "/studio/words.js";

/** What to do about a refusal, in a word more than the server says. */
const HINTS = {
  401: "Give a token that the server knows.",
  403: "The token does not reach this agent.",
  404: "It may have been forgotten, or not be known yet at the time that the clock shows.",
};

export function Failure({ error, again }) {
  const vector = /gives its vectors|needs a vector/.test(error.message);
  const hint = vector ? 'Words in "double quotes" are found as they are, without a vector.'
    : HINTS[error.status];
  return html`<div class="notice wrong" role="alert">
    <p><strong>${error.title}</strong> ${error.message}</p>
    ${hint && html`<p>${hint}</p>`}
    ${again && html`<button type="button" onClick=${again}>Try again</button>`}
  </div>`;
}

export const Empty = ({ title, children }) =>
  html`<div class="notice empty"><p><strong>${title}</strong></p>${children}</div>`;

/** What a read shows while it has no data: an error, or that it loads. */
export const Waiting = ({ of, what }) => of.error
  ? html`<${Failure} error=${of.error} again=${of.again} />`
  : html`<p class="soft" role="status">Loading ${what} \u2026</p>`;

/** Says that a view shows the state of now, while the clocks show a cut. */
export function OfNow({ route }) {
  const cut = cutInWords(route);
  return cut && html`<div class="notice" role="status"><p><strong>This is the state of now.</strong>
    ${" "}The clocks show the agent ${cut}, and change nothing in this view.</p></div>`;
}

export const Chip = ({ kind = "", children }) => html`<span class=${`chip ${kind}`}>${children}</span>`;

/** The fields of a memory that say what it is, on one line. */
export const Marks = ({ memory }) => html`<span class="marks">
  <time datetime=${memory.event_at}>${moment(memory.event_at)}</time>
  ${memory.speaker && html`<span>${memory.speaker}${memory.role ? ` (${memory.role})` : ""}</span>`}
  ${memory.network !== "world" && html`<${Chip}>${memory.network}<//>`}
  ${memory.trust && html`<${Chip} kind=${`trust-${memory.trust}`}>
    ${memory.source === memory.trust ? memory.trust : `${memory.source}, trusted as ${memory.trust}`}<//>`}
  ${memory.tags.slice(0, 4).map((tag) => html`<${Chip}>#${tag}<//>`)}
  ${memory.closed && html`<${Chip} kind="closed">${memory.closed.how}<//>`}
</span>`;

/** A link that opens the card of a memory. */
export const MemoryLink = ({ memory, route, children, ...rest }) => html`<a
  class="memory" href=${address(route, { memory: memory.id })} data-id=${memory.id}
  aria-current=${route.memory === memory.id ? "true" : null} ...${rest}>
  ${children ?? html`<span class="text">${memory.text}</span><${Marks} memory=${memory} />`}
</a>`;

/** A list of labelled bars. rows: [name, size, text]; negative sizes are drawn as such. */
export function Bars({ rows, label, most }) {
  const top = most ?? Math.max(...rows.map(([, size]) => Math.abs(size)), Number.MIN_VALUE);
  return html`<ul class="bars" aria-label=${label}>${rows.map(([name, size, text]) => html`
    <li key=${name}>
      <span class="name">${name}</span>
      <span class="track" aria-hidden="true"><span class=${size < 0 ? "bar less" : "bar"}
        style=${{ width: `${(100 * Math.min(1, Math.abs(size) / top)).toFixed(2)}%` }}></span></span>
      <span class="value">${text}</span>
    </li>`)}</ul>`;
}
