// One connection to a server: many calls at once, each found again by its id.

import net from "node:net";
import tls from "node:tls";
import { randomBytes } from "node:crypto";

import { packed, unpacked } from "./codec.js";
import {
  CancelledError,
  ClosedError,
  DeadlineError,
  DisconnectedError,
  InputError,
  OverloadedError,
  ProtocolError,
  RecollexError,
} from "./errors.js";
import { errorOf } from "./error_of.js";

const PROTOCOL = 1;
const REQUEST = 0;
const RESPONSE = 1;
const NOTIFICATION = 2;
const MOST_ID = 2 ** 32 - 1;
const GRACE_MS = 100; // after a deadline, in which the server may still answer
const GREETING_MS = 10_000;

/** A connection broke during a call. sent: whether the server may have read all of the call. */
export class LostError extends Error {
  constructor(reason, sent) {
    super(reason);
    this.sent = sent;
  }
}

export class Connection {
  #socket;
  #waiting = new Map();
  #last = -1;
  #most = Infinity;
  #closing = null;
  #tellsProgress = false;
  instance = "";
  isOpen = true;

  constructor(socket) {
    this.#socket = socket;
    this.#read();
  }

  /** How many calls wait for their answer. */
  get pending() {
    return this.#waiting.size;
  }

  /** Say hello, the first call of a connection. */
  async greet(token, version, ms) {
    const named = { protocol: PROTOCOL, client: `recollex-js/${version}` };
    if (token !== undefined) named.token = token;
    let welcome;
    try {
      const call = { method: "hello", params: () => [null, named, {}], end: Date.now() + ms };
      welcome = await this.exchange(call);
    } catch (error) {
      if (error instanceof LostError || error instanceof DeadlineError) {
        throw new DisconnectedError(`what listens there is no recollex server: ${error.message}`);
      }
      throw error;
    }
    if (welcome?.protocol !== PROTOCOL) {
      throw new ProtocolError(`the server does not speak version ${PROTOCOL} of the protocol`);
    }
    this.#most = welcome.limits?.message_bytes ?? Infinity;
    this.#tellsProgress = welcome.capabilities?.includes("progress") ?? false;
    this.instance = welcome.instance ?? randomBytes(8).toString("hex");
    return this;
  }

  /**
   * Send a call, and return its result.
   *
   * call: { method, params(more), end, signal, onPart, onProgress }. more: options to add. end: of
   * its time, in ms of Date.now(). onPart: takes each chunk of a list as it comes, and the result has
   * none of them then. onProgress: takes how much is done, and of how much; an error that it throws
   * ends the call. Throws LostError if the connection breaks, and the error that the server answers.
   */
  exchange(call) {
    if (!this.isOpen) return Promise.reject(new LostError("the server hung up", false));
    const { method, end, signal, onPart, onProgress } = call;
    if (signal?.aborted) return Promise.reject(aborted(method, signal));
    this.#last = this.#last === MOST_ID ? 0 : this.#last + 1;
    const id = this.#last;
    let message;
    try {
      const more = onProgress !== undefined && this.#tellsProgress ? { progress: true } : {};
      message = packed([REQUEST, id, method, call.params(more)]);
      if (message.byteLength > this.#most) {
        throw new InputError(
          `${method} takes ${message.byteLength} bytes here, and the server reads up to ` +
            `${this.#most}: do it in parts`,
        );
      }
    } catch (error) {
      return Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      const stop = (error) => {
        if (!this.#waiting.has(id)) return;
        this.#finish(id);
        this.#notify("cancel", [id]);
        reject(error);
      };
      const abort = () => stop(aborted(method, signal));
      const ms = end === undefined ? null : Math.max(0, end - Date.now()) + GRACE_MS;
      const timer =
        ms === null || ms > 2 ** 31 - 1
          ? null
          : setTimeout(() => stop(new DeadlineError(late(method, true), { begun: true })), ms);
      signal?.addEventListener("abort", abort, { once: true });
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      this.#waiting.set(id, { resolve, reject, done, stop, onPart, onProgress, parts: null });
      this.#socket.write(message);
    });
  }

  /** Close the connection; calls that wait are lost. */
  close() {
    this.isOpen = false;
    this.#socket.end();
    this.#socket.destroySoon();
  }

