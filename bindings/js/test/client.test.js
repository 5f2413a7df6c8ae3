import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  CancelledError,
  connect,
  Duration,
  InputError,
  kindOf,
  Moment,
  ReadOnlyError,
  RecollexError,
  record,
  UnknownIdError,
} from "../src/index.js";
import { embedding, TestServer } from "./server.js";

const server = new TestServer();
let store;
before(async () => {
  await server.start();
  store = await connect(server.address);
});
after(async () => {
  store?.close();
  await server.remove();
});

const day = (number) => new Date(Date.UTC(2024, 4, number, 12));

test("a memory comes back with its fields and its times", async () => {
  const alice = await store.agent("alice");
  const id = await alice.retain("Ann likes tea.", {
    event_at: new Moment(1714816800123456n),
    tags: ["drink"],
    metadata: { cups: 2, deep: { list: [1, null] } },
    source: "web",
    embedding,
  });
  const memory = await alice.get(id);
  assert.equal(kindOf(memory), "Memory");
  assert.equal(memory.text, "Ann likes tea.");
  assert.ok(memory.event_at instanceof Date);
  assert.equal(memory.event_at.micros, 1714816800123456n);
  assert.equal(memory.event_at.toISOString(), "2024-05-04T10:00:00.123456Z");
  assert.deepEqual(memory.metadata, { cups: 2, deep: { list: [1, null] } });
  assert.deepEqual([memory.tags, memory.trust], [["drink"], "web"]);
});

test("a recall has the memories that get and list have", async () => {
  const bob = await store.agent("bob");
  await bob.retainMany(["Ann went to Oslo \u{1F6A2} by boat.", "Ben stayed in Caf\u00e9 Lisbon."], {
    id: ["one", "two"],
    event_at: [day(1), day(2)],
    entities: [["Ann"], []],
    context: ["call", null],
    valid_until: [day(20), null],
    embedding: [[...embedding], [...embedding]],
  });
  await bob.correct("two", "Ben stayed in Lisbon\nfor a week.", { by: "ben", why: "so", embedding });
  const recall = await bob.recall("Who stayed in Lisbon?", { query_embedding: embedding });
  assert.deepEqual(new Set(recall.ids), new Set(["one", "two"]));
  assert.equal(recall.length, 2);
  for (const memory of recall) {
    const held = await bob.get(memory.id);
    const own = { score: 0, tokens: 0, ranks: {}, passage: "", parts: {}, scores: {} };
    const whole = { passages: [], collapsed: [], repeated_at: [] };
    assert.deepEqual({ ...memory, ...own, ...whole }, { ...held, ...own, ...whole });
    assert.ok(Object.values(memory.ranks).every((rank) => rank >= 1));
  }
  const [two] = recall.memories.filter((memory) => memory.id === "two");
  assert.equal(two.replaces.text, "Ben stayed in Caf\u00e9 Lisbon.");
  assert.deepEqual([two.replaces.closed.by, two.replaces.closed.how], ["ben", "corrected"]);
  assert.match(recall.toPrompt(), /^\[May 01, 2024\] Ann went to Oslo \u{1F6A2} by boat\.$/mu);
  assert.match(recall.toPrompt(), /^\[May 02, 2024\] Ben stayed in Lisbon\n {4}for a week\.$/m);
  assert.equal(recall.toPrompt({ min_confidence: 1 }), "");
  const [many] = await bob.recallMany(["Lisbon?"], { query_embedding: [[...embedding]] });
  assert.deepEqual(new Set(many.ids), new Set(recall.ids));
});

test("the past is asked by the exact time of an answer", async () => {
  const carl = await store.agent("carl");
  await carl.retain("Carol runs it.", { id: "lead", embedding });
  const then = (await carl.get("lead")).recorded_at;
  await carl.correct("lead", "Dana runs it.", { embedding });
  assert.equal((await carl.get("lead")).text, "Dana runs it.");
  assert.equal((await carl.at(then).get("lead")).text, "Carol runs it.");
  await assert.rejects(carl.at(then).retain("No."), ReadOnlyError);
});

