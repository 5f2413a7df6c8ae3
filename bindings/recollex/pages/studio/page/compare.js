// Two cuts side by side: what only one of them shows, and how each answers a question.

import { html, useEffect } from "/studio/html.js";
import { ofAgent, read, useRead } from "/studio/api.js";
import { address, clocksOf } from "/studio/route.js";
import { Clocks, cutInWords } from "/studio/clocks.js";
import { Empty, Failure, MemoryLink, Waiting } from "/studio/parts.js";
import { Ask, recall } from "/studio/recall.js";
import { counted, moment, wordDifference } from "/studio/words.js";

const PAGE = 50;

/** Which of two recorded times is the later; null is now. */
const isLater = (one, other) => other !== null && (one === null || Date.parse(one) > Date.parse(other));

/** Ask for the difference from the first cut to the second, whichever is earlier. */
async function compared(route, limit, signal) {
  const [one, other] = [clocksOf(route, "2"), clocksOf(route)];
  const turned = isLater(one.as_recorded, other.as_recorded);
  const [first, second] = turned ? [other, one] : [one, other];
  const found = await read(ofAgent(route.agent, "/compare"), { query: {
    earlier: first.as_recorded, later: second.as_recorded,
    earlier_world: first.as_world, later_world: second.as_world, limit,
  }, signal });
  const side = (name) => ({
    count: found.counts[name], memories: found[name],
    facts: found[`${name}_facts`], factCount: found.counts[`${name}_facts`],
    events: found[`${name}_events`], eventCount: found.counts[`${name}_events`],
  });
  return turned ? { left: side("added"), right: side("closed") }
    : { left: side("closed"), right: side("added") };
}

const Words = ({ words }) => words.map(([word, own]) => own ? html`<mark>${word}</mark>` : word);

function Side({ title, cut, side, other, route }) {
  const others = new Map(other.memories.map((memory) => [memory.id, memory]));
  const rows = [...side.memories].sort((a, b) => others.has(b.id) - others.has(a.id));
  const factual = [
    ...side.facts.map((fact) => [fact.id, "fact", `${fact.subject} ${fact.predicate} ${
      typeof fact.object === "string" ? fact.object : JSON.stringify(fact.object)}`]),
    ...side.events.map((event) => [event.id, "event", event.summary]),
  ];
  return html`<section class="side" aria-label=${title}>
    <h3>${title} <span class="soft">${cut}</span></h3>
    <p class="soft">${counted(side.count, "memory", "memories")}, ${counted(side.factCount, "fact")},
      ${" "}${counted(side.eventCount, "event")}</p>
    ${!rows.length && !factual.length && html`<p class="soft">Nothing of its own.</p>`}
    <ol class="memories">${rows.map((memory) => {
      const twin = others.get(memory.id);
      const words = twin && wordDifference(memory.text, twin.text)[0];
      return html`<li key=${memory.id}><${MemoryLink} memory=${memory} route=${route}>
        <span class="text">${words ? html`<${Words} words=${words} />` : memory.text}</span>
        <span class="marks">${twin ? html`<span class="chip changed">changed</span>` : ""}
          ${moment(memory.recorded_at)} ${memory.closed ? memory.closed.how : ""}
          ${memory.closed?.by ? ` by ${memory.closed.by}` : ""}</span><//></li>`;
    })}</ol>
    ${factual.length > 0 && html`<ul class="facts">${factual.map(([id, kind, text]) => html`
      <li key=${id}><span class="chip">${kind}</span> ${text}</li>`)}</ul>`}
  </section>`;
}

function Ranking({ title, found, other, route }) {
  const places = new Map(other?.memories.map((memory, place) => [memory.id, place]) ?? []);
  const move = (memory, place) => {
    if (!other) return "";
    const before = places.get(memory.id);
    if (before === undefined) return "only here";
    return before === place ? "" : `no. ${before + 1} there`;
  };
  return html`<section class="side" aria-label=${`Answer of the ${title}`}>
    <h3>${title}</h3>
    ${found.error && html`<${Failure} error=${found.error} />`}
    ${found.data && !found.data.memories.length && html`<p class="soft">Nothing was found.</p>`}
    <ol class="memories ranked">${(found.data?.memories ?? []).map((memory, place) => html`
      <li key=${memory.id}><${MemoryLink} memory=${memory} route=${route}>
        <span class="text"><span class="place" aria-hidden="true">${place + 1}</span>${memory.text}</span>
        <span class="marks">${move(memory, place) && html`<span class="chip changed">${move(memory, place)}</span>`}
          score ${memory.score.toFixed(3)}</span><//></li>`)}</ol>
  </section>`;
}

export function Compare({ route, go, moments }) {
  const limit = Number(route.page ?? 1) * PAGE;
  const { moments: recorded } = moments.recorded;
  const chosen = route.recorded2 !== undefined || route.world2 !== undefined;
  useEffect(() => {  // at first, the left cut is half the way back
    if (!chosen && recorded.length > 1) go({ recorded2: recorded[recorded.length >> 1] }, true);
  }, [chosen, recorded.length]);
  const key = JSON.stringify([route.agent, clocksOf(route), clocksOf(route, "2")]);
  const found = useRead(recorded.length ? `${key} ${limit}` : null, (signal) => compared(route, limit, signal));
  const asked = route.ask ? `${key} ${route.ask} ${route.preset} ${route.limit}` : null;
  const answers = [
    useRead(asked, (signal) => recall(route, "2", signal)),
    useRead(asked, (signal) => recall(route, "", signal)),
  ];
  const names = [cutInWords(route, "2") || "now", cutInWords(route) || "now"];
  const { left, right } = found.data ?? {};
  const longest = left ? Math.max(left.count, right.count, left.factCount, right.factCount) : 0;
  return html`<section aria-labelledby="compare-title" aria-busy=${found.loading}>
    <div class="heading"><h2 id="compare-title">Compare two cuts</h2>
      <p class="soft">The right cut is where the clocks at the top are. The left cut has its own:</p></div>
    <${Clocks} moments=${moments} route=${route} go=${go} suffix="2" label="Clocks of the left cut" />
    ${found.error && html`<${Failure} error=${found.error} again=${found.again} />`}
    ${!found.data && !found.error && html`<${Waiting} of=${found} what="the difference" />`}
    ${left && html`<div class=${found.loading ? "sides old" : "sides"}>
        <${Side} title="Only in the left cut" cut=${names[0]} side=${left} other=${right} route=${route} />
        <${Side} title="Only in the right cut" cut=${names[1]} side=${right} other=${left} route=${route} />
      </div>
      ${longest > limit && limit < 1000 && html`<button type="button" class="more"
        onClick=${() => go({ page: limit / PAGE + 1 }, true)}>More of each</button>`}
      ${!longest && !left.eventCount && !right.eventCount && html`<${Empty} title="These cuts show the same."><//>`}`}
    <h3 class="apart">Ask both cuts</h3>
    <${Ask} route=${route} go=${go} title="Ask both" />
    ${asked && html`<div class="sides">
      <${Ranking} title="Left cut" found=${answers[0]} other=${answers[1].data} route=${route} />
      <${Ranking} title="Right cut" found=${answers[1]} other=${answers[0].data} route=${route} />
    </div>`}
    <p class="soft"><a href=${address(route, { recorded: route.recorded2 ?? null, world: route.world2 ?? null,
      recorded2: route.recorded ?? null, world2: route.world ?? null })}>Swap the cuts</a></p>
  </section>`;
}
