// A few connections to one server, shared by all calls of a process.

import { dial } from "./connection.js";
import { ClosedError } from "./errors.js";

/** Up to `size` connections. A call takes an idle one, else a new one, else the least busy. */
export class Pool {
  #settings;
  #size;
  #lines = [];
  #dialing = new Set();
  #closed = false;

  constructor(settings, size) {
    this.#settings = settings;
    this.#size = size;
  }

  /** Return a connection. ms: how long connecting may take. */
  async take(ms) {
    if (this.#closed) throw new ClosedError("the connection was closed: connect again");
    this.#lines = this.#lines.filter((line) => line.isOpen);
    const best = this.#lines.reduce(
      (least, line) => (least === null || line.pending < least.pending ? line : least),
      null,
    );
    if (best?.pending === 0) return best;
    if (this.#lines.length + this.#dialing.size < this.#size) return this.#dial(ms);
    return best ?? Promise.any(this.#dialing).catch((all) => Promise.reject(all.errors[0]));
  }

  /** Close the connections that carry no call: the server went away. */
  discardIdle() {
    for (const line of this.#lines) if (line.pending === 0) line.close();
  }

  /** Close all connections. */
  close() {
    this.#closed = true;
    for (const line of this.#lines) line.close();
    this.#lines = [];
  }

  async #dial(ms) {
    const dialing = dial(this.#settings, ms);
    this.#dialing.add(dialing);
    try {
      const line = await dialing;
      if (this.#closed) {
        line.close();
        throw new ClosedError("the connection was closed: connect again");
      }
      this.#lines.push(line);
      return line;
    } finally {
      this.#dialing.delete(dialing);
    }
  }
}
