// Compiled and not run: what a user writes has the types that the answers have.

import {
  connect,
  Duration,
  OverloadedError,
  record,
  type Fact,
  type Memory,
  type Moment,
} from "../src/index.js";

const store = await connect("unix:///run/recollex.sock", { timeout: 5 });
const agent = await store.agent("alice");
const id: string = await agent.retain("Tea.", { event_at: new Date(), tags: ["drink"] });
const recall = await agent.within(1).recall("Who?", { max_tokens: 500, since: "2024-05-04" });
const first: Memory | undefined = recall.memories[0];
const at: Moment | undefined = first?.recorded_at;
for await (const fact of agent.facts.find({ subject: "Ann" })) {
  const one: Fact = fact;
  console.log(one.object, one.valid[0]?.micros);
}
await agent.facts.add("Ann", "likes", record("Text", { value: "tea" }), { evidence: [id] });
await agent.reportingTo((done, total) => console.log(done / (total ?? 1))).verify();
await agent.forget({ tags: ["drink"] });
await agent.erase(id, { by: "ann", why: "asked" });
await agent.setRetention([record("Retention", { keep: new Duration({ days: 30 }) } as never)]);
const joint = await store.recall("Who?", { agents: ["alice", "bob"], limit: 3 });
console.log(joint.memories.map((memory) => memory.agent), at && agent.at(at));
const error: unknown = new Error();
if (error instanceof OverloadedError) console.log(error.retry_after + 1);
// @ts-expect-error: retain takes one text
await agent.retain(["a", "b"]);
// @ts-expect-error: there is no such argument
await agent.recall("Who?", { max_token: 500 });
