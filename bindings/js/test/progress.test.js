// What needs a server whose model is slow: its address is given.

import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../src/index.js";

test("a long call tells how far it is", async () => {
  const store = await connect(process.env.RECOLLEX_ADDRESS);
  const alice = await store.agent("alice");
  const texts = Array.from({ length: 210 }, (_, place) => `Ann saw boat number ${place}.`);
  const told = [];
  const begun = Date.now();
  const reporting = alice.reportingTo((done, total) => told.push({ done, total }));
  assert.equal((await reporting.retainMany(texts)).length, 210);
  const most = 2 + (10 * (Date.now() - begun)) / 1000; // ten a second
  assert.ok(told.length >= 3 && told.length <= most, `${told.length} of ${most}`);
  assert.ok(told.every(({ done, total }) => total === 210 && done > 0 && done <= 210));
  assert.ok(told.every(({ done }, place) => place === 0 || done > told[place - 1].done));
  const heard = told.length;
  await reporting.list({ limit: 1 });
  await alice.retainMany(texts);
  assert.equal(told.length, heard); // the one was short, the other one did not ask
  store.close();
});

test("an error of who hears it ends the call alone", async () => {
  const store = await connect(process.env.RECOLLEX_ADDRESS, { connections: 1 });
  const bob = await store.agent("bob");
  const texts = Array.from({ length: 210 }, (_, place) => `Bob saw boat number ${place}.`);
  const failing = bob.reportingTo(() => {
    throw new RangeError("enough");
  });
  const [other, failed] = await Promise.allSettled([
    bob.retainMany(texts.slice(0, 10)),
    failing.retainMany(texts),
  ]);
  assert.equal(other.value.length, 10);
  assert.ok(failed.reason instanceof RangeError);
  assert.throws(() => bob.reportingTo("all"), /takes a function, got string/);
  store.close();
});
