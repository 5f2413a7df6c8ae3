// What needs a server that speaks TLS: its address, its certificate and a token are given.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { connect, DisconnectedError } from "../src/index.js";

const { RECOLLEX_ADDRESS: address, RECOLLEX_TOKEN: token } = process.env;
const certificates = readFileSync(process.env.RECOLLEX_CERTIFICATE, "utf8");

test("TLS is spoken with a server whose certificate is trusted", async () => {
  const store = await connect(address, { token, certificates });
  const alice = await store.agent("alice");
  const texts = Array.from({ length: 1500 }, (_, place) => `Note ${place}.`);
  const ids = await alice.retainMany(texts);
  assert.deepEqual((await alice.list({ limit: 1500 })).map((each) => each.id), ids);
  store.close();
});

test("another certificate, and one of another name, are refused", async () => {
  const untrusted = (error) =>
    error instanceof DisconnectedError && /is not trusted \(.+\): give certificates/.test(error);
  await assert.rejects(connect(address, { token }), untrusted);
  const byNumber = address.replace("localhost", "127.0.0.1");
  await assert.rejects(connect(byNumber, { token, certificates }), untrusted);
});
