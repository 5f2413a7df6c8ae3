import assert from "node:assert/strict";
import net from "node:net";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { connect, DeadlineError, DisconnectedError, ForbiddenError, UnauthorizedError } from "../src/index.js";
import { isIdempotent } from "../src/calls.js";
import { embedding, TestServer } from "./server.js";

const [READER, WRITER] = ["r".repeat(32), "w".repeat(32)];
const server = new TestServer();
before(async () => {
  const tokens = `${server.folder}/tokens.toml`;
  const written = Object.entries({ read: READER, write: WRITER }).map(
    ([scope, secret]) =>
      `[[token]]\nname = "${scope}"\nsecret = "${secret}"\nagents = ["alice"]\nscope = "${scope}"\n`,
  );
  writeFileSync(tokens, written.join(""), { mode: 0o600 });
  server.options = ["--listen", "127.0.0.1:0", "--tokens", tokens];
  await server.start();
});
after(() => server.remove());

test("a token is needed over TCP, and says what is allowed", async () => {
  const [address] = server.listening.filter((each) => each.startsWith("tcp:"));
  const store = await connect(address, { token: READER });
  const alice = await store.agent("alice");
  assert.equal(await alice.count(), 0);
  await assert.rejects(alice.retain("No.", { embedding }), ForbiddenError);
  await assert.rejects(store.agent("bob"), ForbiddenError);
  store.close();
  await assert.rejects(connect(address), UnauthorizedError);
});

test("calls wait for a server that is started anew, and a write is stored once", async () => {
  const store = await connect(server.address, { token: WRITER, patience: 60 });
  const hasty = await connect(server.address, { patience: 0.2, token: WRITER });
  const alice = await store.agent("alice");
  const other = await hasty.agent("alice");
  await server.stop("SIGKILL");
  await assert.rejects(other.list(), DisconnectedError);
  await assert.rejects(connect(server.address), /no server answers at/);
  const writes = Promise.all(
    Array.from({ length: 20 }, (_, place) =>
      alice.within(60).retain(`Note ${place}.`, { embedding }),
    ),
  );
  await server.start();
  const ids = await writes;
  assert.equal(new Set(ids).size, 20);
  assert.equal(await other.count(), 20);
  for (const each of [store, hasty]) each.close();
  await assert.rejects(alice.list(), /was closed: connect again/);
});

test("a write that may have been done is not sent to another server", async () => {
  const answers = [];
  let connected = 0;
  const front = net.createServer((socket) => {
    connected += 1;
    const back = net.connect(`${server.folder}/socket`);
    answers.push(back);
    socket.on("error", () => {}).pipe(back);
    back.on("error", () => {}).pipe(socket);
    socket.on("close", () => back.destroy());
    back.on("close", () => socket.destroy());
  });
  await new Promise((resolve) => front.listen(0, "127.0.0.1", resolve));
  const address = `tcp://127.0.0.1:${front.address().port}`;
  const store = await connect(address, { connections: 1, patience: 60, token: WRITER });
  const alice = await store.agent("alice");
  const [first, second] = await alice.list({ limit: 2 });
  assert.equal(connected, 1);
  // No answer comes: a timeout ends the call, and the next one is answered.
  answers[0].unpipe();
  const error = await alice.within(0.2).list().catch((raised) => raised);
  assert.ok(error instanceof DeadlineError && error.begun);
  // The answer is lost, the server is the same: its key tells the server that it was done.
  const lost = alice.forget(first.id);
  await new Promise((resolve) => setTimeout(resolve, 300));
  answers[0].destroy();
  assert.equal(await lost, 1);
  assert.equal(connected, 2);
  // The answer is lost, and the server is another one: nobody can know.
  answers[1].unpipe();
  const unknown = assert.rejects(
    alice.forget(second.id),
    /cannot know whether it had done it/,
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  await server.stop("SIGKILL");
  await server.start();
  answers[1].destroy();
  await unknown;
  store.close();
  front.close();
});

test("what listens there must be a recollex server", async () => {
  const other = net.createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const error = await connect(`tcp://127.0.0.1:${other.address().port}`).catch((raised) => raised);
  assert.match(error.name, /ProtocolError|DisconnectedError/);
  other.close();
});

test("which writes may be executed twice", () => {
  assert.ok(isIdempotent("retain", { text: "a" }));
  assert.ok(!isIdempotent("retain", { text: "a", recorded_at: new Date() }));
  assert.ok(!isIdempotent("forget", { id: "a" }));
  assert.ok(isIdempotent("recall", { query: "a" }));
  assert.ok(isIdempotent("apply", { operations: [{ op: "UPSERT_EDGE" }] }));
  assert.ok(!isIdempotent("apply", { operations: [{ op: "UPSERT_EDGE" }, { op: "FORGET" }] }));
});