test("facts, literals and records are sent and received", async () => {
  const dora = await store.agent("dora");
  await dora.facts.add("Ann", "lives in", "Oslo", { valid: [day(1), null], id: "home" });
  await dora.facts.add("Ann", "likes", record("Text", { value: "tea" }), { confidence: 1 });
  const facts = await dora.facts.find({ subject: "Ann" });
  assert.deepEqual(facts.facts.map((fact) => fact.object).sort(), ["Oslo", "tea"].sort());
  assert.equal((await dora.facts.get("home")).valid[0].micros, BigInt(day(1)) * 1000n);
  const done = await dora.transact(
    [record("UpsertEdge", { subject: "Ben", predicate: "met", object: "Ann" })],
    [{ by: "js" }],
  );
  assert.equal(done, 1);
  const [entity] = (await dora.facts.entities()).filter((each) => each.name === "Ben");
  assert.equal(kindOf(entity), "Entity");
  const rules = [record("Retention", { network: "world", keep: new Duration({ days: 30 }) })];
  await assert.rejects(dora.setRetention(rules), RecollexError); // `keep` is no field of it
});

test("an error has its class and its fields", async () => {
  const alice = await store.agent("alice");
  const error = await alice.get("none").catch((raised) => raised);
  assert.ok(error instanceof UnknownIdError && error instanceof InputError);
  assert.deepEqual([error.name, error.kind, error.id, error.agent], [
    "UnknownIdError", "memory", "none", "alice",
  ]);
  assert.equal(await alice.get("none", null), null);
  await assert.rejects(alice.recall("tea", { limt: 3 }), /recall takes .* got limt/s);
  await assert.rejects(alice.recall("tea", "oslo", {}), /recall takes query and an object/);
  await assert.rejects(alice.retain("x", { metadata: { f: Symbol("x") } }), InputError);
  await assert.rejects(alice.retain("x", { event_at: new Date(NaN) }), /a date must be valid/);
  await assert.rejects(store.agent(""), InputError);
});

test("a long list comes in chunks, and can be iterated as it comes", async () => {
  const fred = await store.agent("fred");
  const count = 2_500;
  const texts = Array.from({ length: count }, (_, place) => `Note ${place}.`);
  await fred.retainMany(texts, { embedding: texts.map(() => [...embedding]) });
  const all = await fred.list({ limit: count });
  assert.deepEqual(all.map((memory) => memory.text), texts);
  const seen = [];
  for await (const memory of fred.list({ limit: count })) {
    seen.push(memory.text);
    if (seen.length === 1_200) break;
  }
  assert.deepEqual(seen, texts.slice(0, 1_200));
  await fred.facts.add("Ann", "met", "Ben");
  for await (const fact of fred.facts.find()) assert.equal(fact.subject, "Ann");
  await assert.rejects(async () => {
    for await (const _ of fred.list({ limit: -1 })) assert.fail();
  }, InputError);
  assert.equal(await fred.count(), count);
});

test("many calls at once share a few connections", async () => {
  const alice = await store.agent("alice");
  const found = await Promise.all(
    Array.from({ length: 300 }, (_, place) => alice.get(`gone ${place}`, `no ${place}`)),
  );
  assert.deepEqual(found, Array.from({ length: 300 }, (_, place) => `no ${place}`));
});

test("the store lists, joins and deletes agents", async () => {
  for (const name of ["x", "y"]) await (await store.agent(name)).retain(`Of ${name}.`, { embedding });
  const ids = await store.agents();
  assert.ok(["x", "y"].every((name) => ids.includes(name)));
  const [summary] = (await store.agents({ counts: true })).filter((each) => each.id === "x");
  assert.equal(summary.memories, 1);
  const joint = await store.recall("Of whom?", { agents: ["x", "y"], query_embedding: embedding });
  assert.deepEqual(joint.memories.map((memory) => memory.agent).sort(), ["x", "y"]);
  assert.match(joint.toPrompt(), /Of x\./);
  await store.deleteAgent("x");
  assert.ok(!(await store.agents()).includes("x"));
  await store.ping();
  assert.match(await store.metrics(), /recollex/);
});

test("a call ends at its signal", async () => {
  const alice = await store.agent("alice");
  await assert.rejects(alice.abortedBy(AbortSignal.abort()).list(), CancelledError);
  const controller = new AbortController();
  const waiting = alice.abortedBy(controller.signal).recall("tea", { query_embedding: embedding });
  controller.abort();
  await assert.rejects(waiting, CancelledError);
  assert.throws(() => alice.within(0), /seconds must be a number above 0/);
});

test("arguments of connect are checked", async () => {
  const wrong = [
    ["tcp://localhost", {}, /cannot be read/],
    ["unix://memory.sock", {}, /whole path/],
    [7, {}, /must be a string/],
    [server.address, { connections: 0 }, /connections must be/],
    [server.address, { token: "" }, /token must be/],
    [server.address, { patience: -1 }, /patience must be/],
  ];
  for (const [address, options, said] of wrong) {
    await assert.rejects(connect(address, options), said);
  }
});
