// What needs a server with a model: its address is given.

import assert from "node:assert/strict";
import { test } from "node:test";

import { connect, record } from "../src/index.js";

test("turns of a talk are retained, recalled, and the recall is sent back", async () => {
  const store = await connect(process.env.RECOLLEX_ADDRESS);
  const alice = await store.agent("alice");
  const turns = [
    { speaker: "Bob", text: "How is the new job?", at: new Date(Date.UTC(2024, 4, 4)) },
    { role: "assistant", content: "Busy! Carol runs the maps team." },
  ];
  const ids = await alice.retainDialogue(turns, {
    document_id: "call",
    policy: record("WritePolicy", { keep: 1, salience_cap: 0 }),
  });
  const recall = await alice.sessions.recall("Who runs the maps team?", { document_id: "call" });
  assert.deepEqual([ids, recall.ids], [[null, null], []]); // the policy kept neither turn
  const options = { document_id: "call", because: "abstention" };
  assert.ok(Array.isArray(await alice.sessions.backfill(recall, options)));
  assert.ok((await alice.sessions.working("call")).length > 0);
  store.close();
});