  #notify(name, parameters) {
    if (this.isOpen) this.#socket.write(packed([NOTIFICATION, name, parameters]));
  }

  #finish(id) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.done();
    return waiting;
  }

  async #read() {
    let broken = null;
    try {
      for await (const message of unpacked(this.#socket)) this.#take(message);
    } catch (error) {
      if (error instanceof RecollexError) broken = error;
      else if (error.code === undefined) {
        broken = new ProtocolError(`the server said what is no message: ${error.message}`);
      } else broken = new LostError(error.message, true);
    }
    this.isOpen = false;
    this.#socket.destroy();
    for (const id of [...this.#waiting.keys()]) {
      this.#finish(id).reject(broken ?? this.#hungUp());
    }
  }

  #hungUp() {
    if (this.#closing === null || this.#closing instanceof OverloadedError) {
      return new LostError(this.#closing?.message ?? "the server hung up", true);
    }
    return this.#closing;
  }

  #take(message) {
    if (!Array.isArray(message)) throw new ProtocolError("a message is an array");
    if (message[0] === NOTIFICATION) {
      const [, name, parameters] = message;
      if (name === "part") this.#part(parameters[0], parameters[1]);
      else if (name === "progress") this.#progress(...parameters);
      else if (name === "closing") {
        this.#closing = errorOf(parameters);
        this.isOpen = false; // earlier calls are still answered
      }
      return;
    }
    if (message[0] !== RESPONSE) throw new ProtocolError(`a server sends no ${message[0]}`);
    const [, id, error, result] = message;
    const waiting = this.#finish(id);
    if (waiting === undefined) return; // it was cancelled
    if (error === null) waiting.resolve(joined(waiting.parts, result));
    else waiting.reject(refused(errorOf(error)));
  }

  #part(id, items) {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    if (waiting.onPart !== undefined) waiting.onPart(items);
    else (waiting.parts ??= []).push(items);
  }

  #progress(id, done, total) {
    const waiting = this.#waiting.get(id);
    try {
      waiting?.onProgress?.(done, total);
    } catch (error) {
      waiting.stop(error);
    }
  }
}

/** A server that stops refuses calls that it has not begun; they count as not sent. */
function refused(error) {
  if (error instanceof ClosedError || error instanceof CancelledError) {
    return new LostError(error.message, false);
  }
  return error;
}

/** Return the result whose first items came in chunks before the response. */
function joined(parts, result) {
  if (parts === null) return result;
  const items = parts.flat();
  if (Array.isArray(result)) return items.concat(result);
  result.facts = items.concat(result.facts);
  return result;
}

/** Return the error of a call that its caller aborted. */
export function aborted(method, signal) {
  return new CancelledError(`${method} was cancelled by its caller`, {}, signal.reason);
}

/** Return the message of a DeadlineError. */
export function late(method, begun) {
  return `${method} timed out${begun ? "; a write may have been done" : " before it was sent"}`;
}

/** Return a connection after its hello; throws DisconnectedError if no server answers. */
export async function dial({ address, token, version, certificates }, ms = GREETING_MS) {
  const { tls: secure, ...where } = address;
  const made = secure
    ? tls.connect({ ...where, servername: nameOf(where.host), ca: certificates })
    : net.connect(where);
  try {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("no answer within its time")), ms);
      made.once(secure ? "secureConnect" : "connect", resolve);
      made.once("error", reject);
      made.once(secure ? "secureConnect" : "connect", () => clearTimeout(timer));
      made.once("error", () => clearTimeout(timer));
    });
  } catch (error) {
    made.destroy();
    const place = where.path ?? `${where.host}:${where.port}`;
    if (made.authorizationError) {
      throw new DisconnectedError(
        `the certificate of ${place} is not trusted (${error.message}): give certificates, the ` +
          "text of a file of those that are",
        {},
        error,
      );
    }
    const option = where.path === undefined ? "--listen" : "--socket";
    throw new DisconnectedError(
      `no server answers at ${place} (${error.message}); ` +
        `recollex serve --store DIR ${option} ${place} starts one`,
      {},
      error,
    );
  }
  made.setNoDelay?.(true);
  const connection = new Connection(made);
  try {
    return await connection.greet(token, version, ms);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Return the server name that TLS sends: it must be none for an IP address (RFC 6066). */
function nameOf(host) {
  return net.isIP(host) === 0 ? host : undefined;
}
