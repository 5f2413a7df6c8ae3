// How is a call carried out? Over a connection of the pool, sent again if that is safe.

import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { aborted, late, LostError } from "./connection.js";
import { kindOf } from "./codec.js";
import { DeadlineError, DisconnectedError, OverloadedError, ReadOnlyError } from "./errors.js";
import { IDEMPOTENT_OPERATIONS, METHODS } from "./methods.js";

const CHUNK_ITEMS = 1_000;
const FIRST_PAUSE_MS = 10; // before the first reconnection; each later one is twice as long
const LONGEST_PAUSE_MS = 1_000;

/**
 * The calls of one agent object, or of the store.
 *
 * at: the recorded time that calls read at. seconds: of a call, retries included. signal: aborts.
 * onProgress: takes how much of a long call is done.
 */
export class Caller {
  #pool;
  #patience;

  constructor(pool, patience) {
    this.#pool = pool;
    this.#patience = patience * 1000;
  }

  /** Return the result of a call, or throw its error. onPart: see Connection.exchange. */
  async do(method, agent, named, { at, seconds, signal, onProgress } = {}, onPart = undefined) {
    const row = METHODS[method];
    if (at !== undefined && row.scope === "write") {
      throw new ReadOnlyError(
        `this is agent ${agent} as of ${at.toISOString()}, and the past cannot be changed: ` +
          "write to the agent itself",
      );
    }
    const prepared = prepare(method, named);
    const options = {};
    if (at !== undefined) options.at = at;
    if (row.scope === "write") options.key = randomBytes(16).toString("hex");
    else if (row.chunks) options.parts = CHUNK_ITEMS;
    const end = seconds === undefined ? undefined : Date.now() + seconds * 1000;
    const params = (more) =>
      end === undefined
        ? [agent, prepared, { ...options, ...more }]
        : [agent, prepared, { ...options, ...more, deadline_ms: Math.max(1, end - Date.now()) }];
    let heard = false;
    const call = { method, params, end, signal, onProgress };
    if (onPart !== undefined) {
      call.onPart = (items) => {
        heard = true;
        onPart(items);
      };
    }
    const retries = new Retries(method, isIdempotent(method, prepared), end, this.#patience);
    for (;;) {
      if (signal?.aborted) throw aborted(method, signal);
      let line = null;
      let pause;
      try {
        line = await this.#pool.take(end === undefined ? undefined : retries.left());
        retries.check(line.instance);
        const result = await line.exchange(call);
        return row.pairs ? result.map((each) => [...each]) : result;
      } catch (error) {
        if (line !== null && error instanceof LostError) {
          if (heard) throw new DisconnectedError(`the server went away (${error.message})`);
          pause = retries.afterLoss(error, line.instance);
          this.#pool.discardIdle();
        } else if (
          error instanceof OverloadedError ||
          (line === null && error instanceof DisconnectedError)
        ) {
          pause = retries.afterFailure(error);
        } else throw error;
      }
      await sleep(pause, undefined, { signal }).catch(() => {}); // aborted: it is thrown above
    }
  }

  close() {
    this.#pool.close();
  }
}

/** When may a call be sent again, and after which pause? As `recollex/remote/client/calls.py` says. */
class Retries {
  #pause = FIRST_PAUSE_MS;
  #sentTo = null;
  #firstFailure = null;

  constructor(method, idempotent, end, patience) {
    Object.assign(this, { method, idempotent, end, patience });
  }

  /** Return the ms until the end of the call. Throws DeadlineError after it. */
  left() {
    const left = this.end - Date.now();
    if (left <= 0) throw new DeadlineError(late(this.method, false), { begun: false });
    return left;
  }

  /** Throw DisconnectedError if the call must not be sent to this server. */
  check(instance) {
    if (this.#sentTo !== null && !this.idempotent && instance !== this.#sentTo) {
      throw new DisconnectedError(
        `the server was started anew while ${this.method} was under way, and cannot know ` +
          "whether it had done it: look, and call again if it had not",
      );
    }
  }

  afterLoss(lost, instance) {
    if (lost.sent) this.#sentTo = instance;
    const doubt = lost.sent && !this.idempotent ? `; ${this.method} may have been done` : "";
    return this.#next(new DisconnectedError(`the server went away (${lost.message})${doubt}`));
  }

  afterFailure(error) {
    return this.#next(error, (error.retry_after ?? 0) * 1000);
  }

  #next(error, least = 0) {
    const now = Date.now();
    this.#firstFailure ??= now;
    const pause = Math.max(least, this.#pause * (0.5 + Math.random() / 2));
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE_MS);
    const end = Math.min(this.#firstFailure + this.patience, this.end ?? Infinity);
    if (now + pause > end) throw error;
    return pause;
  }
}

/** Return the arguments with an id for each memory without one: then it is stored only once. */
function prepare(method, named) {
  if (method === "retain" && typeof named.text === "string") {
    return { ...named, id: named.id ?? randomUUID() };
  }
  if (method === "retain_many" && Array.isArray(named.texts)) {
    if (typeof named.id === "string") return named;
    const ids = named.id ?? named.texts.map(() => null);
    return { ...named, id: Array.isArray(ids) ? ids.map((id) => id ?? randomUUID()) : ids };
  }
  if (method === "retain_dialogue" && Array.isArray(named.turns) && !named.replace) {
    const turns = named.turns.map((turn) =>
      turn === null || typeof turn !== "object" ? turn : { ...turn, id: turn.id ?? randomUUID() },
    );
    return { ...named, turns };
  }
  return named;
}

/** Return whether a call may be executed twice: reads, and writes whose ids were made before. */
export function isIdempotent(method, named) {
  const row = METHODS[method];
  if (row.scope === "read") return true;
  const operations = named.operations ?? [];
  return (
    row.idempotent &&
    (named.recorded_at ?? null) === null &&
    Array.isArray(operations) &&
    operations.every((each) =>
      kindOf(each) === undefined
        ? IDEMPOTENT_OPERATIONS.words.includes(each?.op)
        : IDEMPOTENT_OPERATIONS.kinds.includes(kindOf(each)),
    )
  );
}
